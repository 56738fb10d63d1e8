//! What a decision is made from, read inside the action's transaction.

use app::actions::decide::{held, scheduler_at_work, stale_lock_note};
use app::actions::found::{FoundJob, FoundServer};
use app::model::state::{Instant, StateName, StateRow};
use sqlx::{AssertSqlSafe, SqliteConnection};

use super::Halt;
use crate::store::decode;
use crate::store::sqlite::sql::{CURRENT, NEWEST, UNSETTLED, member};
use crate::store::sqlite::{job as jobs, rows, ticks};

/// Looks for Hangfire's lock of a job. One that has expired was left behind by a crash: it is
/// cleared, with a note.
///
/// # Errors
/// [`app::actions::Outcome::Busy`] where a live one stands.
pub(super) async fn lock(
    connection: &mut SqliteConnection,
    job: i64,
    now: Instant,
) -> Result<Option<String>, Halt> {
    let resource = format!("HangFire:job:{job}:state-lock");
    let Some(row) =
        sqlx::query("SELECT ExpireAt AS expire_at FROM DistributedLock WHERE Resource = ?")
            .bind(&resource)
            .fetch_optional(&mut *connection)
            .await?
    else {
        return Ok(None);
    };
    let expired = rows::instant(&row, "expire_at")?.unwrap_or_default();
    if expired > now {
        return Err(held(job, None, now).into());
    }
    sqlx::query("DELETE FROM DistributedLock WHERE Resource = ?")
        .bind(&resource)
        .execute(connection)
        .await?;
    Ok(Some(stale_lock_note(job, expired)))
}

/// Refuses while the scheduler holds its lock: it may be releasing the job.
///
/// # Errors
/// [`app::actions::Outcome::Busy`] where a live lock stands.
pub(super) async fn scheduler(connection: &mut SqliteConnection, now: Instant) -> Result<(), Halt> {
    let row = sqlx::query(
        "SELECT ExpireAt AS expire_at FROM DistributedLock \
         WHERE Resource = 'HangFire:locks:schedulepoller'",
    )
    .fetch_optional(connection)
    .await?;
    match row {
        Some(row) if rows::instant(&row, "expire_at")?.is_some_and(|at| at > now) => {
            Err(scheduler_at_work(None).into())
        }
        _ => Ok(()),
    }
}

/// A job, with what hangs on it.
pub(super) async fn job(
    connection: &mut SqliteConnection,
    id: i64,
) -> Result<Option<FoundJob>, sqlx::Error> {
    let Some(row) = sqlx::query(AssertSqlSafe(format!(
        "SELECT *, {UNSETTLED} AS unsettled FROM (SELECT j.StateName AS state, \
         {CURRENT} AS current, {NEWEST} AS newest, {} AS own_queue, \
         (SELECT {} FROM State e WHERE e.JobId = j.Id AND e.Name = 'Enqueued' \
         ORDER BY e.Id DESC LIMIT 1) AS last_queue, \
         j.CreatedAt AS created_at, j.ExpireAt AS expire_at FROM Job j WHERE j.Id = ?)",
        member!("j.InvocationData", "Queue"),
        member!("e.Data", "Queue"),
    )))
    .bind(id)
    .fetch_optional(&mut *connection)
    .await?
    else {
        return Ok(None);
    };
    let state = rows::text(&row, "state")?.map(|name| StateName::parse(&name));
    let state_id = rows::int(&row, "current")?;
    let current = match state_id {
        Some(state_id) => state_row(connection, id, state_id).await?,
        None => None,
    };
    let before = match state_id {
        Some(state_id) if state == Some(StateName::Deleted) => {
            before(connection, id, state_id).await?
        }
        _ => None,
    };
    let (parameters, _) = jobs::parameters(connection, id).await?;
    Ok(Some(FoundJob {
        id,
        state,
        state_id,
        unsettled: rows::int(&row, "unsettled")? == Some(1),
        current,
        before,
        last_queue: rows::text(&row, "last_queue")?,
        own_queue: rows::text(&row, "own_queue")?.filter(|queue| !queue.is_empty()),
        created_at: rows::instant(&row, "created_at")?.unwrap_or_default(),
        expire_at: rows::instant(&row, "expire_at")?,
        parameters,
        queue_rows: jobs::queue_rows(connection, id).await?,
    }))
}

async fn state_row(
    connection: &mut SqliteConnection,
    job: i64,
    id: i64,
) -> Result<Option<StateRow>, sqlx::Error> {
    let mut newest = jobs::history(connection, job, id.saturating_add(1), 1).await?;
    Ok(newest.pop().filter(|row| row.id == id))
}

/// What a deleted job was: its newest older row that is not `Deleted`.
async fn before(
    connection: &mut SqliteConnection,
    job: i64,
    current: i64,
) -> Result<Option<StateRow>, sqlx::Error> {
    let row = sqlx::query(
        "SELECT Id AS id FROM State WHERE JobId = ? AND Id < ? \
         AND Name <> 'Deleted' COLLATE NOCASE ORDER BY Id DESC LIMIT 1",
    )
    .bind(job)
    .bind(current)
    .fetch_optional(&mut *connection)
    .await?;
    match row
        .as_ref()
        .map(|row| rows::int(row, "id"))
        .transpose()?
        .flatten()
    {
        Some(id) => state_row(connection, job, id).await,
        None => Ok(None),
    }
}

/// When a state row of a job was written.
pub(super) async fn since(
    connection: &mut SqliteConnection,
    job: i64,
    state: i64,
) -> Result<Option<Instant>, sqlx::Error> {
    let row = sqlx::query("SELECT CreatedAt AS since FROM State WHERE Id = ? AND JobId = ?")
        .bind(state)
        .bind(job)
        .fetch_optional(connection)
        .await?;
    row.map_or(Ok(None), |row| rows::instant(&row, "since"))
}

/// Every server, with its heartbeat's age by the host's clock.
pub(super) async fn servers(
    connection: &mut SqliteConnection,
    now: Instant,
) -> Result<Vec<FoundServer>, sqlx::Error> {
    let found = sqlx::query(
        "SELECT Id AS id, LastHeartbeat AS heartbeat_at, \
         CASE WHEN octet_length(Data) <= 65536 THEN Data END AS data FROM Server ORDER BY Id",
    )
    .fetch_all(connection)
    .await?;
    found
        .iter()
        .map(|row| {
            let heartbeat = ticks::instant(rows::int(row, "heartbeat_at")?);
            Ok(FoundServer {
                id: rows::text(row, "id")?.unwrap_or_default(),
                heartbeat_age_ms: heartbeat.map_or(i64::MAX, |at| (now - at).num_milliseconds()),
                queues: decode::server_data(&rows::text(row, "data")?.unwrap_or_default()).queues,
            })
        })
        .collect()
}
