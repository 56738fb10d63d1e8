//! The lease, and writing what rows change.

use std::time::Duration;

use app::model::collect::batch::Changes;
use app::model::collect::position::Position;
use app::ports::error::StoreError;
use sqlx::Error;
use uuid::Uuid;

use crate::clock::SharedClock;
use crate::store::kept::hint;
use crate::store::postgres::act::audit::source;
use crate::store::postgres::conn::{Conn, begin};
use crate::store::postgres::migrate::{self, Own};
use crate::store::postgres::pool::Purpose;
use crate::store::postgres::session::{Session, spawned};
use crate::store::postgres::{PostgresStore, errors};
use crate::store::rollups::{IndexRows, Rows};

const BEGIN: &str = begin!(
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    "SET LOCAL lock_timeout = 5000",
    "SET LOCAL statement_timeout = 30000",
    "SET LOCAL idle_in_transaction_session_timeout = 10000",
    "SET LOCAL jit = off",
);

/// The row is updated in any case, so that its position comes back.
const LEASE: &str = "
INSERT INTO redrive.collector AS c (source, holder, held_until, position, updated_at)
VALUES ($1, $2, clock_timestamp() + $3 * interval '1 ms', $4, clock_timestamp())
ON CONFLICT (source) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
WHERE c.holder IS NULL OR c.holder = excluded.holder OR c.held_until < clock_timestamp()
RETURNING c.position";

const RELEASE: &str = "
UPDATE redrive.collector SET holder = NULL, held_until = NULL
FROM redrive.source s
WHERE s.id = collector.source AND s.hangfire_schema = $1 AND holder = $2";

const MOVE: &str = "
UPDATE redrive.collector SET position = $4, updated_at = clock_timestamp()
WHERE source = $1 AND holder = $2 AND position = $3";

const REMEMBER: &str = "
INSERT INTO redrive.collector_job (source, job, undecided, memory)
SELECT $1, m.job, m.undecided, m.memory
FROM unnest($2::bigint[], $3::boolean[], $4::text[]) AS m(job, undecided, memory)
ON CONFLICT (source, job) DO UPDATE
SET undecided = excluded.undecided, memory = excluded.memory";

const FORGET: &str = "DELETE FROM redrive.collector_job WHERE source = $1 AND job = ANY($2)";

const FORGET_ALL: &str = "DELETE FROM redrive.collector_job WHERE source = $1";

const CLEAR_GAUGES: &str = "DELETE FROM redrive.gauges WHERE source = $1";

const ATTEMPTS: &str = "
INSERT INTO redrive.attempts AS t (source, hour, job_type, method, queue, later, number, outcome,
  attempts, waited, waited_ms, ran, ran_ms)
SELECT $1, r.hour, r.job_type, r.method, r.queue, r.later, r.number, r.outcome, r.attempts,
  ARRAY(SELECT e::integer FROM json_array_elements_text(r.waited->'counts') e),
  (r.waited->>'sum_ms')::bigint,
  ARRAY(SELECT e::integer FROM json_array_elements_text(r.ran->'counts') e),
  (r.ran->>'sum_ms')::bigint
FROM json_to_recordset($2::json) AS r(hour bigint, job_type text, method text, queue text,
  later boolean, number bigint, outcome text, attempts bigint, waited json, ran json)
ON CONFLICT (source, hour, job_type, method, queue, later, number, outcome) DO UPDATE SET
  attempts = t.attempts + excluded.attempts,
  waited = ARRAY(SELECT COALESCE(u.a, 0) + COALESCE(u.b, 0)
    FROM unnest(t.waited, excluded.waited) WITH ORDINALITY AS u(a, b, place) ORDER BY u.place),
  waited_ms = t.waited_ms + excluded.waited_ms,
  ran = ARRAY(SELECT COALESCE(u.a, 0) + COALESCE(u.b, 0)
    FROM unnest(t.ran, excluded.ran) WITH ORDINALITY AS u(a, b, place) ORDER BY u.place),
  ran_ms = t.ran_ms + excluded.ran_ms";

