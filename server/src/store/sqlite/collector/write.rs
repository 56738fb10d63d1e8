//! The lease, and writing what rows change.

use std::time::Duration;

use app::model::collect::batch::Changes;
use app::model::collect::position::Position;
use app::ports::error::StoreError;
use sqlx::{Connection, SqliteConnection};
use uuid::Uuid;

use crate::store::kept::hint;
use crate::store::rollups::{IndexRows, Rows};
use crate::store::sqlite::migrate::{self, Own};
use crate::store::sqlite::work::Work;
use crate::store::sqlite::{SqliteStore, errors, rows};

const SOURCE: &str = "SELECT id FROM redrive_source WHERE hangfire_schema = 'main'";

/// The row is updated in any case, so that its position comes back. A lease that ends later than
/// this one would comes from a clock that was wrong.
const LEASE: &str = "INSERT INTO redrive_collector (source, holder, held_until, position, \
     updated_at) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (source) DO UPDATE SET \
     holder = excluded.holder, held_until = excluded.held_until \
     WHERE redrive_collector.holder IS NULL OR redrive_collector.holder = excluded.holder \
     OR redrive_collector.held_until < ?5 OR redrive_collector.held_until > ?3 \
     RETURNING position";

const RELEASE: &str =
    "UPDATE redrive_collector SET holder = NULL, held_until = NULL WHERE holder = ?";

const MOVE: &str = "UPDATE redrive_collector SET position = ?4, updated_at = ?5 \
     WHERE source = ?1 AND holder = ?2 AND position = ?3";

const REMEMBER: &str = "INSERT INTO redrive_collector_job (source, job, undecided, memory) \
     SELECT ?1, value ->> 0, value ->> 1, value ->> 2 FROM json_each(?2) WHERE true \
     ON CONFLICT (source, job) DO UPDATE SET \
     undecided = excluded.undecided, memory = excluded.memory";

const FORGET: &str = "DELETE FROM redrive_collector_job WHERE source = ?1 \
     AND job IN (SELECT value FROM json_each(?2))";

const FORGET_ALL: &str = "DELETE FROM redrive_collector_job WHERE source = ?1";

const CLEAR_GAUGES: &str = "DELETE FROM redrive_gauges WHERE source = ?1";

const ATTEMPTS: &str = "INSERT INTO redrive_attempts AS t (source, hour, job_type, method, queue, \
     later, number, outcome, attempts, waited, waited_ms, ran, ran_ms) \
     SELECT ?1, value ->> 'hour', value ->> 'job_type', value ->> 'method', value ->> 'queue', \
     value ->> 'later', value ->> 'number', value ->> 'outcome', value ->> 'attempts', \
     value -> '$.waited.counts', value ->> '$.waited.sum_ms', \
     value -> '$.ran.counts', value ->> '$.ran.sum_ms' FROM json_each(?2) WHERE true \
     ON CONFLICT (source, hour, job_type, method, queue, later, number, outcome) DO UPDATE SET \
     attempts = t.attempts + excluded.attempts, \
     waited = (SELECT json_group_array(coalesce(a.value, 0) + b.value ORDER BY b.key) \
     FROM json_each(excluded.waited) b LEFT JOIN json_each(t.waited) a ON a.key = b.key), \
     waited_ms = t.waited_ms + excluded.waited_ms, \
     ran = (SELECT json_group_array(coalesce(a.value, 0) + b.value ORDER BY b.key) \
     FROM json_each(excluded.ran) b LEFT JOIN json_each(t.ran) a ON a.key = b.key), \
     ran_ms = t.ran_ms + excluded.ran_ms";

const FIRST_ATTEMPTS: &str = "INSERT INTO redrive_first_attempts AS t (source, slot, job_type, \
     method, queue, succeeded, ended) SELECT ?1, value ->> 'slot', value ->> 'job_type', \
     value ->> 'method', value ->> 'queue', value ->> 'succeeded', value ->> 'ended' \
     FROM json_each(?2) WHERE true \
     ON CONFLICT (source, slot, job_type, method, queue) DO UPDATE SET \
     succeeded = t.succeeded + excluded.succeeded, ended = t.ended + excluded.ended";

