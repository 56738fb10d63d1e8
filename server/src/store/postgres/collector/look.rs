//! Reading rows, and what must be known of their jobs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use app::model::collect::batch::{Batch, JobRow};
use app::model::collect::position::{Around, Position, Writers};
use app::model::collect::{Job, Memory, Stray};
use app::model::data::StateData;
use app::model::invocation::Arguments;
use app::model::state::{Instant, StateName, StateRow};
use app::ports::collector::{Astray, Look};
use app::ports::error::StoreError;
use sqlx::postgres::PgRow;
use sqlx::{Error, Row as _};

use crate::store::decode;
use crate::store::failures::micros;
use crate::store::postgres::conn::Conn;
use crate::store::postgres::layout::Layout;
use crate::store::postgres::list::created_at;
use crate::store::postgres::session::Session;

/// The columns of a row. What tells of attempts is short; stack traces and what a run returned are
/// left out.
macro_rules! columns {
    () => {
        "c.id::bigint AS id, c.jobid::bigint AS job, c.name::text AS name, \
         left(c.reason::text, 300) AS reason, {utc c.createdat} AS created_at, \
         CASE WHEN pg_column_size(c.data) <= 4194304 \
           THEN {without c.data ExceptionDetails} END AS data"
    };
}

const NEXT: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM {s}.state c WHERE c.id > $1 ORDER BY c.id LIMIT $2"
);

const LATE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM unnest($1::bigint[], $2::bigint[]) AS gap(first, last) \
     CROSS JOIN LATERAL (SELECT * FROM {s}.state x WHERE x.id BETWEEN gap.first AND gap.last \
     ORDER BY x.id LIMIT $3) c \
     ORDER BY c.id LIMIT $3"
);

const OLDER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM {s}.state c WHERE c.jobid = ANY($1) AND c.id <= $2 ORDER BY c.id"
);

/// The highest id in the table, and the highest that was given: what expires takes its ids along.
const HIGHEST: &str = "
SELECT (SELECT max(c.id)::bigint FROM {s}.state c) AS highest,
  (SELECT pg_sequence_last_value(pg_get_serial_sequence($1, 'id')::regclass)::bigint
   WHERE has_sequence_privilege(pg_get_serial_sequence($1, 'id'), 'USAGE, SELECT')) AS given";

/// Everybody who may have taken an id of the table without having committed: whoever inserts locks
/// the table so, from before the id is taken until after the row can be seen.
const WRITERS: &str = "
SELECT DISTINCT l.virtualtransaction::text FROM pg_catalog.pg_locks l
JOIN pg_catalog.pg_database d ON d.oid = l.database
WHERE d.datname = current_database() AND l.locktype = 'relation' AND l.granted
  AND l.mode = 'RowExclusiveLock' AND l.relation = to_regclass($1)::oid";

const MEMORIES: &str = "
SELECT m.job, m.memory FROM redrive.collector_job m
JOIN redrive.source s ON s.id = m.source
WHERE s.hangfire_schema = $1 AND (m.job = ANY($2))
UNION
SELECT m.job, m.memory FROM redrive.collector_job m
JOIN redrive.source s ON s.id = m.source
WHERE s.hangfire_schema = $1 AND m.undecided";

const JOBS: &str = "
SELECT j.id::bigint AS id, j.stateid::bigint AS current_row, {utc j.createdat} AS created_at,
  {without j.invocationdata Arguments} AS invocation
FROM {s}.job j WHERE j.id = ANY($1)";

/// So many jobs are compared with the index at once, and so many strays are taken in.
const WINDOW: i64 = 10_000;
const STRAYS: i64 = 2_000;

const WINDOW_END: &str = "
SELECT max(w.id)::bigint AS last, count(*) AS jobs FROM (
  SELECT j.id FROM {s}.job j WHERE j.id > $1 ORDER BY j.id LIMIT $2) w";

