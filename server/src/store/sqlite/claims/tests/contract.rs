//! What every store must do with claims.

use app::model::claim::time::{Written, Zone};
use async_trait::async_trait;

use super::*;
use crate::store::contract::claims::{self as contract, Bench, Stores};

/// A file with the contract's jobs and our own tables.
struct File {
    file: TestFile,
}

impl File {
    async fn new() -> Self {
        Self {
            file: TestFile::with(&contract::jobs::rows()).await,
        }
    }
}

#[async_trait]
impl Bench for File {
    fn store(&self) -> &dyn Stores {
        &self.file.store
    }

    async fn execute(&self, sql: &str) {
        self.file.run(sql).await;
    }

    fn schema(&self) -> &'static str {
        ""
    }

    fn time_type(&self) -> &'static str {
        "TEXT"
    }

    fn at(&self, instant: Instant) -> String {
        let written = Written::Text {
            separator: ' ',
            zone: Zone::None,
        };
        format!("'{}'", written.write(instant))
    }
}

/// Each check of the contract on a file of its own.
macro_rules! holds {
    ($($name:ident: $check:path;)+) => {$(
        #[tokio::test]
        async fn $name() {
            $check(&File::new().await).await;
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

#[tokio::test]
async fn without_an_audit_there_is_no_past() {
    let no_audit = "DROP TABLE redrive_audit";
    contract::at_once::without_an_audit_there_is_no_past(&File::new().await, no_audit).await;
}
