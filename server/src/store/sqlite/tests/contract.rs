//! What every store must read alike: recorded rows, and rows that are rare, broken or huge.

use std::sync::Arc;

use app::ports::jobs::JobStore as _;

use crate::store::contract::{self, Seeded};
use crate::testing::fixture::Fixture;
use crate::testing::sqlite::TestFile;

/// Puts rows into a file of their own.
async fn seeded(rows: Fixture) -> (TestFile, Seeded) {
    let file = TestFile::with(&rows).await;
    let store = Arc::new(file.store.clone());
    (file, Seeded { store, rows })
}

async fn holds(folder: &str) {
    let (_file, seeded) = seeded(Fixture::named(folder)).await;
    contract::reads(&seeded).await;
}

#[tokio::test]
async fn recorded_rows_are_read_as_they_are() {
    for folder in contract::FOLDERS {
        if folder != "mixed" {
            holds(folder).await;
        }
    }
}

#[tokio::test]
async fn a_large_recording_is_read_as_it_is() {
    holds("mixed").await;
}

#[tokio::test]
async fn rows_of_one_instant_are_paged_without_loss() {
    let (_file, seeded) = seeded(contract::odd::ties()).await;
    contract::odd::ties_are_paged(&seeded).await;
}

#[tokio::test]
async fn odd_rows_cost_nobody_the_page() {
    let (file, seeded) = seeded(contract::odd::broken()).await;
    contract::odd::broken_rows_are_read(&seeded).await;
    // Hangfire keeps no id of the current row here: a Failed job without a Failed row looks like
    // one whose state is being changed.
    let two = file.store.job(2, 10).await.unwrap().unwrap();
    assert_eq!((two.state.id, two.state.unsettled), (None, true));
}

#[tokio::test]
async fn texts_come_through_as_they_are_stored() {
    let (_file, seeded) = seeded(contract::odd::texts()).await;
    contract::reads(&seeded).await;
    contract::odd::texts_come_through(&seeded).await;
}

#[tokio::test]
async fn huge_values_are_left_out_or_cut() {
    let (_file, seeded) = seeded(contract::odd::huge()).await;
    contract::odd::huge_values_are_bounded(&seeded).await;
}

#[tokio::test]
async fn a_long_history_is_paged_and_counted() {
    let (_file, seeded) = seeded(contract::odd::long()).await;
    contract::odd::long_history_is_bounded(&seeded).await;
}

#[tokio::test]
async fn recurring_jobs_are_read_with_what_they_run() {
    let file = TestFile::with(&contract::recurring::rows()).await;
    contract::recurring::those_with_a_next_run_are_read(&file.store).await;
}

#[tokio::test]
async fn histories_are_what_single_jobs_are() {
    for folder in [
        "article",
        "claims/stale",
        "operators",
        "shapes-110-full",
        "mixed",
    ] {
        let rows = Fixture::named(folder);
        let file = TestFile::with(&rows).await;
        contract::histories::are_what_single_jobs_are(&file.store, &file.store, &rows).await;
        contract::histories::calls_come_by_id(&file.store, &rows).await;
    }
    let rows = contract::odd::huge();
    let file = TestFile::with(&rows).await;
    contract::histories::huge_values_are_left_out(&file.store, &rows).await;
}
