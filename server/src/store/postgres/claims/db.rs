//! Transactions on the database that the claims live in.

use crate::store::postgres::conn::{Conn, begin};
use app::ports::error::StoreError;
use tokio::time::Instant;

use crate::store::postgres::errors;
use crate::store::postgres::pool::{Pool, Purpose};
use crate::store::postgres::session::{Work, spawned};

/// One snapshot for all statements. Claim times are read as text, so zone and style are fixed.
const BEGIN: &str = begin!(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET LOCAL statement_timeout = 5000",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO, MDY'",
);

/// What [`BEGIN`] sets for texts of times, in a transaction of another kind.
pub(super) const AS_TEXT: &str = "SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, MDY'";

/// Runs a read transaction on claims.
///
/// # Errors
/// As the database's; [`StoreError::Unreadable`] also for a value that its column cannot hold.
pub(super) async fn read<T, F>(pool: &Pool, work: F) -> Result<T, StoreError>
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut Conn) -> Work<'c, T> + Send + 'static,
{
    let (times, began) = (pool.times().clone(), Instant::now());
    let pool = pool.clone();
    let read = spawned(async move {
        let result = async {
            // Unnamed statements, each planned for its own values: the share of claims that are
            // stale decides which index serves.
            let mut transaction = pool.begin(Purpose::Rare, BEGIN).await?;
            let result = work(&mut transaction.conn).await;
            transaction.leave();
            result
        }
        .await;
        result.map_err(|error| map(&error))
    })
    .await;
    times.count(began.elapsed(), &read);
    read
}

/// What a driver's error means where claims are read.
pub(super) fn map(error: &sqlx::Error) -> StoreError {
    match error {
        sqlx::Error::Database(database) if is_odd_value(error) => StoreError::Unreadable(format!(
            "a value does not fit its column: {}",
            database.message()
        )),
        _ => errors::map(error),
    }
}

/// Whether the database could not read a value as one of a column's type (SQLSTATE 22xxx).
pub(super) fn is_odd_value(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(database)
        if database.code().is_some_and(|code| code.starts_with("22")))
}

/// Whether the table's own rules did not allow a change (SQLSTATE 23xxx), or a trigger of it (P0xxx).
pub(super) fn is_violation(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(database)
        if database.code().is_some_and(|code| code.starts_with("23") || code.starts_with("P0")))
}
