//! The table of attempts and of what happened between them.

use leptos::prelude::*;

use super::hands::{Hand, hand};
use super::words;
use crate::components::icon::{icon, icon_as};
use crate::components::number::thousands;
use crate::components::text::{short_type, shown, stored};
use crate::model::attempt::{Attempt, Failure, Outcome, PlannedRetry, Span};
use crate::model::state::{Instant, StateName};
use crate::model::timeline::{Decision, Event, RunEnd};
use crate::model::words::duration;
use crate::pages::job::next::Next;
use crate::pages::job::{JobPage, kit};

/// So many of the newest events stand open; older ones are folded.
const OPEN: usize = 100;
/// A message in the table is cut to so many characters; it stands whole below.
const MESSAGE: usize = 200;

/// The table, oldest first.
pub(super) fn table(page: &JobPage) -> AnyView {
    let mut rows = rows(page);
    if rows.is_empty() {
        return view! { <p class="sec-p">"Nothing yet: it has not run."</p> }.into_any();
    }
    rows.extend(planned_row(page));
    let folded = rows.len().saturating_sub(OPEN);
    let newest = rows.split_off(folded);
    let older = (folded > 0).then(|| {
        view! {
            <details class="att-old">
                <summary>{format!("{} earlier events", thousands(super::super::i64_of(folded)))}</summary>
                {body(page, rows)}
            </details>
            <p class="sub">{format!("The newest {OPEN} events:")}</p>
        }
    });
    view! { {older} {body(page, newest)} }.into_any()
}

