//! What single rows say.

use super::rules::due;
use crate::model::attempt::Failure;
use crate::model::state::StateRow;
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

pub(super) fn waiting(row: &StateRow) -> Waiting {
    Waiting {
        state_id: row.id,
        name: row.name.clone(),
        at: row.created_at,
        reason: row.reason.clone(),
        due_at: due(row),
    }
}
