//! What many jobs call, and what happened to them.

use std::collections::HashMap;

use app::model::invocation::{Arguments, Invocation};
use app::model::job::{JobCall, JobHistory};
use app::model::state::{StateName, StateRow};
use app::ports::error::StoreError;
use app::ports::histories::HistoryStore;
use async_trait::async_trait;
use sqlx::postgres::PgRow;
use sqlx::{Error, Row as _};

use super::PostgresStore;
use super::conn::Conn;
use super::job::state_row;
use super::layout::Layout;
use super::list::{created_at, current};
use crate::store::decode;

/// Jobs of one read, and state rows of each.
pub(super) const MOST: u32 = 200;

/// What a job calls, where it is not absurdly large: arguments of more than 4 kB are not read, nor
/// is a call of more than 64 kB. The first bound of the arguments is on their stored size, which
/// costs nothing.
const CALL: &str = "
  CASE WHEN pg_column_size(j.invocationdata) <= 65536
    THEN {without j.invocationdata Arguments} END AS invocation,
  CASE WHEN pg_column_size(j.arguments) > 65536 THEN NULL
    WHEN octet_length({raw j.arguments}) <= 4096 THEN {raw j.arguments} END AS arguments";

const JOBS: &str = "
SELECT j.id::bigint AS id, j.stateid::bigint AS state_id, j.statename::text AS state,
  {utc j.createdat} AS created_at, {utc c.createdat} AS since, c.reason::text AS reason,
  t.total, t.attempts, CALL
FROM {s}.job j
LEFT JOIN {s}.state c ON c.id = j.stateid AND c.jobid = j.id
CROSS JOIN LATERAL (
  SELECT count(*) AS total, count(*) FILTER (WHERE t.name = 'Processing') AS attempts
  FROM {s}.state t WHERE t.jobid = j.id
) t
WHERE j.id = ANY($1) ORDER BY j.id";

const CALLS: &str = "
SELECT j.id::bigint AS id, CALL FROM {s}.job j WHERE j.id > $1 ORDER BY j.id LIMIT $2";

/// The newest rows of each job. Sorting by an expression keeps the planner to the job's own rows.
const STATES: &str = "
SELECT x.id AS job, c.id::bigint AS id, c.name::text AS name, c.reason::text AS reason,
  {utc c.createdat} AS created_at, NULL::bigint AS details_chars,
  CASE WHEN pg_column_size(c.data) <= 65536 THEN {without c.data ExceptionDetails} END AS data
FROM unnest($1::bigint[]) AS x(id)
CROSS JOIN LATERAL (
  SELECT c.* FROM {s}.state c WHERE c.jobid = x.id ORDER BY c.id + 0 DESC LIMIT $2
) c
ORDER BY c.id";

#[async_trait]
impl HistoryStore for PostgresStore {
    async fn histories(&self, ids: &[i64], states: u32) -> Result<Vec<JobHistory>, StoreError> {
        let ids: Vec<i64> = ids.iter().copied().take(MOST as usize).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.session()
            .read(move |conn, layout| {
                let ids = ids.clone();
                Box::pin(async move { histories(conn, &layout, ids, states).await })
            })
            .await
    }

    async fn calls_after(&self, id: i64, limit: u32) -> Result<Vec<JobCall>, StoreError> {
        self.session()
            .read(move |conn, layout| {
                Box::pin(async move {
                    sqlx::query(layout.sql(&CALLS.replace("CALL", CALL)))
                        .bind(id)
                        .bind(i64::from(limit))
                        .fetch_all(conn)
                        .await?
                        .iter()
                        .map(|row| {
                            Ok(JobCall {
                                id: row.try_get("id")?,
                                invocation: call(row)?,
                            })
                        })
                        .collect()
                })
            })
            .await
    }
}

/// See [`HistoryStore::histories`].
pub(super) async fn histories(
    conn: &mut Conn,
    layout: &Layout,
    ids: Vec<i64>,
    states: u32,
) -> Result<Vec<JobHistory>, Error> {
    let jobs = sqlx::query(layout.sql(&JOBS.replace("CALL", CALL)))
        .bind(&ids)
        .fetch_all(&mut *conn)
        .await?;
    let mut newest = newest_rows(conn, layout, &ids, states).await?;
    jobs.iter()
        .map(|row| {
            let id = row.try_get("id")?;
            let states = newest.remove(&id).unwrap_or_default();
            let total: i64 = row.try_get("total")?;
            let attempts: i64 = row.try_get("attempts")?;
            let shown = states
                .iter()
                .filter(|state| state.name == StateName::Processing);
            let before = usize::try_from(attempts)
                .unwrap_or_default()
                .saturating_sub(shown.count());
            Ok(JobHistory {
                id,
                state: current(row)?,
                invocation: call(row)?,
                created_at: created_at(row)?,
                older_rows: usize::try_from(total).unwrap_or_default() > states.len(),
                attempts_before: u32::try_from(before).unwrap_or(u32::MAX),
                states,
            })
        })
        .collect()
}

async fn newest_rows(
    conn: &mut Conn,
    layout: &Layout,
    ids: &[i64],
    states: u32,
) -> Result<HashMap<i64, Vec<StateRow>>, Error> {
    let rows = sqlx::query(layout.sql(STATES))
        .bind(ids)
        .bind(i64::from(states.min(MOST)))
        .fetch_all(conn)
        .await?;
    let mut by_job: HashMap<i64, Vec<StateRow>> = HashMap::new();
    for row in &rows {
        let mut state = state_row(row)?;
        // From a text column the database cannot leave it out.
        state.data.remove("ExceptionDetails");
        state.details_chars = None;
        by_job.entry(row.try_get("job")?).or_default().push(state);
    }
    Ok(by_job)
}

fn call(row: &PgRow) -> Result<Invocation, Error> {
    let invocation: Option<String> = row.try_get("invocation")?;
    let arguments: Option<String> = row.try_get("arguments")?;
    Ok(decode::invocation(
        invocation.as_deref().unwrap_or_default(),
        arguments
            .as_deref()
            .map_or(Arguments::TooLarge, decode::arguments),
    ))
}
