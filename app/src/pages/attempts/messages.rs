//! What stands there where there are no numbers: six cases, never in the same words.

use leptos::prelude::*;

use super::{AttemptsPage, Collecting};
use crate::components::message::{Tone, message};
use crate::components::number::count;
use crate::components::shell::page_context;
use crate::components::text::{short_type, visible};
use crate::links::SourceLinks;
use crate::model::insights::span::Asked;
use crate::model::state::ListState;

/// The title of a page without numbers.
pub fn title(collecting: &Collecting) -> &'static str {
    if collecting.caught_up {
        "No attempts yet"
    } else {
        "Reading the history"
    }
}

/// Nothing was ever counted in the source: its history is still being read, or nothing ended yet.
pub fn not_collected(source: &str, collecting: &Collecting) -> AnyView {
    let links = page_context().links.source(source);
    let jobs = vec![
        ("Overview".to_owned(), links.overview()),
        ("Failed jobs".to_owned(), links.state(ListState::Failed)),
        ("Policies".to_owned(), links.policy()),
    ];
    let content = if let Some(trouble) = &collecting.trouble {
        let words = view! {
            "The numbers are made from the history of jobs, which cannot be counted for now: "
            {visible(trouble)} ". Redrive goes on by itself."
        };
        message(
            Tone::Warn,
            "i-warn",
            "Nothing is counted for now",
            words,
            jobs,
        )
        .into_any()
    } else if collecting.caught_up {
        let words = "Every row of the history that there is has been read, and in none of them did \
                     an attempt end. The first one that does will show here.";
        message(
            Tone::Good,
            "s-succeeded",
            "No attempt has ended yet",
            words,
            jobs,
        )
        .into_any()
    } else {
        reading(collecting)
    };
    view! { <div class="page-h"><h1>"Attempts"</h1></div> {content} }.into_any()
}

/// The database lets nothing be counted, nor does anything stand in for it.
pub fn not_kept(source: &str, why: &str) -> AnyView {
    let links = page_context().links.source(source);
    let offers = vec![
        ("Overview".to_owned(), links.overview()),
        ("Failed jobs".to_owned(), links.state(ListState::Failed)),
    ];
    let words = view! { {visible(why)} ". Lists and jobs are shown all the same." };
    view! {
        <div class="page-h"><h1>"Attempts"</h1></div>
        {message(
            Tone::Warn,
            "i-attempts",
            "The attempts of this source are not counted",
            words,
            offers,
        )}
    }
    .into_any()
}

/// How far the first reading has got.
fn reading(collecting: &Collecting) -> AnyView {
    let bar = collecting.read.filter(|_| collecting.highest > 0).map(|read| {
        let words = format!("state row {read} of {}", collecting.highest);
        view! {
            <p>
                <progress max=collecting.highest.to_string() value=read.to_string() aria-label="Read">
                    {words.clone()}
                </progress>
                " " <span class="sub">{words}</span>
            </p>
        }
    });
    let words = view! {
        "Redrive reads the history of jobs once, from its beginning, and counts as it goes. The \
         numbers stand here as soon as there are any."
        {bar}
    };
    view! {
        {message(Tone::Plain, "i-attempts", "The history is being read", words, Vec::new())}
        <div class="ghosts" aria-hidden="true">
            <span></span><span></span><span></span><span></span>
        </div>
    }
    .into_any()
}

/// Numbers are there, but none under this choice.
pub(super) fn nothing(page: &AttemptsPage, links: &SourceLinks) -> AnyView {
    let view = &page.view;
    if view.is_filtered() {
        let named = |word: &str, value: &Option<String>| {
            value
                .as_ref()
                .map(|value| format!("{word} \u{201c}{value}\u{201d}"))
        };
        let what: Vec<String> = [
            named("type", &view.job_type),
            named("method", &view.method),
            named("queue", &view.queue),
        ]
        .into_iter()
        .flatten()
        .collect();
        let hint = view
            .job_type
            .as_deref()
            .filter(|name| short_type(name) == *name)
            .map(|_| " Types are counted by their whole name, with the namespace.");
        let words = view! {
            "No attempt of " {visible(&what.join(", "))} " ended in this time." {hint}
        };
        let offers = vec![
            (
                "Show every job type and queue".to_owned(),
                links.attempts(&view.of_all()),
            ),
            (
                "The same over all time".to_owned(),
                links.attempts(&view.over(Asked::All)),
            ),
        ];
        return message(Tone::Plain, "i-search", "Filtered out", words, offers).into_any();
    }
    let counted = page.coverage.watermark;
    let words = format!(
        "The collector has read {} of history, but no attempt ended in this time.",
        count(counted, "row")
    );
    let offers = vec![(
        "All that was counted".to_owned(),
        links.attempts(&view.over(Asked::All)),
    )];
    message(
        Tone::Plain,
        "i-info",
        "Nothing ended in this time",
        words,
        offers,
    )
    .into_any()
}
