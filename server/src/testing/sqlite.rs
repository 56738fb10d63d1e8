//! A scratch file in the layout of Hangfire.Storage.SQLite, and recorded rows to put into it.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};

use super::fixture::Fixture;
use crate::clock::SystemClock;
use crate::store::sqlite::SqliteStore;

/// A file of one test; goes away with it.
pub struct TestFile {
    /// The store on it.
    pub store: SqliteStore,
    /// Where it lies.
    pub path: PathBuf,
    _dir: tempfile::TempDir,
}

type Table = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

/// Columns of each table: the recorded name (`PostgreSQL`'s) and the one here. `@` before a name
/// marks a time, which becomes ticks, and `{` JSON, which becomes text.
const TABLES: &[Table] = &[
    (
        "job",
        "Job",
        &[
            ("id", "Id"),
            ("statename", "StateName"),
            ("{invocationdata", "InvocationData"),
            ("{arguments", "Arguments"),
            ("@createdat", "CreatedAt"),
            ("@expireat", "ExpireAt"),
        ],
    ),
    (
        "state",
        "State",
        &[
            ("id", "Id"),
            ("jobid", "JobId"),
            ("name", "Name"),
            ("reason", "Reason"),
            ("@createdat", "CreatedAt"),
            ("{data", "Data"),
        ],
    ),
    (
        "jobparameter",
        "JobParameter",
        &[
            ("id", "Id"),
            ("jobid", "JobId"),
            ("name", "Name"),
            ("value", "Value"),
        ],
    ),
    (
        "jobqueue",
        "JobQueue",
        &[
            ("id", "Id"),
            ("jobid", "JobId"),
            ("queue", "Queue"),
            ("@fetchedat", "FetchedAt"),
        ],
    ),
    (
        "server",
        "Server",
        &[
            ("id", "Id"),
            ("{data", "Data"),
            ("@lastheartbeat", "LastHeartbeat"),
        ],
    ),
    (
        "set",
        "Set",
        &[
            ("id", "Id"),
            ("key", "Key"),
            ("score", "Score"),
            ("value", "Value"),
            ("@expireat", "ExpireAt"),
        ],
    ),
    (
        "hash",
        "Hash",
        &[
            ("id", "Id"),
            ("key", "Key"),
            ("field", "Field"),
            ("value", "Value"),
            ("@expireat", "ExpireAt"),
        ],
    ),
    (
        "counter",
        "Counter",
        &[
            ("id", "Id"),
            ("key", "Key"),
            ("value", "Value"),
            ("@expireat", "ExpireAt"),
        ],
    ),
];

impl TestFile {
    /// An empty file with the tables of Hangfire and of Redrive.
    pub async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hangfire.db");
        let store = SqliteStore::create(&path, Arc::new(SystemClock))
            .await
            .unwrap();
        Self {
            store,
            path,
            _dir: dir,
        }
    }

    /// A copy of a recorded file, with Redrive's own tables made in it.
    pub async fn recorded(name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hangfire.db");
        // Written anew, since the recorded one may be read-only.
        let bytes = std::fs::read(super::fixture::fixtures().join(name)).unwrap();
        std::fs::write(&path, bytes).unwrap();
        let store = SqliteStore::open(&path, Arc::new(SystemClock))
            .await
            .unwrap();
        store.migrate().await.unwrap();
        Self {
            store,
            path,
            _dir: dir,
        }
    }

    /// A file with the rows of a fixture, as Hangfire.Storage.SQLite would keep them: times in
    /// ticks, 0 for none, JSON as text, no id of the current state.
    pub async fn with(rows: &Fixture) -> Self {
        let file = Self::new().await;
        let mut connection = file.connect().await;
        let mut transaction = connection.begin().await.unwrap();
        for (recorded, table, columns) in TABLES {
            let names: Vec<String> = columns
                .iter()
                .map(|(_, here)| format!("\"{here}\""))
                .collect();
            let marks = vec!["?"; columns.len()];
            let sql = format!(
                "INSERT INTO \"{table}\" ({}) VALUES ({})",
                names.join(", "),
                marks.join(", ")
            );
            for row in rows.tables.get(*recorded).into_iter().flatten() {
                let mut query = sqlx::query(AssertSqlSafe(sql.clone()));
                for (name, _) in *columns {
                    query = match (
                        name.chars().next(),
                        row.get(name.trim_start_matches(['@', '{'])),
                    ) {
                        (Some('@'), Some(Value::String(text))) => query.bind(ticks(text)),
                        (Some('@'), _) => query.bind(0_i64),
                        (_, None | Some(Value::Null)) => query.bind(None::<String>),
                        (Some('{'), Some(json)) => query.bind(json_text(json)),
                        (_, Some(Value::String(text))) => query.bind(text.clone()),
                        (_, Some(Value::Number(n))) if n.is_i64() => query.bind(n.as_i64()),
                        (_, Some(Value::Number(n))) => query.bind(n.as_f64()),
                        (_, Some(other)) => panic!("{table}.{name}: {other}"),
                    };
                }
                query.execute(&mut *transaction).await.unwrap();
            }
        }
        sqlx::raw_sql(
            "UPDATE Job SET StateId = 0; UPDATE State SET ExpireAt = 0; UPDATE JobParameter SET ExpireAt = 0",
        )
        .execute(&mut *transaction)
        .await
        .unwrap();
        transaction.commit().await.unwrap();
        file
    }

    /// Takes Redrive's own tables out of it.
    pub async fn drop_own_tables(&self) {
        let mut connection = self.connect().await;
        let names: Vec<String> = sqlx::query_scalar(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'redrive%'",
        )
        .fetch_all(&mut connection)
        .await
        .unwrap();
        connection.close().await.unwrap();
        for name in names {
            self.run(&format!("DROP TABLE {name}")).await;
        }
        // From here on only who writes changes the file.
        self.run("PRAGMA wal_checkpoint(TRUNCATE)").await;
    }

    /// A connection of the test's own.
    pub async fn connect(&self) -> SqliteConnection {
        SqliteConnection::connect(self.path.to_str().unwrap())
            .await
            .unwrap()
    }

    /// Runs statements on a connection of the test's own.
    pub async fn run(&self, sql: &str) {
        let mut connection = self.connect().await;
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
    }
}

/// Ticks of a recorded time.
fn ticks(rfc3339: &str) -> i64 {
    let at = chrono::DateTime::parse_from_rfc3339(rfc3339).unwrap();
    (at.timestamp_micros() + 62_135_596_800_000_000) * 10
}

/// What Hangfire writes first: the arguments, which may be large, come after it.
const FIRST: [&str; 3] = ["Type", "Method", "ParameterTypes"];

/// JSON as Hangfire writes it.
fn json_text(json: &Value) -> String {
    let Value::Object(members) = json else {
        return json.to_string();
    };
    let first = FIRST.iter().filter_map(|name| members.get_key_value(*name));
    let others = members
        .iter()
        .filter(|(name, _)| !FIRST.contains(&name.as_str()));
    let members: Vec<String> = first
        .chain(others)
        .map(|(name, value)| format!("{}:{value}", Value::from(name.as_str())))
        .collect();
    format!("{{{}}}", members.join(","))
}
