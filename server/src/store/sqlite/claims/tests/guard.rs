//! Never double: of two contenders one wins, and a death in the middle changes nothing.

use std::process::{Command, Stdio};

use app::actions::claim::decide::ClaimWrite;
use app::actions::claim::{ClaimAction, ClaimOutcome};
use sqlx::Connection as _;

use super::acts::{QUEUE, on_46, rows, ruled, shaped};
use super::*;
use crate::store::sqlite::claims::write;

/// The recorded claim and its job as they were.
const RESET: &str = "DELETE FROM OutgoingEmails WHERE IdempotencyKey = 'invoice-email:46'; \
     INSERT INTO OutgoingEmails VALUES (3, 'invoice-email:46', 0, '2026-11-29 19:20:05.156554', NULL); \
     UPDATE Job SET StateName = 'Succeeded' WHERE Id = 4; DELETE FROM State WHERE Id > 24; \
     DELETE FROM JobQueue; DELETE FROM JobParameter WHERE Name = 'Redrive.Claim'";

fn rounds() -> u32 {
    std::env::var("REDRIVE_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(500)
}

/// Two operators, each with connections of their own, reclaim what both saw.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_contenders_exactly_one_wins_every_round() {
    let file = TestFile::recorded(RECORDED).await;
    let other = SqliteStore::open(&file.path, file.store.inner.clock.clone())
        .await
        .unwrap();
    for round in 0..rounds() {
        let way = [ClaimWay::InsertFirst, ClaimWay::HandOver][round as usize % 2];
        let shape = shaped(&file, way).await;
        file.run(RESET).await;
        let contend = |store: SqliteStore| {
            let shape = shape.clone();
            tokio::spawn(async move {
                let request = on_46(ClaimAction::Reclaim);
                store
                    .act_on_claim(SystemClock.new_id(), &shape, &request)
                    .await
            })
        };
        let (one, two) = (contend(file.store.clone()), contend(other.clone()));
        let outcomes = [one.await.unwrap(), two.await.unwrap()];
        let mut won = 0;
        for outcome in &outcomes {
            match outcome {
                ClaimOutcome::Done { .. } => won += 1,
                ClaimOutcome::Moved { .. } | ClaimOutcome::Gone => {}
                odd => panic!("round {round}: {odd:?}"),
            }
        }
        assert_eq!(won, 1, "round {round}: {outcomes:?}");
        assert_eq!(rows(&file, QUEUE).await, ["4|default|0"], "round {round}");
    }
}

#[tokio::test]
async fn without_the_guard_both_would_win() {
    let file = TestFile::recorded(RECORDED).await;
    let shape = shaped(&file, ClaimWay::HandOver).await;
    let seen = on_46(ClaimAction::Reclaim).seen;
    let mut connection = file.connect().await;
    let mut changed = Vec::new();
    for _ in 0..2 {
        let now = SystemClock.now();
        changed.push(
            write::claim(&mut connection, &shape, &seen, &ClaimWrite::Renew, now)
                .await
                .unwrap(),
        );
    }
    assert_eq!(changed, [1, 0]);
    // The same by key alone, as somebody would write it who trusts what the page showed.
    file.run(RESET).await;
    for minute in 0..2 {
        let unguarded =
            sqlx::query("UPDATE OutgoingEmails SET ClaimedAtUtc = ? WHERE IdempotencyKey = ?")
                .bind(format!("2026-11-29 23:0{minute}:00"))
                .bind(&seen.key)
                .execute(&mut connection)
                .await
                .unwrap();
        assert_eq!(unguarded.rows_affected(), 1);
    }
}

/// A transaction that is dropped between the claim's change and the job's leaves neither.
#[tokio::test]
async fn a_transaction_that_breaks_off_leaves_neither() {
    let file = TestFile::recorded(RECORDED).await;
    let shape = shaped(&file, ClaimWay::InsertFirst).await;
    let seen = on_46(ClaimAction::Release).seen;
    let mut connection = file.connect().await;
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let deleted = write::claim(
        &mut transaction,
        &shape,
        &seen,
        &ClaimWrite::Delete,
        SystemClock.now(),
    );
    assert_eq!(deleted.await.unwrap(), 1);
    drop(transaction);
    drop(connection);
    untouched(&file).await;
}

