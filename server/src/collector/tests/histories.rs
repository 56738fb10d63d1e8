//! Whole histories, read for the first time.

use super::database::Database;
use super::{collected_is_right, story};
use crate::store::contract::FOLDERS;
use crate::testing::fixture::Fixture;

#[tokio::test]
async fn every_recorded_database_is_counted() {
    for folder in FOLDERS {
        let fixture = Fixture::named(folder);
        for database in Database::both(&fixture).await {
            let rows = if fixture.states.len() > 2_000 { 700 } else { 3 };
            let what = format!("{folder} on {}", database.name());
            collected_is_right(&database, rows, &what).await;
        }
    }
}

/// A hundred thousand rows; as many as the environment says where it does.
#[tokio::test]
async fn invented_histories_are_counted() {
    let rows = std::env::var("REDRIVE_TEST_ROWS").map_or(100_000, |rows| rows.parse().unwrap());
    // A job has five rows or so.
    let fixture = story::jobs(1, rows / 5);
    assert!(fixture.states.len() > usize::try_from(rows * 8 / 10).unwrap());
    for database in Database::both(&fixture).await {
        collected_is_right(&database, 4_000, database.name()).await;
    }
}
