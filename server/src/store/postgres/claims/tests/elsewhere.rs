//! Claims in a database of their own, beside the one with the jobs.

use app::actions::claim::{ClaimAction, ClaimOutcome};
use app::model::claim::table::{ClaimWay, Shape};
use app::model::state::StateName;
use app::ports::audit::AuditStore as _;
use app::ports::claims::{ClaimStore as _, Purge};
use app::ports::jobs::JobStore as _;

use super::contract::acts::{asked, claim, claimed};
use super::contract::jobs::FAILED;
use super::contract::{DAY, ago, email};
use super::*;
use crate::clock::{Clock as _, SystemClock};

/// The jobs in one database; statements and claims in another one.
struct Parted {
    jobs: TestDatabase,
    claims: TestDatabase,
    store: PostgresStore,
}

impl Parted {
    async fn new() -> Option<Self> {
        let jobs = TestDatabase::with(&contract::jobs::rows()).await?;
        let claims = TestDatabase::empty().await?;
        let store = jobs.store().with_claims_in(&claims.url).unwrap();
        store.migrate().await.unwrap();
        Some(Self {
            jobs,
            claims,
            store,
        })
    }

    /// What is asked of order 103's claim, its job in the state in which it failed.
    async fn act(&self, shape: &Shape) -> (uuid::Uuid, ClaimOutcome) {
        let request = asked(self, shape, 103, ClaimAction::Reclaim).await;
        let id = SystemClock.new_id();
        (id, self.store.act_on_claim(id, shape, &request).await)
    }

    async fn job(&self) -> (usize, StateName) {
        let record = self.store.job(FAILED, 10).await.unwrap().unwrap();
        (record.queue_rows.len(), record.state.name.unwrap())
    }
}

#[async_trait]
impl Bench for Parted {
    fn store(&self) -> &dyn Stores {
        &self.store
    }

    async fn execute(&self, sql: &str) {
        self.claims.execute(sql).await;
    }

    fn schema(&self) -> &'static str {
        "public"
    }

    fn time_type(&self) -> &'static str {
        "timestamptz"
    }

    fn at(&self, instant: Instant) -> String {
        format!("'{}'", instant.to_rfc3339())
    }
}

/// What holds where claims and jobs live together holds where they do not.
#[tokio::test]
async fn claims_of_another_database_are_acted_on_the_same() {
    let checks = async |bench: &Parted, nr: u8| match nr {
        0 => contract::acts::a_reclaim_of_insert_first_releases(bench).await,
        1 => contract::acts::a_reclaim_with_hand_over_tells_the_job(bench).await,
        2 => contract::acts::a_reclaim_of_self_reclaim_queues_the_job(bench).await,
        3 => contract::acts::one_that_was_sent_meanwhile_has_moved(bench).await,
        4 => contract::acts::what_may_not_be_done_is_refused(bench).await,
        5 => contract::acts::a_claim_is_marked_as_sent_once(bench).await,
        6 => contract::purges::only_old_sent_claims_go(bench).await,
        _ => contract::detection::usual_tables_are_found(bench).await,
    };
    for nr in 0..8 {
        if let Some(bench) = Parted::new().await {
            checks(&bench, nr).await;
        }
    }
}

