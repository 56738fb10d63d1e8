//! Reading rows, and what must be known of their jobs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use app::model::collect::batch::{Batch, JobRow};
use app::model::collect::position::{Around, Position, Writers};
use app::model::collect::{Job, Memory};
use app::model::data::StateData;
use app::model::invocation::Arguments;
use app::model::state::{Instant, StateName, StateRow};
use app::ports::collector::Look;
use app::ports::error::StoreError;
use sqlx::postgres::PgRow;
use sqlx::{Error, Row as _, SqlitePool};

use super::own::Own;
use crate::store::decode;
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

const JOBS: &str = "
SELECT j.id::bigint AS id, j.stateid::bigint AS current_row, {utc j.createdat} AS created_at,
  {without j.invocationdata Arguments} AS invocation
FROM {s}.job j WHERE j.id = ANY($1)";

const THERE: &str = "SELECT j.id::bigint FROM {s}.job j WHERE j.id = ANY($1)";

/// See [`app::ports::collector::CollectorStore::look`].
pub(super) async fn look(
    session: &Session,
    kept: Option<SqlitePool>,
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
            let kept = kept.clone();
            Box::pin(async move {
                let mut own = Own::open(kept).await?;
                let highest = sqlx::query(layout.sql(HIGHEST))
                    .bind(table(&layout))
                    .fetch_one(&mut *conn)
                    .await?;
                let (batch, is_cut) = batch(conn, &layout, &mut own, &position, limit).await?;
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
    own: &mut Own,
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
    let memories = own.memories(conn, layout, &read).await?;
    let older = older(conn, layout, position, &rows, &memories).await?;
    let ids: Vec<i64> = read
        .into_iter()
        .chain(memories.keys().copied())
        .collect::<HashSet<i64>>()
        .into_iter()
        .collect();
    let jobs = jobs(conn, layout, ids).await?;
    let batch = Batch {
        rows,
        jobs,
        memories,
        older,
    };
    Ok((batch, is_cut))
}

/// Jobs as they are.
pub(super) async fn jobs(
    conn: &mut Conn,
    layout: &Layout,
    ids: Vec<i64>,
) -> Result<HashMap<i64, Job>, Error> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    sqlx::query(layout.sql(JOBS))
        .bind(ids)
        .fetch_all(conn)
        .await?
        .iter()
        .map(job)
        .collect()
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
pub(super) async fn rows_of(
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
    kept: Option<SqlitePool>,
    after: i64,
    limit: u32,
) -> Result<(Vec<(i64, Memory)>, Option<i64>), StoreError> {
    session
        .read(move |conn, layout| {
            let kept = kept.clone();
            Box::pin(async move {
                let mut own = Own::open(kept).await?;
                let mut memories = own.memories_after(conn, &layout, after, limit).await?;
                let last = memories.last().map(|(job, _)| *job);
                let ids: Vec<i64> = memories.iter().map(|(job, _)| *job).collect();
                let there: Vec<i64> = sqlx::query_scalar(layout.sql(THERE))
                    .bind(ids)
                    .fetch_all(conn)
                    .await?;
                let there: HashSet<i64> = there.into_iter().collect();
                memories.retain(|(job, _)| !there.contains(job));
                Ok((memories, last))
            })
        })
        .await
}
