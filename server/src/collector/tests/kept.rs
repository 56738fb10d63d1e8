//! Numbers of read-only sources, in a file apart from the jobs.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use app::model::state::ListState;
use app::ports::error::StoreError;
use app::ports::failures::{ChangedAnchor, Indexed, NotReady};
use app::ports::jobs::{Anchor, JobFilter};
use app::ports::source::NumbersIn;
use uuid::Uuid;

use super::database::{Database, Kind};
use super::{Passed, collect, collected_is_right, collector, oracle, same, story};
use crate::clock::SystemClock;
use crate::store::contract::insights;
use crate::store::sqlite::SqliteStore;
use crate::testing::fixture::Fixture;

fn failed() -> JobFilter {
    JobFilter {
        state: Some(ListState::Failed),
        ..JobFilter::default()
    }
}

/// Everything is collected, and the lease given back.
async fn collected(database: &Database) {
    let mut collector = collector(&database.store, 1_000);
    collect(&mut collector).await.unwrap();
    collector.leave().await;
}

/// Somebody who may makes the own tables in the source's database.
async fn make_own_tables(database: &Database) {
    match &database.kind {
        Kind::Postgres(server) => server.store().migrate().await.unwrap(),
        Kind::Sqlite(file) => file.store.migrate().await.unwrap(),
    }
}

