//! What chooses: tables, lists, cut-off.

use leptos::prelude::*;

use super::{ClaimsPage, TableView, older_than, words};
use crate::components::icon::icon;
use crate::components::number::thousands;
use crate::components::text::{shown, visible};
use crate::components::time;
use crate::links::SourceLinks;
use crate::links::claims::{ClaimList, ClaimsView, cutoff_words};
use crate::model::claim::table::Lack;
use crate::ports::claims::AGE_BUCKETS;

/// The tables of the source, where there are several.
pub(super) fn tables(page: &ClaimsPage, links: &SourceLinks) -> Option<AnyView> {
    if page.tables.len() < 2 {
        return None;
    }
    let items: Vec<_> = page
        .tables
        .iter()
        .enumerate()
        .map(|(index, table)| {
            let on = index == page.chosen;
            let name = &table.table.name;
            let view = ClaimsView {
                table: Some(name.clone()),
                ..ClaimsView::default()
            };
            let state = match (&table.shape, table.counted()) {
                (Err(_), _) => {
                    Some(view! { <span class="warn">"cannot be read"</span> }.into_any())
                }
                (Ok(_), Some((figures, _))) if figures.stale > 0 => {
                    let stale = format!("{} stale", thousands(figures.stale));
                    Some(view! { <span class="warn">{stale}</span> }.into_any())
                }
                _ => None,
            };
            view! {
                <li>
                    <a
                        class=if on { "chip on" } else { "chip" }
                        href=links.claims(&view, None)
                        aria-current=on.then_some("true")
                    >
                        <b class="mono">{visible(name)}</b> " " {state}
                    </a>
                </li>
            }
        })
        .collect();
    Some(
        view! {
            <nav class="claims-t" aria-label="Claims tables">
                <span class="sub">"Table"</span>
                <ul class="chips">{items}</ul>
            </nav>
        }
        .into_any(),
    )
}

/// The lists, with their numbers.
pub(super) fn tabs(page: &ClaimsPage, table: &TableView, links: &SourceLinks) -> AnyView {
    let tabs: Vec<_> = ClaimList::ALL
        .into_iter()
        .filter(|list| wanted(page, table, *list))
        .map(|list| tab(page, table, links, list))
        .collect();
    view! { <nav class="tabs" aria-label="Claims by status"><ul>{tabs}</ul></nav> }.into_any()
}

/// Statuses that the description does not know get a tab only where there are some.
fn wanted(page: &ClaimsPage, table: &TableView, list: ClaimList) -> bool {
    list != ClaimList::Other
        || page.view.list == ClaimList::Other
        || table
            .counted()
            .is_some_and(|(figures, _)| !figures.other.is_empty())
}

fn tab(page: &ClaimsPage, table: &TableView, links: &SourceLinks, list: ClaimList) -> AnyView {
    let number = figure(page, table, list);
    let on = page.view.key.is_none() && page.view.list == list;
    let (class, symbol) = match list {
        ClaimList::Stale => ("retrying", Some("s-retrying")),
        ClaimList::Sending => ("processing", Some("s-processing")),
        ClaimList::Sent => ("succeeded", Some("s-succeeded")),
        ClaimList::Other => ("other", Some("i-flag")),
        ClaimList::All => ("", None),
    };
    let as_of = table
        .counted()
        .map(|(figures, _)| time::machine(figures.as_of));
    let name = match list {
        ClaimList::All => "claims".to_owned(),
        list => list.slug().to_owned(),
    };
    view! {
        <li>
            <a
                class=format!("tab {class}{}", if on { " on" } else { "" })
                href=links.claims(&page.at(list), None)
                aria-current=on.then_some("page")
            >
                {symbol.map(icon)} {list.label()} " "
                <span
                    class="tab-c"
                    data-figure=name
                    data-value=number.map(|n| n.to_string())
                    data-as-of=as_of
                >
                    {number.map_or_else(|| "–".to_owned(), thousands)}
                </span>
            </a>
        </li>
    }
    .into_any()
}