const ROUNDS: &str = "INSERT INTO redrive_rounds AS t (source, hour, job_type, method, queue, \
     later, ending, number, rounds, backoff_ms) SELECT ?1, value ->> 'hour', value ->> 'job_type', \
     value ->> 'method', value ->> 'queue', value ->> 'later', value ->> 'ending', \
     value ->> 'number', value ->> 'rounds', value ->> 'backoff_ms' \
     FROM json_each(?2) WHERE true \
     ON CONFLICT (source, hour, job_type, method, queue, later, ending, number) DO UPDATE SET \
     rounds = t.rounds + excluded.rounds, backoff_ms = t.backoff_ms + excluded.backoff_ms";

const RECOVERY: &str = "INSERT INTO redrive_recovery AS t (source, hour, job_type, method, \
     exception, recovered, gave_up, retries_recovered, retries_gave_up) \
     SELECT ?1, value ->> 'hour', value ->> 'job_type', value ->> 'method', \
     value ->> 'exception', value ->> 'recovered', value ->> 'gave_up', \
     value ->> 'retries_recovered', value ->> 'retries_gave_up' FROM json_each(?2) WHERE true \
     ON CONFLICT (source, hour, job_type, method, exception) DO UPDATE SET \
     recovered = t.recovered + excluded.recovered, gave_up = t.gave_up + excluded.gave_up, \
     retries_recovered = t.retries_recovered + excluded.retries_recovered, \
     retries_gave_up = t.retries_gave_up + excluded.retries_gave_up";

const DELAYS: &str = "INSERT INTO redrive_delays AS t (source, day, job_type, method, retries, \
     retry, delays, sum_ms, min_ms, max_ms) SELECT ?1, value ->> 'day', value ->> 'job_type', \
     value ->> 'method', value ->> 'retries', value ->> 'retry', value ->> 'delays', \
     value ->> 'sum_ms', value ->> 'min_ms', value ->> 'max_ms' FROM json_each(?2) WHERE true \
     ON CONFLICT (source, day, job_type, method, retries, retry) DO UPDATE SET \
     delays = t.delays + excluded.delays, sum_ms = t.sum_ms + excluded.sum_ms, \
     min_ms = coalesce(min(t.min_ms, excluded.min_ms), t.min_ms, excluded.min_ms), \
     max_ms = coalesce(max(t.max_ms, excluded.max_ms), t.max_ms, excluded.max_ms)";

const GAUGES: &str = "INSERT INTO redrive_gauges AS t (source, gauge, job_type, method, label, \
     value) SELECT ?1, value ->> 'gauge', value ->> 'job_type', value ->> 'method', \
     value ->> 'label', value ->> 'value' FROM json_each(?2) WHERE true \
     ON CONFLICT (source, gauge, job_type, method, label) DO UPDATE SET \
     value = t.value + excluded.value";

const GROUPS: &str = "INSERT INTO redrive_failure_groups (source, id, list, job_type, method, \
     queue, exception, attempts) SELECT ?1, value ->> 'id', value ->> 'list', \
     value ->> 'job_type', value ->> 'method', value ->> 'queue', value ->> 'exception', \
     value ->> 'attempts' FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING";

const FAILURES: &str = "INSERT INTO redrive_failures (source, job, list, changed_at, state_id, \
     group_id, attempts, server) SELECT ?1, value ->> 'job', value ->> 'list', \
     value ->> 'changed_at', value ->> 'state_id', value ->> 'group_id', value ->> 'attempts', \
     value ->> 'server' FROM json_each(?2) WHERE true ON CONFLICT (source, job) DO UPDATE SET \
     list = excluded.list, changed_at = excluded.changed_at, state_id = excluded.state_id, \
     group_id = excluded.group_id, attempts = excluded.attempts, server = excluded.server";

const LEFT: &str = "DELETE FROM redrive_failures WHERE source = ?1 \
     AND job IN (SELECT value FROM json_each(?2))";

/// The groups of some jobs.
const HELD: &str = "SELECT f.group_id AS id FROM json_each(?2) t \
     CROSS JOIN redrive_failures f ON f.source = ?1 AND f.job = t.value";