const FIRST_ATTEMPTS: &str = "
INSERT INTO redrive.first_attempts AS t (source, slot, job_type, method, queue, succeeded, ended)
SELECT $1, r.* FROM json_to_recordset($2::json)
  AS r(slot bigint, job_type text, method text, queue text, succeeded bigint, ended bigint)
ON CONFLICT (source, slot, job_type, method, queue) DO UPDATE SET
  succeeded = t.succeeded + excluded.succeeded, ended = t.ended + excluded.ended";

const ROUNDS: &str = "
INSERT INTO redrive.rounds AS t (source, hour, job_type, method, queue, later, ending, number,
  rounds, backoff_ms)
SELECT $1, r.* FROM json_to_recordset($2::json)
  AS r(hour bigint, job_type text, method text, queue text, later boolean, ending text,
    number bigint, rounds bigint, backoff_ms bigint)
ON CONFLICT (source, hour, job_type, method, queue, later, ending, number) DO UPDATE SET
  rounds = t.rounds + excluded.rounds, backoff_ms = t.backoff_ms + excluded.backoff_ms";

const RECOVERY: &str = "
INSERT INTO redrive.recovery AS t (source, hour, job_type, method, exception, recovered, gave_up,
  retries_recovered, retries_gave_up)
SELECT $1, r.* FROM json_to_recordset($2::json)
  AS r(hour bigint, job_type text, method text, exception text, recovered bigint, gave_up bigint,
    retries_recovered bigint, retries_gave_up bigint)
ON CONFLICT (source, hour, job_type, method, exception) DO UPDATE SET
  recovered = t.recovered + excluded.recovered, gave_up = t.gave_up + excluded.gave_up,
  retries_recovered = t.retries_recovered + excluded.retries_recovered,
  retries_gave_up = t.retries_gave_up + excluded.retries_gave_up";

const DELAYS: &str = "
INSERT INTO redrive.delays AS t (source, day, job_type, method, retries, retry, delays, sum_ms,
  min_ms, max_ms)
SELECT $1, r.* FROM json_to_recordset($2::json)
  AS r(day bigint, job_type text, method text, retries bigint, retry bigint, delays bigint,
    sum_ms bigint, min_ms bigint, max_ms bigint)
ON CONFLICT (source, day, job_type, method, retries, retry) DO UPDATE SET
  delays = t.delays + excluded.delays, sum_ms = t.sum_ms + excluded.sum_ms,
  min_ms = least(t.min_ms, excluded.min_ms), max_ms = greatest(t.max_ms, excluded.max_ms)";

const GAUGES: &str = "
INSERT INTO redrive.gauges AS t (source, gauge, job_type, method, label, value)
SELECT $1, r.* FROM json_to_recordset($2::json)
  AS r(gauge text, job_type text, method text, label text, value bigint)
ON CONFLICT (source, gauge, job_type, method, label) DO UPDATE SET
  value = t.value + excluded.value";

const GROUPS: &str = "
INSERT INTO redrive.failure_groups (source, id, list, job_type, method, queue, exception, attempts)
SELECT $1, r.* FROM json_to_recordset($2::json)
  AS r(id bigint, list text, job_type text, method text, queue text, exception text,
    attempts integer)
ON CONFLICT DO NOTHING";

const FAILURES: &str = "
INSERT INTO redrive.failures (source, job, list, changed_at, state_id, group_id, attempts, server)
SELECT $1, r.* FROM json_to_recordset($2::json)
  AS r(job bigint, list text, changed_at bigint, state_id bigint, group_id bigint,
    attempts bigint, server bigint)
ON CONFLICT (source, job) DO UPDATE SET list = excluded.list, changed_at = excluded.changed_at,
  state_id = excluded.state_id, group_id = excluded.group_id, attempts = excluded.attempts,
  server = excluded.server";

const LEFT: &str = "DELETE FROM redrive.failures WHERE source = $1 AND job = ANY($2)";

/// The groups of some jobs; by key, whatever the table's size.
const HELD: &str = "
SELECT f.group_id FROM redrive.failures f WHERE f.source = $1 AND f.job = ANY($2)";

