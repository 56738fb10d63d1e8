//! From the driver's errors to the port's.

use std::time::Duration;

use app::ports::error::StoreError;
use sqlx::Error;
use sqlx::postgres::PgDatabaseError;

/// Longest a read may take.
pub const READ_LIMIT: Duration = Duration::from_secs(5);

/// What the driver's error means to a page.
pub fn map(error: &Error) -> StoreError {
    match error {
        Error::Database(database) => match database.try_downcast_ref::<PgDatabaseError>() {
            Some(known) => by_code(known.code(), known.message()),
            None => StoreError::Internal(database.message().to_owned()),
        },
        Error::Io(cause) => StoreError::Away(cause.to_string()),
        Error::Tls(cause) => StoreError::Away(format!("no encrypted connection: {cause}")),
        Error::PoolTimedOut => StoreError::Away("no connection was to be had in time".to_owned()),
        Error::PoolClosed | Error::WorkerCrashed => {
            StoreError::Away("the connections were closed".to_owned())
        }
        Error::Protocol(cause) => StoreError::Away(format!("the connection broke: {cause}")),
        // The driver's configuration errors quote what they could not read; that may be a URL.
        Error::Configuration(_) => {
            StoreError::Unreadable("the database's configuration cannot be used".to_owned())
        }
        other => StoreError::Internal(other.to_string()),
    }
}

/// By SQLSTATE; see appendix A of the `PostgreSQL` manual.
fn by_code(code: &str, message: &str) -> StoreError {
    match code {
        "57014" => StoreError::TimedOut(READ_LIMIT),
        // undefined table, schema, column, function; and types that do not fit
        "42P01" | "3F000" | "42703" | "42883" | "42804" => {
            StoreError::Unreadable(format!("the tables are not as expected: {message}"))
        }
        "42501" => StoreError::Forbidden(format!("the database role may not read this: {message}")),
        "25006" => StoreError::Forbidden(format!("the database only allows reading: {message}")),
        // lock not available: somebody else works on it
        "55P03" => StoreError::Away(format!("a lock was not free in time: {message}")),
        // database does not exist; bad password; role unknown
        "3D000" | "28P01" | "28000" => StoreError::Away(message.to_owned()),
        // connection exceptions, shutting down, out of connections or memory, disk
        _ if code.starts_with("08") || code.starts_with("57P") || code.starts_with("53") => {
            StoreError::Away(message.to_owned())
        }
        _ => StoreError::Internal(format!("{message} (SQLSTATE {code})")),
    }
}

/// Whether a read may succeed after a new look at the catalogue: the tables changed under us, as
/// when a newer Hangfire migrates them.
pub fn is_changed_layout(error: &Error) -> bool {
    matches!(error, Error::Database(database)
        if database.code().is_some_and(|code| code.starts_with("42") && code != "42501"))
}

/// Whether somebody else held a lock for too long (SQLSTATE 55P03), or a deadlock or
/// serialization failure ended us (40xxx): nothing was changed, trying again may work.
pub fn is_busy(error: &Error) -> bool {
    matches!(error, Error::Database(database)
        if database.code().is_some_and(|code| code == "55P03" || code.starts_with("40")))
}

/// Whether a name did not mean the statement that we gave it: it is unknown (SQLSTATE 26000), taken
/// (42P05), or means one with other parameters (08P01).
pub fn is_lost_name(error: &Error) -> bool {
    matches!(error, Error::Database(database) if database
        .code()
        .is_some_and(|code| ["26000", "42P05", "08P01"].contains(&code.as_ref())))
}

/// Whether a named statement would have other columns now, because its table changed (SQLSTATE
/// 0A000, which a plain read does not meet otherwise).
pub fn is_stale_plan(error: &Error) -> bool {
    matches!(error, Error::Database(database) if database.code().as_deref() == Some("0A000"))
}
