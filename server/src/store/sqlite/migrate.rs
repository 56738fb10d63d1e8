//! The tables that Redrive makes: its own, and Hangfire's in an empty file.
//!
//! The two sets are numbered apart, in one ledger of our own. Hangfire's set is run only when a
//! file is created; a table that Hangfire owns is never altered.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use app::ports::error::StoreError;
use sqlx::{Connection, Row, SqliteConnection};

use super::{SqliteStore, errors};
use crate::clock::SharedClock;

struct Migration {
    version: i64,
    name: &'static str,
    sql: &'static str,
}

macro_rules! migration {
    ($set:literal, $version:literal, $name:literal) => {
        Migration {
            version: $version,
            name: $name,
            sql: include_str!(concat!(
                "../../../../migrations/sqlite/",
                $set,
                "/",
                $name,
                ".sql"
            )),
        }
    };
}

const HANGFIRE: &[Migration] = &[migration!("hangfire", 1, "0001_layout")];
const REDRIVE: &[Migration] = &[
    migration!("redrive", 1, "0001_audit"),
    migration!("redrive", 2, "0002_claims"),
    migration!("redrive", 3, "0003_collector"),
    migration!("redrive", 4, "0004_failures"),
    migration!("redrive", 5, "0005_group_sizes"),
];

const LEDGER: &str = "CREATE TABLE IF NOT EXISTS redrive_migrations (
  \"set\" TEXT NOT NULL,
  version INTEGER NOT NULL,
  name TEXT NOT NULL,
  applied_at INTEGER NOT NULL,
  PRIMARY KEY (\"set\", version)
)";

/// How a file of ours keeps its journal.
pub(super) const WAL: &str = "PRAGMA journal_mode = WAL";

/// How Redrive's own tables stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    /// As this program knows them.
    Current,
    /// Some are missing; the version that is there.
    Behind(i64),
    /// A newer program made them: read, never write.
    Newer(i64),
}

/// Both sets, in a new file.
pub(super) async fn all(
    connection: &mut SqliteConnection,
    clock: &SharedClock,
) -> Result<(), sqlx::Error> {
    run(connection, clock, "hangfire", HANGFIRE, 0).await?;
    run(connection, clock, "redrive", REDRIVE, 0).await?;
    register(connection, clock).await
}

