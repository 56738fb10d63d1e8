//! What is known of a claim, in words.

use leptos::prelude::*;

use super::JudgedClaim;
use crate::components::relative;
use crate::components::text::{cut, short_type, shown, visible};
use crate::components::time;
use crate::model::attempt::Outcome;
use crate::model::claim::evidence::{Answer, Asked, Evidence, Holder};
use crate::pages::job::kit::short_server;

/// Characters of an exception's message that a row carries.
const LINE: usize = 120;

/// Who held the claim, and whether its server still beats.
pub(super) fn holder(row: &JudgedClaim) -> AnyView {
    let known = row.evidence.as_ref();
    let Some(holder) = known.and_then(|known| known.holder.as_ref().or(known.running.as_ref()))
    else {
        let why = if row.owners.is_empty() {
            "no job is known"
        } else {
            "no run at the claim time"
        };
        return view! { "not known " <span class="two">{why}</span> }.into_any();
    };
    let server = match &holder.server {
        Some(id) => {
            let title = shown(id).into_owned();
            view! { <span class="mono cut" title=title>{visible(&short_server(id))}</span> }
                .into_any()
        }
        None => "server not recorded".into_any(),
    };
    let (class, words) = pulse(holder);
    let other = row
        .evidence
        .as_ref()
        .and_then(|known| known.running.as_ref())
        .filter(|running| (running.job, running.attempt) != (holder.job, holder.attempt))
        .map(|running| view! { <span class="two">{goes_on(running)}</span> });
    view! { {server} " " <span class=class>{words}</span> " " {other} }.into_any()
}

/// A later run that has the effect in hand now.
fn goes_on(running: &Holder) -> String {
    let server = running
        .server
        .as_deref()
        .map_or_else(|| "a live server".to_owned(), short_server);
    format!(
        "attempt {} of job {} runs on {}",
        running.attempt,
        running.job,
        shown(&server)
    )
}

/// Whether the holder's server beats and runs it, and when that was seen.
fn pulse(holder: &Holder) -> (&'static str, String) {
    let running = matches!(holder.outcome, Outcome::Running);
    match (holder.alive, holder.heartbeat_age_ms) {
        (true, Some(age)) if running => ("two", format!("running it, seen {}", relative::ago(age))),
        (true, Some(age)) => (
            "two",
            format!("alive, not running it, seen {}", relative::ago(age)),
        ),
        (true, None) => ("two", "alive".to_owned()),
        (false, Some(age)) => (
            "two bad",
            format!("gone, silent for {}", relative::span(age)),
        ),
        (false, None) => ("two bad", "gone: not registered any more".to_owned()),
    }
}

/// How the holder ended, runs that skipped, what the provider said; as cells of the table show it.
pub(super) fn cell(row: &JudgedClaim) -> AnyView {
    let Some(known) = &row.evidence else {
        return ().into_any();
    };
    view! {
        <span class="ev-1">{ended(known)}</span>
        " "
        {details(row, known)}
    }
    .into_any()
}

fn ended(known: &Evidence) -> AnyView {
    let Some(holder) = &known.holder else {
        return "No run that made this claim is known".into_any();
    };
    let n = holder.attempt;
    match &holder.outcome {
        Outcome::Running => format!("Attempt {n} is running").into_any(),
        Outcome::Orphaned => format!("Attempt {n}: its server vanished").into_any(),
        Outcome::Lost => format!("Attempt {n} was interrupted").into_any(),
        Outcome::Succeeded => format!("Attempt {n} succeeded, and left it Sending").into_any(),
        Outcome::Cancelled => format!("Attempt {n} was deleted while it ran").into_any(),
        Outcome::PutBack(_) => format!("Attempt {n} was put back").into_any(),
        Outcome::Unknown => format!("Attempt {n}: nothing says how it ended").into_any(),
        Outcome::Failed => {
            let kind = holder
                .failure
                .as_ref()
                .and_then(|(kind, _)| kind.as_deref())
                .map_or("its error is not stored", short_type);
            view! { {format!("Attempt {n} failed: ")} {breakable(kind)} }.into_any()
        }
    }
}

/// A type's name that breaks before its usual ending rather than anywhere.
fn breakable(kind: &str) -> AnyView {
    const ENDING: &str = "Exception";
    match kind.strip_suffix(ENDING) {
        Some(stem) if !stem.is_empty() => view! { {visible(stem)} <wbr /> {ENDING} }.into_any(),
        _ => view! { {visible(kind)} }.into_any(),
    }
}

fn details(row: &JudgedClaim, known: &Evidence) -> AnyView {
    let message = known
        .holder
        .as_ref()
        .and_then(|holder| holder.failure.as_ref())
        .and_then(|(_, message)| message.as_deref())
        .filter(|message| !message.trim().is_empty())
        .map(|message| {
            let title = shown(&cut(message, 600)).into_owned();
            view! { <span class="two cut" title=title>{visible(&cut(message, LINE))}</span> }
        });
    let skipped = (!known.skipped.is_empty()).then(|| {
        let words = skips(known);
        view! { <span class="two warn">{words}</span> }
    });
    let asked = row
        .asked
        .as_ref()
        .map(|asked| view! { <span class="two ev-p">{answer(asked)}</span> });
    view! { {message} " " {skipped} " " {asked} }.into_any()
}

/// `Attempt 2 found the claim and skipped: its job succeeded by skipping`.
fn skips(known: &Evidence) -> String {
    let jobs = {
        let mut jobs: Vec<i64> = known.skipped.iter().map(|skip| skip.job).collect();
        jobs.dedup();
        jobs.len()
    };
    match known.skipped.as_slice() {
        [one] => format!(
            "Succeeded by skipping: attempt {} found the claim",
            one.attempt
        ),
        many if jobs == 1 => format!(
            "Succeeded by skipping: {} later runs found the claim",
            many.len()
        ),
        many => format!(
            "Succeeded by skipping: {} runs of {jobs} jobs found the claim",
            many.len()
        ),
    }
}

/// What the provider said, and when.
pub(super) fn answer(asked: &Asked) -> AnyView {
    let when = time::ago(asked.at);
    match &asked.answer {
        Answer::Known(Some(id)) => {
            view! {
                "Provider knows the key as " <span class="mono">{visible(&cut(id, LINE))}</span>
                ", asked " {when}
            }
            .into_any()
        }
        Answer::Known(None) => view! { "Provider knows the key, asked " {when} }.into_any(),
        Answer::Denied => view! { "Provider does not know the key, asked " {when} }.into_any(),
        Answer::NotKnown(why) => {
            view! { "Provider\u{2019}s answer not known, asked " {when} ": " {visible(&cut(why, LINE))} }
                .into_any()
        }
    }
}

/// The second line of the verdict: how long the provider still knows the key.
pub(super) fn window(
    row: &JudgedClaim,
    window_ms: Option<i64>,
    now: crate::model::state::Instant,
) -> (&'static str, String) {
    let closes = row.evidence.as_ref().and_then(|known| known.window_closes);
    match (closes, window_ms) {
        (Some(at), _) => {
            let left = (at - now).num_milliseconds();
            if left > 0 {
                ("", format!("key known for {}", super::words::span(left)))
            } else {
                ("bad", format!("window closed {}", relative::ago(-left)))
            }
        }
        (None, Some(_)) => ("", "first send not known".to_owned()),
        (None, None) => ("", "key window not known".to_owned()),
    }
}
