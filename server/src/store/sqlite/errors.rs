//! What an error of `SQLite` means to the reader of a page.

use app::ports::error::StoreError;

use super::work::READ_LIMIT;

/// The primary result code of `SQLite`, where the error came from there.
fn code(error: &sqlx::Error) -> Option<i32> {
    let sqlx::Error::Database(database) = error else {
        return None;
    };
    let extended: i32 = database.code()?.parse().ok()?;
    Some(extended & 0xff)
}

/// Another connection holds the lock.
pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(code(error), Some(5 | 6))
}

/// The file, or the place it lies in, cannot be written.
pub(super) fn is_read_only(error: &sqlx::Error) -> bool {
    matches!(code(error), Some(8 | 14))
}

/// Sorts an error by what the operator can do about it.
pub(super) fn sort(error: &sqlx::Error) -> StoreError {
    let text = || match error {
        sqlx::Error::Database(database) => database.message().to_owned(),
        other => other.to_string(),
    };
    match (code(error), error) {
        (Some(9), _) => StoreError::TimedOut(READ_LIMIT),
        (Some(5 | 6), _) => {
            StoreError::Away(format!("another process holds the file ({})", text()))
        }
        (Some(8), _) => StoreError::Forbidden(text()),
        (Some(10 | 13 | 14), _)
        | (None, sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::Io(_)) => {
            StoreError::Away(text())
        }
        (Some(11 | 26), _) => StoreError::Unreadable(format!(
            "the file is damaged or no SQLite file ({})",
            text()
        )),
        (Some(1), _) if text().starts_with("no such ") => {
            StoreError::Unreadable(format!("the tables are not as expected: {}", text()))
        }
        _ => StoreError::Internal(text()),
    }
}
