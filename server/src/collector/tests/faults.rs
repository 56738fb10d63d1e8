//! What may go wrong: faults of the database, other processes, other databases.

use std::time::Duration;

use app::model::collect::batch::Changes;
use app::ports::error::StoreError;
use uuid::Uuid;

use super::database::{Database, Kind, TABLES, lines};
use super::{Passed, collect, collected_is_right, collector, oracle, same, story};
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
async fn one_process_at_a_time_collects() {
    let fixture = story::jobs(3, 60);
    for database in Database::both(&fixture).await {
        let mut one = collector(&database.store, 20);
        let mut two = collector(&database.store, 20);
        assert_eq!(one.pass().await.unwrap(), Passed::More);
        assert_eq!(two.pass().await.unwrap(), Passed::Elsewhere);
        // The lease of one ends unnoticed, and the other one takes over.
        database
            .execute(
                "UPDATE redrive.collector SET held_until = now() - interval '1 s'",
                "UPDATE redrive_collector SET held_until = 0",
            )
            .await;
        assert_eq!(two.pass().await.unwrap(), Passed::More);
        assert_eq!(
            one.pass().await.unwrap(),
            Passed::Elsewhere,
            "{}",
            database.name()
        );
        assert_eq!(two.pass().await.unwrap(), Passed::More);
        // Given back, it is free at once.
        two.leave().await;
        assert_eq!(one.pass().await.unwrap(), Passed::More);
        collect(&mut one).await.unwrap();
        one.leave().await;
        collected_is_right(&database, 20, database.name()).await;
    }
}

/// A process that stood still while another one collected.
#[tokio::test]
async fn a_write_from_another_position_changes_nothing() {
    let fixture = story::jobs(4, 20);
    for database in Database::both(&fixture).await {
        let (store, me) = (&database.store, Uuid::from_u128(7));
        let lease = store.lease(me, Duration::from_mins(1)).await.unwrap();
        let from = lease.unwrap();
        let look = store.look(&from, 1_000).await.unwrap();
        let changes = look.batch.fold(&from);
        let mut to = from.clone();
        to.watermark = 1;
        assert!(store.write(me, &from, &to, &changes).await.unwrap());
        let once = database.numbers().await;
        assert!(!once.is_empty());
        assert!(!store.write(me, &from, &to, &changes).await.unwrap());
        let other = Uuid::from_u128(8);
        assert!(!store.write(other, &to, &to, &changes).await.unwrap());
        assert_eq!(database.numbers().await, once, "{}", database.name());
        assert!(
            store
                .write(me, &to, &to, &Changes::default())
                .await
                .unwrap()
        );
    }
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