fn figure(page: &ClaimsPage, table: &TableView, list: ClaimList) -> Option<i64> {
    let (figures, _) = table.counted()?;
    let other = figures.other.iter().map(|(_, n)| n).sum::<i64>();
    match list {
        ClaimList::Stale => older_than(table, page.cutoff_ms(table)),
        ClaimList::Sending => Some(figures.sending),
        ClaimList::Sent => Some(figures.sent),
        ClaimList::Other => Some(other),
        ClaimList::All => Some(figures.sending + figures.sent + other),
    }
}

/// The cut-off of the stale list, or the key that the page is about.
pub(super) fn controls(
    page: &ClaimsPage,
    table: &TableView,
    links: &SourceLinks,
) -> Option<AnyView> {
    if let Some(key) = &page.view.key {
        let label = format!(
            "Show the claims of every key, not only {}",
            words::key_label(key)
        );
        return Some(
            view! {
                <div class="bar">
                    <ul class="chips" aria-label="Filters">
                        <li class="chip">
                            <span>"key"</span>
                            <b class="mono">{visible(&words::key_label(key))}</b>
                            <a
                                class="chip-x"
                                href=links.claims(&page.at(ClaimList::Stale), None)
                                aria-label=label.clone()
                                title=label
                            >
                                {icon("i-x")}
                            </a>
                        </li>
                    </ul>
                </div>
            }
            .into_any(),
        );
    }
    if page.view.list != ClaimList::Stale || table.lacks(Lack::ClaimTime) {
        return None;
    }
    Some(cutoff(page, table, links))
}

fn cutoff(page: &ClaimsPage, table: &TableView, links: &SourceLinks) -> AnyView {
    let own = table.table.cutoff_ms;
    let now = page.cutoff_ms(table);
    let to = |ms: i64| {
        let view = ClaimsView {
            cutoff_ms: (ms != own).then_some(ms),
            ..page.at(ClaimList::Stale)
        };
        links.claims(&view, None)
    };
    let steps = || AGE_BUCKETS.iter().map(|seconds| seconds * 1_000);
    let step = |ms: Option<i64>, sign: &'static str, word: &str| match ms {
        Some(ms) => {
            let label = format!("{word}: {}", cutoff_words(ms));
            view! { <a class="step" href=to(ms) aria-label=label.clone() title=label>{sign}</a> }
                .into_any()
        }
        None => view! {
            <a class="step" role="link" aria-disabled="true" aria-label=word.to_owned()>{sign}</a>
        }
        .into_any(),
    };
    let shorter = step(steps().rfind(|ms| *ms < now), "\u{2212}", "Shorter");
    let longer = step(steps().find(|ms| *ms > now), "+", "Longer");
    let words = format!(
        "the jobs\u{2019} own cut-off is {}; another one here only changes this view",
        cutoff_words(own)
    );
    let back = (now != own).then(|| {
        let words = format!("Back to {}", cutoff_words(own));
        view! { <a class="btn quiet small" href=to(own)>{words}</a> }
    });
    let kept = page.view.table.clone().map(|name| {
        view! { <input type="hidden" name="table" value=name /> }
    });
    let limit = page.view.limit.map(|limit| {
        view! { <input type="hidden" name="limit" value=limit.to_string() /> }
    });
    view! {
        <form class="bar cutoff" method="get" action=links.claims_plain()>
            <input type="hidden" name="status" value="stale" />
            {kept}
            {limit}
            <label class="nw" for="cutoff">"Stale after"</label>
            <span class="stepper">
                {shorter}
                <input
                    class="input short"
                    id="cutoff"
                    name="cutoff"
                    type="text"
                    value=cutoff_words(now)
                    size="7"
                    autocomplete="off"
                    spellcheck="false"
                    pattern="\\s*[0-9]+\\s*([sS]|sec|[mM]|min|[hH]|[dD])?\\s*"
                    title="A whole number with s, min, h or d"
                />
                {longer}
            </span>
            <button class="btn small">"Show"</button>
            <span class="sub">{shown(&words).into_owned()}</span>
            {back}
        </form>
    }
    .into_any()
}
