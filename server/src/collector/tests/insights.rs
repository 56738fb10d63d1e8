//! What was collected, as it is read.

use std::collections::BTreeMap;

use app::ports::error::StoreError;

use super::database::Database;
use super::{collect, collector, oracle, story};
use crate::store::contract::{FOLDERS, insights};
use crate::testing::fixture::Fixture;
use crate::testing::postgres::TestDatabase;

#[tokio::test]
async fn what_was_collected_is_read_in_any_part() {
    let mut fixtures: Vec<Fixture> = FOLDERS.into_iter().map(Fixture::named).collect();
    fixtures.push(story::jobs(40, 2_000));
    for fixture in fixtures {
        for database in Database::both(&fixture).await {
            collect(&mut collector(&database.store, 4_000))
                .await
                .unwrap();
            let numbers = oracle::numbers(&database.jobs().await);
            let store = database.insights();
            insights::sums_are_those_of(store.as_ref(), &numbers).await;
            insights::retries_come_due(store.as_ref(), &fixture).await;
        }
    }
}

#[tokio::test]
async fn numbers_are_summed_as_written() {
    for database in Database::both(&Fixture::of(BTreeMap::new())).await {
        let store = database.insights();
        insights::numbers_are_summed_as_written(database.store.as_ref(), store.as_ref()).await;
    }
}

/// They are read where a newer Redrive has made the tables, and said to be missing where they are.
#[tokio::test]
async fn own_tables_of_another_version_are_read_if_they_can_be() {
    let fixture = story::jobs(41, 50);
    for database in Database::both(&fixture).await {
        collect(&mut collector(&database.store, 4_000))
            .await
            .unwrap();
        database
            .execute(
                "INSERT INTO redrive.migrations (scope, version, name) VALUES ('redrive', 99, 'x')",
                "INSERT INTO redrive_migrations VALUES ('redrive', 99, 'x', 0)",
            )
            .await;
        let numbers = oracle::numbers(&database.jobs().await);
        let store = database.insights();
        insights::sums_are_those_of(store.as_ref(), &numbers).await;
        database
            .execute("DROP TABLE redrive.gauges", "DROP TABLE redrive_gauges")
            .await;
        is_missing(store.coverage().await);
    }
    // Where nobody ever made them, what Hangfire says is read all the same.
    let mixed = Fixture::named("mixed");
    if let Some(database) = TestDatabase::with(&mixed).await {
        let store = database.store();
        is_missing(app::ports::insights::InsightStore::coverage(&store).await);
        insights::retries_come_due(&store, &mixed).await;
    }
}

fn is_missing<T: std::fmt::Debug>(answer: Result<T, StoreError>) {
    let is_it = matches!(&answer, Err(StoreError::Forbidden(why)) if why.contains("missing"));
    assert!(is_it, "{answer:?}");
}