/// Jobs whose row in the index is missing or another one than the job's own.
const STRAY: &str = "
SELECT j.id::bigint AS id, j.stateid::bigint AS current_row, {utc j.createdat} AS created_at,
  {without j.invocationdata Arguments} AS invocation, j.statename = 'Failed' AS is_failed
FROM {s}.job j
LEFT JOIN {s}.state c ON c.id = CASE j.statename WHEN 'Scheduled' THEN j.stateid END
  AND c.jobid = j.id
LEFT JOIN redrive.failures f ON f.job = j.id
  AND f.source = (SELECT s.id FROM redrive.source s WHERE s.hangfire_schema = $1)
WHERE j.id > $2 AND j.id <= $3
  AND (j.statename = 'Failed' OR (j.statename = 'Scheduled' AND c.reason LIKE 'Retry attempt %'))
  AND COALESCE(j.stateid, 0) <= $4
  AND (f.job IS NULL OR f.state_id <> COALESCE(j.stateid, 0)
    OR f.list <> CASE j.statename WHEN 'Failed' THEN 'failed' ELSE 'retrying' END)
ORDER BY j.id LIMIT $5";

const STALE: &str = "
SELECT f.job, f.changed_at FROM redrive.failures f
WHERE f.source = (SELECT s.id FROM redrive.source s WHERE s.hangfire_schema = $1)
  AND f.job > $2 AND f.job <= $3 AND NOT EXISTS (
    SELECT 1 FROM {s}.job j WHERE j.id = f.job AND COALESCE(j.stateid, 0) = f.state_id
      AND j.statename = CASE f.list WHEN 'failed' THEN 'Failed' ELSE 'Scheduled' END)
ORDER BY f.job LIMIT $4";

const GONE: &str = "
SELECT m.job, m.memory, EXISTS (SELECT 1 FROM {s}.job j WHERE j.id = m.job) AS there
FROM (SELECT m.job, m.memory FROM redrive.collector_job m
  JOIN redrive.source s ON s.id = m.source
  WHERE s.hangfire_schema = $1 AND m.job > $2 ORDER BY m.job LIMIT $3) m
ORDER BY m.job";

/// See [`app::ports::collector::CollectorStore::look`].
pub(super) async fn look(
    session: &Session,
    position: &Position,
    limit: u32,
) -> Result<Look, StoreError> {
    // A transaction of its own: a snapshot is taken by the first statement, and writers that are
    // gone by now must be in it.
    let before = session
        .read(|conn, layout| Box::pin(async move { writers(conn, &layout).await }))
        .await?;
    let position = Arc::new(position.clone());
    session
        .read(move |conn, layout| {
            let (position, before) = (Arc::clone(&position), before.clone());
            Box::pin(async move {
                let highest = sqlx::query(layout.sql(HIGHEST))
                    .bind(table(&layout))
                    .fetch_one(&mut *conn)
                    .await?;
                let (batch, is_cut) = batch(conn, &layout, &position, limit).await?;
                let after = writers(conn, &layout).await?;
                Ok(Look {
                    batch,
                    highest: highest
                        .try_get::<Option<i64>, _>("highest")?
                        .unwrap_or_default(),
                    given: highest.try_get("given")?,
                    around: Some(Around { before, after }),
                    is_cut,
                })
            })
        })
        .await
}

fn table(layout: &Layout) -> String {
    format!("{}.state", layout.quoted())
}

async fn writers(conn: &mut Conn, layout: &Layout) -> Result<Writers, Error> {
    let names: Vec<String> = sqlx::query_scalar(WRITERS)
        .bind(table(layout))
        .fetch_all(conn)
        .await?;
    Ok(names.into_iter().collect())
}

