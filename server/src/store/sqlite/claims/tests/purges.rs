//! Purging what is past its retention, and nothing else.

use app::ports::audit::AuditStore as _;
use app::ports::claims::Purge;
use app::ports::error::StoreError;

use super::acts::{ada, rows};
use super::*;

const LEFT: &str = "SELECT IdempotencyKey FROM OutgoingEmails ORDER BY 1";

/// Seven claims: k1, k2 and k7 are Sent and past thirty days.
async fn seven() -> (TestFile, Shape) {
    let file = TestFile::recorded(RECORDED).await;
    let ago = |seconds: i64| {
        let at = SystemClock.now() - TimeDelta::seconds(seconds);
        format!("'{}'", at.format("%Y-%m-%d %H:%M:%S%.6f"))
    };
    let day = 86_400;
    file.run(&format!(
        "DELETE FROM OutgoingEmails; INSERT INTO OutgoingEmails \
         (IdempotencyKey, Status, ClaimedAtUtc, ProviderMessageId) VALUES ('k1', 1, {}, 'm1'), \
         ('k2', 1, {}, 'm2'), ('k3', 1, {}, 'm3'), ('k4', 0, {}, NULL), ('k5', 0, {}, NULL), \
         ('k6', 2, {}, NULL), ('k7', 1, {}, NULL)",
        ago(31 * day),
        ago(30 * day + 60),
        ago(29 * day + 23 * 3600),
        ago(200 * day),
        ago(31 * day),
        ago(90 * day),
        ago(40 * day)
    ))
    .await;
    let shape = shape(&file).await;
    (file, shape)
}

fn purge(batch: u32) -> Purge {
    Purge {
        before: SystemClock.now() - TimeDelta::days(30),
        batch,
        actor: ada(),
        reason: Some("spring cleaning".to_owned()),
    }
}

#[tokio::test]
async fn sent_claims_past_the_retention_go_once() {
    let (file, shape) = seven().await;
    let figures = file.store.claim_figures(&shape).await.unwrap();
    assert_eq!(figures.purgeable.0, 3);
    let oldest = figures.purgeable.1.unwrap();
    assert_eq!((SystemClock.now() - oldest).num_days(), 40);
    let id = SystemClock.new_id();
    assert_eq!(
        file.store
            .purge_claims(id, &shape, &purge(2))
            .await
            .unwrap(),
        3
    );
    assert_eq!(rows(&file, LEFT).await, ["k3", "k4", "k5", "k6"]);
    let row = file.store.audit_row(id).await.unwrap().unwrap();
    assert_eq!(
        (row.action.as_str(), row.outcome.as_str()),
        ("purge", "done")
    );
    assert_eq!((row.job, row.actor.as_str()), (None, "ada"));
    assert!(row.note.contains("3 Sent claims"), "{}", row.note);
    let claim = row.claim.unwrap();
    assert_eq!((claim.table.as_str(), claim.key), ("emails", None));
    let again = SystemClock.new_id();
    assert_eq!(
        file.store
            .purge_claims(again, &shape, &purge(2))
            .await
            .unwrap(),
        0
    );
    assert_eq!(keys(&file.store, &shape, stale_now()).await, ["k4", "k5"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_purges_at_once_purge_each_row_once() {
    let (file, shape) = seven().await;
    let mut connection = file.connect().await;
    sqlx::query(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) \
         INSERT INTO OutgoingEmails (IdempotencyKey, Status, ClaimedAtUtc) \
         SELECT 'n' || i, 1, strftime('%Y-%m-%d %H:%M:%S', 'now', '-60 days') FROM n",
    )
    .execute(&mut connection)
    .await
    .unwrap();
    let other = SqliteStore::open(&file.path, file.store.inner.clock.clone())
        .await
        .unwrap();
    let run = |store: SqliteStore| {
        let shape = shape.clone();
        tokio::spawn(async move {
            store
                .purge_claims(SystemClock.new_id(), &shape, &purge(100))
                .await
                .unwrap()
        })
    };
    let (one, two) = (run(file.store.clone()), run(other));
    assert_eq!(one.await.unwrap() + two.await.unwrap(), 1_003);
    assert_eq!(rows(&file, LEFT).await, ["k3", "k4", "k5", "k6"]);
}

#[tokio::test]
async fn times_that_cannot_be_read_are_never_purged() {
    let (file, shape) = seven().await;
    file.run(
        "DELETE FROM OutgoingEmails; INSERT INTO OutgoingEmails \
         (IdempotencyKey, Status, ClaimedAtUtc) VALUES ('a', 1, ''), ('b', 1, '2020-02-31 10:00:00'), \
         ('c', 1, '1999'), ('d', 1, 'long ago'), ('e', 1, '2020-02-28 10:00:00')",
    )
    .await;
    assert_eq!(
        file.store.claim_figures(&shape).await.unwrap().purgeable.0,
        1
    );
    let purged = file
        .store
        .purge_claims(SystemClock.new_id(), &shape, &purge(1))
        .await;
    assert_eq!(purged.unwrap(), 1);
    assert_eq!(rows(&file, LEFT).await, ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn a_table_that_cannot_be_purged_is_refused() {
    let (file, shape) = seven().await;
    let mut table = outgoing();
    table.columns.claimed_at = None;
    let timeless = file.store.shape(&table).await.unwrap();
    let refused = file
        .store
        .purge_claims(SystemClock.new_id(), &timeless, &purge(10))
        .await;
    assert!(
        matches!(refused, Err(StoreError::Forbidden(_))),
        "{refused:?}"
    );
    let closed = Shape {
        read_only: Some("It is set to read-only.".to_owned()),
        ..shape
    };
    let refused = file
        .store
        .purge_claims(SystemClock.new_id(), &closed, &purge(10))
        .await;
    assert!(
        matches!(&refused, Err(StoreError::Forbidden(why)) if why == "It is set to read-only."),
        "{refused:?}"
    );
    assert_eq!(rows(&file, LEFT).await.len(), 7);
}