const RESIZE: &str = "
UPDATE redrive.failure_groups g SET jobs = g.jobs + r.jobs
FROM json_to_recordset($2::json) AS r(id bigint, jobs bigint)
WHERE g.source = $1 AND g.id = r.id";

const PRUNE: &str = "DELETE FROM redrive.failure_groups WHERE source = $1 AND jobs = 0";

const CLEAR_FAILURES: &str = "DELETE FROM redrive.failures WHERE source = $1";

const CLEAR_GROUPS: &str = "DELETE FROM redrive.failure_groups WHERE source = $1";

/// Why nothing is written.
enum Halt {
    Driver(Error),
    Known(StoreError),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

impl From<Halt> for StoreError {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Driver(error) => errors::map(&error),
            Halt::Known(error) => error,
        }
    }
}

/// See [`app::ports::collector::CollectorStore::lease`].
pub(super) async fn lease(
    store: &PostgresStore,
    holder: Uuid,
    lasts: Duration,
) -> Result<Option<Position>, StoreError> {
    let (session, clock) = (store.session().clone(), store.clock().clone());
    spawned(async move { Ok(take_lease(&session, &clock, holder, lasts).await?) }).await
}

async fn take_lease(
    session: &Session,
    clock: &SharedClock,
    holder: Uuid,
    lasts: Duration,
) -> Result<Option<Position>, Halt> {
    let mut transaction = session.pool().begin(Purpose::Rare, BEGIN).await?;
    let conn = &mut transaction.conn;
    own_tables(conn).await?;
    let source = source(conn, session.schema(), clock.new_id()).await?;
    let milliseconds = i64::try_from(lasts.as_millis()).unwrap_or(i64::MAX);
    let stored: Option<String> = sqlx::query_scalar(LEASE)
        .bind(source)
        .bind(holder)
        .bind(milliseconds)
        .bind(json(&Position::default())?)
        .fetch_optional(conn)
        .await?;
    transaction.commit().await?;
    stored
        .map(|text| serde_json::from_str(&text).map_err(|error| unreadable(&error)))
        .transpose()
}

fn json(position: &Position) -> Result<String, Halt> {
    serde_json::to_string(position).map_err(|error| unreadable(&error))
}

fn unreadable(error: &serde_json::Error) -> Halt {
    Halt::Known(StoreError::Unreadable(format!(
        "what the collector keeps cannot be read: {error}"
    )))
}

async fn own_tables(conn: &mut Conn) -> Result<(), Halt> {
    let why = match migrate::own(conn).await? {
        Own::Current => return Ok(()),
        Own::Behind(_) => concat!("Redrive's own tables are missing or old; ", hint!()),
        Own::Newer(_) => "Redrive's own tables were made by a newer Redrive",
        Own::Hidden => migrate::HIDDEN,
    };
    Err(Halt::Known(StoreError::Forbidden(why.to_owned())))
}

/// See [`app::ports::collector::CollectorStore::release`].
pub(super) async fn release(store: &PostgresStore, holder: Uuid) -> Result<(), StoreError> {
    let session = store.session().clone();
    spawned(async move {
        let released = async {
            let mut transaction = session.pool().begin(Purpose::Rare, BEGIN).await?;
            sqlx::query(RELEASE)
                .bind(session.schema())
                .bind(holder)
                .execute(&mut transaction.conn)
                .await?;
            transaction.commit().await
        };
        released.await.map_err(|error: Error| errors::map(&error))
    })
    .await
}

/// See [`app::ports::collector::CollectorStore::write`].
pub(super) async fn write(
    store: &PostgresStore,
    holder: Uuid,
    from: &Position,
    to: &Position,
    changes: &Changes,
) -> Result<bool, StoreError> {
    let session = store.session().clone();
    let clock = store.clock().clone();
    let written = Written::of(from, to, changes)?;
    spawned(async move {
        let mut transaction = session
            .pool()
            .begin(Purpose::Rare, BEGIN)
            .await
            .map_err(Halt::from)?;
        let done = async {
            let conn = &mut transaction.conn;
            own_tables(conn).await?;
            let source = source(conn, session.schema(), clock.new_id()).await?;
            written.run(conn, source, holder).await
        }
        .await;
        match done {
            Ok(true) => {
                transaction.commit().await.map_err(Halt::from)?;
                Ok(true)
            }
            other => {
                transaction.leave();
                Ok(other?)
            }
        }
    })
    .await
}

