//! One job whole.

use std::collections::BTreeMap;

use app::model::data::StateData;
use app::model::invocation::Arguments;
use app::model::job::{Continuation, JobRecord, QueueRow};
use app::model::state::{StateName, StateRow};
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, SqliteConnection};

use super::sql::{CALL, CURRENT, NEWEST, UNSETTLED, member};
use super::{list, rows};
use crate::store::decode;

/// A state row's columns; exception details are cut to 64,000 characters.
const STATE: &str = concat!(
    "SELECT Id AS id, Name AS name, Reason AS reason, CreatedAt AS created_at, \
     CASE WHEN details > 64000 THEN json_set(Data, '$.ExceptionDetails', \
     substr(json_extract(Data, '$.ExceptionDetails'), 1, 64000)) \
     WHEN octet_length(Data) > 64000 AND NOT json_valid(Data) THEN substr(Data, 1, 64000) \
     ELSE Data END AS data, CASE WHEN details > 64000 THEN details END AS details \
     FROM (SELECT *, CASE WHEN octet_length(Data) > 64000 THEN length(",
    member!("Data", "ExceptionDetails"),
    ") END AS details FROM State WHERE JobId = ?1 AND Id < ?2 ORDER BY Id DESC LIMIT ?3)"
);

/// Loads a job with its newest `states` state rows.
pub(super) async fn load(
    connection: &mut SqliteConnection,
    id: i64,
    states: u32,
) -> Result<Option<JobRecord>, sqlx::Error> {
    let Some(row) = sqlx::query(AssertSqlSafe(format!(
        "SELECT *, {UNSETTLED} AS unsettled, s.CreatedAt AS since, s.Reason AS reason FROM \
         (SELECT j.Id AS id, j.StateName AS state, {CURRENT} AS current, {NEWEST} AS newest, {CALL}, \
         CASE WHEN octet_length(j.Arguments) <= 1048576 THEN j.Arguments END AS arguments, \
         CASE WHEN octet_length(j.Arguments) > 1048576 THEN octet_length(j.Arguments) END AS arguments_bytes, \
         j.CreatedAt AS created_at, j.ExpireAt AS expire_at, (SELECT count(*) FROM State WHERE JobId = j.Id) AS total \
         FROM Job j WHERE j.Id = ?) LEFT JOIN (SELECT Id AS state_id, CreatedAt, Reason FROM State) s ON s.state_id = current"
    )))
    .bind(id)
    .fetch_optional(&mut *connection)
    .await?
    else {
        return Ok(None);
    };
    let states = history(connection, id, i64::MAX, states).await?;
    let attempts_before = match states.first() {
        Some(first) => attempts_before(connection, id, first.id).await?,
        None => 0,
    };
    let (parameters, duplicate_parameters) = parameters(connection, id).await?;
    let continuations = match parameters.iter().find(|(name, _)| name == "Continuations") {
        Some((_, Some(json))) => continuations(connection, json).await?,
        _ => Vec::new(),
    };
    let arguments =
        rows::text(&row, "arguments")?.map_or(Arguments::TooLarge, |json| decode::arguments(&json));
    Ok(Some(JobRecord {
        id,
        state: list::current(&row)?,
        invocation: rows::invocation(&row, arguments)?,
        arguments_bytes: rows::int(&row, "arguments_bytes")?,
        created_at: rows::instant(&row, "created_at")?.unwrap_or_default(),
        expire_at: rows::instant(&row, "expire_at")?,
        parameters,
        duplicate_parameters,
        queue_rows: queue_rows(connection, id).await?,
        states,
        states_total: rows::int(&row, "total")?.unwrap_or_default(),
        attempts_before,
        continuations,
    }))
}

/// The newest `limit` state rows older than `before`, ordered by id.
pub(super) async fn history(
    connection: &mut SqliteConnection,
    job: i64,
    before: i64,
    limit: u32,
) -> Result<Vec<StateRow>, sqlx::Error> {
    let found = sqlx::query(STATE)
        .bind(job)
        .bind(before)
        .bind(i64::from(limit))
        .fetch_all(connection)
        .await?;
    found.iter().rev().map(state).collect()
}