async fn run(
    connection: &mut SqliteConnection,
    clock: &SharedClock,
    set: &str,
    migrations: &'static [Migration],
    after: i64,
) -> Result<(), sqlx::Error> {
    for migration in migrations.iter().filter(|m| m.version > after) {
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        sqlx::raw_sql(LEDGER).execute(&mut *transaction).await?;
        // Another process may have been first.
        let noted = sqlx::query(
            "INSERT INTO redrive_migrations (\"set\", version, name, applied_at) \
             VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        )
        .bind(set)
        .bind(migration.version)
        .bind(migration.name)
        .bind(clock.now().timestamp_micros())
        .execute(&mut *transaction)
        .await?;
        if noted.rows_affected() == 1 {
            sqlx::raw_sql(migration.sql)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
    }
    Ok(())
}

/// Gives the file's Hangfire tables their id.
async fn register(
    connection: &mut SqliteConnection,
    clock: &SharedClock,
) -> Result<(), sqlx::Error> {
    let registered = sqlx::query("SELECT 1 FROM redrive_source WHERE hangfire_schema = 'main'")
        .fetch_optional(&mut *connection)
        .await?;
    if registered.is_some() {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO redrive_source (id, hangfire_schema, registered_at) VALUES (?, 'main', ?) \
         ON CONFLICT DO NOTHING",
    )
    .bind(clock.new_id().to_string())
    .bind(clock.now().timestamp_micros())
    .execute(connection)
    .await?;
    Ok(())
}

/// Looks at the ledger.
pub(super) async fn state(connection: &mut SqliteConnection) -> Result<Own, sqlx::Error> {
    let known = REDRIVE.last().map_or(0, |m| m.version);
    let ledger = sqlx::query(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'redrive_migrations'",
    )
    .fetch_optional(&mut *connection)
    .await?;
    let version: i64 = if ledger.is_none() {
        0
    } else {
        sqlx::query(
            "SELECT coalesce(max(version), 0) FROM redrive_migrations WHERE \"set\" = 'redrive'",
        )
        .fetch_one(connection)
        .await?
        .try_get(0)?
    };
    Ok(match version.cmp(&known) {
        std::cmp::Ordering::Less => Own::Behind(version),
        std::cmp::Ordering::Equal => Own::Current,
        std::cmp::Ordering::Greater => Own::Newer(version),
    })
}

impl SqliteStore {
    /// Makes Redrive's own tables where they are missing or old. Does nothing where they are of a
    /// newer version.
    ///
    /// # Errors
    /// [`StoreError::Forbidden`] where the file cannot be written.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        self.inner.own_tables.store(true, Ordering::Relaxed);
        let writer = self.writer().await?;
        let clock = self.inner.clock.clone();
        let task = tokio::spawn(async move {
            let mut connection = writer.acquire().await?;
            match state(&mut connection).await? {
                Own::Behind(version) => {
                    run(&mut connection, &clock, "redrive", REDRIVE, version).await?;
                    register(&mut connection, &clock).await?;
                }
                // Whoever made the tables may have been stopped before the last step.
                Own::Current => register(&mut connection, &clock).await?,
                Own::Newer(_) => {}
            }
            Ok::<_, sqlx::Error>(())
        });
        match task.await {
            Ok(done) => done.map_err(|error| errors::sort(&error)),
            Err(failure) => Err(StoreError::Internal(failure.to_string())),
        }
    }

    /// The SQL that [`Self::migrate`] would run, for somebody who may run it; `None` where nothing
    /// is missing.
    ///
    /// # Errors
    /// As the file's.
    pub async fn pending_sql(&self) -> Result<Option<String>, StoreError> {
        let own = self.read(|c| Box::pin(state(c))).await?;
        Ok(match own {
            Own::Behind(version) => Some(self.sql_after(version)),
            Own::Current | Own::Newer(_) => None,
        })
    }

    /// The text of the own set's scripts after a version, with their notes in the ledger.
    pub(super) fn sql_after(&self, version: i64) -> String {
        script(&self.inner.clock, &[("redrive", REDRIVE, version)])
    }

    /// The SQL that makes what [`Self::create`] makes, for somebody who runs it on an empty file.
    pub fn creation_sql(clock: &SharedClock) -> String {
        let sets = [("hangfire", HANGFIRE, 0), ("redrive", REDRIVE, 0)];
        format!("{WAL};\n{}", script(clock, &sets))
    }

    pub(super) fn is_to_have_own_tables(&self) -> bool {
        self.inner.own_tables.load(Ordering::Relaxed)
    }
}

/// The text of the scripts of each set after a version, with their notes in the ledger, and the
/// file's id.
fn script(clock: &SharedClock, sets: &[(&str, &[Migration], i64)]) -> String {
    let now = clock.now().timestamp_micros();
    let id = clock.new_id();
    let mut sql = format!("BEGIN IMMEDIATE;\n{LEDGER};\n");
    for (set, migrations, after) in sets {
        for migration in migrations.iter().filter(|m| m.version > *after) {
            // Writing to a String cannot fail.
            let _ = write!(
                sql,
                "\n{}\nINSERT INTO redrive_migrations (\"set\", version, name, applied_at) \
                 VALUES ('{set}', {}, '{}', {now});\n",
                migration.sql.trim_end(),
                migration.version,
                migration.name,
            );
        }
    }
    let _ = write!(
        sql,
        "\nINSERT INTO redrive_source (id, hangfire_schema, registered_at) \
         VALUES ('{id}', 'main', {now}) ON CONFLICT DO NOTHING;\nCOMMIT;\n"
    );
    sql
}