/// The numbers, the index and what is read of them are those of a source that keeps them itself,
/// and the source's database stays as it is.
#[tokio::test]
async fn numbers_of_a_read_only_source_are_kept_in_a_file() {
    let mut fixtures = vec![story::jobs(70, 300)];
    fixtures.extend(["article", "mixed"].map(Fixture::named));
    for fixture in fixtures {
        let mut inside = Vec::new();
        for database in Database::both(&fixture).await {
            collected(&database).await;
            inside.push((database.numbers().await, database.index().await));
        }
        for database in Database::read_only(&fixture).await {
            let name = database.name();
            let before = database.content().await;
            collected_is_right(&database, 50, name).await;
            let (numbers, index) = match &database.kind {
                Kind::Sqlite(_) => &inside[0],
                Kind::Postgres(_) => &inside[1],
            };
            same(&database.numbers().await, numbers, name);
            same(&database.index().await, index, name);
            let summed = oracle::numbers(&database.jobs().await);
            let store = database.insights();
            insights::sums_are_those_of(store.as_ref(), &summed).await;
            insights::retries_come_due(store.as_ref(), &fixture).await;
            assert!(
                database.content().await == before,
                "{name}: the source was written"
            );
            let file = &database.apart.as_ref().unwrap().file;
            let mode = std::fs::metadata(file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            let info = database.lists.info().await.unwrap();
            assert_eq!(info.numbers, NumbersIn::File(file.clone()));
        }
    }
}

/// Causes come from the file alone; the lists, which need jobs and index at once, say why not.
#[tokio::test]
async fn causes_are_read_from_the_file_and_lists_say_why_they_are_not() {
    let fixture = story::jobs(79, 300);
    for database in Database::read_only(&fixture).await {
        let name = database.name();
        let store = &database.lists;
        let early = store.causes(50).await.unwrap();
        assert_eq!(early, Indexed::NotReady(NotReady::NoTables), "{name}");
        collected(&database).await;
        let Indexed::Ready(causes) = store.causes(50).await.unwrap() else {
            panic!("{name}");
        };
        let list = store.list(&failed(), Anchor::Start, 200).await.unwrap();
        assert!(!list.rows.is_empty() && !list.has_older);
        let jobs = causes.top.iter().map(|cause| cause.jobs).sum::<i64>();
        assert_eq!(
            (causes.jobs, jobs),
            (list.rows.len().try_into().unwrap(), causes.jobs),
            "{name}"
        );
        let page = store.changed(&failed(), ChangedAnchor::Start, 50).await;
        assert_eq!(page.unwrap(), Indexed::NotReady(NotReady::Apart), "{name}");
    }
}

#[tokio::test]
async fn a_restart_goes_on_from_where_it_was() {
    let fixture = story::jobs(71, 200);
    for database in Database::read_only(&fixture).await {
        let mut first = collector(&database.store, 30);
        for _ in 0..4 {
            assert_eq!(first.pass().await.unwrap(), Passed::More);
        }
        first.leave().await;
        let me = Uuid::from_u128(9);
        let again = database.collecting();
        let lease = again.lease(me, Duration::from_mins(1)).await.unwrap();
        assert_eq!(lease, first.position, "{}", database.name());
        assert!(lease.unwrap().watermark > 0);
        again.release(me).await.unwrap();
        collected_is_right(&database, 30, database.name()).await;
    }
}

/// Jobs that expire, or are requeued, after they were counted.
#[tokio::test]
async fn jobs_that_vanish_are_forgotten_in_the_file() {
    let fixture = story::jobs(72, 200);
    for database in Database::read_only(&fixture).await {
        collected(&database).await;
        assert!(database.remembered().await > 0);
        database
            .execute(
                "DELETE FROM hangfire.state; DELETE FROM hangfire.job",
                "DELETE FROM State; DELETE FROM Job",
            )
            .await;
        let mut collector = collector(&database.store, 1_000);
        while collector.sweep_now().await.unwrap() == Passed::More {}
        collector.mend().await.unwrap();
        assert_eq!(database.remembered().await, 0, "{}", database.name());
        assert_eq!(database.index().await, [""; 0], "{}", database.name());
    }
}

/// Somebody runs the SQL that makes the own tables in the source's database. From the next lease on
/// they count; the source that is configured as read-only is left to whoever collects there.
#[tokio::test]
async fn own_tables_that_come_later_are_used_instead() {
    let fixture = story::jobs(73, 100);
    for database in Database::read_only(&fixture).await {
        let name = database.name();
        collected(&database).await;
        make_own_tables(&database).await;
        let apart = database.apart.as_ref().unwrap();
        let (Kind::Postgres(_), Some(role)) = (&database.kind, &apart.role) else {
            let mut reading = collector(&database.store, 1_000);
            assert_eq!(reading.pass().await.unwrap(), Passed::Elsewhere, "{name}");
            reading.leave().await;
            assert_eq!(database.insights().coverage().await.unwrap(), None);
            let elsewhere = Database {
                store: match &database.kind {
                    Kind::Postgres(server) => std::sync::Arc::new(server.store()),
                    Kind::Sqlite(file) => std::sync::Arc::new(file.store.clone()),
                },
                apart: None,
                ..database
            };
            collected_is_right(&elsewhere, 1_000, name).await;
            let summed = oracle::numbers(&elsewhere.jobs().await);
            insights::sums_are_those_of(elsewhere.lists.as_ref(), &summed).await;
            continue;
        };
        // Tables that the role may not even read are as good as none.
        collected(&database).await;
        assert!(database.insights().coverage().await.unwrap().is_some());
        database
            .execute(
                &format!(
                    "GRANT USAGE ON SCHEMA redrive TO \"{role}\"; \
                     GRANT ALL ON ALL TABLES IN SCHEMA redrive TO \"{role}\""
                ),
                "",
            )
            .await;
        let healed = Database {
            apart: None,
            ..database
        };
        collected_is_right(&healed, 1_000, name).await;
        let summed = oracle::numbers(&healed.jobs().await);
        insights::sums_are_those_of(healed.lists.as_ref(), &summed).await;
    }
}

#[tokio::test]
async fn another_database_of_the_same_name_begins_another_file() {
    let [first, second] = [74, 75].map(|seed| story::jobs(seed, 60));
    let firsts = Database::read_only(&first).await;
    for (first, second) in firsts.iter().zip(Database::read_only(&second).await) {
        let name = first.name();
        collected(first).await;
        let dir = &first.apart.as_ref().unwrap().dir;
        let (store, file) = second.reopened(dir.path());
        assert_ne!(file, first.apart.as_ref().unwrap().file, "{name}");
        let moved = Database {
            store: store.clone(),
            lists: store,
            apart: Some(super::database::Apart {
                dir: dir.clone(),
                file,
                role: None,
            }),
            kind: second.kind,
        };
        collected_is_right(&moved, 1_000, name).await;
        let whole = oracle::numbers(&first.jobs().await);
        same(
            &first.numbers().await,
            &super::database::lines(&whole),
            name,
        );
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_a_sentence() {
    let fixture = story::jobs(76, 20);
    for database in Database::read_only(&fixture).await {
        let name = database.name();
        let dir = database.apart.as_ref().unwrap().dir.path().join("taken");
        std::fs::write(&dir, "not a folder").unwrap();
        let (store, file) = database.reopened(&dir.join("state"));
        let collecting: std::sync::Arc<dyn app::ports::collector::CollectorStore> = store.clone();
        let refused = collector(&collecting, 100).pass().await;
        let Err(StoreError::Forbidden(why)) = refused else {
            panic!("{name}: {refused:?}");
        };
        let begin = format!("the numbers cannot be kept in {}: ", file.display());
        assert!(why.starts_with(&begin), "{why}");
        assert_eq!(store.coverage().await.unwrap(), None);
        let all = JobFilter::default();
        let page = store.list(&all, Anchor::Start, 50).await.unwrap();
        assert_eq!(page.rows.len(), 20, "{name}");
    }
}

#[tokio::test]
async fn a_file_of_a_newer_redrive_is_read_and_never_written() {
    let fixture = story::jobs(77, 100);
    for database in Database::read_only(&fixture).await {
        let name = database.name();
        collected(&database).await;
        database
            .execute_own(
                "",
                "INSERT INTO redrive_migrations VALUES ('redrive', 99, 'x', 0); \
                 PRAGMA wal_checkpoint(TRUNCATE)",
            )
            .await;
        let file = &database.apart.as_ref().unwrap().file;
        let before = std::fs::read(file).unwrap();
        let again = database.collecting();
        let refused = collector(&again, 100).pass().await;
        assert!(
            matches!(&refused, Err(StoreError::Forbidden(why)) if why.contains("newer Redrive")),
            "{name}: {refused:?}"
        );
        let summed = oracle::numbers(&database.jobs().await);
        insights::sums_are_those_of(database.insights().as_ref(), &summed).await;
        assert!(std::fs::read(file).unwrap() == before, "{name}");
    }
}

/// A process was stopped between the two.
#[tokio::test]
async fn a_file_with_tables_and_no_source_is_completed() {
    let fixture = story::jobs(80, 50);
    for database in Database::read_only(&fixture).await {
        collected(&database).await;
        let tables = ["source", "collector", "collector_job", "failures"];
        let clear = tables.map(|table| format!("DELETE FROM redrive_{table};"));
        database.execute_own("", &clear.concat()).await;
        let numbers = super::database::TABLES.map(|table| format!("DELETE FROM redrive_{table};"));
        database.execute_own("", &numbers.concat()).await;
        let groups = "DELETE FROM redrive_failure_groups";
        database.execute_own("", groups).await;
        collected_is_right(&database, 1_000, database.name()).await;
    }
}

#[tokio::test]
async fn a_file_that_was_taken_away_is_begun_anew() {
    let fixture = story::jobs(78, 100);
    for database in Database::read_only(&fixture).await {
        collected(&database).await;
        let file = &database.apart.as_ref().unwrap().file;
        for end in ["", "-wal", "-shm"] {
            drop(std::fs::remove_file(format!("{}{end}", file.display())));
        }
        collected_is_right(&database, 1_000, database.name()).await;
    }
}

/// The name of the file says which database it belongs to, however that is written.
#[tokio::test]
async fn a_file_is_named_after_its_database() {
    use crate::store::postgres::PostgresStore;
    let clock = || std::sync::Arc::new(SystemClock);
    let dir = tempfile::tempdir().unwrap();
    let of = |url: &str, schema: &str| {
        let store = PostgresStore::connect(url, schema, clock()).unwrap();
        let store = store.with_numbers_in(dir.path(), "prod", false);
        store.kept().unwrap().file().path().to_owned()
    };
    let one = of("postgres://ada:one@db.example/jobs", "hangfire");
    let name = one.file_name().unwrap().to_str().unwrap();
    let number = name
        .strip_prefix("prod-")
        .and_then(|n| n.strip_suffix(".db"));
    assert!(
        number.is_some_and(|n| u64::from_str_radix(n, 16).is_ok()),
        "{name}"
    );
    assert_eq!(
        one,
        of(
            "postgres://eve:two@db.example:5432/jobs?sslmode=disable",
            "hangfire"
        )
    );
    for (url, schema) in [
        ("postgres://ada:one@db.example/jobs", "other"),
        ("postgres://ada:one@db.example/more", "hangfire"),
        ("postgres://ada:one@db2.example/jobs", "hangfire"),
        ("postgres://ada:one@db.example:5433/jobs", "hangfire"),
    ] {
        assert_ne!(one, of(url, schema), "{url} {schema}");
    }
    let of_file = |path: &std::path::Path| {
        let store = SqliteStore::lazy(path, clock(), None).with_numbers_in(dir.path(), "prod");
        store.kept().unwrap().file().path().to_owned()
    };
    let path = dir.path().join("jobs.db");
    let early = of_file(&path);
    std::fs::write(&path, "").unwrap();
    assert_eq!(early, of_file(&path));
    assert_eq!(early, of_file(&dir.path().join("./jobs.db")));
    let link = dir.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert_eq!(early, of_file(&link));
    assert_ne!(early, of_file(&dir.path().join("others.db")));
}