const RESIZE: &str = "UPDATE redrive_failure_groups AS g SET jobs = g.jobs + r.jobs \
     FROM (SELECT value ->> 'id' AS id, value ->> 'jobs' AS jobs FROM json_each(?2)) r \
     WHERE g.source = ?1 AND g.id = r.id";

const PRUNE: &str = "DELETE FROM redrive_failure_groups WHERE source = ?1 AND jobs = 0";

const CLEAR_FAILURES: &str = "DELETE FROM redrive_failures WHERE source = ?1";

const CLEAR_GROUPS: &str = "DELETE FROM redrive_failure_groups WHERE source = ?1";

/// Why nothing is written.
enum Halt {
    Driver(sqlx::Error),
    Known(StoreError),
}

impl From<sqlx::Error> for Halt {
    fn from(error: sqlx::Error) -> Self {
        Self::Driver(error)
    }
}

fn unreadable(error: &serde_json::Error) -> StoreError {
    StoreError::Unreadable(format!("what the collector keeps cannot be read: {error}"))
}

fn json(position: &Position) -> Result<String, StoreError> {
    serde_json::to_string(position).map_err(|error| unreadable(&error))
}

/// Runs `work` in one write transaction, in a task of its own; commits where it says so.
async fn transaction<T, F>(store: &SqliteStore, work: F) -> Result<T, StoreError>
where
    F: for<'c> FnOnce(&'c mut SqliteConnection, String) -> Work<'c, (T, bool)> + Send + 'static,
    T: Send + 'static,
{
    let writer = store.writer().await?;
    let task = tokio::spawn(async move {
        let mut connection = writer.acquire().await?;
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let done = async {
            let why = match migrate::state(&mut transaction).await? {
                Own::Current => None,
                Own::Behind(_) => Some(concat!(
                    "Redrive's own tables are missing in the file, or old; ",
                    hint!()
                )),
                Own::Newer(_) => Some("Redrive's own tables were made by a newer Redrive"),
            };
            if let Some(why) = why {
                return Err(Halt::Known(StoreError::Forbidden(why.to_owned())));
            }
            let source = sqlx::query(SOURCE).fetch_one(&mut *transaction).await?;
            let source = rows::text(&source, "id")?.unwrap_or_default();
            Ok(work(&mut transaction, source).await?)
        }
        .await;
        match done {
            Ok((value, true)) => {
                transaction.commit().await?;
                Ok(value)
            }
            Ok((value, false)) => {
                transaction.rollback().await?;
                Ok(value)
            }
            Err(halt) => {
                // What halted it matters; a transaction that is over already cannot roll back.
                drop(transaction.rollback().await);
                Err(halt)
            }
        }
    });
    match task.await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(Halt::Known(error))) => Err(error),
        Ok(Err(Halt::Driver(error))) => Err(errors::sort(&error)),
        Err(failure) => Err(StoreError::Internal(failure.to_string())),
    }
}

/// See [`app::ports::collector::CollectorStore::lease`].
pub(super) async fn lease(
    store: &SqliteStore,
    holder: Uuid,
    lasts: Duration,
) -> Result<Option<Position>, StoreError> {
    let now = store.inner.clock.now();
    let micros = i64::try_from(lasts.as_micros()).unwrap_or(i64::MAX);
    let until = now.timestamp_micros().saturating_add(micros);
    let begin = json(&Position::default())?;
    let stored = transaction(store, move |connection, source| {
        Box::pin(async move {
            let row = sqlx::query(LEASE)
                .bind(source)
                .bind(holder.to_string())
                .bind(until)
                .bind(begin)
                .bind(now.timestamp_micros())
                .fetch_optional(connection)
                .await?;
            let stored = match &row {
                Some(row) => rows::text(row, "position")?,
                None => None,
            };
            Ok((stored, true))
        })
    })
    .await?;
    stored
        .map(|text| serde_json::from_str(&text).map_err(|error| unreadable(&error)))
        .transpose()
}

