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
use crate::testing::sqlite::TestFile;

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

/// Rows that nobody should have written: each is taken as it is, and none stops the others.
#[tokio::test]
async fn odd_rows_are_taken_as_they_are() {
    let file = TestFile::new().await;
    let job = |id: i64, invocation: &str, created: i64| {
        format!(
            "INSERT INTO Job (Id, StateName, InvocationData, Arguments, CreatedAt) \
             VALUES ({id}, 'Failed', '{invocation}', '[]', {created});"
        )
    };
    let row = |job: i64, name: &str, at: i64, data: &str| {
        format!(
            "INSERT INTO State (JobId, Name, CreatedAt, Data) \
             VALUES ({job}, '{name}', {at}, '{data}');"
        )
    };
    // Ticks of 1902, of 9998, and of 2026.
    let (past, future, now) = (
        600_000_000_000_000_000,
        3_155_000_000_000_000_000,
        639_315_783_000_000_000,
    );
    let call = r#"{"Type":"A.B, C","Method":"Go"}"#;
    let mut sql = job(1, call, past) + &job(2, call, future) + &job(3, "no JSON", now);
    for (id, at) in [(1, past), (2, future), (3, now), (4, now)] {
        sql += &row(id, "Enqueued", at, "{}");
        sql += &row(id, "Processing", at + 10_000, "no JSON");
        sql += &row(id, "Failed", at + 20_000, "[1]");
    }
    sql += &row(3, "Parked", now, "{}");
    sql += "INSERT INTO State (JobId, Name, CreatedAt, Data) VALUES (NULL, NULL, NULL, NULL);";
    sql += "INSERT INTO State (Id, JobId, Name, CreatedAt, Data) \
            VALUES (9000000000000000000, 3, 'Failed', 639315783000000000, NULL);";
    file.run(&sql).await;
    let database = Database::of_file(file);
    let mut collector = collector(&database.store, 4);
    super::collect(&mut collector).await.unwrap();
    // Jobs 1 to 4 each had an attempt. Job 3 does not say what it calls, and job 4 is not there.
    let numbers = database.numbers().await;
    let attempts: Vec<&String> = numbers
        .iter()
        .filter(|line| line.starts_with("attempts"))
        .collect();
    assert_eq!(attempts.len(), 4, "{attempts:#?}");
    let unknown = attempts.iter().filter(|line| line.contains("unknown type"));
    assert_eq!(unknown.count(), 2);
    let hours = [
        "\"hour\":-593222,",
        "\"hour\":70379000,",
        "\"hour\":498883,",
    ];
    for hour in hours {
        assert!(
            attempts.iter().any(|line| line.contains(hour)),
            "{hour}: {attempts:#?}"
        );
    }
}
