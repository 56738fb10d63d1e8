//! Many rows at once: job servers are not held up for long.

use std::time::Instant as Stopwatch;

use sqlx::Connection as _;

use super::super::change::MOST_RELATIVES;
use super::super::write::{Expiry, MOST_EXPIRED, all, expire_more};
use super::*;
use crate::testing::sqlite::TestFile;

/// A failed job 1 with so many state rows, and so many jobs from 2 on that wait for it.
async fn file(states: i64, children: i64) -> TestFile {
    let file = TestFile::new().await;
    let (created, data) = (ago(600), r#"{"Queue":"mail"}"#);
    file.run(&format!(
        "{} WITH RECURSIVE n (g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM n WHERE g < {states}) \
         INSERT INTO State (Id, JobId, Name, CreatedAt, Data, ExpireAt) SELECT g, 1, \
         CASE WHEN g = {states} THEN 'Failed' WHEN g % 2 THEN 'Enqueued' ELSE 'Processing' END, \
         {created} + g, '{data}', 0 FROM n;",
        job_row(1, "Failed", "LongJob", created),
    ))
    .await;
    if children > 0 {
        let list: Vec<String> = (2..2 + children)
            .map(|id| format!(r#"{{"JobId":"{id}","Options":1}}"#))
            .collect();
        file.run(&format!(
            "INSERT INTO JobParameter (JobId, Name, Value, ExpireAt) \
             VALUES (1, 'Continuations', '[{}]', 0); \
             WITH RECURSIVE n (g) AS (SELECT 2 UNION ALL SELECT g + 1 FROM n WHERE g < {children} + 1) \
             INSERT INTO Job SELECT g, 0, 'Awaiting', j.InvocationData, '[]', {created}, 0 \
             FROM n, Job j WHERE j.Id = 1; \
             WITH RECURSIVE n (g) AS (SELECT 2 UNION ALL SELECT g + 1 FROM n WHERE g < {children} + 1) \
             INSERT INTO State (JobId, Name, CreatedAt, Data, ExpireAt) SELECT g, 'Awaiting', {created}, \
             '{{\"ParentId\":\"1\",\"Options\":\"OnlyOnSucceededState\"}}', 0 FROM n;",
            list.join(",")
        ))
        .await;
    }
    file
}

/// State rows of job 1 by what they say of their expiry: as the job, something else.
const MARKS: &str = "SELECT sum(s.ExpireAt IS j.ExpireAt), sum(s.ExpireAt IS NOT j.ExpireAt) \
     FROM State s JOIN Job j ON j.Id = s.JobId WHERE j.Id = 1";

#[tokio::test]
async fn a_long_history_expires_and_comes_back_whole() {
    // More than two transactions take.
    let states = 2 * MOST_EXPIRED + 500;
    let file = file(states, 0).await;
    let outcome = act(&file.store, 1, Action::Delete).await;
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
    assert_eq!(rows(&file, MARKS).await, [format!("{}|0", states + 1)]);
    let expires = "SELECT ExpireAt > 0 FROM Job WHERE Id = 1";
    assert_eq!(rows(&file, expires).await, ["1"]);
    let outcome = act(&file.store, 1, Action::UndoDelete).await;
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
    assert_eq!(rows(&file, MARKS).await, [format!("{}|0", states + 2)]);
    assert_eq!(rows(&file, expires).await, ["0"]);
}

/// What was left out is left alone once somebody else has given the job another expiry.
#[tokio::test]
async fn the_rest_of_a_history_is_not_touched_after_somebody_else() {
    let states = MOST_EXPIRED + 1;
    let file = file(states, 0).await;
    let mut connection = file.connect().await;
    let mut rest: Vec<Expiry> = Vec::new();
    let plan = app::actions::plan::Plan {
        job: 1,
        at: now(),
        state: StateName::Deleted,
        notes: Vec::new(),
        writes: vec![
            app::actions::plan::Write::State {
                job: 1,
                name: StateName::Deleted,
                reason: None,
                data: app::actions::plan::StateValue::Object(Vec::new()),
            },
            app::actions::plan::Write::Expire {
                job: 1,
                at: Some(now() + TimeDelta::days(1)),
            },
        ],
    };
    let clock = &file.store.inner.clock;
    let mut transaction = connection.begin().await.unwrap();
    all(&mut transaction, clock, &plan, &mut rest)
        .await
        .unwrap();
    transaction.commit().await.unwrap();
    let left = [format!("{MOST_EXPIRED}|2")];
    assert_eq!(rows(&file, MARKS).await, left);
    file.run("UPDATE Job SET ExpireAt = ExpireAt + 1 WHERE Id = 1")
        .await;
    assert!(!expire_more(&mut connection, rest[0]).await.unwrap());
    file.run("UPDATE Job SET ExpireAt = ExpireAt - 1 WHERE Id = 1")
        .await;
    assert_eq!(rows(&file, MARKS).await, left);
    assert!(!expire_more(&mut connection, rest[0]).await.unwrap());
    assert_eq!(rows(&file, MARKS).await, [format!("{}|0", states + 1)]);
}

#[tokio::test]
async fn more_relatives_than_fit_a_short_transaction_are_refused() {
    let most = i64::try_from(MOST_RELATIVES).unwrap();
    let too_many = file(3, most + 1).await;
    let outcome = act(&too_many.store, 1, Action::Delete).await;
    let why = format!("{} jobs hang on it, more than the {most} ", most + 1);
    assert!(
        matches!(&outcome, Outcome::Refused { why: said } if said.starts_with(&why)),
        "{outcome:?}"
    );
    let just = file(3, most).await;
    let outcome = act(&just.store, 1, Action::Delete).await;
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
    let deleted = "SELECT count(*) FROM Job WHERE StateName = 'Deleted' AND ExpireAt > 0";
    assert_eq!(rows(&just, deleted).await, [format!("{}", most + 1)]);
}

#[tokio::test]
#[ignore = "a benchmark: see docs/benchmarks.md"]
async fn how_long_job_servers_are_held_up() {
    for (states, children) in [(3, 0), (3, 100), (5_000, 0), (5_000, 100), (100_000, 0)] {
        let file = file(states, children).await;
        let request = on(seen(&file.store, 1).await, Action::Delete);
        let began = Stopwatch::now();
        let outcome = file
            .store
            .act(SystemClock.new_id(), &request)
            .await
            .unwrap();
        println!(
            "{states:6} state rows, {children:3} relatives: {:4} ms, {}",
            began.elapsed().as_millis(),
            outcome.slug()
        );
        let mut connection = file.connect().await;
        file.run("UPDATE State SET ExpireAt = 0").await;
        let job = "SELECT ExpireAt FROM Job WHERE Id = 1";
        let expiry = rows(&file, job).await[0].parse().unwrap();
        let began = Stopwatch::now();
        let mut transaction = connection.begin().await.unwrap();
        expire_more(&mut transaction, Expiry { job: 1, at: expiry })
            .await
            .unwrap();
        transaction.commit().await.unwrap();
        println!(
            "    one more transaction: {:4} ms",
            began.elapsed().as_millis()
        );
    }
}
