//! A database of either kind, with jobs and claims in it.

use sqlx::{AssertSqlSafe, SqlitePool};

use super::*;
use crate::testing::fixture::{Fixture, fixtures};
use crate::testing::postgres::TestDatabase;

/// The database, and how the test reaches it beside the store.
pub(super) enum Database {
    Sqlite {
        file: std::path::PathBuf,
        store: Arc<SqliteStore>,
        pool: SqlitePool,
    },
    Postgres(TestDatabase),
}

impl Database {
    /// A copy of the recorded file.
    pub(super) async fn recorded_file(folder: &TempDir) -> Self {
        let file = folder.path().join("claims.db");
        std::fs::copy(fixtures().join("claims/sqlite/claims.db"), &file).unwrap();
        Self::of_file(file).await
    }

    /// A file with Hangfire's tables in it.
    pub(super) async fn of_file(file: std::path::PathBuf) -> Self {
        let store = SqliteStore::open(&file, Arc::new(SystemClock))
            .await
            .unwrap();
        store.migrate().await.unwrap();
        Self::Sqlite {
            pool: store.writer().await.unwrap(),
            store: Arc::new(store),
            file,
        }
    }

    /// A database with the recorded rows; `None`, said loudly, where there is no server.
    pub(super) async fn recorded_rows() -> Option<Self> {
        let database = TestDatabase::with(&Fixture::named("claims/stale")).await?;
        let table = fixtures().join("claims/stale/outgoing-emails.sql");
        let table = std::fs::read_to_string(table).unwrap();
        database.execute(&table).await;
        Some(Self::of_database(database).await)
    }

    /// A database with Hangfire's tables in it.
    pub(super) async fn of_database(database: TestDatabase) -> Self {
        database.store().migrate().await.unwrap();
        Self::Postgres(database)
    }

    /// What a configuration calls it.
    pub(super) fn url(&self) -> String {
        match self {
            Self::Sqlite { file, .. } => file.display().to_string(),
            Self::Postgres(database) => database.url.clone(),
        }
    }

    pub(super) fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Sqlite { store, .. } => store.clone(),
            Self::Postgres(database) => Arc::new(database.store()),
        }
    }

    /// Runs statements that both kinds understand.
    pub(super) async fn execute(&self, sql: &str) {
        match self {
            Self::Sqlite { pool, .. } => {
                let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
                sql.execute(pool).await.unwrap();
            }
            Self::Postgres(database) => database.execute(sql).await,
        }
    }

    /// A number by a statement that both kinds understand.
    pub(super) async fn number(&self, sql: &'static str) -> i64 {
        match self {
            Self::Sqlite { pool, .. } => sqlx::query_scalar(sql).fetch_one(pool).await.unwrap(),
            Self::Postgres(database) => sqlx::query_scalar(sql)
                .fetch_one(&mut database.connection().await)
                .await
                .unwrap(),
        }
    }

    /// Jobs that stand in a queue.
    pub(super) async fn queued(&self) -> i64 {
        self.number(match self {
            Self::Sqlite { .. } => r#"SELECT count(*) FROM "JobQueue""#,
            Self::Postgres(_) => "SELECT count(*) FROM hangfire.jobqueue",
        })
        .await
    }

    /// Status and message id of a claim, as they are stored.
    pub(super) async fn claim(&self, key: &str) -> Option<(i64, Option<String>)> {
        let sql = r#"SELECT CAST("Status" AS bigint), "ProviderMessageId" FROM "OutgoingEmails"
            WHERE "IdempotencyKey" = $1"#;
        match self {
            Self::Sqlite { pool, .. } => sqlx::query_as(sql)
                .bind(key)
                .fetch_optional(pool)
                .await
                .unwrap(),
            Self::Postgres(database) => sqlx::query_as(sql)
                .bind(key)
                .fetch_optional(&mut database.connection().await)
                .await
                .unwrap(),
        }
    }

    /// The number that the row of a key got when it was inserted.
    pub(super) async fn claim_id(&self, key: &str) -> i64 {
        let sql =
            r#"SELECT CAST("Id" AS bigint) FROM "OutgoingEmails" WHERE "IdempotencyKey" = $1"#;
        match self {
            Self::Sqlite { pool, .. } => sqlx::query_scalar(sql)
                .bind(key)
                .fetch_one(pool)
                .await
                .unwrap(),
            Self::Postgres(database) => sqlx::query_scalar(sql)
                .bind(key)
                .fetch_one(&mut database.connection().await)
                .await
                .unwrap(),
        }
    }

    /// So many minutes ago as a claim time, as EF Core writes it: an expression.
    pub(super) fn minutes_ago(&self, minutes: u32) -> String {
        match self {
            Self::Sqlite { .. } => {
                format!("strftime('%Y-%m-%d %H:%M:%f', 'now', '-{minutes} minutes')")
            }
            Self::Postgres(_) => format!("now() - interval '{minutes} minutes'"),
        }
    }

    /// Inserts a Sending claim.
    pub(super) async fn insert_sending(&self, key: &str, claimed_at: &str) {
        let key = key.replace('\'', "''");
        self.execute(&format!(
            r#"INSERT INTO "OutgoingEmails" ("IdempotencyKey", "Status", "ClaimedAtUtc")
               VALUES ('{key}', 0, {claimed_at})"#
        ))
        .await;
    }
}
