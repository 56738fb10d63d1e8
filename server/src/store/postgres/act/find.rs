//! Reading, inside the transaction, what an action is decided from.

use app::actions::found::{FoundJob, FoundServer};
use app::model::invocation::Arguments;
use app::model::state::{Instant, StateName, StateRow};
use sqlx::{Error, Row as _};

use super::Layout;
use crate::store::decode;
use crate::store::postgres::conn::Conn;
use crate::store::postgres::job::{parameters, queue_row, state_row};

/// The lock leaves the job's foreign keys alone: state rows and parameters can still be added.
const JOB: &str = "
SELECT j.stateid::bigint AS state_id, j.statename::text AS state,
  {utc j.createdat} AS created_at, {utc j.expireat} AS expire_at,
  {without j.invocationdata Arguments} AS invocation
FROM {s}.job j WHERE j.id = $1 FOR NO KEY UPDATE";

const STATE: &str = "
SELECT c.id::bigint AS id, c.name::text AS name, c.reason::text AS reason,
  {utc c.createdat} AS created_at, d.chars AS details_chars, d.data AS data
FROM {s}.state c CROSS JOIN LATERAL (SELECT {details c.data}) d
WHERE c.id = $2 AND c.jobid = $1";

/// Sorting by an expression keeps the planner to this job's rows.
const BEFORE: &str = "
SELECT c.id::bigint AS id FROM {s}.state c
WHERE c.jobid = $1 AND c.id < $2 AND c.name <> 'Deleted' ORDER BY c.id + 0 DESC LIMIT 1";

const LAST_QUEUE: &str = "
SELECT {key c.data Queue} AS queue FROM {s}.state c
WHERE c.jobid = $1 AND c.name = 'Enqueued' ORDER BY c.id + 0 DESC LIMIT 1";

/// Locked, so that no worker takes one while it is decided what becomes of them: workers skip
/// locked rows.
const QUEUE_ROWS: &str = "
SELECT q.id::bigint AS id, q.queue::text AS queue, {utc q.fetchedat} AS fetched_at
FROM {s}.jobqueue q WHERE q.jobid = $1 ORDER BY q.id FOR UPDATE";

const SINCE: &str = "
SELECT {utc c.createdat} AS since FROM {s}.state c WHERE c.id = $2 AND c.jobid = $1";

const SERVERS: &str = "
SELECT v.id::text AS id,
  (extract(epoch FROM clock_timestamp() - {utc v.lastheartbeat}) * 1000)::bigint AS age,
  CASE WHEN pg_column_size(v.data) <= 65536 THEN {raw v.data} END AS data
FROM {s}.server v ORDER BY v.id LIMIT 10000";

/// The schema's version at this moment: a newer Hangfire may have upgraded it since we looked.
pub(super) async fn version(conn: &mut Conn, layout: &Layout) -> Result<Option<i32>, Error> {
    sqlx::query_scalar(layout.sql("SELECT max(version)::int FROM {s}.schema"))
        .fetch_one(conn)
        .await
}

/// The database's clock.
pub async fn now(conn: &mut Conn) -> Result<Instant, Error> {
    sqlx::query_scalar("SELECT clock_timestamp()")
        .fetch_one(conn)
        .await
}

/// When a state row of a job was written.
pub(super) async fn since(
    conn: &mut Conn,
    layout: &Layout,
    job: i64,
    state: i64,
) -> Result<Option<Instant>, Error> {
    let row = sqlx::query(layout.sql(SINCE))
        .bind(job)
        .bind(state)
        .fetch_optional(conn)
        .await?;
    row.map_or(Ok(None), |row| row.try_get("since"))
}

/// A job, its row and its queue rows locked.
pub(super) async fn job(
    conn: &mut Conn,
    layout: &Layout,
    id: i64,
) -> Result<Option<FoundJob>, Error> {
    let Some(row) = sqlx::query(layout.sql(JOB))
        .bind(id)
        .fetch_optional(&mut *conn)
        .await?
    else {
        return Ok(None);
    };
    // The rows that hang on it are read in statements of their own: one statement would see them
    // as they were before it waited for the lock.
    let state_id: Option<i64> = row.try_get("state_id")?;
    let state: Option<String> = row.try_get("state")?;
    let state = state.as_deref().map(StateName::parse);
    let invocation: Option<String> = row.try_get("invocation")?;
    let current = match state_id {
        Some(state_id) => state_by_id(conn, layout, id, state_id).await?,
        None => None,
    };
    let before = match state_id {
        Some(state_id) if state == Some(StateName::Deleted) => {
            before(conn, layout, id, state_id).await?
        }
        _ => None,
    };
    let (parameters, _) = parameters(conn, layout, id).await?;
    Ok(Some(FoundJob {
        id,
        state,
        state_id,
        unsettled: false,
        current,
        before,
        last_queue: last_queue(conn, layout, id).await?,
        own_queue: decode::invocation(
            invocation.as_deref().unwrap_or_default(),
            Arguments::TooLarge,
        )
        .own_queue,
        created_at: super::at(row.try_get("created_at")?),
        expire_at: row.try_get("expire_at")?,
        parameters,
        queue_rows: sqlx::query(layout.sql(QUEUE_ROWS))
            .bind(id)
            .fetch_all(conn)
            .await?
            .iter()
            .map(queue_row)
            .collect::<Result<_, _>>()?,
    }))
}

async fn state_by_id(
    conn: &mut Conn,
    layout: &Layout,
    job: i64,
    id: i64,
) -> Result<Option<StateRow>, Error> {
    let row = sqlx::query(layout.sql(STATE))
        .bind(job)
        .bind(id)
        .fetch_optional(conn)
        .await?;
    row.as_ref().map(state_row).transpose()
}

/// What a deleted job was: its newest older row that is not `Deleted`.
async fn before(
    conn: &mut Conn,
    layout: &Layout,
    job: i64,
    current: i64,
) -> Result<Option<StateRow>, Error> {
    let id: Option<i64> = sqlx::query_scalar(layout.sql(BEFORE))
        .bind(job)
        .bind(current)
        .fetch_optional(&mut *conn)
        .await?;
    match id {
        Some(id) => state_by_id(conn, layout, job, id).await,
        None => Ok(None),
    }
}

async fn last_queue(conn: &mut Conn, layout: &Layout, job: i64) -> Result<Option<String>, Error> {
    let queue: Option<Option<String>> = sqlx::query_scalar(layout.sql(LAST_QUEUE))
        .bind(job)
        .fetch_optional(conn)
        .await?;
    Ok(queue
        .flatten()
        .map(|queue| layout.plain("state", "data", queue)))
}

/// Every server, with its heartbeat's age by the database's clock.
pub(super) async fn servers(conn: &mut Conn, layout: &Layout) -> Result<Vec<FoundServer>, Error> {
    sqlx::query(layout.sql(SERVERS))
        .fetch_all(conn)
        .await?
        .iter()
        .map(|row| {
            let json: Option<String> = row.try_get("data")?;
            Ok(FoundServer {
                id: row.try_get("id")?,
                heartbeat_age_ms: row.try_get::<Option<i64>, _>("age")?.unwrap_or(i64::MAX),
                queues: decode::server_data(json.as_deref().unwrap_or_default()).queues,
            })
        })
        .collect()
}
