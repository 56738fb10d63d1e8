//! What single rows say.

use crate::model::attempt::{Failure, PlannedRetry, Release, Span};
use crate::model::state::{Instant, StateName, StateRow};
use crate::model::timeline::Waiting;

/// What tells one failure's data from another's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FailedKey<'a> {
    failed_at: &'a str,
    exception_type: Option<&'a str>,
    message: Option<&'a str>,
}

impl<'a> FailedKey<'a> {
    /// `None` where the row does not say when it failed: nothing then shows that it repeats one.
    pub(super) fn of(row: &'a StateRow) -> Option<Self> {
        Some(Self {
            failed_at: row.data.get("FailedAt")?,
            exception_type: row.data.get("ExceptionType"),
            message: row.data.get("ExceptionMessage"),
        })
    }
}

/// When a `Scheduled` row is due.
pub(super) fn due(row: &StateRow) -> Option<Instant> {
    row.data.date("EnqueueAt")
}

/// The value of the first key that the row has.
pub(super) fn text(row: &StateRow, keys: &[&str]) -> Option<String> {
    keys.iter()
        .find_map(|key| row.data.get(key))
        .map(str::to_owned)
}

pub(super) fn failure(row: &StateRow) -> Failure {
    Failure {
        state_id: row.id,
        at: row.created_at,
        reason: row.reason.clone(),
        exception_type: text(row, &["ExceptionType"]),
        message: text(row, &["ExceptionMessage"]),
        details: text(row, &["ExceptionDetails"]),
        details_chars: row.details_chars,
        retry: None,
    }
}

/// The retry that a row plans. The policy's delay is `EnqueueAt` minus `ScheduledAt`, both by the
/// clock that chose it; the row's own time includes the way to the database.
pub(in crate::model::timeline) fn planned_retry(
    row: &StateRow,
    number: u32,
    of: u32,
) -> PlannedRetry {
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

pub(super) fn waiting(row: &StateRow) -> Waiting {
    Waiting {
        state_id: row.id,
        name: row.name.clone(),
        at: row.created_at,
        reason: row.reason.clone(),
        due_at: due(row),
    }
}
