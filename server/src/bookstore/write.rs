//! Writes a scenario into a new database.

use std::path::Path;

use app::model::state::Instant;
use app::ports::error::StoreError;
use chrono::DateTime;
use serde_json::{Value, json};
use sqlx::{SqliteConnection, SqlitePool};

use super::format::{ef_date, object};
use super::scenario::Scenario;
use crate::clock::SharedClock;
use crate::store::sqlite::SqliteStore;
use crate::store::sqlite::ticks::ticks;

/// Rows of one insert: a few milliseconds' work.
const BATCH: usize = 500;

/// The demo's label, and what the heartbeats need.
const LABEL_TABLE: &str =
    r#"CREATE TABLE "redrive_demo" ("Key" TEXT NOT NULL PRIMARY KEY, "Value" TEXT NOT NULL)"#;

/// The claims table, as EF Core makes it.
const CLAIMS_TABLE: [&str; 2] = [
    r#"CREATE TABLE "OutgoingEmails" (
    "Id" INTEGER NOT NULL CONSTRAINT "PK_OutgoingEmails" PRIMARY KEY AUTOINCREMENT,
    "IdempotencyKey" TEXT NOT NULL,
    "Status" INTEGER NOT NULL,
    "ClaimedAtUtc" TEXT NOT NULL,
    "ProviderMessageId" TEXT NULL
)"#,
    r#"CREATE UNIQUE INDEX "IX_OutgoingEmails_IdempotencyKey" ON "OutgoingEmails" ("IdempotencyKey")"#,
];

const JOBS: &str = r#"INSERT INTO "Job" ("Id", "StateId", "StateName", "InvocationData", "Arguments", "CreatedAt", "ExpireAt")
SELECT value ->> 0, 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5 FROM json_each(?)"#;
const STATES: &str = r#"INSERT INTO "State" ("Id", "JobId", "Name", "Reason", "CreatedAt", "Data", "ExpireAt")
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6 FROM json_each(?)"#;
const PARAMETERS: &str = r#"INSERT INTO "JobParameter" ("JobId", "Name", "Value", "ExpireAt")
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)"#;
const QUEUE: &str = r#"INSERT INTO "JobQueue" ("JobId", "Queue", "FetchedAt")
SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)"#;
const SERVERS: &str = r#"INSERT INTO "Server" ("Id", "Data", "LastHeartbeat")
SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)"#;
const SETS: &str = r#"INSERT INTO "Set" ("Key", "Score", "Value", "ExpireAt")
SELECT value ->> 0, value ->> 1, value ->> 2, 0 FROM json_each(?)"#;
const HASHES: &str = r#"INSERT INTO "Hash" ("Key", "Field", "Value", "ExpireAt")
SELECT value ->> 0, value ->> 1, value ->> 2, 0 FROM json_each(?)"#;
const COUNTERS: &str = r#"INSERT INTO "AggregatedCounter" ("Key", "Value", "ExpireAt")
SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)"#;
const CLAIMS: &str = r#"INSERT INTO "OutgoingEmails" ("IdempotencyKey", "Status", "ClaimedAtUtc", "ProviderMessageId")
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)"#;
const LABEL: &str = r#"INSERT INTO "redrive_demo" ("Key", "Value")
SELECT value ->> 0, value ->> 1 FROM json_each(?)"#;

/// Why a demo database could not be made or read.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The file could not be made.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The rows could not be written or read.
    #[error("the demo database answered with an error: {0}")]
    Sql(#[from] sqlx::Error),
    /// A file is there that is no demo database.
    #[error("{0} is not a demo database made by redrive; it was left as it is")]
    NoDemo(String),
    /// The finished file could not be put in its place.
    #[error("the demo database could not be put at {path}: {error}")]
    Place {
        /// Where it belongs.
        path: String,
        /// Why not.
        error: std::io::Error,
    },
}

/// What a demo database says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoLabel {
    /// The moment it was made for.
    pub made_at: Instant,
    /// The seed.
    pub seed: u64,
    /// How many jobs it was made with.
    pub jobs: u64,
}

/// Makes a demo database at `path`, in place of any that is there. It is made beside its place and
/// moved there when it is whole, so that an interrupted start leaves no half-filled one.
///
/// # Errors
/// As the store's, or the file system's.
pub async fn write(
    path: &Path,
    seed: u64,
    scenario: &Scenario,
    clock: SharedClock,
) -> Result<(), DemoError> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = Path::new(&unfinished);
    let placed = |error| DemoError::Place {
        path: path.display().to_string(),
        error,
    };
    for end in ["", "-wal", "-shm"] {
        let mut left = unfinished.as_os_str().to_owned();
        left.push(end);
        match tokio::fs::remove_file(&left).await {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(placed(error));
            }
            _ => {}
        }
    }
    let store = SqliteStore::create(unfinished, clock).await?;
    let pool = store.writer().await?;
    fill(&pool, seed, scenario).await?;
    // The last connection that closes folds the log into the file.
    pool.close().await;
    drop(store);
    // An old log must never meet the new file.
    remove(path).await.map_err(placed)?;
    tokio::fs::rename(unfinished, path).await.map_err(placed)
}

