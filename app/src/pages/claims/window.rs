//! What the provider's key window means for the jobs of a table, and what its shape takes away.

use leptos::prelude::*;

use super::{ClaimsPage, TableView};
use crate::components::icon::icon;
use crate::components::text::{shown, visible};
use crate::links::claims::cutoff_words;
use crate::model::claim::table::{ClaimWay, ClaimsTable, Lack, Shape};

/// The section beside the chart.
pub(super) fn section(table: &TableView, shape: &Shape) -> AnyView {
    let table = &table.table;
    view! {
        <section class="sec first" aria-labelledby="win">
            <header class="sec-h"><h2 id="win">"What the key window means"</h2></header>
            {zones(table)}
            <p class="sub">{settings(table, shape)}</p>
        </section>
    }
    .into_any()
}

fn zones(table: &ClaimsTable) -> AnyView {
    let cutoff = cutoff_words(table.cutoff_ms);
    let held = match table.way {
        ClaimWay::InsertFirst => {
            "A run that finds the claim takes the work for done and skips, so its job says Succeeded."
        }
        ClaimWay::SelfReclaim => "A run that finds a claim this young does not send.",
        ClaimWay::HandOver => {
            "A run goes on only with the claim time that it was handed; any other does not send."
        }
    };
    let stale = match table.way {
        ClaimWay::InsertFirst => {
            "Jobs go on skipping whatever the age: it stays unsent until the claim is released."
        }
        ClaimWay::SelfReclaim => "The next run takes the claim over and sends with the same key.",
        ClaimWay::HandOver => {
            "A reclaim hands the claim to a new run, which sends with the same key."
        }
    };
    let first = view! {
        <li class="w1"><b>{format!("0 to {cutoff}: held. ")}</b> {held}</li>
    };
    let rest = match table.window_ms {
        None => view! {
            <li class="w2"><b>{format!("After {cutoff}: stale. ")}</b> {stale}</li>
            <li class="w3">
                <b>"How long the provider knows a key is not configured. "</b>
                "So no resend counts as safe by its window: look for proof first."
            </li>
        }
        .into_any(),
        Some(window) if window > table.cutoff_ms => {
            let window = cutoff_words(window);
            view! {
                <li class="w2">
                    <b>{format!("{cutoff} to {window}: a resend is answered. ")}</b>
                    {stale}
                    " The provider still knows the key and returns the first result."
                </li>
                <li class="w3">
                    <b>{format!("After {window}: a resend is a second message. ")}</b>
                    "The provider has forgotten the key. Look for proof first."
                </li>
            }
            .into_any()
        }
        Some(window) => {
            let words = format!(
                "The window of {} is over before a claim is stale: a resend is a second message. ",
                cutoff_words(window)
            );
            view! {
                <li class="w3">
                    <b>{words}</b>
                    {stale}
                    " The provider has forgotten the key by then. Look for proof first."
                </li>
            }
            .into_any()
        }
    };
    view! { <ol class="win">{first} {rest}</ol> }.into_any()
}

fn settings(table: &ClaimsTable, shape: &Shape) -> AnyView {
    let from = if table.detected {
        "This table was found by its shape: cut-off, window and the way of claiming are Redrive\u{2019}s \
         own guesses until redrive.toml says otherwise."
    } else {
        "As redrive.toml describes this table."
    };
    let counts = table.window_ms.map(|_| {
        " The window counts from the first time the message may have been sent, not from the \
         current claim."
    });
    let provider = match &table.provider {
        Some(rule) if rule.permanent => {
            " Redrive can ask the provider, whose look-up remembers for ever."
        }
        Some(_) => " Redrive can ask the provider.",
        None => " Redrive cannot ask the provider: no look-up is configured.",
    };
    let apart = (!shape.with_jobs).then_some(
        " The table lies in another database than the jobs: the claim changes first, then its job.",
    );
    view! {
        {from}
        " Claims: "
        <span class="mono">{table.way.slug()}</span>
        "."
        {counts}
        {provider}
        {apart}
    }
    .into_any()
}

/// What the table lacks, what that takes away, and why nothing can be changed, if so.
pub(super) fn notes(page: &ClaimsPage, table: &TableView, shape: &Shape) -> AnyView {
    let lacks = shape
        .lacks
        .iter()
        .map(|lack| note(lack_words(*lack, &table.table).into_any()))
        .collect_view();
    let read_only = page
        .source
        .read_only
        .as_ref()
        .or(shape.read_only.as_ref())
        .map(|why| {
            note(view! { "Claims can be read here, not changed: " {visible(why)} }.into_any())
        });
    let index = shape.missing_index.as_ref().filter(|_| is_large(table));
    let index = index.map(|sql| {
        view! {
            <details class="note-d">
                <summary>
                    {icon("i-info")}
                    "No index serves the list of stale claims: on a large table it may run into \
                     the time limit. Show the index that would"
                </summary>
                <pre class="sql">{shown(sql).into_owned()}</pre>
            </details>
        }
    });
    let search = page
        .search
        .as_ref()
        .map(|words| note(words.clone().into_any()));
    view! { {read_only} {lacks} {search} {index} }.into_any()
}

/// Whether a missing index is felt, as far as is known.
fn is_large(table: &TableView) -> bool {
    const LARGE: i64 = 10_000;
    table.counted().is_none_or(|(figures, _)| {
        let other: i64 = figures.other.iter().map(|(_, n)| n).sum();
        figures.sending + figures.sent + other >= LARGE
    })
}

fn note(words: AnyView) -> AnyView {
    view! { <div class="note info claims-n">{icon("i-info")} <p>{words}</p></div> }.into_any()
}

fn lack_words(lack: Lack, table: &ClaimsTable) -> String {
    let name = shown(&table.name);
    match lack {
        Lack::ClaimTime => format!(
            "{name} has no column for the claim time: no claim has an age, so none is ever stale, \
             and none can be reclaimed, released or purged here."
        ),
        Lack::ProviderId => format!(
            "{name} has no column for the provider\u{2019}s message id: marking as sent cannot keep \
             it in the table. The audit keeps it."
        ),
        Lack::UniqueKey => format!(
            "Nothing makes the key of {name} unique: two runs can claim the same effect, and \
             reclaim and release are not offered."
        ),
    }
}
