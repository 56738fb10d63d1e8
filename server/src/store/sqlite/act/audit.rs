//! Audit rows: written with the action, or afterwards where nothing was done.

use app::actions::Request;
use app::model::state::StateName;
use app::ports::audit::AuditStore as _;
use app::ports::error::StoreError;
use sqlx::SqliteConnection;
use uuid::Uuid;

use super::Entry;
use crate::store::sqlite::SqliteStore;

const INSERT: &str = "INSERT INTO redrive_audit (id, source, at, actor, authenticated, action, job, \
     seen_state, seen_state_id, before_state, before_state_id, after_state, after_state_id, reason, \
     outcome, note) SELECT ?, s.id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM redrive_source s \
     WHERE s.hangfire_schema = 'main' ON CONFLICT (id) DO NOTHING";

/// Writes a row.
///
/// # Errors
/// The database's; [`sqlx::Error::RowNotFound`] where a row of that id is there already: the action
/// has been done.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    id: Uuid,
    request: &Request,
    entry: &Entry,
) -> Result<(), sqlx::Error> {
    let (before, before_id) = entry.before.clone().unzip();
    let (after, after_id) = entry.after.clone().unzip();
    let written = sqlx::query(INSERT)
        .bind(id.to_string())
        .bind(entry.at.timestamp_micros())
        .bind(&request.actor.name)
        .bind(request.actor.authenticated)
        .bind(request.action.slug())
        .bind(request.seen.job)
        .bind(request.seen.state.as_str())
        .bind(request.seen.state_id)
        .bind(before.as_ref().map(StateName::as_str))
        .bind(before_id)
        .bind(after.as_ref().map(StateName::as_str))
        .bind(after_id)
        .bind(&request.reason)
        .bind(entry.outcome.slug())
        .bind(entry.outcome.sentence())
        .execute(connection)
        .await?;
    if written.rows_affected() == 1 {
        Ok(())
    } else {
        Err(sqlx::Error::RowNotFound)
    }
}

/// Whether a row is there that says that the action was done.
///
/// # Errors
/// The file's.
pub(super) async fn is_there(store: &SqliteStore, id: Uuid) -> Result<bool, StoreError> {
    let row = store.audit_row(id).await?;
    Ok(row.is_some_and(|row| row.outcome == "done"))
}
