//! One job whole.

use std::collections::{BTreeMap, HashMap};

use app::model::data::StateData;
use app::model::invocation::Arguments;
use app::model::job::{Continuation, JobRecord, QueueRow};
use app::model::state::{Instant, StateName, StateRow};
use app::ports::error::StoreError;
use sqlx::postgres::PgRow;
use sqlx::{Error, Row as _};

use super::conn::Conn;
use super::layout::Layout;
use super::list::{created_at, current};
use super::session::Session;
use crate::store::decode;

/// Waiting jobs that are looked up at most.
const CONTINUATIONS: usize = 1_000;

/// See [`app::ports::jobs::JobStore::job`].
pub async fn job(session: &Session, id: i64, states: u32) -> Result<Option<JobRecord>, StoreError> {
    session
        .read(move |conn, layout| Box::pin(async move { record(conn, &layout, id, states).await }))
        .await
}

/// See [`app::ports::jobs::JobStore::states_before`].
pub async fn states_before(
    session: &Session,
    job: i64,
    before: i64,
    limit: u32,
) -> Result<Vec<StateRow>, StoreError> {
    session
        .read(move |conn, layout| {
            Box::pin(async move { state_rows(conn, &layout, job, before, limit).await })
        })
        .await
}

/// See [`app::ports::jobs::JobStore::failure_details`].
pub async fn failure_details(
    session: &Session,
    job: i64,
    state: i64,
) -> Result<Option<String>, StoreError> {
    session
        .read(move |conn, layout| {
            Box::pin(async move {
                let row = sqlx::query(layout.sql(
                    "SELECT {raw c.data} AS data FROM {s}.state c \
                     WHERE c.id = $2 AND c.jobid = $1 AND pg_column_size(c.data) <= 67108864",
                ))
                .bind(job)
                .bind(state)
                .fetch_optional(conn)
                .await?;
                let json: Option<String> = match row {
                    Some(row) => row.try_get("data")?,
                    None => None,
                };
                let data = StateData::parse_column(json.as_deref());
                Ok(data.get("ExceptionDetails").map(str::to_owned))
            })
        })
        .await
}

/// See [`app::ports::jobs::JobStore::neighbours`].
pub async fn neighbours(
    session: &Session,
    id: i64,
) -> Result<(Option<i64>, Option<i64>), StoreError> {
    session
        .read(move |conn, layout| {
            Box::pin(async move {
                let row = sqlx::query(layout.sql(
                    "SELECT (SELECT j.id::bigint FROM {s}.job j WHERE j.id < $1 \
                             ORDER BY j.id DESC LIMIT 1) AS older, \
                            (SELECT j.id::bigint FROM {s}.job j WHERE j.id > $1 \
                             ORDER BY j.id LIMIT 1) AS newer",
                ))
                .bind(id)
                .fetch_one(conn)
                .await?;
                Ok((row.try_get("older")?, row.try_get("newer")?))
            })
        })
        .await
}

/// The job's own row. Arguments are read where they are small enough: first by their stored size,
/// which costs nothing, then by the length of their text, which may be much longer.
const JOB: &str = "
SELECT j.id::bigint AS id, j.stateid::bigint AS state_id, j.statename::text AS state,
  {utc j.createdat} AS created_at, {utc j.expireat} AS expire_at,
  {without j.invocationdata Arguments} AS invocation,
  a.bytes AS arguments_bytes,
  CASE WHEN a.bytes <= 1048576 THEN {raw j.arguments} END AS arguments,
  {utc c.createdat} AS since, c.reason::text AS reason
FROM {s}.job j
LEFT JOIN {s}.state c ON c.id = j.stateid AND c.jobid = j.id
CROSS JOIN LATERAL (
  SELECT CASE WHEN pg_column_size(j.arguments) > 1048576 THEN pg_column_size(j.arguments)
    ELSE octet_length({raw j.arguments}) END::bigint AS bytes OFFSET 0
) a
WHERE j.id = $1";

const PARAMETERS: &str = "
SELECT pa.name::text AS name,
  CASE WHEN length(pa.value) <= 1048576 THEN pa.value ELSE left(pa.value, 64000) END AS value
FROM {s}.jobparameter pa WHERE pa.jobid = $1 ORDER BY pa.id LIMIT 10000";

const QUEUE_ROWS: &str = "
SELECT q.id::bigint AS id, q.queue::text AS queue, {utc q.fetchedat} AS fetched_at
FROM {s}.jobqueue q WHERE q.jobid = $1 ORDER BY q.id LIMIT 1000";

/// Newest rows first. Sorting by an expression keeps the planner from walking the primary key of
/// all jobs' rows backwards in the hope of meeting this job's soon.
const STATES: &str = "
SELECT c.id::bigint AS id, c.name::text AS name, c.reason::text AS reason,
  {utc c.createdat} AS created_at, d.chars AS details_chars, d.data AS data
FROM (
  SELECT c.* FROM {s}.state c WHERE c.jobid = $1 AND c.id < $2 ORDER BY c.id + 0 DESC LIMIT $3
) c
CROSS JOIN LATERAL (SELECT {details c.data}) d
ORDER BY c.id DESC";

const TOTALS: &str = "
SELECT count(*) AS total,
  count(*) FILTER (WHERE c.name = 'Processing' AND c.id < $2) AS attempts_before
FROM {s}.state c WHERE c.jobid = $1";

