//! Pages and pieces that say why something is not there, and where to go.

use std::time::Duration;

use leptos::prelude::*;

use crate::actions::{Action, Outcome, Seen};
use crate::components::icon::icon_as;
use crate::components::message::{Offer, Tone, message, offer_list};
use crate::components::shell::flash::outcome_words;
use crate::components::shell::{SourceChip, page_context};
use crate::components::state;
use crate::components::text::{stored, visible};
use crate::components::time;
use crate::model::state::ListState;
use crate::ports::error::StoreError;
use crate::ports::jobs::JobFilter;

pub mod claims;
#[cfg(test)]
mod tests;

/// There is no source of that name.
pub fn no_such_source(name: &str, sources: &[SourceChip]) -> AnyView {
    let links = page_context().links;
    let offers = sources
        .iter()
        .map(|source| (source.label.clone(), links.source(&source.name).overview()))
        .collect();
    let words = view! {
        "No source is called " {stored(name)} ". These are watched:"
    };
    whole(
        "i-info",
        false,
        "There is no such source",
        words.into_any(),
        offers,
    )
}

/// There is no page of that path.
pub fn no_such_page(path: &str) -> AnyView {
    let words = view! { "Nothing lies at " <code>{stored(path)}</code> "." };
    let offers = vec![("To the start".to_owned(), page_context().links.root())];
    whole(
        "i-info",
        false,
        "There is no such page",
        words.into_any(),
        offers,
    )
}

/// Something else is not there, as the words say.
pub fn no_such_thing(headline: &'static str, words: &str) -> AnyView {
    let offers = vec![("To the start".to_owned(), page_context().links.root())];
    whole("i-info", false, headline, visible(words), offers)
}

/// There is no job of that id; `older` and `newer` are the nearest ones that exist.
pub fn no_such_job(source: &str, id: &str, older: Option<i64>, newer: Option<i64>) -> AnyView {
    let links = page_context().links.source(source);
    let mut offers: Vec<Offer> = Vec::new();
    offers.extend(older.map(|id| (format!("Job {id}, the next older"), links.job(id))));
    offers.extend(newer.map(|id| (format!("Job {id}, the next newer"), links.job(id))));
    offers.push((
        "All jobs".to_owned(),
        links.jobs(&JobFilter::default(), None, None),
    ));
    let words = view! {
        "No job of this source has the id " {stored(id)}
        ". Jobs that succeeded or were deleted expire, after a day unless configured otherwise."
    };
    whole(
        "i-info",
        false,
        "There is no such job",
        words.into_any(),
        offers,
    )
}

/// The request cannot be meant.
pub fn malformed(why: &str) -> AnyView {
    let words = view! { "What was wrong: " {stored(why)} "." };
    let offers = vec![("To the start".to_owned(), page_context().links.root())];
    whole(
        "i-warn",
        true,
        "This request was not understood",
        words.into_any(),
        offers,
    )
}

/// The request is not allowed, for a reason that the words give.
pub fn refused(why: &str) -> AnyView {
    whole(
        "i-warn",
        true,
        "This request was refused",
        visible(why),
        Vec::new(),
    )
}

/// A whole page about a store that could not answer. `refresh` is how many seconds the browser
/// waits before it asks again by itself.
pub fn store_error(
    source: &str,
    cause: &StoreError,
    refresh: Option<u32>,
) -> impl FnOnce() -> AnyView + use<> {
    let (headline, words) = store_words(cause);
    let source = source.to_owned();
    let detail = match cause {
        StoreError::Away(detail) | StoreError::Internal(detail) => Some(detail.clone()),
        _ => None,
    };
    move || {
        let links = page_context().links.source(&source);
        let again = refresh.map(|seconds| format!(" This page asks again every {seconds} s."));
        let detail = detail.map(|detail| view! { <p class="mono msg-d">{visible(&detail)}</p> });
        view! {
            <div class="msg">
                {icon_as("i-warn", "i msg-i warn")}
                <div>
                    <h1>{headline}</h1>
                    <p>{visible(&words)} {again}</p>
                    {detail}
                    {offer_list(vec![("Overview".to_owned(), links.overview())])}
                </div>
            </div>
        }
        .into_any()
    }
}

/// A whole page about a store that could not act on these jobs: what was asked, that it did not
/// happen, and the way back to where it can be asked again.
pub fn not_acted(
    source: &str,
    action: &Action,
    jobs: &[i64],
    cause: &StoreError,
) -> impl FnOnce() -> AnyView + use<> {
    let (headline, _) = store_words(cause);
    let what = match jobs {
        [job] => format!("{} job {job}", action.label()),
        all => format!("{} {} jobs", action.label(), all.len()),
    };
    let (source, detail, job) = (source.to_owned(), cause.to_string(), jobs.first().copied());
    let single = jobs.len() == 1;
    move || {
        let links = page_context().links.source(&source);
        let offer = match job.filter(|_| single) {
            Some(job) => (format!("Back to job {job}"), links.job(job)),
            None => ("Failed jobs".to_owned(), links.state(ListState::Failed)),
        };
        view! {
            <div class="msg">
                {icon_as("i-warn", "i msg-i warn")}
                <div>
                    <h1>{headline}</h1>
                    <p>
                        <b>{what} ": not done. Nothing was changed."</b>
                        " Ask again when the database answers."
                    </p>
                    <p class="mono msg-d">{visible(&detail)}</p>
                    {offer_list(vec![offer])}
                </div>
            </div>
        }
        .into_any()
    }
}