/// The rows, and whether the gaps hold more of them.
async fn batch(
    conn: &mut Conn,
    layout: &Layout,
    position: &Position,
    limit: u32,
) -> Result<(Batch, bool), Error> {
    let late = if position.gaps().is_empty() {
        Vec::new()
    } else {
        let (first, last): (Vec<i64>, Vec<i64>) = position.gaps().iter().copied().unzip();
        sqlx::query(layout.sql(LATE))
            .bind(first)
            .bind(last)
            .bind(i64::from(limit))
            .fetch_all(&mut *conn)
            .await?
    };
    let is_cut = late.len() >= usize::try_from(limit).unwrap_or(usize::MAX);
    let next = if is_cut {
        Vec::new()
    } else {
        sqlx::query(layout.sql(NEXT))
            .bind(position.watermark)
            .bind(i64::from(limit))
            .fetch_all(&mut *conn)
            .await?
    };
    let rows: Vec<JobRow> = late
        .iter()
        .chain(&next)
        .map(job_row)
        .collect::<Result<_, _>>()?;
    let read: HashSet<i64> = rows.iter().map(|row| row.job).collect();
    let memories = memories(conn, layout, read.iter().copied().collect()).await?;
    let older = older(conn, layout, position, &rows, &memories).await?;
    let ids: Vec<i64> = read
        .into_iter()
        .chain(memories.keys().copied())
        .collect::<HashSet<i64>>()
        .into_iter()
        .collect();
    let jobs = if ids.is_empty() {
        HashMap::new()
    } else {
        sqlx::query(layout.sql(JOBS))
            .bind(ids)
            .fetch_all(conn)
            .await?
            .iter()
            .map(job)
            .collect::<Result<_, _>>()?
    };
    let batch = Batch {
        rows,
        jobs,
        memories,
        older,
    };
    Ok((batch, is_cut))
}

async fn memories(
    conn: &mut Conn,
    layout: &Layout,
    jobs: Vec<i64>,
) -> Result<HashMap<i64, Memory>, Error> {
    sqlx::query(MEMORIES)
        .bind(layout.schema())
        .bind(jobs)
        .fetch_all(conn)
        .await?
        .iter()
        .map(remembered)
        .collect()
}

fn remembered(row: &PgRow) -> Result<(i64, Memory), Error> {
    let memory: &str = row.try_get("memory")?;
    let memory = serde_json::from_str(memory).map_err(|error| Error::Decode(error.into()))?;
    Ok((row.try_get("job")?, memory))
}

/// Rows that were read before, of jobs that are not remembered, and of jobs of which a row came
/// late. A job newer than any so far has none.
async fn older(
    conn: &mut Conn,
    layout: &Layout,
    position: &Position,
    rows: &[JobRow],
    memories: &HashMap<i64, Memory>,
) -> Result<HashMap<i64, Vec<StateRow>>, Error> {
    let is_late = |row: &JobRow| row.row.id <= position.watermark;
    let jobs: HashSet<i64> = rows
        .iter()
        .filter(|row| {
            is_late(row) || (row.job <= position.newest_job && !memories.contains_key(&row.job))
        })
        .map(|row| row.job)
        .collect();
    if jobs.is_empty() {
        return Ok(HashMap::new());
    }
    rows_of(conn, layout, position, jobs.into_iter().collect()).await
}

/// Rows of jobs that were read before the position.
async fn rows_of(
    conn: &mut Conn,
    layout: &Layout,
    position: &Position,
    jobs: Vec<i64>,
) -> Result<HashMap<i64, Vec<StateRow>>, Error> {
    let found = sqlx::query(layout.sql(OLDER))
        .bind(jobs)
        .bind(position.watermark)
        .fetch_all(conn)
        .await?;
    let mut rows: HashMap<i64, Vec<StateRow>> = HashMap::new();
    for row in &found {
        let row = job_row(row)?;
        // What lies in a gap was not read before, even if it is there.
        if !position.is_in_gap(row.row.id) {
            rows.entry(row.job).or_default().push(row.row);
        }
    }
    Ok(rows)
}

fn job_row(row: &PgRow) -> Result<JobRow, Error> {
    Ok(JobRow {
        job: row.try_get("job")?,
        row: StateRow {
            id: row.try_get("id")?,
            name: StateName::parse(row.try_get("name")?),
            reason: row.try_get("reason")?,
            created_at: created_at(row)?,
            data: StateData::parse_column(row.try_get("data")?),
            details_chars: None,
        },
    })
}