/// What is written, as the statements take it.
struct Written {
    from: String,
    to: String,
    is_new_epoch: bool,
    rows: Rows,
    index: IndexRows,
    prune: bool,
    jobs: Vec<i64>,
    undecided: Vec<bool>,
    memories: Vec<String>,
    forgotten: Vec<i64>,
}

impl Written {
    fn of(from: &Position, to: &Position, changes: &Changes) -> Result<Self, Halt> {
        let mut written = Self {
            from: json(from)?,
            to: json(to)?,
            is_new_epoch: from.epoch != to.epoch,
            rows: Rows::of(&changes.increments).map_err(|error| unreadable(&error))?,
            index: IndexRows::of(changes).map_err(|error| unreadable(&error))?,
            prune: changes.prune,
            jobs: Vec::new(),
            undecided: Vec::new(),
            memories: Vec::new(),
            forgotten: changes.forgotten.clone(),
        };
        for (job, memory) in &changes.remembered {
            written.jobs.push(*job);
            written.undecided.push(memory.is_undecided());
            let memory = serde_json::to_string(memory).map_err(|error| unreadable(&error))?;
            written.memories.push(memory);
        }
        Ok(written)
    }

    /// The position first: its row is what two writers meet at.
    async fn run(self, conn: &mut Conn, source: Uuid, holder: Uuid) -> Result<bool, Halt> {
        let moved = sqlx::query(MOVE)
            .bind(source)
            .bind(holder)
            .bind(self.from)
            .bind(self.to)
            .execute(&mut *conn)
            .await?;
        if moved.rows_affected() != 1 {
            return Ok(false);
        }
        if self.is_new_epoch {
            for statement in [FORGET_ALL, CLEAR_GAUGES, CLEAR_FAILURES, CLEAR_GROUPS] {
                sqlx::query(statement)
                    .bind(source)
                    .execute(&mut *conn)
                    .await?;
            }
        }
        let held = held(conn, source, &self.index.touched).await?;
        let growth = self.index.sizes.growth(&held).map_err(|e| unreadable(&e))?;
        let tables = [
            (ATTEMPTS, self.rows.attempts),
            (FIRST_ATTEMPTS, self.rows.first_attempts),
            (ROUNDS, self.rows.rounds),
            (RECOVERY, self.rows.recovery),
            (DELAYS, self.rows.delays),
            (GAUGES, self.rows.gauges),
            (GROUPS, self.index.groups),
            (FAILURES, self.index.failures),
            (RESIZE, growth),
        ];
        for (statement, rows) in tables {
            if let Some(rows) = rows {
                sqlx::query(statement)
                    .bind(source)
                    .bind(rows)
                    .execute(&mut *conn)
                    .await?;
            }
        }
        if !self.jobs.is_empty() {
            sqlx::query(REMEMBER)
                .bind(source)
                .bind(self.jobs)
                .bind(self.undecided)
                .bind(self.memories)
                .execute(&mut *conn)
                .await?;
        }
        for (statement, jobs) in [(FORGET, self.forgotten), (LEFT, self.index.left)] {
            if !jobs.is_empty() {
                sqlx::query(statement)
                    .bind(source)
                    .bind(jobs)
                    .execute(&mut *conn)
                    .await?;
            }
        }
        if self.prune {
            sqlx::query(PRUNE).bind(source).execute(conn).await?;
        }
        Ok(true)
    }
}

async fn held(conn: &mut Conn, source: Uuid, jobs: &[i64]) -> Result<Vec<i64>, Error> {
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    sqlx::query_scalar(HELD)
        .bind(source)
        .bind(jobs)
        .fetch_all(conn)
        .await
}
