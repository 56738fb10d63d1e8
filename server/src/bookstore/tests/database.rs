//! The demo database as a file.

use std::sync::Arc;

use chrono::TimeDelta;

use super::super::*;
use super::{Fixed, now};
use crate::clock::SharedClock;
use crate::store::sqlite::SqliteStore;

#[tokio::test]
async fn it_is_written_whole_and_labelled() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("demo.db");
    let clock: SharedClock = Arc::new(Fixed(now()));
    let demo = scenario(2, 300, now());
    // An older file and its log are replaced.
    std::fs::write(&path, "no database").unwrap();
    std::fs::write(dir.path().join("demo.db-wal"), "no log").unwrap();
    write(&path, 2, &demo, Arc::clone(&clock)).await.unwrap();
    let files: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(files, ["demo.db"], "nothing else is left");

    let store = SqliteStore::open(&path, Arc::clone(&clock)).await.unwrap();
    let pool = store.writer().await.unwrap();
    let one = async |sql: &'static str| -> i64 {
        sqlx::query_scalar(sql).fetch_one(&pool).await.unwrap()
    };
    let length = |count: usize| i64::try_from(count).unwrap();
    assert_eq!(one(r#"SELECT count(*) FROM "Job""#).await, 300);
    let states = demo.jobs.iter().map(|job| job.states.len()).sum();
    assert_eq!(one(r#"SELECT count(*) FROM "State""#).await, length(states));
    assert_eq!(
        one(r#"SELECT count(*) FROM "JobQueue" WHERE "FetchedAt" = 0"#).await,
        one(r#"SELECT count(*) FROM "Job" WHERE "StateName" = 'Enqueued'"#).await
    );
    assert_eq!(
        one(r#"SELECT count(*) FROM "OutgoingEmails" WHERE "Status" = 0"#).await,
        length(demo.claims.iter().filter(|claim| !claim.sent).count())
    );
    // Columns have Hangfire's types: ticks are whole numbers, scores floats, and the newest row of
    // the state's name is the newest row.
    assert_eq!(
        one(r#"SELECT count(*) FROM "State" WHERE typeof("CreatedAt") <> 'integer'"#).await,
        0
    );
    assert_eq!(
        one(r#"SELECT count(*) FROM "Set" WHERE typeof("Score") <> 'real'"#).await,
        0
    );
    assert_eq!(
        one(
            r#"SELECT count(*) FROM "Job" j WHERE "StateName" <> (SELECT "Name" FROM "State" s WHERE s."JobId" = j."Id" ORDER BY s."CreatedAt" DESC LIMIT 1)"#
        )
        .await,
        0
    );
    assert_eq!(
        label(&pool).await.unwrap(),
        Some(DemoLabel {
            made_at: now(),
            seed: 2,
            jobs: 300
        })
    );
}

#[tokio::test]
async fn only_living_servers_send_heartbeats() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("demo.db");
    let demo = scenario(2, 0, now());
    write(&path, 2, &demo, Arc::new(Fixed(now())))
        .await
        .unwrap();
    let later = now() + TimeDelta::hours(30);
    let clock: SharedClock = Arc::new(Fixed(later));
    let store = SqliteStore::open(&path, Arc::clone(&clock)).await.unwrap();
    let pool = store.writer().await.unwrap();
    super::super::keep_alive::beat(&pool, &clock).await.unwrap();
    let rows: Vec<(String, i64)> =
        sqlx::query_as(r#"SELECT "Id", "LastHeartbeat" FROM "Server" ORDER BY "Id""#)
            .fetch_all(&pool)
            .await
            .unwrap();
    let mut fresh = 0;
    for (id, heartbeat) in rows {
        let server = demo.servers.iter().find(|server| server.id == id).unwrap();
        if server.alive {
            let age = crate::store::sqlite::ticks::ticks(later) - heartbeat;
            assert!((0..=3 * 10_000_000).contains(&age), "{id}: {age}");
            fresh += 1;
        } else {
            assert_eq!(
                heartbeat,
                crate::store::sqlite::ticks::ticks(server.heartbeat_at)
            );
        }
    }
    assert_eq!(fresh, 4);
}

#[tokio::test]
async fn a_database_that_is_no_demo_has_no_label() {
    let dir = tempfile::tempdir().unwrap();
    let clock: SharedClock = Arc::new(Fixed(now()));
    let store = SqliteStore::create(&dir.path().join("real.db"), clock)
        .await
        .unwrap();
    let pool = store.writer().await.unwrap();
    assert_eq!(label(&pool).await.unwrap(), None);
}

#[tokio::test]
async fn a_demo_is_made_once_and_reused_until_it_is_wanted_fresh() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("demo.db");
    let today: SharedClock = Arc::new(Fixed(now()));
    let later = now() + TimeDelta::days(2);
    let then: SharedClock = Arc::new(Fixed(later));
    let made = prepare(&path, 4, 150, false, today).await.unwrap();
    let label = DemoLabel {
        made_at: now(),
        seed: 4,
        jobs: 150,
    };
    assert_eq!(made, Prepared::Made(label.clone()));
    let again = prepare(&path, 5, 160, false, Arc::clone(&then))
        .await
        .unwrap();
    assert_eq!(again, Prepared::Reused(label, TimeDelta::days(2)));
    assert!(again.sentence(&path).contains("150 jobs, made 2 days ago"));
    let fresh = prepare(&path, 5, 160, true, Arc::clone(&then))
        .await
        .unwrap();
    let expected = DemoLabel {
        made_at: later,
        seed: 5,
        jobs: 160,
    };
    assert_eq!(fresh, Prepared::Made(expected.clone()));
    let store = SqliteStore::open(&path, then).await.unwrap();
    let pool = store.writer().await.unwrap();
    assert_eq!(super::super::label(&pool).await.unwrap(), Some(expected));
}

#[tokio::test]
async fn somebody_elses_file_is_never_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hangfire.db");
    let clock: SharedClock = Arc::new(Fixed(now()));
    SqliteStore::create(&path, Arc::clone(&clock))
        .await
        .unwrap();
    for fresh in [false, true] {
        let refused = prepare(&path, 1, 100, fresh, Arc::clone(&clock)).await;
        assert!(matches!(refused, Err(DemoError::NoDemo(_))), "{refused:?}");
    }
    let text = dir.path().join("notes.txt");
    std::fs::write(&text, "not a database at all").unwrap();
    assert!(prepare(&text, 1, 100, true, clock).await.is_err());
    assert_eq!(
        std::fs::read_to_string(&text).unwrap(),
        "not a database at all"
    );
}
