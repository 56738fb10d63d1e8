//! The steps of a plan as statements. Rows are as Hangfire.Storage.SQLite writes them: times in
//! ticks, 0 for none, `Job.StateId` left as it is, counters and scores as floats.

use app::actions::plan::{Plan, StateValue, Write};
use app::model::state::{Instant, StateName};
use serde_json::{Map, Value};
use sqlx::{Row as _, SqliteConnection};

use crate::clock::SharedClock;
use crate::store::sqlite::ticks;

const REMOVE_FROM_SET: &str = r#"DELETE FROM "Set" WHERE "Key" = ? AND "Value" = ?"#;

/// The table has no unique key that would tell a member that is there.
const SCORE: &str = r#"UPDATE "Set" SET Score = ?3 WHERE "Key" = ?1 AND "Value" = ?2"#;
const ADD_TO_SET: &str =
    r#"INSERT INTO "Set" ("Key", "Value", Score, ExpireAt) VALUES (?1, ?2, ?3, 0)"#;

const COUNT: &str = r#"INSERT INTO Counter (Id, "Key", "Value", ExpireAt) VALUES (?, ?, ?, ?)"#;

/// Hangfire takes the newest row by its time, so ours is never older than one that is there; and
/// it cannot read a row whose data are NULL.
const STATE: &str = "INSERT INTO State (JobId, Name, Reason, CreatedAt, Data, ExpireAt) VALUES \
     (?1, ?2, ?3, max(?4, coalesce((SELECT max(CreatedAt) FROM State WHERE JobId = ?1), 0) + 1), \
     coalesce(?5, (SELECT Data FROM State WHERE Id = ?6 AND JobId = ?1), '{}'), 0) RETURNING Id";
const SET_STATE: &str = "UPDATE Job SET StateName = ? WHERE Id = ?";

const INSERT_QUEUE_ROW: &str = "INSERT INTO JobQueue (JobId, Queue, FetchedAt) VALUES (?, ?, 0)";
const DELETE_QUEUE_ROW: &str = "DELETE FROM JobQueue WHERE Id = ?";
const MOVE_QUEUE_ROW: &str = "UPDATE JobQueue SET Queue = ? WHERE Id = ?";
const SET_PARAMETER: &str = "UPDATE JobParameter SET Value = ? WHERE JobId = ? AND Name = ?";

/// Hangfire's purge looks at each table by itself.
const EXPIRE: [&str; 2] = [
    "UPDATE Job SET ExpireAt = ?2 WHERE Id = ?1",
    "UPDATE JobParameter SET ExpireAt = ?2 WHERE JobId = ?1 AND ExpireAt IS NOT ?2",
];
/// The newest first: they are what the job's page shows.
const EXPIRE_STATES: &str = "UPDATE State SET ExpireAt = ?2 WHERE Id IN (SELECT Id FROM State \
     WHERE JobId = ?1 AND ExpireAt IS NOT ?2 ORDER BY Id DESC LIMIT ?3)";
const HAS_EXPIRY: &str = "SELECT 1 FROM Job WHERE Id = ?1 AND ExpireAt IS ?2";

/// State rows that one transaction gives an expiry; each costs a change of an index. A history can
/// have 100,000 rows, and job servers wait while a transaction runs.
pub(super) const MOST_EXPIRED: i64 = 5_000;

/// The expiry that the state rows of a job still have to get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Expiry {
    /// The job.
    pub(super) job: i64,
    /// Ticks; 0 for never.
    pub(super) at: i64,
}

/// Does every step; the id of the acted job's new state row. State rows beyond [`MOST_EXPIRED`]
/// are left to [`expire_more`]: `rest` says of which jobs.
///
/// # Errors
/// The database's; [`sqlx::Error::RowNotFound`] where the plan gives the job no state.
pub(super) async fn all(
    connection: &mut SqliteConnection,
    clock: &SharedClock,
    plan: &Plan,
    rest: &mut Vec<Expiry>,
) -> Result<i64, sqlx::Error> {
    let mut state_id = None;
    let mut budget = MOST_EXPIRED;
    for step in &plan.writes {
        match step {
            Write::State {
                job,
                name,
                reason,
                data,
            } => {
                let id = state(connection, plan.at, *job, name, reason.as_deref(), data).await?;
                if *job == plan.job {
                    state_id = Some(id);
                }
            }
            Write::Expire { job, at } => {
                let at = at.map_or(0, ticks::ticks);
                for statement in EXPIRE {
                    sqlx::query(statement)
                        .bind(*job)
                        .bind(at)
                        .execute(&mut *connection)
                        .await?;
                }
                let expiry = Expiry { job: *job, at };
                budget -= expire_states(connection, expiry, budget).await?;
                if budget <= 0 {
                    rest.push(expiry);
                }
            }
            Write::AddToSet { key, value, score } => {
                add_to_set(connection, key, value, *score).await?;
            }
            other => one(connection, clock, other).await?,
        }
    }
    state_id.ok_or(sqlx::Error::RowNotFound)
}