fn body(page: &JobPage, rows: Vec<AnyView>) -> AnyView {
    view! {
        <div class="att-wrap">
            <table class="tbl att">
                <caption class="vh">
                    {format!("Attempts of job {}, the same facts as the chart", page.record().id)}
                </caption>
                <thead>
                    <tr>
                        <th scope="col">"Attempt"</th>
                        <th scope="col">"Queued"</th>
                        <th scope="col">"Backoff before it"</th>
                        <th scope="col">"Waited"</th>
                        <th scope="col">"Ran"</th>
                        <th scope="col">"Outcome"</th>
                        <th scope="col">"Server"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn rows(page: &JobPage) -> Vec<AnyView> {
    let events = &page.timeline.events;
    // The retry planned after the latest failure, until a run begins or somebody decides anew.
    let mut planned: Option<PlannedRetry> = None;
    let mut requeued = false;
    let mut rows = Vec::new();
    for (index, event) in events.iter().enumerate() {
        match event {
            Event::Attempt(attempt) => {
                let retry = planned.take();
                let next = events[index + 1..].iter().find_map(|event| match event {
                    Event::Attempt(next) => Some(next),
                    _ => None,
                });
                rows.push(attempt_row(page, attempt, retry.as_ref(), requeued, next));
                requeued = false;
            }
            Event::Decision(decision) => {
                if decision.opens_round.is_some() {
                    planned = None;
                    requeued = true;
                }
                rows.push(decision_row(page, decision));
            }
            Event::FailureOutsideAttempt(failure) => {
                rows.push(outside_row(page, failure, planned.take().as_ref()));
            }
            Event::RunEnd(end) => rows.push(run_end_row(page, end)),
            Event::Deleted {
                state_id,
                at,
                reason,
            } => {
                let dropped = planned.take();
                rows.push(deleted_row(
                    page,
                    *state_id,
                    *at,
                    reason.as_deref(),
                    dropped.as_ref(),
                ));
            }
            Event::Restored {
                state_id,
                at,
                reason,
            } => {
                let hand = hand(reason.as_deref(), *state_id, &page.given.audit);
                rows.push(hand_row(page, *at, "restored it", &hand, None));
            }
            Event::Waiting(_) => {}
        }
        if let Some(failure) = event.failure() {
            planned.clone_from(&failure.retry);
        }
    }
    rows
}

fn ms_text(ms: Option<i64>) -> String {
    ms.map(|ms| ms.to_string()).unwrap_or_default()
}

fn attempt_row(
    page: &JobPage,
    attempt: &Attempt,
    retry: Option<&PlannedRetry>,
    requeued: bool,
    next: Option<&Attempt>,
) -> AnyView {
    let number = format!("{}{}", attempt.number, page.suffix());
    let kind = match retry {
        Some(retry) => format!("retry {} of {}", retry.number, retry.of),
        None if requeued => "after a requeue".to_owned(),
        None => String::new(),
    };
    let running = matches!(attempt.outcome, Outcome::Running | Outcome::Orphaned);
    let ran = if running {
        let so_far = crate::charts::lifeline::pieces::between(attempt.started_at, page.given.now);
        view! { <b>{duration(so_far)}</b> <span class="sub">" so far"</span> }.into_any()
    } else {
        span(attempt.ran, "not known")
    };
    let reported = attempt.reported_ms.map(|ms| {
        view! {
            <span class="two">
                {format!("{} reported, by another worker\u{2019}s run", duration(ms))}
            </span>
        }
    });
    let queued = attempt.queued_at.map_or_else(
        || view! { <span class="sub">"not recorded"</span> }.into_any(),
        |at| kit::clock(at, page.given.now).into_any(),
    );
    let class = format!("is-{}", attempt.outcome.slug());
    let server = attempt.server.as_deref().map_or_else(
        || "\u{2013}".into_any(),
        |server| {
            view! { <span title=shown(server).into_owned()>{stored(&kit::short_server(server))}</span> }
                .into_any()
        },
    );
    let waited = span(attempt.waited, "not recorded");
    let backoff = retry.map_or_else(|| "\u{2013}".into_any(), |retry| backoff_cell(page, retry));
    view! {
        <tr
            class=class
            data-attempt=attempt.number.to_string()
            data-outcome=attempt.outcome.slug()
            data-waited-ms=ms_text(attempt.waited.ms)
            data-ran-ms=ms_text(if running { None } else { attempt.ran.ms })
            data-backoff-ms=ms_text(retry.and_then(|retry| retry.backoff_ms))
        >
            <th scope="row" data-l="Attempt">
                <b>{number}</b>
                <span class="sub">" " {kind}</span>
            </th>
            <td data-l="Queued">{queued}</td>
            <td data-l="Backoff">{backoff}</td>
            <td data-l="Waited">{waited}</td>
            <td data-l="Ran">{ran} {reported}</td>
            <td data-l="Outcome" class="att-o">{outcome_cell(attempt, next)}</td>
            <td data-l="Server" class="mono">{server}</td>
        </tr>
    }
    .into_any()
}

fn span(span: Span, unknown: &'static str) -> AnyView {
    let Some(ms) = span.ms else {
        return view! { <span class="sub">{unknown}</span> }.into_any();
    };
    let clocks = (span.clocks_disagree_ms > 0).then(|| {
        view! {
            <span class="two warn">
                {icon_as("i-warn", "i tiny")}
                {format!("clocks disagree by {}", duration(span.clocks_disagree_ms))}
            </span>
        }
    });
    view! { <b>{duration(ms)}</b> {clocks} }.into_any()
}

fn backoff_cell(page: &JobPage, retry: &PlannedRetry) -> AnyView {
    let fit = words::fit(page, retry).map(|(fits, words)| {
        let class = if fits { "two" } else { "two warn" };
        view! { <span class=class>{words}</span> }
    });
    let clocks = (retry.clocks_disagree_ms > 0).then(|| {
        view! {
            <span class="two warn">
                {format!("clocks disagree by {}", duration(retry.clocks_disagree_ms))}
            </span>
        }
    });
    let release = words::release(retry, page.given.now);
    match retry.backoff_ms {
        Some(0) if retry.due_at.is_none() => {
            view! { <b>"none"</b> <span class="sub">", straight into its queue"</span> {fit} }
                .into_any()
        }
        Some(ms) => view! {
            <b>{duration(ms)}</b>
            <span class="sub">" planned" {release}</span>
            {clocks}
            {fit}
        }
        .into_any(),
        None => view! { <span class="sub">"not recorded" {release}</span> }.into_any(),
    }
}

fn outcome_cell(attempt: &Attempt, next: Option<&Attempt>) -> AnyView {
    let (symbol, class) = match attempt.outcome {
        Outcome::Succeeded => ("s-succeeded", "mark succeeded"),
        Outcome::Failed => ("s-failed", "mark failed"),
        Outcome::Cancelled => ("s-deleted", "mark deleted"),
        Outcome::Lost | Outcome::Orphaned => ("i-unlink", "mark retrying"),
        Outcome::PutBack(_) => ("s-enqueued", "mark enqueued"),
        Outcome::Running => ("s-processing", "mark processing"),
        Outcome::Unknown => ("s-gone", "mark deleted"),
    };
    let label = attempt.outcome.label();
    let missing = attempt.row_missing.then(|| {
        view! { <span class="two">"Its row is missing: taken from the job\u{2019}s own state."</span> }
    });
    let words = match &attempt.outcome {
        Outcome::Failed => match &attempt.failure {
            Some(failure) => failure_words(failure),
            None => view! { <b>"Failed"</b> "; details no longer stored" }.into_any(),
        },
        Outcome::Lost => {
            let by = next
                .filter(|next| next.server != attempt.server)
                .and_then(|next| next.server.as_deref())
                .map_or_else(|| "another worker".to_owned(), kit::short_server);
            view! { <b>{label}</b> ", taken over by " <span class="mono">{stored(&by)}</span> }
                .into_any()
        }
        Outcome::PutBack(name) => {
            let into = if *name == StateName::Enqueued {
                ", into its queue".to_owned()
            } else {
                format!(", as {}", shown(name.as_str()))
            };
            view! { <b>{label}</b> {into} }.into_any()
        }
        Outcome::Orphaned => view! { <b>{label}</b> ": its server is gone" }.into_any(),
        Outcome::Cancelled => view! { <b>{label}</b> ": deleted while it ran" }.into_any(),
        _ => view! { <b>{label}</b> }.into_any(),
    };
    // The words above name the outcome, but for a failure they name its exception.
    let hidden = matches!(attempt.outcome, Outcome::Failed)
        .then(|| view! { <span class="vh">{label} " "</span> });
    view! {
        <span class=class>{icon(symbol)} {hidden}</span>
        <span>{words} {missing}</span>
    }
    .into_any()
}

fn failure_words(failure: &Failure) -> AnyView {
    let name = failure.exception_type.as_deref().map_or_else(
        || "Failed".to_owned(),
        |name| kit::line(short_type(name), 80),
    );
    let message = failure.message.as_deref().map_or_else(
        || "type and message are not stored".to_owned(),
        |message| kit::line(message, MESSAGE),
    );
    view! { <b>{stored(&name)}</b> " " {stored(&message)} }.into_any()
}

fn outside_row(page: &JobPage, failure: &Failure, retry: Option<&PlannedRetry>) -> AnyView {
    let backoff = retry.map(|retry| {
        view! { <span class="two">"Backoff before it: " {backoff_cell(page, retry)}</span> }
    });
    let reason = failure.reason.as_deref().map(|reason| {
        view! { <span class="two">{stored(&kit::line(reason, MESSAGE))}</span> }
    });
    view! {
        <tr class="is-outside" data-failure=failure.state_id.to_string()>
            <th scope="row" data-l="Failure">
                <span class="mark failed">{icon("s-failed")}</span>
                <span class="vh">"Failure outside any attempt"</span>
            </th>
            <td data-l="At">{kit::clock(failure.at, page.given.now)}</td>
            <td colspan="5" data-l="What">
                <b>"Failed before it could begin"</b>
                ": not an attempt. "
                {failure_words(failure)}
                {reason}
                {backoff}
            </td>
        </tr>
    }
    .into_any()
}

fn run_end_row(page: &JobPage, end: &RunEnd) -> AnyView {
    let which = end.attempt.map_or_else(
        || "A run whose beginning is no longer stored".to_owned(),
        |number| format!("Attempt {number}, which began on an older page,"),
    );
    let failure = end
        .failure
        .as_ref()
        .map(|failure| view! { ": " {failure_words(failure)} });
    let verb = if end.name == StateName::Failed {
        " failed"
    } else {
        " succeeded"
    };
    view! {
        <tr class="is-outside">
            <th scope="row" data-l="End">{icon("s-gone")} <span class="vh">"End of a run"</span></th>
            <td data-l="At">{kit::clock(end.at, page.given.now)}</td>
            <td colspan="5" data-l="What">{which} <b>{verb}</b> {failure}</td>
        </tr>
    }
    .into_any()
}

fn decision_row(page: &JobPage, decision: &Decision) -> AnyView {
    let hand = hand(
        decision.reason.as_deref(),
        decision.state_id,
        &page.given.audit,
    );
    match decision.opens_round {
        Some(round) => {
            let note = (round > 1).then(|| format!("Round {round} begins."));
            hand_row(page, decision.at, "requeued it", &hand, note)
        }
        None => hand_row(
            page,
            decision.at,
            "enqueued it without waiting for its due time",
            &hand,
            None,
        ),
    }
}

fn deleted_row(
    page: &JobPage,
    state_id: i64,
    at: Instant,
    reason: Option<&str>,
    dropped: Option<&PlannedRetry>,
) -> AnyView {
    let note = dropped.map(|retry| {
        format!(
            "Retry {} of {}, which was planned, was dropped.",
            retry.number, retry.of
        )
    });
    // Hangfire itself deletes too, and says why in sentences of its own.
    let by_itself = reason.is_some_and(|reason| {
        [
            "Exceeded the maximum",
            "Retries were disabled",
            "Automatic deletion",
            "Continuation condition",
            "Canceled by filter",
            "Background job has exceeded",
        ]
        .iter()
        .any(|start| reason.starts_with(start))
    });
    if by_itself {
        let hand = Hand {
            who: "Hangfire".to_owned(),
            why: reason.map(|reason| kit::line(reason, MESSAGE)),
            audited: false,
        };
        return hand_row(page, at, "deleted it", &hand, note);
    }
    let hand = hand(reason, state_id, &page.given.audit);
    hand_row(page, at, "deleted it", &hand, note)
}

fn hand_row(page: &JobPage, at: Instant, verb: &str, hand: &Hand, note: Option<String>) -> AnyView {
    let why = hand.why.as_ref().map(|why| {
        view! { ": \u{201c}" {stored(why)} "\u{201d}" }
    });
    let note = note.map(|note| view! { <span class="sub">" " {note}</span> });
    let audit = hand
        .audited
        .then(|| view! { <a href=page.urls.audit()>"audit"</a> });
    view! {
        <tr class="is-op">
            <th scope="row" data-l="By hand">
                {icon("i-person")} <span class="vh">"By hand"</span>
            </th>
            <td data-l="At">{kit::clock(at, page.given.now)}</td>
            <td colspan="4" data-l="What">
                <b>{stored(&hand.who)}</b>
                {format!(" {verb}")}
                {why}
                {note}
            </td>
            <td data-l="Audit">{audit}</td>
        </tr>
    }
    .into_any()
}

/// The retry that is planned: not an attempt yet.
fn planned_row(page: &JobPage) -> Option<AnyView> {
    let Next::Retry(retry) = &page.next else {
        return None;
    };
    let due = retry.due_at.map(|at| {
        view! { {kit::clock(at, page.given.now)} <span class="sub">" due"</span> }
    });
    let number = format!("{}{}", page.timeline.attempts_so_far() + 1, page.suffix());
    Some(
        view! {
            <tr
                class="is-next"
                data-planned-retry=retry.number.to_string()
                data-backoff-ms=ms_text(retry.backoff_ms)
            >
                <th scope="row" data-l="Attempt">
                    <b>{number}</b>
                    <span class="sub">{format!(" retry {} of {}", retry.number, retry.of)}</span>
                </th>
                <td data-l="Queued">{due}</td>
                <td data-l="Backoff">{backoff_cell(page, retry)}</td>
                <td data-l="Waited">"\u{2013}"</td>
                <td data-l="Ran">"\u{2013}"</td>
                <td data-l="Outcome" class="att-o">
                    <span class="mark retrying">{icon("s-retrying")}</span>
                    <span>"planned"</span>
                </td>
                <td data-l="Server">"\u{2013}"</td>
            </tr>
        }
        .into_any(),
    )
}
