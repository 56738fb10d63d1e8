//! Actions on `SQLite`.

mod cases;
mod guard;
mod large;
mod peer;
mod transitions;

use app::actions::{Action, Actor, Enqueue, Outcome, Request, Seen};
use app::model::state::{Instant, StateName};
use app::ports::actions::ActionStore as _;
use app::ports::jobs::JobStore as _;
use chrono::TimeDelta;
use sqlx::{AssertSqlSafe, Row as _};
use uuid::Uuid;

use crate::clock::{Clock, SystemClock};
use crate::store::sqlite::{SqliteStore, ticks};
use crate::testing::sqlite::TestFile;

fn requeue() -> Action {
    Action::Requeue(Enqueue::default())
}

fn now() -> Instant {
    SystemClock.now()
}

/// A request by ada on what she saw.
fn on(seen: (i64, StateName, i64), action: Action) -> Request {
    let (job, state, state_id) = seen;
    Request {
        action,
        seen: Seen {
            job,
            state,
            state_id,
        },
        reason: Some("supplier is back".to_owned()),
        actor: Actor {
            name: "ada".to_owned(),
            authenticated: false,
        },
    }
}

/// What somebody sees who opens the job's page now.
async fn seen(store: &SqliteStore, job: i64) -> (i64, StateName, i64) {
    let state = store.job(job, 10).await.unwrap().unwrap().state;
    (job, state.name.unwrap(), state.id.unwrap())
}

/// Acts on what is seen now.
async fn act(store: &SqliteStore, job: i64, action: Action) -> Outcome {
    let request = on(seen(store, job).await, action);
    store.act(SystemClock.new_id(), &request).await.unwrap()
}

/// The audit's `(outcome, note)` of an id.
async fn audited(store: &SqliteStore, id: Uuid) -> (String, String) {
    use app::ports::audit::AuditStore as _;
    let row = store.audit_row(id).await.unwrap().unwrap();
    (row.outcome, row.note)
}

/// Rows of a query, each as text with `|` between the columns.
async fn rows(file: &TestFile, sql: &str) -> Vec<String> {
    let mut connection = file.connect().await;
    let found = sqlx::query(AssertSqlSafe(sql.to_owned()))
        .fetch_all(&mut connection)
        .await
        .unwrap();
    found
        .iter()
        .map(|row| {
            let columns = (0..row.len()).map(|at| {
                let bytes: Option<Vec<u8>> = row.get_unchecked(at);
                bytes.map_or_else(|| "NULL".to_owned(), |b| String::from_utf8(b).unwrap())
            });
            columns.collect::<Vec<_>>().join("|")
        })
        .collect()
}

/// Ticks of so many seconds ago.
fn ago(seconds: i64) -> i64 {
    ticks::ticks(now() - TimeDelta::seconds(seconds))
}

/// A job row, in the words of the recorded ones.
fn job_row(id: i64, state: &str, class: &str, created: i64) -> String {
    format!(
        "INSERT INTO Job VALUES ({id}, 0, '{state}', '{{\"Type\":\"Bookstore.Jobs.{class}, \
         Bookstore.Jobs\",\"Method\":\"RunAsync\",\"ParameterTypes\":\"[]\",\"Arguments\":\"[]\"}}', \
         '[]', {created}, 0);"
    )
}

/// A state row.
fn state_row(id: i64, job: i64, name: &str, at: i64, data: &str) -> String {
    format!("INSERT INTO State VALUES ({id}, {job}, '{name}', NULL, {at}, '{data}', 0);")
}
