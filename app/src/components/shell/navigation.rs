//! The ways to every page of a source.

use leptos::prelude::*;

use super::{Chrome, Section};
use crate::components::icon::icon;
use crate::components::number::thousands;
use crate::components::text::shown;
use crate::components::time::kept::ago;
use crate::figures::{ALL_JOBS, COUNTED, FIRST_ATTEMPT, STALE_CLAIMS};
use crate::links::attempts::AttemptsView;
use crate::links::claims::ClaimsView;
use crate::model::rates::Rate;
use crate::model::state::ListState;
use crate::ports::jobs::JobFilter;

/// An entry of the navigation.
struct Entry {
    symbol: &'static str,
    words: &'static str,
    href: String,
    /// Whether the page is in it.
    on: bool,
    /// The name of its figure, and the number.
    figure: Option<(&'static str, String)>,
    /// How many things there want somebody.
    calls: Option<Calls>,
}

/// Things that want somebody; not shown while there are none.
#[derive(Clone, Copy)]
struct Calls {
    /// The figure's name.
    name: &'static str,
    number: i64,
    /// What they are, after the number.
    word: &'static str,
}

impl Entry {
    fn new(symbol: &'static str, words: &'static str, href: String, on: bool) -> Self {
        Self {
            symbol,
            words,
            href,
            on,
            figure: None,
            calls: None,
        }
    }
}

fn entries(chrome: &Chrome) -> Vec<Entry> {
    let Some(source) = chrome.source.as_ref() else {
        return Vec::new();
    };
    let links = chrome.links.source(&source.name);
    let total = chrome
        .counts
        .as_ref()
        .map_or_else(String::new, |counts| thousands(counts.total()));
    let first_attempt = chrome
        .first_attempt
        .and_then(Rate::percent)
        .unwrap_or_default();
    let all = links.jobs(&JobFilter::default(), None, None);
    let claims = links.claims(&ClaimsView::default(), None);
    let at = |section: Section| chrome.section == section;
    let in_jobs = matches!(chrome.section, Section::Jobs(_));
    let stale = Calls {
        name: STALE_CLAIMS,
        number: chrome.stale_claims.unwrap_or_default(),
        word: "stale",
    };
    vec![
        Entry::new(
            "i-overview",
            "Overview",
            links.overview(),
            at(Section::Overview),
        ),
        Entry {
            figure: Some((ALL_JOBS, total)),
            ..Entry::new("i-jobs", "Jobs", all, in_jobs)
        },
        Entry {
            figure: Some((FIRST_ATTEMPT, first_attempt)),
            ..Entry::new(
                "i-attempts",
                "Attempts",
                links.attempts(&AttemptsView::default()),
                at(Section::Attempts),
            )
        },
        Entry {
            calls: Some(stale),
            ..Entry::new("i-claims", "Claims", claims, at(Section::Claims))
        },
        Entry::new(
            "i-servers",
            "Servers",
            links.servers(),
            at(Section::Servers),
        ),
        Entry::new("i-audit", "Audit", links.audit(), at(Section::Audit)),
    ]
}

/// Beside the page, with every list.
pub(super) fn whole(chrome: &Chrome) -> AnyView {
    let states = chrome.source.as_ref().map(|source| {
        let links = chrome.links.source(&source.name);
        let items: Vec<_> = ListState::ALL
            .into_iter()
            .map(|state| {
                let on = chrome.section == Section::Jobs(Some(state));
                let class = if on { "nav-b on" } else { "nav-b" };
                let figure = chrome
                    .counts
                    .as_ref()
                    .map(|counts| thousands(counts.of(state)));
                view! {
                    <li>
                        <a
                            class=format!("{class} {}", state.slug())
                            href=links.state(state)
                            aria-current=on.then_some("page")
                        >
                            {icon(crate::components::state::symbol(Some(state)))}
                            <span class="nav-t">{state.label()}</span> " "
                            <span class="n" data-live=state.slug()>{figure}</span>
                        </a>
                    </li>
                }
            })
            .collect();
        view! { <ul class="nav-sub">{items}</ul> }.into_any()
    });
    let mut states = states;
    let items: Vec<_> = entries(chrome)
        .into_iter()
        .map(|entry| {
            let sub = (entry.symbol == "i-jobs").then(|| states.take()).flatten();
            let exact = entry.on && !matches!(chrome.section, Section::Jobs(Some(_)));
            let calls = entry.calls.map(|calls| {
                view! {
                    <span class="n warn" data-live-call=calls.name hidden=calls.number == 0>
                        <span data-live=calls.name>{thousands(calls.number)}</span>
                        <span class="nav-w">{format!(" {}", calls.word)}</span>
                    </span>
                }
            });
            view! {
                <li>
                    <a
                        class=if entry.on { "nav-a on" } else { "nav-a" }
                        href=entry.href
                        aria-current=exact.then_some("page")
                    >
                        {icon(entry.symbol)}
                        <span class="nav-t">{entry.words}</span> " "
                        {entry
                            .figure
                            .map(|(name, n)| view! { <span class="n" data-live=name>{n}</span> })}
                        {calls}
                    </a>
                    {sub}
                </li>
            }
        })
        .collect();
    let age = chrome.counts.as_ref().map(|counts| {
        let how = if counts.counts.exact {
            "Jobs counted"
        } else {
            "Jobs estimated"
        };
        view! { <p>{how} " once for all viewers, " {ago(COUNTED, counts.counts.as_of)}</p> }
    });
    let foot: Vec<_> = chrome
        .foot
        .iter()
        .map(|line| view! { <p>{shown(line).into_owned()}</p> })
        .collect();
    view! {
        <nav class="nav" aria-label="Main">
            <div class="nav-in">
                <ul class="nav-l">{items}</ul>
                <div class="nav-foot">{age} {foot}</div>
            </div>
        </nav>
    }
    .into_any()
}

/// Below the page, on narrow screens.
pub(super) fn short(chrome: &Chrome) -> AnyView {
    let items: Vec<_> = entries(chrome)
        .into_iter()
        .map(|entry| {
            let calls = entry.calls.map(|calls| {
                view! {
                    <span class="tab-n" data-live-call=calls.name hidden=calls.number == 0>
                        <span data-live=calls.name>{thousands(calls.number)}</span>
                        <span class="vh">{format!(" {}", calls.word)}</span>
                    </span>
                }
            });
            view! {
                <a href=entry.href aria-current=entry.on.then_some("page")>
                    {icon(entry.symbol)} {entry.words} {calls}
                </a>
            }
        })
        .collect();
    view! { <nav class="tabbar" aria-label="Main, short">{items}</nav> }.into_any()
}
