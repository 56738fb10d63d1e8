//! Actions on real tables, against what the official dashboard writes and what goes wrong.

mod cases;
mod guard;
mod lost;
mod peer;
mod transitions;
mod undo;
mod workers;

use std::collections::BTreeMap;

use app::actions::{Action, Actor, Enqueue, Outcome, Request, Seen};
use app::model::state::StateName;
use app::ports::actions::ActionStore as _;
use serde_json::Value;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Row as _};
use uuid::Uuid;

use crate::clock::{Clock as _, SystemClock};
use crate::store::postgres::PostgresStore;
use crate::testing::fixture::{Fixture, fixtures};
use crate::testing::postgres::TestDatabase;

/// The recorded database of the dashboard's actions, in a layout of this version, with our tables.
async fn base(version: u32) -> Option<TestDatabase> {
    let text = std::fs::read_to_string(fixtures().join("transitions/base.json")).unwrap();
    let mut tables: BTreeMap<String, Vec<Value>> = serde_json::from_str(&text).unwrap();
    tables.remove("schema");
    let database = TestDatabase::with_layout(version).await?;
    database.load(&Fixture::of(tables)).await;
    own_tables(&database).await;
    Some(database)
}

async fn own_tables(database: &TestDatabase) {
    database.store().migrate().await.unwrap();
}

/// A request of somebody who sees what is there now.
async fn seen(database: &TestDatabase, job: i64, action: Action) -> Request {
    let row = sqlx::query("SELECT statename, stateid FROM hangfire.job WHERE id = $1")
        .bind(job)
        .fetch_one(&mut database.connection().await)
        .await
        .unwrap();
    request(
        job,
        row.get::<Option<String>, _>(0)
            .as_deref()
            .unwrap_or("Failed"),
        row.get::<Option<i64>, _>(1).unwrap_or(0),
        action,
    )
}

fn request(job: i64, state: &str, state_id: i64, action: Action) -> Request {
    Request {
        action,
        seen: Seen {
            job,
            state: StateName::parse(state),
            state_id,
        },
        reason: Some("supplier is back".to_owned()),
        actor: Actor {
            name: "ada".to_owned(),
            authenticated: false,
        },
    }
}

fn requeue() -> Action {
    Action::Requeue(Enqueue::default())
}

fn enqueue_now() -> Action {
    Action::EnqueueNow(Enqueue::default())
}

/// Acts as somebody who sees what is there now.
async fn act(database: &TestDatabase, job: i64, action: Action) -> Outcome {
    let request = seen(database, job, action).await;
    database
        .store()
        .act(SystemClock.new_id(), &request)
        .await
        .unwrap()
}

/// The new state's id.
fn done(outcome: &Outcome) -> i64 {
    match outcome {
        Outcome::Done { state_id, .. } => *state_id,
        other => panic!("not done: {other:?}"),
    }
}

fn refused(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Refused { why } => why,
        other => panic!("not refused: {other:?}"),
    }
}

/// Every row of Hangfire's tables.
async fn rows(conn: &mut PgConnection) -> BTreeMap<String, Vec<Value>> {
    let mut all = BTreeMap::new();
    for table in [
        "job",
        "state",
        "jobparameter",
        "jobqueue",
        "server",
        "set",
        "hash",
        "list",
        "counter",
        "lock",
    ] {
        let rows: Vec<Value> = sqlx::query_scalar(AssertSqlSafe(format!(
            r#"SELECT to_jsonb(t) FROM hangfire."{table}" t"#
        )))
        .fetch_all(&mut *conn)
        .await
        .unwrap();
        all.insert(table.to_owned(), rows);
    }
    all
}

async fn snapshot(database: &TestDatabase) -> BTreeMap<String, Vec<Value>> {
    rows(&mut database.connection().await).await
}

/// `(outcome, before, after)` of an audit row.
async fn audited(database: &TestDatabase, id: Uuid) -> Option<(String, Option<i64>, Option<i64>)> {
    sqlx::query("SELECT outcome, before_state_id, after_state_id FROM redrive.audit WHERE id = $1")
        .bind(id)
        .fetch_optional(&mut database.connection().await)
        .await
        .unwrap()
        .map(|row| (row.get(0), row.get(1), row.get(2)))
}

/// One number.
async fn count(database: &TestDatabase, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql)
        .fetch_one(&mut database.connection().await)
        .await
        .unwrap()
}

/// The queue rows of a job: id, queue, whether a worker has it.
async fn queue_rows(database: &TestDatabase, job: i64) -> Vec<(i64, String, bool)> {
    sqlx::query(
        "SELECT id, queue, fetchedat IS NOT NULL FROM hangfire.jobqueue WHERE jobid = $1 \
         ORDER BY id",
    )
    .bind(job)
    .fetch_all(&mut database.connection().await)
    .await
    .unwrap()
    .iter()
    .map(|row| (row.get(0), row.get(1), row.get(2)))
    .collect()
}

fn store(database: &TestDatabase) -> PostgresStore {
    database.store()
}
