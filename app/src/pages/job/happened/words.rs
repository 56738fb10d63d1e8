//! The line and the table in words.

use std::fmt::Write as _;

use crate::charts::lifeline::layout::Step;
use crate::model::attempt::{PlannedRetry, Release, millis_between};
use crate::model::policy::Band;
use crate::model::state::Instant;
use crate::model::words::{duration, duration_range};
use crate::pages::job::JobPage;

/// What the line shows, in a sentence or two.
pub(super) fn finding(page: &JobPage) -> String {
    let total = page.timeline.attempts_so_far();
    let attempts: Vec<_> = page.timeline.attempts().collect();
    let mut text = format!("Timeline of job {}: ", page.record().id);
    match total {
        0 => text.push_str("no attempt so far"),
        1 => {
            let _ = write!(text, "{} attempt", page.timeline.count_label(1));
        }
        n => {
            let _ = write!(text, "{} attempts", page.timeline.count_label(n));
        }
    }
    let parts: Vec<String> = OUTCOMES
        .iter()
        .filter_map(|(slug, word)| {
            let of_it = attempts
                .iter()
                .filter(|attempt| attempt.outcome.slug() == *slug)
                .count();
            (of_it > 0).then(|| format!("{of_it} {word}"))
        })
        .collect();
    if !parts.is_empty() {
        let _ = write!(text, " ({})", parts.join(", "));
    }
    if let (Some(first), Some(last)) = (attempts.first(), attempts.last()) {
        let end = last.ended_at.unwrap_or(last.started_at);
        let _ = write!(
            text,
            " between {} and {}",
            moment(first.started_at),
            moment(end)
        );
    }
    let requeues = page
        .timeline
        .decisions()
        .filter(|decision| decision.opens_round.is_some())
        .count();
    match requeues {
        0 => {}
        1 => text.push_str(", requeued once"),
        n => {
            let _ = write!(text, ", requeued {n} times");
        }
    }
    if let Some(retry) = page.pending() {
        let due = retry
            .due_at
            .map(|at| format!(", due {}", moment(at)))
            .unwrap_or_default();
        let _ = write!(
            text,
            "; retry {} of {} is planned{due}",
            retry.number, retry.of
        );
    }
    text.push_str(". The table below holds the same facts.");
    text
}

const OUTCOMES: [(&str, &str); 8] = [
    ("failed", "failed"),
    ("lost", "interrupted"),
    ("cancelled", "cancelled"),
    ("put-back", "put back"),
    ("succeeded", "succeeded"),
    ("running", "running"),
    ("orphaned", "orphaned"),
    ("unknown", "unknown"),
];

fn moment(at: Instant) -> String {
    at.format("%-d %b %Y %H:%M:%S UTC").to_string()
}

/// What became of a planned retry, to follow `30 s planned`.
pub(super) fn release(retry: &PlannedRetry, now: Instant) -> String {
    match retry.release {
        Release::OnTime(_) => match retry.late().and_then(|late| late.ms) {
            Some(0) => ", released on time".to_owned(),
            Some(late) => format!(", released {} after it was due", duration(late)),
            None => String::new(),
        },
        Release::ByHand(at) => match retry.due_at {
            Some(due) if at < due => format!(
                ", released by hand {} before it was due",
                duration(millis_between(at, due))
            ),
            Some(due) => format!(
                ", released by hand {} after it was due",
                duration(millis_between(due, at))
            ),
            None => ", released by hand".to_owned(),
        },
        Release::Pending => match retry.due_at {
            Some(due) if due > now => format!(", due in {}", duration(millis_between(now, due))),
            Some(due) => format!(", overdue by {}", duration(millis_between(due, now))),
            None => String::new(),
        },
        Release::Dropped(_) => ", never released".to_owned(),
    }
}

/// So many planned runs are drawn.
const STEPS: usize = 10;

/// The planned runs, for the line: those whose time is known or inferred.
pub(super) fn steps(page: &JobPage, retry: &PlannedRetry) -> Vec<Step> {
    let Some(due) = retry.due_at else {
        return Vec::new();
    };
    let mut steps = vec![Step {
        number: retry.number.to_string(),
        delay: duration(millis_between(page.given.now, due).max(0)),
        due,
        delay_ms: retry.backoff_ms.unwrap_or(0),
    }];
    let runs = page.plan.iter().flat_map(|plan| plan.runs.iter().skip(1));
    steps.extend(
        runs.map_while(|run| {
            let (wait, at) = (run.wait?, run.at?);
            Some(Step {
                number: run.number.to_string(),
                delay: compact(wait),
                due: at.earliest,
                delay_ms: wait.min_ms,
            })
        })
        .take(STEPS - 1),
    );
    steps
}

/// A band in one unit: `15–44 s`, `4–7 min`.
pub(in crate::pages::job) fn compact(band: Band) -> String {
    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 60 * MINUTE;
    let (unit, word) = match band.max_ms {
        ..=119_999 => (1_000, "s"),
        120_000..=7_199_999 => (MINUTE, "min"),
        _ => (HOUR, "h"),
    };
    // Down for the shortest and up for the longest, lest the band look narrower than it is.
    let from = band.min_ms / unit;
    let to = band.max_ms.saturating_add(unit - 1) / unit;
    if band.min_ms == band.max_ms {
        duration(band.min_ms)
    } else {
        format!("{from}\u{2013}{to} {word}")
    }
}

/// Whether a retry's backoff fits the band of the inferred policy, in words. `None` where no policy
/// could be inferred or the backoff is not known.
pub(super) fn fit(page: &JobPage, retry: &PlannedRetry) -> Option<(bool, String)> {
    let policy = page.policy.as_ref()?;
    let band = policy.band(retry.number)?;
    let fits = band.holds(retry.backoff_ms?);
    let range = duration_range(band.min_ms, band.max_ms);
    let words = if fits {
        format!("fits the inferred {range}")
    } else {
        format!("outside the inferred {range}")
    };
    Some((fits, words))
}
