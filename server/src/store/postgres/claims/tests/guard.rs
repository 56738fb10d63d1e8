//! What the guard of every change holds to, and transactions that break off in the middle.

use app::actions::claim::decide::ClaimWrite;
use app::actions::claim::{ClaimAction, ClaimOutcome, SeenClaim};
use app::model::claim::table::ClaimWay;
use app::ports::audit::AuditStore as _;
use app::ports::claims::ClaimStore as _;
use app::ports::jobs::JobStore as _;
use sqlx::Connection as _;

use super::contract::acts::{asked, claim, claimed};
use super::contract::jobs::FAILED;
use super::contract::{email, now, shape};
use super::*;
use crate::clock::{Clock as _, SystemClock};
use crate::store::postgres::claims::write;
use crate::store::postgres::pool::Purpose;

const AS_TEXT: &str = "BEGIN; SET LOCAL TimeZone = 'UTC'; SELECT pg_backend_pid()";

/// Changes a claim as it was seen, whatever was found before; how many rows that were.
async fn written(bench: &Postgres, seen: &SeenClaim, write: &ClaimWrite) -> usize {
    let shape = shape(bench).await;
    let pool = bench.store.session().pool();
    let mut transaction = pool.begin(Purpose::Rare, AS_TEXT).await.unwrap();
    let rows = write::claim(&mut transaction.conn, &shape, seen, write, now()).await;
    transaction.commit().await.unwrap();
    rows.unwrap().len()
}

/// Without any part of the guard this fails: key, status, claim time.
#[tokio::test]
async fn no_claim_is_changed_that_is_not_as_it_was_seen() {
    let Some(bench) = Postgres::new().await else {
        return;
    };
    let shape = claimed(&bench, ClaimWay::InsertFirst).await;
    email(&bench, "timeless", 0, None, None).await;
    let seen = asked(&bench, &shape, 103, ClaimAction::Release).await.seen;
    let other = |key: Option<&str>, claimed_at: Option<&str>| SeenClaim {
        key: key.unwrap_or(&seen.key).to_owned(),
        claimed_at: claimed_at.map(str::to_owned),
    };
    let sent = asked(&bench, &shape, 105, ClaimAction::Release).await.seen;
    let young = asked(&bench, &shape, 104, ClaimAction::Release).await.seen;
    let wrong = [
        // another key, with a claim time that some row has
        other(Some("invoice-email:106"), seen.claimed_at.as_deref()),
        // another status
        sent,
        // another claim time, or none
        other(None, young.claimed_at.as_deref()),
        other(None, Some("2026-11-02 12:00:00+00")),
        other(None, None),
        other(Some("timeless"), seen.claimed_at.as_deref()),
    ];
    let marked = ClaimWrite::MarkAsSent {
        provider_id: Some("m".to_owned()),
    };
    let before = bench.store.claim_figures(&shape).await.unwrap();
    for write in [&ClaimWrite::Delete, &ClaimWrite::Renew, &marked] {
        for seen in &wrong {
            // A row without a claim time says in no format how one is written.
            if *write == ClaimWrite::Renew && seen.claimed_at.is_none() {
                continue;
            }
            assert_eq!(written(&bench, seen, write).await, 0, "{write:?} {seen:?}");
        }
    }
    let after = bench.store.claim_figures(&shape).await.unwrap();
    assert_eq!((after.sending, after.sent), (before.sending, before.sent));
    assert_eq!(
        written(&bench, &other(Some("timeless"), None), &marked).await,
        1
    );
    assert_eq!(written(&bench, &seen, &ClaimWrite::Renew).await, 1);
    assert_eq!(written(&bench, &seen, &ClaimWrite::Delete).await, 0);
}

/// Whether claim and job of order 103 are as they were.
async fn untouched(bench: &Postgres, seen: &SeenClaim) -> bool {
    let shape = shape(bench).await;
    let now = claim(bench, &shape, 103).await;
    let token = now.and_then(|now| now.claimed_at).map(|time| time.token);
    let record = bench.store.job(FAILED, 10).await.unwrap().unwrap();
    let parameters = record.parameters;
    token == seen.claimed_at
        && record.state.id == Some(FAILED * 10 + 3)
        && record.queue_rows.is_empty()
        && record.states.len() == 3
        && !parameters.iter().any(|(name, _)| name == "Redrive.Claim")
}

/// A connection that is killed between the claim's change and the job's leaves neither.
#[tokio::test]
async fn a_killed_connection_leaves_neither_change() {
    for way in [ClaimWay::InsertFirst, ClaimWay::HandOver] {
        let Some(bench) = Postgres::new().await else {
            return;
        };
        let shape = claimed(&bench, way).await;
        bench
            .execute(
                "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                 PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$; \
                 CREATE TRIGGER die BEFORE INSERT ON hangfire.state FOR EACH ROW EXECUTE FUNCTION die()",
            )
            .await;
        let request = asked(&bench, &shape, 103, ClaimAction::Reclaim).await;
        let id = SystemClock.new_id();
        let outcome = bench.store.act_on_claim(id, &shape, &request).await;
        assert!(
            matches!(&outcome, ClaimOutcome::Busy { why } if why.contains("Nothing was changed")),
            "{outcome:?}"
        );
        assert!(untouched(&bench, &request.seen).await);
        bench.execute("DROP TRIGGER die ON hangfire.state").await;
        let id = SystemClock.new_id();
        let outcome = bench.store.act_on_claim(id, &shape, &request).await;
        assert_eq!(outcome.slug(), "done", "{outcome:?}");
        assert!(!untouched(&bench, &request.seen).await);
    }
}