/// A job that cannot be queued leaves the claim in the other database as it is.
#[tokio::test]
async fn a_job_that_is_held_leaves_its_claim() {
    let Some(bench) = Parted::new().await else {
        return;
    };
    let shape = claimed(&bench, ClaimWay::InsertFirst).await;
    assert!(!shape.with_jobs);
    let before = claim(&bench, &shape, 103).await;
    bench
        .jobs
        .execute(
            "INSERT INTO hangfire.lock (resource, updatecount, acquired) \
             VALUES ('hangfire:job:2300003:state-lock', 1, now())",
        )
        .await;
    let (id, outcome) = bench.act(&shape).await;
    assert_eq!(outcome.slug(), "busy", "{outcome:?}");
    assert_eq!(claim(&bench, &shape, 103).await, before);
    let row = bench.store.audit_row(id).await.unwrap().unwrap();
    assert_eq!(row.claim.unwrap().after, None);
    // So does a database of claims that is away.
    bench.jobs.execute("DELETE FROM hangfire.lock").await;
    let request = asked(&bench, &shape, 103, ClaimAction::Reclaim).await;
    bench.claims.remove().await;
    let outcome = bench
        .store
        .act_on_claim(SystemClock.new_id(), &shape, &request)
        .await;
    assert_eq!(outcome.slug(), "busy", "{outcome:?}");
    assert_eq!(bench.job().await, (0, StateName::Failed));
    bench.claims.create().await;
}

/// Where the jobs' COMMIT is rejected after the claim's, the claim's state is named, on the page
/// and in the audit.
#[tokio::test]
async fn a_requeue_that_fails_at_last_is_named_with_the_claim() {
    for (way, state) in [
        (ClaimWay::InsertFirst, "Released"),
        (ClaimWay::HandOver, "Sending since"),
    ] {
        let Some(bench) = Parted::new().await else {
            return;
        };
        let shape = claimed(&bench, way).await;
        bench
            .jobs
            .execute(
                "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                 RAISE EXCEPTION 'not today' USING ERRCODE = '23514'; END $$; \
                 CREATE CONSTRAINT TRIGGER no AFTER INSERT ON hangfire.state \
                 DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION no()",
            )
            .await;
        let before = claim(&bench, &shape, 103).await;
        let (id, outcome) = bench.act(&shape).await;
        assert_eq!(outcome.slug(), "refused", "{outcome:?}");
        let words = outcome.sentence();
        assert!(words.contains("The claim was changed"), "{words}");
        assert!(
            words.contains(state) && words.contains("not today"),
            "{words}"
        );
        assert!(words.contains("Job #2300003 does not run again"), "{words}");
        assert_ne!(claim(&bench, &shape, 103).await, before);
        assert_eq!(bench.job().await, (0, StateName::Failed));
        let row = bench.store.audit_row(id).await.unwrap().unwrap();
        assert_eq!((row.outcome.as_str(), &row.after), ("refused", &None));
        assert!(row.claim.unwrap().after.unwrap().starts_with(state));
        assert_eq!(row.note, words);
    }
}

/// Two at once: one wins, also over two databases.
#[tokio::test]
async fn one_of_two_reclaims_wins_over_two_databases() {
    let Some(bench) = Parted::new().await else {
        return;
    };
    let shape = claimed(&bench, ClaimWay::HandOver).await;
    for _ in 0..20 {
        let request = asked(&bench, &shape, 103, ClaimAction::Reclaim).await;
        let act = || {
            let id = SystemClock.new_id();
            bench.store.act_on_claim(id, &shape, &request)
        };
        let (one, two) = tokio::join!(act(), act());
        let won = [&one, &two].into_iter().filter(|one| one.slug() == "done");
        assert_eq!(won.count(), 1, "{one:?} {two:?}");
        assert_eq!(bench.job().await, (1, StateName::Enqueued));
        bench
            .execute(
                "DELETE FROM \"OutgoingEmails\" WHERE \"IdempotencyKey\" = 'invoice-email:103'",
            )
            .await;
        let at = Some(ago(25 * contract::MINUTE));
        email(&bench, "invoice-email:103", 0, at, None).await;
        bench.jobs.execute(FAILED_AGAIN).await;
    }
    let purge = Purge {
        before: ago(30 * DAY),
        batch: 10,
        actor: asked(&bench, &shape, 103, ClaimAction::Release).await.actor,
        reason: Some("none is that old".to_owned()),
    };
    let purged = bench
        .store
        .purge_claims(SystemClock.new_id(), &shape, &purge)
        .await;
    assert_eq!(purged.unwrap(), 0);
}
