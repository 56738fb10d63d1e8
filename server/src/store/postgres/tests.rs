use std::sync::Arc;

use sqlx::{Decode, Postgres, Type};

use super::PostgresStore;
use super::conn::begin;
use super::pool::Purpose;
use crate::store::contract::{self, Seeded};
use crate::testing::fixture::Fixture;
use crate::testing::postgres::TestDatabase;

mod access;
mod faults;
mod migrations;
mod names;
mod tls;

/// Loads rows into a database of a schema version.
async fn seeded(rows: Fixture, version: u32) -> Option<(TestDatabase, Seeded)> {
    let database = TestDatabase::with_layout(version).await?;
    database.load(&rows).await;
    let store = Arc::new(database.store());
    Some((database, Seeded { store, rows }))
}

/// Asks over the connection that a page used last.
async fn ask<T>(store: &PostgresStore, question: &'static str) -> Vec<T>
where
    T: Send + Unpin + for<'r> Decode<'r, Postgres> + Type<Postgres>,
{
    let pool = store.session().pool();
    pool.settled().await;
    let mut transaction = pool.begin(Purpose::Pages, begin!("BEGIN")).await.unwrap();
    let answer = sqlx::query_scalar(question)
        .fetch_all(&mut transaction.conn)
        .await
        .unwrap();
    transaction.rollback().await;
    answer
}

#[tokio::test]
async fn recorded_rows_are_read_as_they_are() {
    for folder in contract::FOLDERS {
        if let Some((_database, seeded)) = seeded(Fixture::named(folder), 23).await {
            contract::reads(&seeded).await;
        }
    }
}

#[tokio::test]
async fn every_schema_version_is_read_the_same() {
    for version in [10, 13, 17, 18, 19, 20, 22] {
        for folder in ["article", "operators"] {
            if let Some((_database, seeded)) = seeded(Fixture::named(folder), version).await {
                contract::reads(&seeded).await;
            }
        }
    }
}

#[tokio::test]
async fn rows_of_one_instant_are_paged_without_loss() {
    if let Some((_database, seeded)) = seeded(contract::odd::ties(), 23).await {
        contract::odd::ties_are_paged(&seeded).await;
    }
}

#[tokio::test]
async fn recurring_jobs_are_read_with_what_they_run() {
    for version in [10, 23] {
        let rows = contract::recurring::rows();
        if let Some((database, _)) = seeded(rows, version).await {
            contract::recurring::those_with_a_next_run_are_read(&database.store()).await;
        }
    }
}

#[tokio::test]
async fn odd_rows_cost_nobody_the_page() {
    for version in [10, 23] {
        if let Some((_database, seeded)) = seeded(contract::odd::broken(), version).await {
            contract::odd::broken_rows_are_read(&seeded).await;
        }
    }
}

#[tokio::test]
async fn texts_come_through_as_they_are_stored() {
    for version in [10, 23] {
        if let Some((_database, seeded)) = seeded(contract::odd::texts(), version).await {
            contract::reads(&seeded).await;
            contract::odd::texts_come_through(&seeded).await;
        }
    }
}

#[tokio::test]
async fn huge_values_are_left_out_or_cut() {
    for version in [10, 23] {
        if let Some((_database, seeded)) = seeded(contract::odd::huge(), version).await {
            contract::odd::huge_values_are_bounded(&seeded).await;
        }
    }
}

#[tokio::test]
async fn a_long_history_is_paged_and_counted() {
    if let Some((_database, seeded)) = seeded(contract::odd::long(), 23).await {
        contract::odd::long_history_is_bounded(&seeded).await;
    }
}

#[tokio::test]
async fn histories_are_what_single_jobs_are() {
    for version in [10, 23] {
        for folder in [
            "article",
            "claims/stale",
            "operators",
            "shapes-110-full",
            "mixed",
        ] {
            let rows = Fixture::named(folder);
            let Some(database) = TestDatabase::with_layout(version).await else {
                return;
            };
            database.load(&rows).await;
            let store = database.store();
            contract::histories::are_what_single_jobs_are(&store, &store, &rows).await;
            contract::histories::calls_come_by_id(&store, &rows).await;
        }
        let rows = contract::odd::huge();
        let database = TestDatabase::with_layout(version).await.unwrap();
        database.load(&rows).await;
        contract::histories::huge_values_are_left_out(&database.store(), &rows).await;
    }
}