/// The same, in place of one table of a page whose rest could be drawn.
pub fn in_place(cause: &StoreError) -> AnyView {
    let (headline, words) = store_words(cause);
    message(Tone::Warn, "i-warn", headline, visible(&words), Vec::new()).into_any()
}

fn store_words(cause: &StoreError) -> (&'static str, String) {
    match cause {
        StoreError::Away(_) => (
            "The database does not answer",
            "Nothing is lost and nothing was changed: jobs and their history are in the database, \
             and Redrive keeps trying to reach it."
                .to_owned(),
        ),
        StoreError::Absent(why) => (
            "There is no such database",
            format!(
                "Redrive looked where it was told to, and {why}. If the path is wrong, start Redrive \
                 again with the right one (--database, or redrive.toml). If it is right, start the \
                 job server that makes the file: Redrive shows it as soon as it is there. To look \
                 around with made-up jobs, run \u{201c}redrive demo\u{201d}."
            ),
        ),
        StoreError::TimedOut(limit) => (
            "This was stopped to protect the database",
            format!(
                "It took longer than {} and was stopped on purpose.",
                seconds(*limit)
            ),
        ),
        StoreError::Unreadable(why) => ("These tables cannot be read", why.clone()),
        StoreError::Forbidden(why) => ("The database does not allow this", why.clone()),
        StoreError::Internal(_) => (
            "The database answered with an error",
            "This is a fault of Redrive's or of the database's. Nothing was changed.".to_owned(),
        ),
    }
}

/// `5 s`.
pub fn seconds(limit: Duration) -> String {
    format!("{} s", limit.as_secs())
}

/// What became of an action on each of several jobs; an error where the store could not act.
pub fn outcomes(
    source: &str,
    action: &Action,
    outcomes: &[(Seen, Result<Outcome, StoreError>)],
) -> AnyView {
    let links = page_context().links.source(source);
    let done = outcomes
        .iter()
        .filter(|(_, o)| matches!(o, Ok(Outcome::Done { .. })))
        .count();
    let rows: Vec<_> = outcomes
        .iter()
        .map(|(seen, outcome)| {
            let saw = state::pill(&seen.state, None);
            let (slug, sentence) = match outcome {
                Ok(outcome) => (outcome.slug(), outcome_sentence(outcome)),
                Err(cause) => ("error", error_sentence(cause)),
            };
            view! {
                <tr data-job=seen.job.to_string() data-outcome=slug>
                    <th scope="row"><a href=links.job(seen.job)>{format!("Job {}", seen.job)}</a></th>
                    <td>{saw}</td>
                    <td>{sentence}</td>
                </tr>
            }
        })
        .collect();
    let list = links.state(ListState::Failed);
    view! {
        <div class="page-h">
            <h1>{action.label()}</h1>
            <p>{format!("{done} of {} done.", outcomes.len())}</p>
        </div>
        <table class="tbl">
            <caption class="vh">"Outcomes, one row per job"</caption>
            <thead>
                <tr>
                    <th scope="col">"Job"</th>
                    <th scope="col">"As you saw it"</th>
                    <th scope="col">"Outcome"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
        {offer_list(vec![("Failed jobs".to_owned(), list)])}
    }
    .into_any()
}

/// What a store that could not act means for the job.
fn error_sentence(cause: &StoreError) -> AnyView {
    view! {
        <b>"Not done, nothing was changed"</b>
        " "
        <span class="two">{visible(&cause.to_string())}</span>
    }
    .into_any()
}

/// An outcome in words.
pub fn outcome_sentence(outcome: &Outcome) -> AnyView {
    let (words, _, _) = outcome_words(outcome.slug());
    match outcome {
        Outcome::Done { state, notes, .. } => {
            let notes: Vec<_> = notes
                .iter()
                .map(|note| view! { <span class="two">{visible(note)}</span> })
                .collect();
            view! { <b>"Done: now " {stored(state.as_str())}</b> " " {notes} }.into_any()
        }
        Outcome::Moved { why, at, .. } => {
            let at = at.map(|at| view! { " (" {time::ago(at)} ")" });
            view! { <b>{words}</b> {at} " " <span class="two">{visible(why)}</span> }.into_any()
        }
        Outcome::Gone => view! { <b>{words}</b> }.into_any(),
        Outcome::Busy { since, why } => {
            let since = since.map(|since| view! { ", since " {time::ago(since)} });
            view! { <b>{words}</b> {since} " " <span class="two">{visible(why)}</span> }.into_any()
        }
        Outcome::Refused { why } | Outcome::Unknown { why } => {
            view! { <b>{words}</b> " " <span class="two">{visible(why)}</span> }.into_any()
        }
    }
}

/// A message that is the whole page.
fn whole(
    symbol: &str,
    warns: bool,
    headline: &'static str,
    words: AnyView,
    offers: Vec<Offer>,
) -> AnyView {
    view! {
        <div class="msg">
            {icon_as(symbol, if warns { "i msg-i warn" } else { "i msg-i" })}
            <div>
                <h1>{headline}</h1>
                <p>{words}</p>
                {offer_list(offers)}
            </div>
        </div>
    }
    .into_any()
}
