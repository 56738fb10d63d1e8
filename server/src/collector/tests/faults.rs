//! What may go wrong: faults of the database, other versions, other databases.

use std::sync::Arc;
use std::time::Duration;

use app::ports::error::StoreError;
use tokio::sync::watch;

use super::database::{Database, Kind, TABLES, lines};
use super::{Passed, collect, collected_is_right, collector, oracle, same, story};
use crate::clock::SystemClock;
use crate::collector::Collector;
use crate::source::Snapshot;
use crate::store::postgres::PostgresStore;
use crate::testing::fixture::Fixture;

/// A statement fails somewhere in a write, as on a full disk, or the process dies there: nothing of
/// the write stays, and nothing is counted twice afterwards.
#[tokio::test]
async fn a_write_that_fails_at_any_statement_leaves_nothing() {
    let fixture = story::jobs(2, 400);
    let last = fixture.states.last().unwrap().id;
    let statements = TABLES.into_iter().map(|table| (table, false)).chain([
        ("collector_job", false),
        ("collector_job", true),
        ("collector", false),
        ("failures", false),
        ("failures", true),
        ("failure_groups", false),
    ]);
    for database in Database::both(&fixture).await {
        let mut collector = collector(&database.store, 100);
        for (table, deletes) in statements.clone() {
            let what = format!("{table} ({deletes}) on {}", database.name());
            fail(&database, table, deletes).await;
            // Not each batch writes to each table; and fast writes let batches grow.
            let error = loop {
                let before = database.numbers().await;
                collector.rows = 50;
                if let Err(error) = collector.pass().await {
                    same(&database.numbers().await, &before, &what);
                    break error;
                }
                let position = collector.position.as_ref().unwrap();
                assert!(position.watermark < last, "{what}: nothing failed");
            };
            assert!(error.to_string().contains("no room"), "{what}: {error}");
            mend(&database, table).await;
        }
        collector.leave().await;
        collected_is_right(&database, 100, database.name()).await;
    }
}

/// From now on rows of a table are not deleted, else neither added nor changed.
async fn fail(database: &Database, table: &str, deletes: bool) {
    let (both, first, second) = if deletes {
        ("DELETE", "DELETE", "DELETE")
    } else {
        ("INSERT OR UPDATE", "INSERT", "UPDATE")
    };
    database
        .execute(
            &format!(
                "CREATE OR REPLACE FUNCTION redrive.fail() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN RAISE 'no room' USING ERRCODE = '53100'; END $$; \
                 CREATE TRIGGER fail AFTER {both} ON redrive.{table} \
                 FOR EACH ROW EXECUTE FUNCTION redrive.fail()"
            ),
            &format!(
                "CREATE TRIGGER fail AFTER {first} ON redrive_{table} \
                 BEGIN SELECT RAISE(ABORT, 'no room'); END; \
                 CREATE TRIGGER fails AFTER {second} ON redrive_{table} \
                 BEGIN SELECT RAISE(ABORT, 'no room'); END"
            ),
        )
        .await;
}

async fn mend(database: &Database, table: &str) {
    database
        .execute(
            &format!("DROP TRIGGER fail ON redrive.{table}"),
            "DROP TRIGGER fail; DROP TRIGGER fails",
        )
        .await;
}

#[tokio::test]
async fn tables_of_a_newer_version_are_not_written() {
    let fixture = story::jobs(5, 5);
    for database in Database::both(&fixture).await {
        database
            .execute(
                "INSERT INTO redrive.migrations (scope, version, name) VALUES ('redrive', 99, 'x')",
                "INSERT INTO redrive_migrations VALUES ('redrive', 99, 'x', 0)",
            )
            .await;
        let error = collector(&database.store, 10).pass().await.unwrap_err();
        assert!(
            matches!(&error, StoreError::Forbidden(why) if why.contains("newer")),
            "{error}"
        );
        assert!(database.numbers().await.is_empty());
    }
}

