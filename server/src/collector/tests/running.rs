//! The task as it runs beside serving.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::database::{Database, lines};
use super::{Passed, collector, oracle, same, story};
use crate::clock::SystemClock;
use crate::collector;
use crate::source::Snapshot;

/// It says how far it has come, counts what is there and what comes, and leaves the lease when it
/// is told to stop.
#[tokio::test]
async fn the_task_collects_until_it_is_stopped() {
    let fixture = story::jobs(30, 100);
    for database in Database::both(&fixture).await {
        let (live, mut seen) = watch::channel(Snapshot::default());
        let stop = CancellationToken::new();
        let task = tokio::spawn(collector::run(
            Arc::clone(&database.store),
            Arc::new(SystemClock),
            live,
            stop.clone(),
        ));
        let rows = i64::try_from(fixture.states.len()).unwrap();
        let all = |snapshot: &Snapshot, rows: i64| {
            let position = snapshot.collecting.position.as_ref();
            snapshot.collecting.caught_up && position.is_some_and(|position| position.rows == rows)
        };
        seen.wait_for(|snapshot| all(snapshot, rows)).await.unwrap();
        database
            .execute(
                "INSERT INTO hangfire.state (jobid, name, createdat, data) \
                 VALUES (1, 'Enqueued', now(), '{}'); \
                 UPDATE hangfire.job SET statename = 'Enqueued', \
                   stateid = (SELECT max(id) FROM hangfire.state) WHERE id = 1",
                "INSERT INTO State (JobId, Name, CreatedAt, Data) \
                 VALUES (1, 'Enqueued', 639315783000000000, '{}'); \
                 UPDATE Job SET StateName = 'Enqueued' WHERE Id = 1",
            )
            .await;
        seen.wait_for(|snapshot| all(snapshot, rows + 1))
            .await
            .unwrap();
        let wanted = lines(&oracle::numbers(&database.jobs().await));
        same(&database.numbers().await, &wanted, database.name());
        stop.cancel();
        task.await.unwrap();
        let passed = collector(&database.store, 10).pass().await.unwrap();
        assert_ne!(passed, Passed::Elsewhere, "{}", database.name());
    }
}

/// Job servers wait while a batch is written into their file.
#[tokio::test]
async fn batches_follow_how_long_others_may_wait() {
    let fixture = story::jobs(31, 10);
    let database = Database::sqlite(&fixture).await;
    let pace = database.store.pace();
    assert_eq!(pace.longest_write, Some(Duration::from_millis(250)));
    let mut collector = collector(&database.store, pace.rows);
    collector.adapt(Duration::from_millis(126));
    assert_eq!(collector.rows, pace.rows / 2);
    collector.adapt(Duration::from_millis(100));
    assert_eq!(collector.rows, pace.rows / 2);
    collector.adapt(Duration::from_millis(30));
    assert_eq!(collector.rows, pace.rows);
    collector.adapt(Duration::from_millis(30));
    assert_eq!(collector.rows, pace.rows);
    for _ in 0..20 {
        collector.adapt(Duration::from_secs(1));
    }
    assert_eq!(collector.rows, 100);
}
