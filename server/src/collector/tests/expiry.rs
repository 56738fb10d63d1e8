//! Rows that go away: expired before, while and after they are collected.

use super::database::{Database, Kind, lines};
use super::{collect, collector, oracle, same, story};
use crate::testing::fixture::Fixture;

/// Takes jobs away with all of their rows, as they expire.
async fn expire(database: &Database, which: &str) {
    database
        .execute(
            &format!("DELETE FROM hangfire.job WHERE {which}"),
            &format!(
                "DELETE FROM State WHERE JobId IN (SELECT Id FROM Job WHERE {which}); \
                 DELETE FROM Job WHERE {which}"
            ),
        )
        .await;
}

fn without_gauges(lines: Vec<String>) -> Vec<String> {
    let stays = |line: &String| !line.starts_with("gauges");
    lines.into_iter().filter(stays).collect()
}

/// What was counted stays when its rows go; what went before it was read was never there.
#[tokio::test]
async fn numbers_outlive_their_rows() {
    let fixture = story::jobs(8, 300);
    for database in Database::both(&fixture).await {
        expire(&database, "id % 3 = 0").await;
        // The log of what the collector had a chance to see.
        let seen = database.jobs().await;
        let wanted = lines(&oracle::numbers(&seen));
        let mut collector = collector(&database.store, 5_000);
        collector.pass().await.unwrap();
        expire(
            &database,
            "statename IN ('Succeeded', 'Deleted') AND id % 2 = 0",
        )
        .await;
        collect(&mut collector).await.unwrap();
        expire(&database, "statename IN ('Succeeded', 'Deleted')").await;
        collect(&mut collector).await.unwrap();
        let name = database.name();
        same(&database.numbers().await, &wanted, name);
        // Living jobs that somebody deleted are no longer pending.
        expire(&database, "id > 0").await;
        while database.remembered().await > 0 {
            collector.sweep_now().await.unwrap();
        }
        let stored = database.numbers().await;
        same(
            &without_gauges(stored.clone()),
            &without_gauges(wanted),
            name,
        );
        let gauges: Vec<&String> = stored
            .iter()
            .filter(|line| line.starts_with("gauges"))
            .collect();
        // Jobs in final states expire without a word; they are counted anew elsewhere.
        assert!(
            gauges
                .iter()
                .all(|line| line.contains("succeeded") || line.contains("deleted")),
            "{gauges:?}"
        );
    }
}

/// On `SQLite` rows expire under jobs that live: their numbers go on from what is remembered.
#[tokio::test]
async fn a_job_whose_old_rows_expired_is_counted_on() {
    let fixture = story::jobs(9, 200);
    let database = Database::sqlite(&fixture).await;
    let Kind::Sqlite(file) = &database.kind else {
        return;
    };
    let wanted = lines(&oracle::numbers(&database.jobs().await));
    // The second half of the rows comes later, when the first half of those of living jobs has
    // gone.
    let half = fixture.states[fixture.states.len() / 2].id;
    file.run(&format!(
        "CREATE TABLE later AS SELECT * FROM State WHERE Id > {half}; \
         CREATE TABLE ends AS SELECT Id, StateName FROM Job; \
         DELETE FROM State WHERE Id > {half}; \
         UPDATE Job SET StateName = (SELECT Name FROM State WHERE JobId = Job.Id \
           ORDER BY Id DESC LIMIT 1)"
    ))
    .await;
    let mut collector = collector(&database.store, 100);
    collect(&mut collector).await.unwrap();
    file.run(
        "DELETE FROM State WHERE JobId IN (SELECT Id FROM Job \
           WHERE StateName NOT IN ('Succeeded', 'Deleted')); \
         INSERT INTO State SELECT * FROM later; \
         UPDATE Job SET StateName = (SELECT StateName FROM ends e WHERE e.Id = Job.Id)",
    )
    .await;
    collect(&mut collector).await.unwrap();
    same(&database.numbers().await, &wanted, "SQLite");
}

/// A row that Hangfire has committed before its job says whether the job rests there.
#[tokio::test]
async fn a_failure_that_may_still_be_retried_is_not_counted_as_the_end() {
    let fixture = Fixture::named("stuck");
    let database = Database::sqlite(&fixture).await;
    let Kind::Sqlite(file) = &database.kind else {
        return;
    };
    let rows = "INSERT INTO Job (Id, StateName, StateId, InvocationData, Arguments, CreatedAt, \
         ExpireAt) VALUES (900, 'Processing', 0, '{\"Type\":\"A.B, C\",\"Method\":\"Go\"}', '[]', \
         639315783000000000, 0); \
         INSERT INTO State (JobId, Name, CreatedAt, Data, ExpireAt) VALUES \
         (900, 'Enqueued', 639315783000000000, '{\"Queue\":\"q\"}', 0), \
         (900, 'Processing', 639315783010000000, '{}', 0), \
         (900, 'Failed', 639315783020000000, '{\"ExceptionType\":\"E\"}', 0)";
    file.run(rows).await;
    let mut collector = collector(&database.store, 100);
    collect(&mut collector).await.unwrap();
    let gave_up = |lines: Vec<String>| -> usize {
        let is_it = |line: &&String| line.contains("gave-up") && line.contains("\"A.B\"");
        lines.iter().filter(is_it).count()
    };
    assert_eq!(gave_up(database.numbers().await), 0);
    // The job comes to rest, and no row says so.
    file.run("UPDATE Job SET StateName = 'Failed' WHERE Id = 900")
        .await;
    collect(&mut collector).await.unwrap();
    assert_eq!(gave_up(database.numbers().await), 1);
    let wanted = lines(&oracle::numbers(&database.jobs().await));
    same(&database.numbers().await, &wanted, "SQLite");
}
