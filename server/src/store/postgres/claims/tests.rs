//! Claims on real tables.

mod cases;
mod elsewhere;
mod guard;
mod kinds;

use app::model::claim::table::ClaimWay;
use app::model::state::Instant;
use async_trait::async_trait;

use crate::store::contract::claims::{self as contract, Bench, Stores};
use crate::store::postgres::PostgresStore;
use crate::testing::postgres::TestDatabase;

/// A database with the contract's jobs and our own tables.
struct Postgres {
    database: TestDatabase,
    store: PostgresStore,
}

impl Postgres {
    async fn new() -> Option<Self> {
        let database = TestDatabase::with(&contract::jobs::rows()).await?;
        let store = database.store();
        store.migrate().await.unwrap();
        Some(Self { database, store })
    }
}

#[async_trait]
impl Bench for Postgres {
    fn store(&self) -> &dyn Stores {
        &self.store
    }

    async fn execute(&self, sql: &str) {
        self.database.execute(sql).await;
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

/// Each check of the contract on a database of its own.
macro_rules! holds {
    ($($name:ident: $check:path;)+) => {$(
        #[tokio::test]
        async fn $name() {
            if let Some(bench) = Postgres::new().await {
                $check(&bench).await;
            }
        }
    )+};
}

holds! {
    a_usual_table_fits: contract::shapes::a_usual_table_fits;
    missing_parts_are_told: contract::shapes::missing_parts_are_told;
    what_does_not_fit_is_told: contract::shapes::what_does_not_fit_is_told;
    a_table_that_goes_away_is_told: contract::shapes::a_table_that_goes_away_is_told;
    usual_tables_are_found: contract::detection::usual_tables_are_found;
    any_key_is_found: contract::keys::any_key_is_found;
    every_row_of_a_key_is_told: contract::keys::every_row_of_a_key_is_told;
    pages_lose_nothing: contract::lists::pages_lose_nothing;
    a_table_without_claim_times_is_listed_by_key:
        contract::lists::a_table_without_claim_times_is_listed_by_key;
    counts_are_right: contract::numbers::counts_are_right;
    what_cannot_be_told_is_left_out: contract::numbers::what_cannot_be_told_is_left_out;
    a_reclaim_of_insert_first_releases: contract::acts::a_reclaim_of_insert_first_releases;
    a_reclaim_with_hand_over_tells_the_job:
        contract::acts::a_reclaim_with_hand_over_tells_the_job;
    a_reclaim_of_self_reclaim_queues_the_job:
        contract::acts::a_reclaim_of_self_reclaim_queues_the_job;
    one_that_was_sent_meanwhile_has_moved: contract::acts::one_that_was_sent_meanwhile_has_moved;
    what_may_not_be_done_is_refused: contract::acts::what_may_not_be_done_is_refused;
    a_claim_is_marked_as_sent_once: contract::acts::a_claim_is_marked_as_sent_once;
    answers_are_kept: contract::answers::answers_are_kept;
    at_once_is_what_single_reads_give: contract::at_once::at_once_is_what_single_reads_give;
    only_old_sent_claims_go: contract::purges::only_old_sent_claims_go;
    two_purges_share_the_work: contract::purges::two_purges_share_the_work;
    without_claim_times_nothing_goes: contract::purges::without_claim_times_nothing_goes;
}

/// Brings the job of order 103 back to where it failed.
const FAILED_AGAIN: &str = "\
    DELETE FROM hangfire.jobqueue WHERE jobid = 2300003; \
    DELETE FROM hangfire.state WHERE jobid = 2300003 AND id > 23000033; \
    UPDATE hangfire.job SET stateid = 23000033, statename = 'Failed' WHERE id = 2300003";

#[tokio::test]
async fn one_of_two_reclaims_wins() {
    for way in [ClaimWay::HandOver, ClaimWay::InsertFirst] {
        let Some(bench) = Postgres::new().await else {
            return;
        };
        let rounds = contract::races::rounds(250);
        contract::races::one_of_two_reclaims_wins(&bench, way, rounds, FAILED_AGAIN).await;
    }
}

#[tokio::test]
async fn without_an_audit_there_is_no_past() {
    if let Some(bench) = Postgres::new().await {
        let no_audit = "DROP SCHEMA redrive CASCADE";
        contract::at_once::without_an_audit_there_is_no_past(&bench, no_audit).await;
    }
}