/// The database was restored from a copy: its ids go on from an earlier one. What was counted
/// before is not counted again; what is there now is.
#[tokio::test]
async fn a_restored_database_begins_a_new_epoch() {
    let fixture = story::jobs(6, 40);
    for database in Database::both(&fixture).await {
        let mut collector = collector(&database.store, 50);
        collect(&mut collector).await.unwrap();
        let counted = database.numbers().await;
        let half = fixture.states[fixture.states.len() / 2].id;
        database
            .execute(
                &format!(
                    "DELETE FROM hangfire.state WHERE id > {half}; \
                     UPDATE hangfire.job j SET (stateid, statename) = (SELECT s.id, s.name \
                       FROM hangfire.state s WHERE s.jobid = j.id ORDER BY s.id DESC LIMIT 1); \
                     SELECT setval('hangfire.state_id_seq', {half})"
                ),
                &format!(
                    "DELETE FROM State WHERE Id > {half}; \
                     UPDATE Job SET StateName = (SELECT Name FROM State WHERE JobId = Job.Id \
                       ORDER BY Id DESC LIMIT 1); \
                     DELETE FROM sqlite_sequence WHERE name = 'State'; \
                     INSERT INTO sqlite_sequence VALUES ('State', {half})"
                ),
            )
            .await;
        collect(&mut collector).await.unwrap();
        assert_eq!(collector.position.as_ref().unwrap().epoch, 1);
        let past = |lines: Vec<String>| -> Vec<String> {
            let is_past = |line: &String| !line.starts_with("gauges");
            lines.into_iter().filter(is_past).collect()
        };
        let now = |lines: Vec<String>| -> Vec<String> {
            let is_now = |line: &String| line.starts_with("gauges");
            lines.into_iter().filter(is_now).collect()
        };
        let name = database.name();
        same(&past(database.numbers().await), &past(counted), name);
        let wanted = lines(&oracle::numbers(&database.jobs().await));
        same(&now(database.numbers().await), &now(wanted), name);
        super::indexed_is_right(&database, name).await;
    }
}

/// The database goes away and comes back: the collector says so, and goes on.
#[tokio::test]
async fn a_database_that_was_away_is_collected_from_where_it_was() {
    let fixture = story::jobs(7, 60);
    let Some(database) = Database::postgres(&fixture).await else {
        return;
    };
    let Kind::Postgres(server) = &database.kind else {
        return;
    };
    let mut first = collector(&database.store, 30);
    assert_eq!(first.pass().await.unwrap(), Passed::More);
    let name: String = sqlx::query_scalar("SELECT current_database()::text")
        .fetch_one(&mut server.connection().await)
        .await
        .unwrap();
    let admin = std::env::var("REDRIVE_TEST_POSTGRES").unwrap();
    let away = |allow: bool| {
        let (admin, name) = (admin.clone(), name.clone());
        async move {
            use sqlx::Connection as _;
            let mut admin = sqlx::PgConnection::connect(&admin).await.unwrap();
            let sql = format!(
                "ALTER DATABASE {name} ALLOW_CONNECTIONS {allow}; \
                 SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
            );
            sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
                .execute(&mut admin)
                .await
                .unwrap();
        }
    };
    away(false).await;
    assert!(first.pass().await.is_err());
    assert!(first.pass().await.is_err());
    away(true).await;
    // The same collector goes on.
    assert_eq!(first.pass().await.unwrap(), Passed::More);
    first.leave().await;
    collected_is_right(&database, 30, "after it was away").await;
}

/// A source that nobody may write stays as it is.
#[tokio::test]
async fn without_own_tables_nothing_is_collected() {
    let fixture = Fixture::named("article");
    let Some(database) = crate::testing::postgres::TestDatabase::with(&fixture).await else {
        return;
    };
    let store: PostgresStore = database.store();
    let store: std::sync::Arc<dyn app::ports::collector::CollectorStore> =
        std::sync::Arc::new(store);
    let error = collector(&store, 10).pass().await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Forbidden(why) if why.contains("missing")),
        "{error}"
    );
}

/// The file is gone for an hour, in which the collector tries every five seconds: it says so once,
/// and goes on by itself from where it was.
#[tokio::test]
async fn trouble_of_an_hour_is_said_once() {
    let fixture = story::jobs(32, 60);
    let database = Database::sqlite(&fixture).await;
    let Kind::Sqlite(file) = &database.kind else {
        return;
    };
    let (live, mut seen) = watch::channel(Snapshot::default());
    let mut collector = Collector::new(Arc::clone(&database.store), Arc::new(SystemClock), live);
    collector.rows = 30;
    assert_eq!(collector.pass().await.unwrap(), Passed::More);
    let elsewhere = file.path.with_extension("away");
    std::fs::rename(&file.path, &elsewhere).unwrap();
    seen.mark_unchanged();
    let mut said = Vec::new();
    for _ in 0..720 {
        let error = collector.pass().await.unwrap_err();
        assert_eq!(collector.say(&error), Duration::from_secs(5));
        if seen.has_changed().unwrap() {
            said.extend(seen.borrow_and_update().collecting.trouble.clone());
        }
    }
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("there is no file"), "{said:?}");
    std::fs::rename(&elsewhere, &file.path).unwrap();
    // The lease has ended meanwhile.
    file.run("UPDATE redrive_collector SET held_until = 0")
        .await;
    assert_eq!(collector.pass().await.unwrap(), Passed::More);
    assert_eq!(seen.borrow().collecting.trouble, None);
    collector.leave().await;
    collected_is_right(&database, 30, "after an hour").await;
}

