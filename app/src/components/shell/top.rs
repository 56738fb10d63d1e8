//! The bar above every page: the product, the source, whether the page is current, who acts.

use leptos::prelude::*;

use super::{Chrome, SourceChip};
use crate::components::icon::icon;
use crate::components::text::shown;
use crate::components::time::kept::since;
use crate::figures::COUNTED;
use crate::islands;

fn home(chrome: &Chrome) -> String {
    chrome.source.as_ref().map_or_else(
        || chrome.links.root(),
        |source| chrome.links.source(&source.name).overview(),
    )
}

/// The bar.
pub(super) fn bar(chrome: &Chrome) -> AnyView {
    let initials: String = chrome
        .actor
        .name
        .chars()
        .take(2)
        .flat_map(char::to_uppercase)
        .collect();
    let proof = if chrome.actor.authenticated {
        "signed in"
    } else {
        "not authenticated"
    };
    view! {
        <header class="top">
            <a class="brand" href=home(chrome)>
                {icon("logo")} <span class="brand-t">"Redrive"</span>
            </a>
            {source_picker(chrome)}
            <div class="top-end">
                {live(chrome)}
                <islands::times::TimesSwitch />
                <islands::theme::ThemeSwitch />
                <p class="who">
                    <span class="who-a" aria-hidden="true">{shown(&initials).into_owned()}</span>
                    <span class="who-t">
                        <span class="vh">"You act as "</span>
                        {shown(&chrome.actor.name).into_owned()} " "
                        <small>{proof}</small>
                    </span>
                </p>
            </div>
        </header>
    }
    .into_any()
}

/// Whether the page is kept current; without scripts nothing is, and nothing is said.
fn live(chrome: &Chrome) -> Option<AnyView> {
    chrome.events.as_ref()?;
    let age = chrome.counts.as_ref().map(|counts| {
        view! { <span class="live-a">{since(COUNTED, counts.counts.as_of)} " old"</span> }
    });
    Some(
        view! {
            <p class="live" id="live" hidden title="Jobs by state, counted once for all viewers">
                <span class="live-dot" aria-hidden="true"></span>
                <b class="live-t">"Live"</b>
                {age}
            </p>
        }
        .into_any(),
    )
}

fn source_block(source: &SourceChip) -> impl IntoView + use<> {
    view! {
        <span class="source-env">{source.env.word()}</span> " "
        <span class="source-db">{shown(&source.label).into_owned()}</span>
    }
}

fn source_picker(chrome: &Chrome) -> Option<AnyView> {
    let current = chrome.source.as_ref()?;
    let read_only = current
        .read_only
        .as_ref()
        .map(|why| view! { <span class="ro" title=shown(why).into_owned()>"read only"</span> });
    if chrome.sources.len() < 2 {
        return Some(
            view! {
                <p class="source"><span class="vh">"Source "</span>{source_block(current)}</p>
                {read_only}
            }
            .into_any(),
        );
    }
    let items: Vec<_> = chrome
        .sources
        .iter()
        .map(|source| {
            let on = (source.name == current.name).then_some("true");
            view! {
                <li>
                    <a
                        class=source.env.class()
                        href=chrome.links.source(&source.name).overview()
                        aria-current=on
                    >
                        <span class="source-env">{source.env.word()}</span> " "
                        <b>{shown(&source.label).into_owned()}</b>
                        <span class="sub">{source.dialect.clone()}</span>
                    </a>
                </li>
            }
        })
        .collect();
    Some(
        view! {
            <button class="source" type="button" popovertarget="sources">
                <span class="vh">"Source "</span>
                {source_block(current)}
                {icon("i-down")}
            </button>
            {read_only}
            <div class="pop sources" id="sources" popover="auto" role="dialog" aria-labelledby="sources-h">
                <h2 id="sources-h">"Sources"</h2>
                <ul class="sources-l">{items}</ul>
            </div>
        }
        .into_any(),
    )
}