/// See [`app::ports::collector::CollectorStore::release`].
pub(super) async fn release(store: &SqliteStore, holder: Uuid) -> Result<(), StoreError> {
    transaction(store, move |connection, _| {
        Box::pin(async move {
            sqlx::query(RELEASE)
                .bind(holder.to_string())
                .execute(connection)
                .await?;
            Ok(((), true))
        })
    })
    .await
}

/// See [`app::ports::collector::CollectorStore::write`].
pub(super) async fn write(
    store: &SqliteStore,
    holder: Uuid,
    from: &Position,
    to: &Position,
    changes: &Changes,
) -> Result<bool, StoreError> {
    let index = IndexRows::of(changes).map_err(|error| unreadable(&error))?;
    let written = Written {
        from: json(from)?,
        to: json(to)?,
        at: store.inner.clock.now().timestamp_micros(),
        is_new_epoch: from.epoch != to.epoch,
        rows: Rows::of(&changes.increments).map_err(|error| unreadable(&error))?,
        memories: memories(changes).map_err(|error| unreadable(&error))?,
        left: serde_json::to_string(&index.left).map_err(|error| unreadable(&error))?,
        touched: serde_json::to_string(&index.touched).map_err(|error| unreadable(&error))?,
        index,
        prune: changes.prune,
        forgotten: serde_json::to_string(&changes.forgotten).map_err(|error| unreadable(&error))?,
    };
    transaction(store, move |connection, source| {
        Box::pin(async move {
            let done = written.run(connection, &source, holder).await?;
            Ok((done, done))
        })
    })
    .await
}

/// Job, whether it is undecided, and the memory, of each.
fn memories(changes: &Changes) -> Result<String, serde_json::Error> {
    let memories: Vec<(i64, bool, String)> = changes
        .remembered
        .iter()
        .map(|(job, memory)| Ok((*job, memory.is_undecided(), serde_json::to_string(memory)?)))
        .collect::<Result<_, serde_json::Error>>()?;
    serde_json::to_string(&memories)
}

/// What is written, as the statements take it.
struct Written {
    from: String,
    to: String,
    at: i64,
    is_new_epoch: bool,
    rows: Rows,
    memories: String,
    index: IndexRows,
    left: String,
    touched: String,
    prune: bool,
    forgotten: String,
}

impl Written {
    async fn run(
        self,
        connection: &mut SqliteConnection,
        source: &str,
        holder: Uuid,
    ) -> Result<bool, sqlx::Error> {
        let moved = sqlx::query(MOVE)
            .bind(source)
            .bind(holder.to_string())
            .bind(self.from)
            .bind(self.to)
            .bind(self.at)
            .execute(&mut *connection)
            .await?;
        if moved.rows_affected() != 1 {
            return Ok(false);
        }
        if self.is_new_epoch {
            for statement in [FORGET_ALL, CLEAR_GAUGES, CLEAR_FAILURES, CLEAR_GROUPS] {
                sqlx::query(statement)
                    .bind(source)
                    .execute(&mut *connection)
                    .await?;
            }
        }
        let held: Vec<i64> = sqlx::query_scalar(HELD)
            .bind(source)
            .bind(self.touched)
            .fetch_all(&mut *connection)
            .await?;
        let growth = self.index.sizes.growth(&held);
        let growth = growth.map_err(|error| sqlx::Error::Encode(error.into()))?;
        let tables = [
            (ATTEMPTS, self.rows.attempts),
            (FIRST_ATTEMPTS, self.rows.first_attempts),
            (ROUNDS, self.rows.rounds),
            (RECOVERY, self.rows.recovery),
            (DELAYS, self.rows.delays),
            (GAUGES, self.rows.gauges),
            (REMEMBER, Some(self.memories)),
            (FORGET, Some(self.forgotten)),
            (GROUPS, self.index.groups),
            (FAILURES, self.index.failures),
            (LEFT, Some(self.left)),
            (RESIZE, growth),
        ];
        for (statement, rows) in tables {
            if let Some(rows) = rows {
                sqlx::query(statement)
                    .bind(source)
                    .bind(rows)
                    .execute(&mut *connection)
                    .await?;
            }
        }
        if self.prune {
            sqlx::query(PRUNE).bind(source).execute(connection).await?;
        }
        Ok(true)
    }
}
