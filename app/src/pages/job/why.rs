//! Why it failed: the latest error first, then the others.

mod trace;

use leptos::prelude::*;

use super::{JobPage, kit};
use crate::components::number::{count, thousands};
use crate::components::text::{short_type, stored};
use crate::model::attempt::Failure;
use crate::model::timeline::Event;

/// A message is shown up to so many characters.
const MESSAGE: usize = 4_000;
/// So many different errors are listed.
const GROUPS: usize = 20;

/// Failures that say the same.
struct Group<'a> {
    /// The newest of them.
    latest: &'a Failure,
    /// Attempts that ended so, newest first; `None` for failures outside any attempt.
    attempts: Vec<Option<u32>>,
}

/// The section; none where nothing ever failed.
pub(super) fn section(page: &JobPage) -> Option<AnyView> {
    let groups = groups(page);
    let (latest, others) = groups.split_first()?;
    let more = others.len().saturating_sub(GROUPS - 1);
    let shown = others
        .iter()
        .take(GROUPS - 1)
        .map(|group| {
            let failure = group.latest;
            let name = exception(failure);
            let message = failure.message.as_deref().map(|m| kit::line(m, 120));
            view! {
                <details class="ex-more">
                    <summary>
                        {whose(page, group)} ": " <b class="mono">{stored(&name)}</b> " "
                        {message.map(|message| stored(&message))}
                    </summary>
                    {error(page, failure)}
                </details>
            }
        })
        .collect_view();
    let more = (more > 0).then(|| {
        view! { <p class="sub">{format!("{} more stand in the state history.", count(super::i64_of(more), "other error"))}</p> }
    });
    let content = view! {
        <p class="sub">{whose(page, latest)}</p>
        {error(page, latest.latest)}
        {shown}
        {more}
    };
    let question = if page.record().state.name == Some(crate::model::state::StateName::Succeeded) {
        "Why it failed before"
    } else {
        "Why it failed"
    };
    Some(kit::section("why", question, None, content.into_any()))
}

fn exception(failure: &Failure) -> String {
    failure.exception_type.as_deref().map_or_else(
        || "type not stored".to_owned(),
        |name| kit::line(short_type(name), 120),
    )
}

fn groups(page: &JobPage) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for event in page.timeline.events.iter().rev() {
        let Some(failure) = event.failure() else {
            continue;
        };
        let attempt = match event {
            Event::Attempt(attempt) => Some(attempt.number),
            Event::RunEnd(end) => end.attempt,
            _ => None,
        };
        let same = groups.iter_mut().find(|group| {
            group.latest.exception_type == failure.exception_type
                && group.latest.message == failure.message
        });
        match same {
            Some(group) => group.attempts.push(attempt),
            None => groups.push(Group {
                latest: failure,
                attempts: vec![attempt],
            }),
        }
    }
    groups
}

/// `Attempts 3 and 1, the same error`.
fn whose(page: &JobPage, group: &Group<'_>) -> String {
    let suffix = page.suffix();
    let numbers: Vec<String> = group
        .attempts
        .iter()
        .flatten()
        .map(|number| format!("{number}{suffix}"))
        .collect();
    let outside = group.attempts.len() - numbers.len();
    let listed = match numbers.as_slice() {
        [] => String::new(),
        [one] => format!("Attempt {one}"),
        [rest @ .., last] if rest.len() < 6 => {
            format!("Attempts {} and {last}, the same error", rest.join(", "))
        }
        [first, ..] => format!(
            "Attempt {first} and {} earlier ones, the same error",
            thousands(super::i64_of(numbers.len() - 1))
        ),
    };
    match (listed.is_empty(), outside) {
        (false, 0) => listed,
        (true, 1) => "Outside any attempt".to_owned(),
        (true, n) => format!("Outside any attempt, {n} times"),
        (false, n) => format!("{listed}, and {n} outside any attempt"),
    }
}

fn error(page: &JobPage, failure: &Failure) -> AnyView {
    let (namespace, name) = failure.exception_type.as_deref().map_or_else(
        || (String::new(), "Type not stored".to_owned()),
        |full| {
            let short = short_type(full);
            let full = full.split(',').next().unwrap_or(full);
            let namespace = full.strip_suffix(short).unwrap_or_default();
            (kit::line(namespace, 200), kit::line(short, 200))
        },
    );
    let message = match failure.message.as_deref() {
        Some(message) => {
            let (text, cut) = kit::cut(message, MESSAGE);
            let more = cut.then(|| view! { <span class="sub">"\u{2026} cut"</span> });
            view! { <p class="ex-m">{stored(text)} {more}</p> }.into_any()
        }
        None => view! { <p class="ex-m sub">"Its message is not stored."</p> }.into_any(),
    };
    let reason = failure
        .reason
        .as_deref()
        .filter(|reason| *reason != "An exception occurred during performance of the job.")
        .map(|reason| view! { <p class="sub">{stored(&kit::line(reason, 300))}</p> });
    view! {
        <div class="ex">
            <p class="ex-t">
                <span class="sub mono">{stored(&namespace)}</span>
                <b class="mono">{stored(&name)}</b>
            </p>
            {message}
            {reason}
            {trace::trace(page, failure)}
        </div>
    }
    .into_any()
}