async fn untouched(file: &TestFile) {
    let there = "SELECT count(*) FROM OutgoingEmails WHERE IdempotencyKey = 'invoice-email:46'";
    assert_eq!(rows(file, there).await, ["1"]);
    assert_eq!(rows(file, QUEUE).await, [""; 0]);
    assert_eq!(
        rows(file, "SELECT StateName FROM Job WHERE Id = 4").await,
        ["Succeeded"]
    );
    assert_eq!(
        rows(file, "SELECT count(*) FROM redrive_audit").await,
        ["0"]
    );
}

/// The file that a child process acts on.
const VICTIM: &str = "REDRIVE_TEST_VICTIM";

/// The part of the child process; does nothing by itself.
#[tokio::test]
async fn child_of_a_kill() {
    let Ok(path) = std::env::var(VICTIM) else {
        return;
    };
    let clock = std::sync::Arc::new(SystemClock);
    let store = SqliteStore::open(std::path::Path::new(&path), clock)
        .await
        .unwrap();
    let shape = store.shape(&ruled(ClaimWay::InsertFirst)).await.unwrap();
    let request = on_46(ClaimAction::Release);
    store
        .act_on_claim(SystemClock.new_id(), &shape, &request)
        .await;
}

/// The job's new state row never ends being written, so that the process dies after it deleted the
/// claim and before it has requeued the job.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_killed_between_claim_and_job_leaves_neither() {
    let file = TestFile::recorded(RECORDED).await;
    file.run(
        "CREATE VIEW endless AS WITH RECURSIVE n(i) AS \
         (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n; \
         CREATE TRIGGER stuck AFTER INSERT ON State WHEN new.JobId = 4 \
         BEGIN SELECT count(*) FROM endless; END",
    )
    .await;
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "store::sqlite::claims::tests::guard::child_of_a_kill",
        ])
        .env(VICTIM, &file.path)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut connection = file.connect().await;
    sqlx::query("PRAGMA busy_timeout = 0")
        .execute(&mut connection)
        .await
        .unwrap();
    // Held for good by now, if twice in a row with time between: the child's other turns are short.
    let mut held = 0;
    while held < 5 {
        match connection.begin_with("BEGIN IMMEDIATE").await {
            Ok(free) => {
                free.rollback().await.unwrap();
                held = 0;
            }
            Err(_) => held += 1,
        }
        assert!(
            child.try_wait().unwrap().is_none(),
            "the child came to an end"
        );
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    untouched(&file).await;
    file.run("DROP TRIGGER stuck").await;
    let shape = shaped(&file, ClaimWay::InsertFirst).await;
    let request = on_46(ClaimAction::Release);
    let outcome = file
        .store
        .act_on_claim(SystemClock.new_id(), &shape, &request)
        .await;
    assert!(matches!(outcome, ClaimOutcome::Done { .. }), "{outcome:?}");
    assert_eq!(rows(&file, QUEUE).await, ["4|default|0"]);
}

/// A COMMIT that fails leaves neither, and says so.
#[tokio::test]
async fn a_commit_that_fails_leaves_neither() {
    let file = TestFile::recorded(RECORDED).await;
    file.run(
        "CREATE TABLE parent (id INTEGER PRIMARY KEY); CREATE TABLE child (id INTEGER \
         REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED); \
         CREATE TRIGGER orphan AFTER INSERT ON JobQueue BEGIN INSERT INTO child VALUES (7); END",
    )
    .await;
    let writer = file.store.writer().await.unwrap();
    sqlx::query("PRAGMA foreign_keys = ON")
        .execute(&writer)
        .await
        .unwrap();
    let shape = shaped(&file, ClaimWay::InsertFirst).await;
    let id = SystemClock.new_id();
    let request = on_46(ClaimAction::Release);
    let outcome = file.store.act_on_claim(id, &shape, &request).await;
    assert!(
        matches!(&outcome, ClaimOutcome::Busy { why } if why.contains("Nothing was changed")),
        "{outcome:?}"
    );
    let audits = "SELECT outcome FROM redrive_audit";
    assert_eq!(rows(&file, audits).await, ["busy"]);
    file.run("DELETE FROM redrive_audit").await;
    untouched(&file).await;
}
