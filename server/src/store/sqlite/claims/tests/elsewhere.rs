//! Claims in a file of their own, beside the one with the jobs.

use app::actions::claim::{ClaimAction, ClaimOutcome};
use app::ports::audit::AuditStore as _;
use app::ports::claims::Purge;

use super::acts::{QUEUE, ada, on_46, rows, ruled};
use super::*;

/// The recorded file without its claims, and the claims in another one.
async fn parted() -> (TestFile, tempfile::TempDir, SqliteStore) {
    let file = TestFile::recorded(RECORDED).await;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shop.db");
    std::fs::write(&path, "").unwrap();
    let claims = path.display();
    file.run(&format!(
        "ATTACH '{claims}' AS shop; CREATE TABLE shop.OutgoingEmails (IdempotencyKey TEXT UNIQUE, \
         Status INTEGER, ClaimedAtUtc TEXT, ProviderMessageId TEXT); \
         INSERT INTO shop.OutgoingEmails SELECT IdempotencyKey, Status, ClaimedAtUtc, \
         ProviderMessageId FROM main.OutgoingEmails; DROP TABLE main.OutgoingEmails"
    ))
    .await;
    let store = file.store.clone().with_claims_in(&path);
    (file, dir, store)
}

#[tokio::test]
async fn claim_and_job_change_in_both_files() {
    let (file, _dir, store) = parted().await;
    let shape = store.shape(&ruled(ClaimWay::HandOver)).await.unwrap();
    assert!(!shape.with_jobs);
    assert_eq!(shape.read_only, None);
    assert_eq!(store.detect().await.unwrap().len(), 1);
    assert_eq!(keys(&store, &shape, ClaimFilter::Sending).await.len(), 3);
    let request = on_46(ClaimAction::Reclaim);
    let id = SystemClock.new_id();
    let outcome = store.act_on_claim(id, &shape, &request).await;
    let ClaimOutcome::Done {
        claim: Some((_, Some(time))),
        job: Some(_),
        ..
    } = outcome
    else {
        panic!("{outcome:?}");
    };
    let claim = store
        .claim(&shape, "invoice-email:46")
        .await
        .unwrap()
        .remove(0);
    assert_eq!(claim.claimed_at, Some(time));
    assert_eq!(rows(&file, QUEUE).await, ["4|default|0"]);
    let row = store.audit_row(id).await.unwrap().unwrap();
    assert_eq!((row.outcome.as_str(), row.job), ("done", Some(4)));
    let outcome = store
        .act_on_claim(SystemClock.new_id(), &shape, &request)
        .await;
    assert!(matches!(outcome, ClaimOutcome::Moved { .. }), "{outcome:?}");
    assert_eq!(store.claim_figures(&shape).await.unwrap().sent, 1);
    let purge = Purge {
        before: SystemClock.now() + TimeDelta::days(36_500),
        batch: 10,
        actor: ada(),
        reason: None,
    };
    assert_eq!(
        store
            .purge_claims(SystemClock.new_id(), &shape, &purge)
            .await
            .unwrap(),
        1
    );
}

#[tokio::test]
async fn a_job_that_is_held_leaves_the_claim_in_the_other_file() {
    let (file, _dir, store) = parted().await;
    let soon = crate::store::sqlite::ticks::ticks(SystemClock.now() + TimeDelta::seconds(20));
    file.run(&format!(
        "INSERT INTO DistributedLock VALUES ('x', 'HangFire:job:4:state-lock', 'y', {soon})"
    ))
    .await;
    let shape = store.shape(&ruled(ClaimWay::InsertFirst)).await.unwrap();
    let request = on_46(ClaimAction::Reclaim);
    let outcome = store
        .act_on_claim(SystemClock.new_id(), &shape, &request)
        .await;
    assert!(matches!(outcome, ClaimOutcome::Busy { .. }), "{outcome:?}");
    assert_eq!(
        store.claim(&shape, "invoice-email:46").await.unwrap().len(),
        1
    );
}

/// A COMMIT of the jobs' file that fails after that of the claims' is named, with the claim.
#[tokio::test]
async fn a_requeue_that_fails_after_the_claim_changed_is_named() {
    let (file, _dir, store) = parted().await;
    let shape = store.shape(&ruled(ClaimWay::InsertFirst)).await.unwrap();
    // A foreign key that is looked at by the COMMIT alone.
    file.run(
        "CREATE TABLE parent (id INTEGER PRIMARY KEY); CREATE TABLE child (id INTEGER \
         REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED); \
         CREATE TRIGGER orphan AFTER INSERT ON JobQueue BEGIN INSERT INTO child VALUES (7); END",
    )
    .await;
    let writer = store.writer().await.unwrap();
    sqlx::query("PRAGMA foreign_keys = ON")
        .execute(&writer)
        .await
        .unwrap();
    let request = on_46(ClaimAction::Reclaim);
    let id = SystemClock.new_id();
    let outcome = store.act_on_claim(id, &shape, &request).await;
    let ClaimOutcome::Refused { why } = outcome else {
        panic!("{outcome:?}");
    };
    assert!(
        why.contains("row was deleted") && why.contains("Job #4"),
        "{why}"
    );
    assert_eq!(
        store.claim(&shape, "invoice-email:46").await.unwrap().len(),
        0
    );
    assert_eq!(rows(&file, QUEUE).await, [""; 0]);
    let row = store.audit_row(id).await.unwrap().unwrap();
    assert_eq!((row.outcome.as_str(), row.note), ("refused", why));
    assert_eq!(
        row.claim.unwrap().after.as_deref(),
        Some("Released: its row was deleted")
    );
}
