//! [`HistoryStore`] on `SQLite`.

use std::collections::BTreeMap;

use app::model::data::StateData;
use app::model::invocation::Arguments;
use app::model::job::{JobCall, JobHistory};
use app::model::state::{StateName, StateRow};
use app::ports::error::StoreError;
use app::ports::histories::HistoryStore;
use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, SqliteConnection};

use super::sql::{CALL, CURRENT, NEWEST, UNSETTLED};
use super::{SqliteStore, job, list, rows};
use crate::store::decode;

/// The most jobs that are read at once, and the most rows of each.
const MOST: usize = 200;

/// Arguments as far as claims need them: whole ones of at most 4 kB.
const ARGUMENTS: &str =
    "CASE WHEN octet_length(j.Arguments) <= 4096 THEN j.Arguments END AS arguments";

/// The newest rows of each job, one more than asked for, without exception details. Data that are
/// huge even so are left out.
const STATES: &str = "SELECT job, id, name, reason, created_at, \
     CASE WHEN octet_length(data) <= 65536 THEN data END AS data FROM \
     (SELECT s.JobId AS job, s.Id AS id, s.Name AS name, s.Reason AS reason, \
     s.CreatedAt AS created_at, \
     CASE WHEN json_valid(s.Data) THEN json_remove(s.Data, '$.ExceptionDetails') \
     ELSE substr(s.Data, 1, 64000) END AS data \
     FROM json_each(?1) w CROSS JOIN State s ON s.Id IN \
     (SELECT Id FROM State WHERE JobId = w.value ORDER BY Id DESC LIMIT ?2)) ORDER BY job, id";

#[async_trait]
impl HistoryStore for SqliteStore {
    async fn histories(&self, ids: &[i64], states: u32) -> Result<Vec<JobHistory>, StoreError> {
        let ids = asked(ids);
        let states = states.clamp(1, 200);
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.read(move |c| Box::pin(async move { load(c, &ids, states).await }))
            .await
    }

    async fn calls_after(&self, id: i64, limit: u32) -> Result<Vec<JobCall>, StoreError> {
        self.read(move |c| {
            Box::pin(async move {
                let found = sqlx::query(AssertSqlSafe(format!(
                    "SELECT j.Id AS id, {CALL}, {ARGUMENTS} FROM Job j WHERE j.Id > ? \
                     ORDER BY j.Id LIMIT ?"
                )))
                .bind(id)
                .bind(i64::from(limit))
                .fetch_all(c)
                .await?;
                found
                    .iter()
                    .map(|row| {
                        Ok(JobCall {
                            id: rows::int(row, "id")?.unwrap_or_default(),
                            invocation: rows::invocation(row, arguments(row)?)?,
                        })
                    })
                    .collect()
            })
        })
        .await
    }
}

/// The ids that are read of those asked for.
pub(super) fn asked(ids: &[i64]) -> Vec<i64> {
    let mut ids: Vec<i64> = ids.iter().copied().take(MOST).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The jobs of these ids, ordered, with their newest `states` rows.
pub(super) async fn load(
    connection: &mut SqliteConnection,
    ids: &[i64],
    states: u32,
) -> Result<Vec<JobHistory>, sqlx::Error> {
    let ids = serde_json::json!(ids).to_string();
    let jobs = sqlx::query(AssertSqlSafe(format!(
        "SELECT *, {UNSETTLED} AS unsettled, s.CreatedAt AS since, s.Reason AS reason FROM \
         (SELECT j.Id AS id, j.StateName AS state, {CURRENT} AS current, {NEWEST} AS newest, \
         {CALL}, {ARGUMENTS}, j.CreatedAt AS created_at \
         FROM Job j WHERE j.Id IN (SELECT value FROM json_each(?))) \
         LEFT JOIN (SELECT Id AS state_id, CreatedAt, Reason FROM State) s ON s.state_id = current \
         ORDER BY id"
    )))
    .bind(&ids)
    .fetch_all(&mut *connection)
    .await?;
    let found = sqlx::query(STATES)
        .bind(&ids)
        .bind(i64::from(states) + 1)
        .fetch_all(&mut *connection)
        .await?;
    let mut by_job: BTreeMap<i64, Vec<StateRow>> = BTreeMap::new();
    for row in &found {
        let job = rows::int(row, "job")?.unwrap_or_default();
        by_job.entry(job).or_default().push(state(row)?);
    }
    let wanted = usize::try_from(states).unwrap_or(usize::MAX);
    let mut histories = Vec::with_capacity(jobs.len());
    for row in &jobs {
        let id = rows::int(row, "id")?.unwrap_or_default();
        let mut states = by_job.remove(&id).unwrap_or_default();
        let older = states.len().saturating_sub(wanted);
        states.drain(..older);
        let attempts_before = match states.first() {
            Some(first) if older > 0 => job::attempts_before(connection, id, first.id).await?,
            _ => 0,
        };
        histories.push(JobHistory {
            id,
            state: list::current(row)?,
            invocation: rows::invocation(row, arguments(row)?)?,
            created_at: rows::instant(row, "created_at")?.unwrap_or_default(),
            states,
            older_rows: older > 0,
            attempts_before,
        });
    }
    Ok(histories)
}

fn arguments(row: &SqliteRow) -> Result<Arguments, sqlx::Error> {
    Ok(rows::text(row, "arguments")?.map_or(Arguments::TooLarge, |json| decode::arguments(&json)))
}

fn state(row: &SqliteRow) -> Result<StateRow, sqlx::Error> {
    Ok(StateRow {
        id: rows::int(row, "id")?.unwrap_or_default(),
        name: StateName::parse(&rows::text(row, "name")?.unwrap_or_default()),
        reason: rows::text(row, "reason")?,
        created_at: rows::instant(row, "created_at")?.unwrap_or_default(),
        data: StateData::parse_column(rows::text(row, "data")?.as_deref()),
        details_chars: None,
    })
}