/// Removes a database with the files beside it.
async fn remove(path: &Path) -> std::io::Result<()> {
    for end in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(end);
        match tokio::fs::remove_file(&file).await {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Reads the label; `None` where the database is no demo.
///
/// # Errors
/// As the database's.
pub async fn label(pool: &SqlitePool) -> Result<Option<DemoLabel>, sqlx::Error> {
    let known: bool = sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'redrive_demo')",
    )
    .fetch_one(pool)
    .await?;
    if !known {
        return Ok(None);
    }
    let rows: Vec<(String, String)> =
        sqlx::query_as(r#"SELECT "Key", "Value" FROM "redrive_demo""#)
            .fetch_all(pool)
            .await?;
    let get = |key: &str| {
        rows.iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    };
    let made_at = get("made_at").and_then(|text| DateTime::parse_from_rfc3339(text).ok());
    Ok(made_at.map(|made_at| DemoLabel {
        made_at: made_at.to_utc(),
        seed: get("seed")
            .and_then(|text| text.parse().ok())
            .unwrap_or_default(),
        jobs: get("jobs")
            .and_then(|text| text.parse().ok())
            .unwrap_or_default(),
    }))
}

async fn fill(pool: &SqlitePool, seed: u64, scenario: &Scenario) -> Result<(), sqlx::Error> {
    let mut connection = pool.acquire().await?;
    for ddl in CLAIMS_TABLE.into_iter().chain([LABEL_TABLE]) {
        sqlx::query(ddl).execute(&mut *connection).await?;
    }
    let no_date = |at: Option<Instant>| at.map_or(0, ticks);
    let jobs = &scenario.jobs;
    let rows = jobs.iter().map(|job| {
        json!([
            job.id,
            job.state.as_str(),
            job.call.invocation_column(),
            job.call.arguments_column(),
            ticks(job.created_at),
            no_date(job.expire_at),
        ])
    });
    insert(&mut connection, JOBS, rows).await?;
    let mut states: Vec<(i64, Value)> = jobs
        .iter()
        .flat_map(|job| {
            job.states.iter().map(|state| {
                let row = json!([
                    state.id,
                    job.id,
                    state.name.as_str(),
                    state.reason,
                    ticks(state.at),
                    object(&state.data),
                    no_date(job.expire_at),
                ]);
                (state.id, row)
            })
        })
        .collect();
    states.sort_unstable_by_key(|(id, _)| *id);
    insert(
        &mut connection,
        STATES,
        states.into_iter().map(|(_, row)| row),
    )
    .await?;
    let rows = jobs.iter().flat_map(|job| {
        job.parameters
            .iter()
            .map(|(name, value)| json!([job.id, name, value, no_date(job.expire_at)]))
    });
    insert(&mut connection, PARAMETERS, rows).await?;
    let rows = jobs.iter().flat_map(|job| {
        job.queue_rows
            .iter()
            .map(|row| json!([job.id, row.queue, no_date(row.fetched_at)]))
    });
    insert(&mut connection, QUEUE, rows).await?;
    let rows = scenario
        .servers
        .iter()
        .map(|server| json!([server.id, server.data, ticks(server.heartbeat_at)]));
    insert(&mut connection, SERVERS, rows).await?;
    let rows = scenario
        .sets
        .iter()
        .map(|member| json!([member.key, member.score, member.value]));
    insert(&mut connection, SETS, rows).await?;
    let rows = scenario
        .hashes
        .iter()
        .map(|hash| json!([hash.key, hash.field, hash.value]));
    insert(&mut connection, HASHES, rows).await?;
    let rows = scenario
        .counters
        .iter()
        .map(|(key, (value, expire_at))| json!([key, value, no_date(*expire_at)]));
    insert(&mut connection, COUNTERS, rows).await?;
    let rows = scenario.claims.iter().map(|claim| {
        json!([
            claim.key,
            i32::from(claim.sent),
            ef_date(claim.claimed_at, claim.claimed_ticks),
            claim.message_id,
        ])
    });
    insert(&mut connection, CLAIMS, rows).await?;
    let living: Vec<&str> = scenario
        .servers
        .iter()
        .filter(|server| server.alive)
        .map(|server| server.id.as_str())
        .collect();
    let rows = [
        json!(["label", "Bookstore demo: made-up data"]),
        json!(["made_at", scenario.now.to_rfc3339()]),
        json!(["seed", seed.to_string()]),
        json!(["jobs", jobs.len().to_string()]),
        json!(["living_servers", json!(living).to_string()]),
    ];
    insert(&mut connection, LABEL, rows.into_iter()).await
}

/// Inserts rows in batches, each a transaction of its own.
async fn insert(
    connection: &mut SqliteConnection,
    sql: &'static str,
    rows: impl Iterator<Item = Value>,
) -> Result<(), sqlx::Error> {
    let mut rows = rows.peekable();
    while rows.peek().is_some() {
        let batch: Vec<Value> = rows.by_ref().take(BATCH).collect();
        sqlx::query(sql)
            .bind(Value::Array(batch).to_string())
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