/// A job that cannot be changed leaves its claim as it is: Hangfire holds its lock; it was deleted.
#[tokio::test]
async fn a_job_that_cannot_run_again_leaves_its_claim() {
    let Some(bench) = Postgres::new().await else {
        return;
    };
    let shape = claimed(&bench, ClaimWay::HandOver).await;
    let request = asked(&bench, &shape, 103, ClaimAction::Reclaim).await;
    bench
        .execute(
            "INSERT INTO hangfire.lock (resource, updatecount, acquired) \
             VALUES ('hangfire:job:2300003:state-lock', 1, now())",
        )
        .await;
    let id = SystemClock.new_id();
    let outcome = bench.store.act_on_claim(id, &shape, &request).await;
    assert_eq!(outcome.slug(), "busy", "{outcome:?}");
    assert!(untouched(&bench, &request.seen).await);
    let row = bench.store.audit_row(id).await.unwrap().unwrap();
    assert_eq!((row.outcome.as_str(), row.job), ("busy", Some(FAILED)));
    assert_eq!(row.claim.unwrap().after, None);
    bench
        .execute("DELETE FROM hangfire.lock; DELETE FROM hangfire.job WHERE id = 2300003")
        .await;
    let outcome = bench
        .store
        .act_on_claim(SystemClock.new_id(), &shape, &request)
        .await;
    assert_eq!(outcome.slug(), "refused", "{outcome:?}");
    let now = claim(&bench, &shape, 103).await.unwrap();
    assert_eq!(
        now.claimed_at.map(|time| time.token),
        request.seen.claimed_at
    );
}

/// Somebody who holds the claim's row makes the action busy, not lost.
#[tokio::test]
async fn a_claim_that_somebody_holds_is_busy() {
    let Some(bench) = Postgres::new().await else {
        return;
    };
    let shape = claimed(&bench, ClaimWay::InsertFirst).await;
    let request = asked(&bench, &shape, 103, ClaimAction::Reclaim).await;
    let mut holder = bench.database.connection().await;
    let mut transaction = holder.begin().await.unwrap();
    sqlx::query("SELECT 1 FROM \"OutgoingEmails\" WHERE \"IdempotencyKey\" = 'invoice-email:103' FOR UPDATE")
        .execute(&mut *transaction)
        .await
        .unwrap();
    let outcome = bench
        .store
        .act_on_claim(SystemClock.new_id(), &shape, &request)
        .await;
    assert_eq!(outcome.slug(), "busy", "{outcome:?}");
    assert!(
        outcome.sentence().contains("the claim or its job"),
        "{outcome:?}"
    );
    transaction.rollback().await.unwrap();
    assert!(untouched(&bench, &request.seen).await);
}

/// A table that goes away while it is acted on, a trigger that says no, an id that is too long: each
/// is refused in words, and nothing changes.
#[tokio::test]
async fn what_the_table_does_not_allow_is_refused() {
    let Some(bench) = Postgres::new().await else {
        return;
    };
    let shape = claimed(&bench, ClaimWay::InsertFirst).await;
    bench
        .execute(
            "ALTER TABLE \"OutgoingEmails\" ALTER COLUMN \"ProviderMessageId\" TYPE varchar(8)",
        )
        .await;
    let act = async |action| {
        let request = asked(&bench, &shape, 103, action).await;
        bench
            .store
            .act_on_claim(SystemClock.new_id(), &shape, &request)
            .await
    };
    let long = ClaimAction::MarkAsSent {
        provider_id: Some("msg-0103-and-more".to_owned()),
    };
    let outcome = act(long).await;
    assert_eq!(outcome.slug(), "refused", "{outcome:?}");
    assert!(outcome.sentence().contains("too long"), "{outcome:?}");
    bench
        .execute(
            "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             RAISE EXCEPTION 'claims are kept for ever'; END $$; \
             CREATE TRIGGER no BEFORE DELETE ON \"OutgoingEmails\" FOR EACH ROW EXECUTE FUNCTION no()",
        )
        .await;
    let outcome = act(ClaimAction::Release).await;
    assert_eq!(outcome.slug(), "refused", "{outcome:?}");
    assert!(outcome.sentence().contains("kept for ever"), "{outcome:?}");
    let request = asked(&bench, &shape, 103, ClaimAction::Release).await;
    bench.execute("DROP TABLE \"OutgoingEmails\"").await;
    let outcome = bench
        .store
        .act_on_claim(SystemClock.new_id(), &shape, &request)
        .await;
    assert_eq!(outcome.slug(), "refused", "{outcome:?}");
    assert!(
        outcome.sentence().contains("Nothing was changed"),
        "{outcome:?}"
    );
}