/// The whole details of a failure, where its data are not absurdly large.
pub(super) async fn failure_details(
    connection: &mut SqliteConnection,
    job: i64,
    state: i64,
) -> Result<Option<String>, sqlx::Error> {
    let row = sqlx::query(
        "SELECT Data AS data FROM State WHERE Id = ? AND JobId = ? \
         AND octet_length(Data) <= 67108864",
    )
    .bind(state)
    .bind(job)
    .fetch_optional(connection)
    .await?;
    let json = match &row {
        Some(row) => rows::text(row, "data")?,
        None => None,
    };
    let data = StateData::parse_column(json.as_deref());
    Ok(data.get("ExceptionDetails").map(str::to_owned))
}

fn state(row: &SqliteRow) -> Result<StateRow, sqlx::Error> {
    Ok(StateRow {
        id: rows::int(row, "id")?.unwrap_or_default(),
        name: StateName::parse(&rows::text(row, "name")?.unwrap_or_default()),
        reason: rows::text(row, "reason")?,
        created_at: rows::instant(row, "created_at")?.unwrap_or_default(),
        data: StateData::parse_column(rows::text(row, "data")?.as_deref()),
        details_chars: rows::int(row, "details")?,
    })
}

/// How many attempts began before the state row `first`.
pub(super) async fn attempts_before(
    connection: &mut SqliteConnection,
    job: i64,
    first: i64,
) -> Result<u32, sqlx::Error> {
    let row = sqlx::query(
        "SELECT count(*) AS n FROM State WHERE JobId = ? AND Id < ? AND Name = 'Processing'",
    )
    .bind(job)
    .bind(first)
    .fetch_one(connection)
    .await?;
    rows::count(&row, "n")
}

pub(super) type Parameters = (Vec<(String, Option<String>)>, Vec<String>);

/// The parameters, and the names of those stored more than once.
pub(super) async fn parameters(
    connection: &mut SqliteConnection,
    job: i64,
) -> Result<Parameters, sqlx::Error> {
    let found = sqlx::query(
        "SELECT Name AS name, Value AS value FROM JobParameter WHERE JobId = ? ORDER BY Id",
    )
    .bind(job)
    .fetch_all(connection)
    .await?;
    let mut newest: BTreeMap<String, (Option<String>, u32)> = BTreeMap::new();
    for row in &found {
        let entry = newest
            .entry(rows::text(row, "name")?.unwrap_or_default())
            .or_default();
        *entry = (rows::text(row, "value")?, entry.1 + 1);
    }
    let twice = newest
        .iter()
        .filter(|(_, (_, times))| *times > 1)
        .map(|(name, _)| name.clone())
        .collect();
    Ok((
        newest
            .into_iter()
            .map(|(name, (value, _))| (name, value))
            .collect(),
        twice,
    ))
}

/// The job's rows in the queue table, by id.
pub(super) async fn queue_rows(
    connection: &mut SqliteConnection,
    job: i64,
) -> Result<Vec<QueueRow>, sqlx::Error> {
    let found = sqlx::query(
        "SELECT Id AS id, Queue AS queue, FetchedAt AS fetched_at FROM JobQueue WHERE JobId = ? ORDER BY Id",
    )
    .bind(job)
    .fetch_all(connection)
    .await?;
    found
        .iter()
        .map(|row| {
            Ok(QueueRow {
                id: rows::int(row, "id")?.unwrap_or_default(),
                queue: rows::text(row, "queue")?.unwrap_or_default(),
                fetched_at: rows::instant(row, "fetched_at")?,
            })
        })
        .collect()
}

/// The jobs that a `Continuations` parameter names, in its order; none where it is unreadable.
async fn continuations(
    connection: &mut SqliteConnection,
    json: &str,
) -> Result<Vec<Continuation>, sqlx::Error> {
    let waiting = decode::continuations(json);
    let ids: Vec<i64> = waiting.iter().map(|(id, _)| *id).collect();
    let found = sqlx::query(
        "SELECT Id AS id, StateName AS state FROM Job WHERE Id IN (SELECT value FROM json_each(?))",
    )
    .bind(serde_json::json!(ids).to_string())
    .fetch_all(connection)
    .await?;
    let mut states = BTreeMap::new();
    for row in &found {
        states.insert(
            rows::int(row, "id")?.unwrap_or_default(),
            rows::text(row, "state")?.map(|name| StateName::parse(&name)),
        );
    }
    Ok(waiting
        .into_iter()
        .map(|(job, options)| Continuation {
            job,
            options,
            state: states.get(&job).cloned().flatten(),
        })
        .collect())
}