/// The file may not grow any more: nothing is lost, nothing is half written, and it goes on as soon
/// as there is room.
#[tokio::test]
async fn without_room_on_the_disk_it_waits() {
    let fixture = story::jobs(33, 400);
    let database = Database::sqlite(&fixture).await;
    let Kind::Sqlite(file) = &database.kind else {
        return;
    };
    let writer = file.store.writer().await.unwrap();
    let pages = |most: i64| {
        let sql = sqlx::AssertSqlSafe(format!("PRAGMA max_page_count = {most}"));
        sqlx::raw_sql(sql).execute(&writer)
    };
    let mut collector = collector(&database.store, 50);
    assert_eq!(collector.pass().await.unwrap(), Passed::More);
    // Less than there are already means as many as there are.
    pages(1).await.unwrap();
    let mut failed = 0;
    while failed < 5 {
        let before = database.numbers().await;
        collector.rows = 50;
        if let Err(error) = collector.pass().await {
            assert!(
                matches!(&error, StoreError::Away(why) if why.contains("full")),
                "{error}"
            );
            same(&database.numbers().await, &before, "no room");
            failed += 1;
        }
        let position = collector.position.as_ref();
        let is_over = position.is_some_and(|p| p.watermark == fixture.states.last().unwrap().id);
        assert!(!is_over, "there was room for everything");
    }
    pages(1_000_000).await.unwrap();
    collect(&mut collector).await.unwrap();
    collector.leave().await;
    collected_is_right(&database, 50, "after there was no room").await;
}

/// The same on `PostgreSQL`, where the own tables lie on a disk that is full: `REDRIVE_TEST_SMALL_DISK`
/// is an empty folder of the server's own on a file system of at most 64 MB.
#[tokio::test]
async fn without_room_on_the_disk_it_waits_on_postgres() {
    let Some(folder) = std::env::var_os("REDRIVE_TEST_SMALL_DISK") else {
        eprintln!("SKIPPED: REDRIVE_TEST_SMALL_DISK is not set, nothing was tested here");
        return;
    };
    let fixture = story::jobs(36, 2_000);
    let Some(database) = Database::postgres(&fixture).await else {
        return;
    };
    let folder = std::path::PathBuf::from(folder);
    let space = format!("redrive_small_{}", std::process::id());
    let make = format!("CREATE TABLESPACE {space} LOCATION '{}'", folder.display());
    database.execute(&make, "").await;
    let lie_in = async |space: &str| {
        for table in TABLES.into_iter().chain(["collector_job"]) {
            let sql = format!("ALTER TABLE redrive.{table} SET TABLESPACE {space}");
            database.execute(&sql, "").await;
        }
    };
    lie_in(&space).await;
    let filler = folder.join("filler");
    let mut file = std::fs::File::create(&filler).unwrap();
    let full = (0..65_536).any(|_| std::io::Write::write_all(&mut file, &[1; 1_024]).is_err());
    assert!(full, "the disk is larger than 64 MB");
    let mut collector = collector(&database.store, 500);
    for _ in 0..5 {
        let error = collector.pass().await.unwrap_err();
        let is_it = matches!(&error, StoreError::Away(why) if why.contains("No space left"));
        assert!(is_it, "{error}");
        assert!(database.numbers().await.is_empty());
    }
    drop(file);
    std::fs::remove_file(&filler).unwrap();
    collect(&mut collector).await.unwrap();
    collector.leave().await;
    collected_is_right(&database, 500, "after there was no room").await;
    lie_in("pg_default").await;
    database
        .execute(&format!("DROP TABLESPACE {space}"), "")
        .await;
}