fn job(row: &PgRow) -> Result<(i64, Job), Error> {
    let invocation: Option<&str> = row.try_get("invocation")?;
    let invocation = decode::invocation(invocation.unwrap_or_default(), Arguments::TooLarge);
    let created_at: Option<Instant> = row.try_get("created_at")?;
    let job = Job::of(&invocation, created_at, row.try_get("current_row")?);
    Ok((row.try_get("id")?, job))
}

/// See [`app::ports::collector::CollectorStore::gone`].
pub(super) async fn gone(
    session: &Session,
    after: i64,
    limit: u32,
) -> Result<(Vec<(i64, Memory)>, Option<i64>), StoreError> {
    session
        .read(move |conn, layout| {
            Box::pin(async move {
                let found = sqlx::query(layout.sql(GONE))
                    .bind(layout.schema())
                    .bind(after)
                    .bind(i64::from(limit))
                    .fetch_all(conn)
                    .await?;
                let mut gone = Vec::new();
                let mut last = None;
                for row in &found {
                    last = Some(row.try_get("job")?);
                    if !row.try_get::<bool, _>("there")? {
                        gone.push(remembered(row)?);
                    }
                }
                Ok((gone, last))
            })
        })
        .await
}

/// See [`app::ports::collector::CollectorStore::astray`].
pub(super) async fn astray(
    session: &Session,
    position: &Position,
    after: i64,
) -> Result<Astray, StoreError> {
    let position = Arc::new(position.clone());
    session
        .read(move |conn, layout| {
            let position = Arc::clone(&position);
            Box::pin(async move { compared(conn, &layout, &position, after).await })
        })
        .await
}

async fn compared(
    conn: &mut Conn,
    layout: &Layout,
    position: &Position,
    after: i64,
) -> Result<Astray, Error> {
    let window = sqlx::query(layout.sql(WINDOW_END))
        .bind(after)
        .bind(WINDOW)
        .fetch_one(&mut *conn)
        .await?;
    let is_end = window.try_get::<i64, _>("jobs")? < WINDOW;
    let end: Option<i64> = window.try_get("last")?;
    let mut last = end.filter(|_| !is_end);
    let found = sqlx::query(layout.sql(STRAY))
        .bind(layout.schema())
        .bind(after)
        .bind(last.unwrap_or(i64::MAX))
        .bind(position.watermark)
        .bind(STRAYS)
        .fetch_all(&mut *conn)
        .await?;
    let mut found = found
        .iter()
        .map(|row| Ok((job(row)?, row.try_get::<bool, _>("is_failed")?)))
        .collect::<Result<Vec<_>, Error>>()?;
    if found.len() >= usize::try_from(STRAYS).unwrap_or(usize::MAX) {
        last = found.last().map(|((id, _), _)| *id);
    }
    let stale = sqlx::query(layout.sql(STALE))
        .bind(layout.schema())
        .bind(after)
        .bind(last.unwrap_or(i64::MAX))
        .bind(WINDOW)
        .fetch_all(&mut *conn)
        .await?
        .iter()
        .map(|row| Ok((row.try_get("job")?, micros(row.try_get("changed_at")?))))
        .collect::<Result<_, Error>>()?;
    let ids: Vec<i64> = found.iter().map(|((id, _), _)| *id).collect();
    let (mut memories, mut rows) = if ids.is_empty() {
        (HashMap::new(), HashMap::new())
    } else {
        let rows = rows_of(conn, layout, position, ids.clone()).await?;
        (memories(conn, layout, ids).await?, rows)
    };
    let strays = found
        .drain(..)
        .map(|((id, job), is_failed)| {
            let stray = Stray {
                job,
                is_failed,
                memory: memories.remove(&id),
                rows: rows.remove(&id).unwrap_or_default(),
            };
            (id, stray)
        })
        .collect();
    Ok(Astray {
        strays,
        stale,
        last,
    })
}
