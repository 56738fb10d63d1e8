use std::sync::Arc;

use crate::store::contract::{self, Seeded};
use crate::testing::fixture::Fixture;
use crate::testing::postgres::TestDatabase;

/// Runs the contract on a fixture.
async fn holds(folder: &str) {
    let rows = Fixture::named(folder);
    let Some(database) = TestDatabase::with(&rows).await else {
        return;
    };
    let store = Arc::new(database.store());
    contract::reads(&Seeded { store, rows }).await;
}

#[tokio::test]
async fn recorded_rows_are_read_as_they_are() {
    for folder in contract::FOLDERS
        .iter()
        .filter(|folder| **folder != "mixed")
    {
        holds(folder).await;
    }
}

#[tokio::test]
async fn a_large_recording_is_read_as_it_is() {
    holds("mixed").await;
}