/// Gives up to `most` more state rows of a job its expiry; how many.
async fn expire_states(
    connection: &mut SqliteConnection,
    Expiry { job, at }: Expiry,
    most: i64,
) -> Result<i64, sqlx::Error> {
    let changed = sqlx::query(EXPIRE_STATES)
        .bind(job)
        .bind(at)
        .bind(most)
        .execute(connection)
        .await?;
    Ok(i64::try_from(changed.rows_affected()).unwrap_or(i64::MAX))
}

/// Goes on where [`all`] left off; whether there may be more. Nothing is done once the job has
/// another expiry: whoever gave it that has seen to the rows.
///
/// # Errors
/// The database's.
pub(super) async fn expire_more(
    connection: &mut SqliteConnection,
    expiry: Expiry,
) -> Result<bool, sqlx::Error> {
    let same = sqlx::query(HAS_EXPIRY)
        .bind(expiry.job)
        .bind(expiry.at)
        .fetch_optional(&mut *connection)
        .await?;
    if same.is_none() {
        return Ok(false);
    }
    Ok(expire_states(connection, expiry, MOST_EXPIRED).await? >= MOST_EXPIRED)
}

async fn state(
    connection: &mut SqliteConnection,
    at: Instant,
    job: i64,
    name: &StateName,
    reason: Option<&str>,
    data: &StateValue,
) -> Result<i64, sqlx::Error> {
    let (json, copied) = match data {
        StateValue::Object(pairs) => (Some(object(pairs)), None),
        StateValue::CopyOf(id) => (None, Some(*id)),
    };
    let row = sqlx::query(STATE)
        .bind(job)
        .bind(name.as_str())
        .bind(reason)
        .bind(ticks::ticks(at))
        .bind(json)
        .bind(copied)
        .fetch_one(&mut *connection)
        .await?;
    sqlx::query(SET_STATE)
        .bind(name.as_str())
        .bind(job)
        .execute(connection)
        .await?;
    row.try_get(0)
}

fn object(pairs: &[(&'static str, String)]) -> String {
    let map: Map<String, Value> = pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), Value::from(value.as_str())))
        .collect();
    Value::Object(map).to_string()
}

async fn add_to_set(
    connection: &mut SqliteConnection,
    key: &str,
    value: &str,
    score: i64,
) -> Result<(), sqlx::Error> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "unix seconds; the column is a float"
    )]
    let score = score as f64;
    for statement in [SCORE, ADD_TO_SET] {
        let changed = sqlx::query(statement)
            .bind(key)
            .bind(value)
            .bind(score)
            .execute(&mut *connection)
            .await?;
        if changed.rows_affected() > 0 {
            break;
        }
    }
    Ok(())
}

async fn one(
    connection: &mut SqliteConnection,
    clock: &SharedClock,
    step: &Write,
) -> Result<(), sqlx::Error> {
    let query = match step {
        Write::RemoveFromSet { key, value } => sqlx::query(REMOVE_FROM_SET).bind(*key).bind(value),
        Write::Count {
            key,
            delta,
            expire_at,
        } => {
            #[expect(clippy::cast_precision_loss, reason = "plus or minus one")]
            let delta = *delta as f64;
            sqlx::query(COUNT)
                .bind(clock.new_id().to_string())
                .bind(key)
                .bind(delta)
                .bind(expire_at.map_or(0, ticks::ticks))
        }
        Write::InsertQueueRow { job, queue } => {
            sqlx::query(INSERT_QUEUE_ROW).bind(*job).bind(queue)
        }
        Write::DeleteQueueRow { id } => sqlx::query(DELETE_QUEUE_ROW).bind(*id),
        Write::MoveQueueRow { id, queue } => sqlx::query(MOVE_QUEUE_ROW).bind(queue).bind(*id),
        Write::SetParameter { job, name, value } => sqlx::query(SET_PARAMETER)
            .bind(value)
            .bind(*job)
            .bind(*name),
        // Done by `all`.
        Write::State { .. } | Write::Expire { .. } | Write::AddToSet { .. } => return Ok(()),
    };
    query.execute(connection).await?;
    Ok(())
}
