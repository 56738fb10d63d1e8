//! What single rows say of spans and plans: shared by the timeline and by the collector's fold.

use crate::model::attempt::{PlannedRetry, Release, Span};
use crate::model::state::{Instant, StateName, StateRow};

/// A first row this close to the job's creation shows that nothing is missing before it.
pub(in crate::model) const CREATION_MS: i64 = 60_000;

/// A `PerformanceDuration` may be this much longer than its rows' span; a longer one belongs to
/// another worker's run.
const REPORTED_TOLERANCE_MS: i64 = 10;

/// When a `Scheduled` row is due.
pub(in crate::model) fn due(row: &StateRow) -> Option<Instant> {
    row.data.date("EnqueueAt")
}

/// How long an attempt ran that a `Succeeded` row ended, and a reported figure that belongs to
/// another worker's run. `span` is the difference of the two rows.
pub(in crate::model) fn ran(span: Span, row: &StateRow) -> (Span, Option<i64>) {
    let reported = row
        .data
        .millis("PerformanceDuration")
        .filter(|reported| *reported >= 0);
    match reported {
        Some(reported) if reported - span.ms.unwrap_or(0) > REPORTED_TOLERANCE_MS => {
            (span, Some(reported))
        }
        Some(reported) => (Span::of_ms(reported), None),
        None => (span, None),
    }
}

/// The retry that a row plans. The policy's delay is `EnqueueAt` minus `ScheduledAt`, both by the
/// clock that chose it; the row's own time includes the way to the database.
pub(in crate::model) fn planned_retry(row: &StateRow, number: u32, of: u32) -> PlannedRetry {
    if row.name == StateName::Enqueued {
        return PlannedRetry {
            state_id: row.id,
            number,
            of,
            due_at: None,
            backoff_ms: Some(0),
            clocks_disagree_ms: 0,
            release: Release::OnTime(row.created_at),
        };
    }
    let due_at = due(row);
    let planned_at = row.data.date("ScheduledAt").unwrap_or(row.created_at);
    let backoff = due_at.map_or(Span::NOT_RECORDED, |due| Span::between(planned_at, due));
    PlannedRetry {
        state_id: row.id,
        number,
        of,
        due_at,
        backoff_ms: backoff.ms,
        clocks_disagree_ms: backoff.clocks_disagree_ms,
        release: Release::Pending,
    }
}
