//! `redrive migrate`.

use std::path::Path;
use std::sync::Arc;

use super::output::say;
use crate::cli::Migrate;
use crate::clock::{SharedClock, SystemClock};
use crate::config::SourceConfig;
use crate::store::postgres::PostgresStore;
use crate::store::sqlite::SqliteStore;

/// Brings the tables of every configured source up to date, or prints the SQL that would.
///
/// # Errors
/// Where a source cannot be opened or changed; what was done before it stays done.
pub async fn run(options: Migrate) -> anyhow::Result<()> {
    let sources = options.database.sources()?;
    anyhow::ensure!(
        !sources.is_empty(),
        "no source is configured: give --database, or a [[source]] in redrive.toml"
    );
    for source in sources {
        if source.is_postgres() {
            postgres(&source, &options).await?;
        } else {
            sqlite(&source, &options).await?;
        }
    }
    Ok(())
}

async fn postgres(source: &SourceConfig, options: &Migrate) -> anyhow::Result<()> {
    let store = PostgresStore::connect(&source.database, &source.schema, Arc::new(SystemClock))?;
    if options.print {
        say_pending(&pending_postgres(&store, options.hangfire).await?)?;
        return Ok(());
    }
    if options.hangfire {
        store.migrate_hangfire().await?;
    }
    store.migrate().await?;
    say(&format!("{}: up to date\n", source.name))?;
    Ok(())
}

async fn sqlite(source: &SourceConfig, options: &Migrate) -> anyhow::Result<()> {
    let path = source.sqlite_path();
    let clock = Arc::new(SystemClock);
    if options.print {
        say_pending(&pending_sqlite(&path, options.hangfire).await?)?;
        return Ok(());
    }
    let store = if options.hangfire && is_missing_or_empty(&path) {
        SqliteStore::create(&path, clock).await?
    } else {
        SqliteStore::open(&path, clock).await?
    };
    store.migrate().await?;
    say(&format!("{}: up to date\n", source.name))?;
    Ok(())
}

/// The SQL that would be run; Hangfire's set first, where it is asked for. Empty where nothing is
/// missing.
async fn pending_postgres(store: &PostgresStore, hangfire: bool) -> anyhow::Result<String> {
    let mut sql = String::new();
    if hangfire {
        sql.push_str(&store.hangfire_sql().await?);
        sql.push('\n');
    }
    sql.push_str(&store.pending_sql().await?.unwrap_or_default());
    Ok(sql)
}

/// The same on `SQLite`, where Hangfire's set is made in a new or empty file only. Touches nothing.
async fn pending_sqlite(path: &Path, hangfire: bool) -> anyhow::Result<String> {
    let clock: SharedClock = Arc::new(SystemClock);
    if hangfire && is_missing_or_empty(path) {
        return Ok(SqliteStore::creation_sql(&clock));
    }
    let only_read = Some("only the SQL is printed".to_owned());
    let store = SqliteStore::lazy(path, clock, only_read);
    Ok(store.pending_sql().await?.unwrap_or_default())
}

fn is_missing_or_empty(path: &Path) -> bool {
    match std::fs::metadata(path) {
        Ok(file) => file.len() == 0,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

fn say_pending(sql: &str) -> std::io::Result<()> {
    if sql.is_empty() {
        say("-- nothing to do: the tables are up to date\n")
    } else {
        say(&format!("{sql}\n"))
    }
}

#[cfg(test)]
mod tests {
    use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

    use super::*;
    use crate::testing::postgres::TestDatabase;

    #[tokio::test]
    async fn printing_makes_no_file_and_the_printed_sql_makes_what_creating_does() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new.db");
        let sql = pending_sqlite(&path, true).await.unwrap();
        assert!(!path.exists());
        // Without Hangfire's set there is nothing to bring up to date.
        assert!(pending_sqlite(&path, false).await.is_err());
        assert!(!path.exists());

        std::fs::write(&path, "").unwrap();
        assert!(
            pending_sqlite(&path, true)
                .await
                .unwrap()
                .contains("\"Job\"")
        );
        let mut connection = SqliteConnection::connect(path.to_str().unwrap())
            .await
            .unwrap();
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&mut connection)
            .await
            .unwrap();
        let mode: String = sqlx::query_scalar("PRAGMA journal_mode")
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(mode, "wal");
        let printed = schema(&mut connection).await;
        let created = dir.path().join("created.db");
        SqliteStore::create(&created, Arc::new(SystemClock))
            .await
            .unwrap();
        let mut connection = SqliteConnection::connect(created.to_str().unwrap())
            .await
            .unwrap();
        assert_eq!(printed, schema(&mut connection).await);
        for hangfire in [true, false] {
            assert_eq!(pending_sqlite(&path, hangfire).await.unwrap(), "");
        }
    }

    /// Every statement of the schema, and the ledger.
    async fn schema(connection: &mut SqliteConnection) -> Vec<String> {
        sqlx::query_scalar(
            "SELECT coalesce(sql, name) FROM sqlite_master UNION ALL \
             SELECT \"set\" || version || name FROM redrive_migrations ORDER BY 1",
        )
        .fetch_all(connection)
        .await
        .unwrap()
    }

    #[tokio::test]
    async fn both_sets_are_printed_on_postgres() {
        let Some(database) = TestDatabase::empty().await else {
            return;
        };
        let store = database.store();
        let own = pending_postgres(&store, false).await.unwrap();
        assert!(!own.contains("CREATE TABLE job "), "{own}");
        let both = pending_postgres(&store, true).await.unwrap();
        database.execute(&both).await;
        assert_eq!(pending_postgres(&store, false).await.unwrap(), "");
        // As running it would be, printing Hangfire's set is refused where there is something.
        assert!(pending_postgres(&store, true).await.is_err());
        let applied: Vec<(String, i32)> =
            sqlx::query_as("SELECT scope, version FROM redrive.migrations ORDER BY 1, 2")
                .fetch_all(&mut database.connection().await)
                .await
                .unwrap();
        let applied: Vec<_> = applied.iter().map(|(s, v)| (s.as_str(), *v)).collect();
        assert_eq!(
            applied,
            [
                ("hangfire:hangfire", 1),
                ("redrive", 0),
                ("redrive", 1),
                ("redrive", 2),
                ("redrive", 3),
                ("redrive", 4),
                ("redrive", 5),
            ]
        );
        let version: i32 = sqlx::query_scalar("SELECT version FROM hangfire.schema")
            .fetch_one(&mut database.connection().await)
            .await
            .unwrap();
        assert_eq!(version, 23);
    }
}