async fn record(
    conn: &mut Conn,
    layout: &Layout,
    id: i64,
    states: u32,
) -> Result<Option<JobRecord>, Error> {
    let Some(row) = sqlx::query(layout.sql(JOB))
        .bind(id)
        .fetch_optional(&mut *conn)
        .await?
    else {
        return Ok(None);
    };
    let limit = i64::from(states);
    let states = state_rows(conn, layout, id, i64::MAX, states).await?;
    let (states_total, attempts_before) = totals(conn, layout, id, &states, limit).await?;
    let (parameters, duplicate_parameters) = parameters(conn, layout, id).await?;
    let queue_rows = queue_rows(conn, layout, id).await?;
    let continuations = continuations(conn, layout, &parameters).await?;
    let arguments_bytes: Option<i64> = row.try_get("arguments_bytes")?;
    let arguments: Option<String> = row.try_get("arguments")?;
    let invocation: Option<String> = row.try_get("invocation")?;
    Ok(Some(JobRecord {
        id: row.try_get("id")?,
        state: current(&row)?,
        invocation: decode::invocation(
            invocation.as_deref().unwrap_or_default(),
            arguments
                .as_deref()
                .map_or(Arguments::TooLarge, decode::arguments),
        ),
        arguments_bytes: arguments_bytes.filter(|_| arguments.is_none()),
        created_at: created_at(&row)?,
        expire_at: row.try_get("expire_at")?,
        parameters,
        duplicate_parameters,
        queue_rows,
        states,
        states_total,
        attempts_before,
        continuations,
    }))
}

/// How many state rows there are, and how many attempts began before those that were read.
async fn totals(
    conn: &mut Conn,
    layout: &Layout,
    id: i64,
    states: &[StateRow],
    limit: i64,
) -> Result<(i64, u32), Error> {
    let read = i64::try_from(states.len()).unwrap_or(i64::MAX);
    if read < limit {
        return Ok((read, 0));
    }
    let row = sqlx::query(layout.sql(TOTALS))
        .bind(id)
        .bind(states.first().map_or(i64::MAX, |state| state.id))
        .fetch_one(conn)
        .await?;
    let attempts_before: i64 = row.try_get("attempts_before")?;
    Ok((
        row.try_get("total")?,
        u32::try_from(attempts_before).unwrap_or(u32::MAX),
    ))
}

async fn state_rows(
    conn: &mut Conn,
    layout: &Layout,
    job: i64,
    before: i64,
    limit: u32,
) -> Result<Vec<StateRow>, Error> {
    let rows = sqlx::query(layout.sql(STATES))
        .bind(job)
        .bind(before)
        .bind(i64::from(limit))
        .fetch_all(conn)
        .await?;
    rows.iter().rev().map(state_row).collect()
}

pub(super) fn state_row(row: &PgRow) -> Result<StateRow, Error> {
    let json: Option<String> = row.try_get("data")?;
    let mut data = StateData::parse_column(json.as_deref());
    let stored_chars: Option<i64> = row.try_get("details_chars")?;
    // What the database keeps small may be long all the same; and a text column cannot be cut
    // there without knowing where its values end.
    let details_chars = data.cut(decode::DETAILS_CHARS).or(stored_chars);
    Ok(StateRow {
        id: row.try_get("id")?,
        name: StateName::parse(row.try_get("name")?),
        reason: row.try_get("reason")?,
        created_at: created_at(row)?,
        data,
        details_chars,
    })
}

pub(super) type Parameters = Vec<(String, Option<String>)>;

/// Parameters by name, the newest of each, and the names that are there more than once.
pub(super) async fn parameters(
    conn: &mut Conn,
    layout: &Layout,
    job: i64,
) -> Result<(Parameters, Vec<String>), Error> {
    let rows = sqlx::query(layout.sql(PARAMETERS))
        .bind(job)
        .fetch_all(conn)
        .await?;
    let mut kept: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut twice = Vec::new();
    for row in rows {
        let name: String = row.try_get("name")?;
        if kept.insert(name.clone(), row.try_get("value")?).is_some() && !twice.contains(&name) {
            twice.push(name);
        }
    }
    twice.sort();
    Ok((kept.into_iter().collect(), twice))
}

async fn queue_rows(conn: &mut Conn, layout: &Layout, job: i64) -> Result<Vec<QueueRow>, Error> {
    sqlx::query(layout.sql(QUEUE_ROWS))
        .bind(job)
        .fetch_all(conn)
        .await?
        .iter()
        .map(queue_row)
        .collect()
}

pub(super) fn queue_row(row: &PgRow) -> Result<QueueRow, Error> {
    Ok(QueueRow {
        id: row.try_get("id")?,
        queue: row.try_get("queue")?,
        fetched_at: row.try_get::<Option<Instant>, _>("fetched_at")?,
    })
}

async fn continuations(
    conn: &mut Conn,
    layout: &Layout,
    parameters: &Parameters,
) -> Result<Vec<Continuation>, Error> {
    let mut waiting = parameters
        .iter()
        .find(|(name, _)| name == "Continuations")
        .and_then(|(_, value)| value.as_deref())
        .map(decode::continuations)
        .unwrap_or_default();
    waiting.truncate(CONTINUATIONS);
    if waiting.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<i64> = waiting.iter().map(|(job, _)| *job).collect();
    let rows = sqlx::query(layout.sql(
        "SELECT j.id::bigint AS id, j.statename::text AS state FROM {s}.job j \
         WHERE j.id = ANY($1)",
    ))
    .bind(ids)
    .fetch_all(conn)
    .await?;
    let mut states: HashMap<i64, Option<String>> = HashMap::with_capacity(rows.len());
    for row in rows {
        states.insert(row.try_get("id")?, row.try_get("state")?);
    }
    Ok(waiting
        .into_iter()
        .map(|(job, options)| Continuation {
            job,
            options,
            state: states
                .get(&job)
                .and_then(Option::as_deref)
                .map(StateName::parse),
        })
        .collect())
}
