//! Reading rows, and what must be known of their jobs.

use std::collections::{HashMap, HashSet};

use app::model::collect::batch::{Batch, JobRow};
use app::model::collect::position::Position;
use app::model::collect::{Job, Memory};
use app::model::data::StateData;
use app::model::invocation::Arguments;
use app::model::state::{StateName, StateRow};
use app::ports::collector::Look;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, SqliteConnection};

use crate::store::sqlite::own::{self, Own, json};
use crate::store::sqlite::rows;
use crate::store::sqlite::sql::{CALL, NEWEST};

/// The columns of a row. What tells of attempts is short; stack traces are left out.
macro_rules! columns {
    () => {
        "c.Id AS id, c.JobId AS job, c.Name AS name, substr(c.Reason, 1, 300) AS reason, \
         c.CreatedAt AS created_at, CASE WHEN octet_length(c.Data) <= 4194304 THEN \
         CASE WHEN json_valid(c.Data) THEN json_remove(c.Data, '$.ExceptionDetails') \
         ELSE c.Data END END AS data"
    };
}

const NEXT: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM State c WHERE c.Id > ? ORDER BY c.Id LIMIT ?"
);

const OLDER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM State c WHERE c.JobId IN (SELECT value FROM json_each(?)) AND c.Id <= ? ORDER BY c.Id"
);

/// The table of numbers that were given is there because Hangfire's ids are never given twice.
const HIGHEST: &str = "SELECT (SELECT max(Id) FROM State) AS highest, \
     (SELECT max(seq) FROM sqlite_sequence WHERE name = 'State') AS given";

const HIGHEST_ALONE: &str = "SELECT max(Id) AS highest, NULL AS given FROM State";

const THERE: &str = "SELECT j.Id AS id FROM Job j WHERE j.Id IN (SELECT value FROM json_each(?))";

/// The current row is the newest one, if it names the job's state; else the job is just changing.
fn settled() -> String {
    format!(
        "(SELECT s.Id FROM State s WHERE s.Id = {NEWEST} \
         AND s.Name = j.StateName COLLATE NOCASE)"
    )
}

/// See [`app::ports::collector::CollectorStore::look`].
pub(super) async fn look(
    connection: &mut SqliteConnection,
    mut own: Own,
    position: &Position,
    limit: u32,
) -> Result<Look, sqlx::Error> {
    let numbers = sqlx::query("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'")
        .fetch_optional(&mut *connection)
        .await?;
    let highest = sqlx::query(if numbers.is_some() {
        HIGHEST
    } else {
        HIGHEST_ALONE
    })
    .fetch_one(&mut *connection)
    .await?;
    let rows: Vec<JobRow> = sqlx::query(NEXT)
        .bind(position.watermark)
        .bind(i64::from(limit))
        .fetch_all(&mut *connection)
        .await?
        .iter()
        .map(job_row)
        .collect::<Result<_, _>>()?;
    let read: HashSet<i64> = rows.iter().map(|row| row.job).collect();
    let memories = own::memories(own.beside(connection), &read).await?;
    let older = older(connection, position, &read, &memories).await?;
    let ids: HashSet<i64> = read.into_iter().chain(memories.keys().copied()).collect();
    let jobs = jobs(connection, &settled(), &ids).await?;
    Ok(Look {
        batch: Batch {
            rows,
            jobs,
            memories,
            older,
        },
        highest: rows::int(&highest, "highest")?.unwrap_or_default(),
        given: rows::int(&highest, "given")?,
        around: None,
        is_cut: false,
    })
}

/// Jobs as they are, with their current row as this piece of SQL finds it.
pub(super) async fn jobs(
    connection: &mut SqliteConnection,
    current: &str,
    ids: &HashSet<i64>,
) -> Result<HashMap<i64, Job>, sqlx::Error> {
    let sql = format!(
        "SELECT j.Id AS id, j.CreatedAt AS created_at, {CALL}, {current} AS current_row \
         FROM Job j WHERE j.Id IN (SELECT value FROM json_each(?))"
    );
    sqlx::query(AssertSqlSafe(sql))
        .bind(json(ids))
        .fetch_all(connection)
        .await?
        .iter()
        .map(job)
        .collect()
}

/// Rows that were read before, of jobs that are not remembered. A job newer than any so far has
/// none.
async fn older(
    connection: &mut SqliteConnection,
    position: &Position,
    read: &HashSet<i64>,
    memories: &HashMap<i64, Memory>,
) -> Result<HashMap<i64, Vec<StateRow>>, sqlx::Error> {
    let jobs: HashSet<i64> = read
        .iter()
        .copied()
        .filter(|job| *job <= position.newest_job && !memories.contains_key(job))
        .collect();
    if jobs.is_empty() {
        return Ok(HashMap::new());
    }
    rows_of(connection, position, &jobs).await
}

/// Rows of jobs up to the position.
pub(super) async fn rows_of(
    connection: &mut SqliteConnection,
    position: &Position,
    jobs: &HashSet<i64>,
) -> Result<HashMap<i64, Vec<StateRow>>, sqlx::Error> {
    let found = sqlx::query(OLDER)
        .bind(json(jobs))
        .bind(position.watermark)
        .fetch_all(connection)
        .await?;
    let mut rows: HashMap<i64, Vec<StateRow>> = HashMap::new();
    for row in &found {
        let row = job_row(row)?;
        rows.entry(row.job).or_default().push(row.row);
    }
    Ok(rows)
}

fn job_row(row: &SqliteRow) -> Result<JobRow, sqlx::Error> {
    Ok(JobRow {
        job: rows::int(row, "job")?.unwrap_or_default(),
        row: StateRow {
            id: rows::int(row, "id")?.unwrap_or_default(),
            name: StateName::parse(&rows::text(row, "name")?.unwrap_or_default()),
            reason: rows::text(row, "reason")?,
            created_at: rows::instant(row, "created_at")?.unwrap_or_default(),
            data: StateData::parse_column(rows::text(row, "data")?.as_deref()),
            details_chars: None,
        },
    })
}

fn job(row: &SqliteRow) -> Result<(i64, Job), sqlx::Error> {
    let invocation = rows::invocation(row, Arguments::TooLarge)?;
    let created_at = rows::instant(row, "created_at")?;
    Ok((
        rows::int(row, "id")?.unwrap_or_default(),
        Job::of(&invocation, created_at, rows::int(row, "current_row")?),
    ))
}

/// See [`app::ports::collector::CollectorStore::gone`].
pub(super) async fn gone(
    connection: &mut SqliteConnection,
    mut own: Own,
    after: i64,
    limit: u32,
) -> Result<(Vec<(i64, Memory)>, Option<i64>), sqlx::Error> {
    let mut memories = own::memories_after(own.beside(connection), after, limit).await?;
    let last = memories.last().map(|(job, _)| *job);
    let ids = memories.iter().map(|(job, _)| *job).collect();
    let found = sqlx::query(THERE)
        .bind(json(&ids))
        .fetch_all(connection)
        .await?;
    let mut there = HashSet::new();
    for row in &found {
        there.extend(rows::int(row, "id")?);
    }
    memories.retain(|(job, _)| !there.contains(job));
    Ok((memories, last))
}
