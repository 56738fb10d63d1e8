use std::sync::Arc;
use std::time::Duration;

use app::model::state::ListState;
use app::ports::error::StoreError;
use app::ports::jobs::{Anchor, JobFilter, JobStore as _};

use super::{ask, seeded};
use crate::clock::SystemClock;
use crate::store::contract::{self, Seeded};
use crate::store::postgres::{PostgresStore, counts};
use crate::testing::fixture::{Fixture, fixtures};
use crate::testing::postgres::TestDatabase;

async fn list(store: &PostgresStore) -> Result<usize, StoreError> {
    let page = store.list(&JobFilter::default(), Anchor::Start, 50).await?;
    Ok(page.rows.len())
}

#[tokio::test]
async fn a_database_that_is_away_at_the_start_is_read_once_it_is_there() {
    let Some(database) = TestDatabase::empty().await else {
        return;
    };
    let store = database.store();
    database.remove().await;
    let away = list(&store).await;
    assert!(matches!(away, Err(StoreError::Away(_))), "{away:?}");
    database.create().await;
    let layout = std::fs::read_to_string(fixtures().join("layout/v23.sql")).unwrap();
    database.execute(&layout).await;
    database.load(&Fixture::named("article")).await;
    assert_eq!(list(&store).await.unwrap(), 6);
    // And away again, in the middle of its work, and back.
    database.remove().await;
    let away = list(&store).await;
    assert!(matches!(away, Err(StoreError::Away(_))), "{away:?}");
    database.create().await;
    database.execute(&layout).await;
    assert_eq!(list(&store).await.unwrap(), 0);
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_away() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let url = format!("postgres://ada:s3cret@127.0.0.1:{port}/shop");
    let store = PostgresStore::connect(&url, "hangfire", Arc::new(SystemClock)).unwrap();
    let Err(StoreError::Away(why)) = list(&store).await else {
        panic!("must be away");
    };
    assert!(!why.contains("s3cret"), "{why}");
}

#[tokio::test]
async fn a_read_that_takes_too_long_is_stopped() {
    let Some((database, seeded)) = seeded(Fixture::named("article"), 23).await else {
        return;
    };
    let mut other = database.connection().await;
    sqlx::raw_sql("BEGIN; LOCK TABLE hangfire.job IN ACCESS EXCLUSIVE MODE")
        .execute(&mut other)
        .await
        .unwrap();
    let store = &seeded.store;
    let slow = store.list(&JobFilter::default(), Anchor::Start, 50).await;
    assert!(
        matches!(slow, Err(StoreError::TimedOut(limit)) if limit == Duration::from_secs(5)),
        "{slow:?}"
    );
}

#[tokio::test]
async fn an_estimate_of_few_jobs_is_right() {
    let Some((database, seeded)) = seeded(Fixture::named("mixed"), 23).await else {
        return;
    };
    database.execute("ANALYZE hangfire.job").await;
    let store = database.store();
    let exact = seeded.store.counts().await.unwrap();
    let estimate = counts::counted(store.session(), store.clock(), false)
        .await
        .unwrap();
    assert!(exact.exact && !estimate.exact);
    for state in ListState::ALL {
        // Frequencies are kept in single precision.
        let off = (exact.by_state[&state] - estimate.by_state[&state]).abs();
        assert!(off <= 1, "{state:?}: {exact:?} {estimate:?}");
    }
    let total: i64 = estimate.by_state.values().sum();
    assert!((2_750..=2_770).contains(&total), "{total}");
}

#[tokio::test]
async fn a_schema_that_is_migrated_under_us_is_read_on() {
    let rows = Fixture::named("article");
    let Some((database, seeded)) = seeded(rows.clone(), 18).await else {
        return;
    };
    contract::reads(&seeded).await;
    let layout = std::fs::read_to_string(fixtures().join("layout/v23.sql")).unwrap();
    database
        .execute(&format!("DROP SCHEMA hangfire CASCADE; {layout}"))
        .await;
    database.load(&rows).await;
    let Seeded { store, .. } = seeded;
    contract::reads(&Seeded { store, rows }).await;
}

#[tokio::test]
async fn a_reader_that_goes_away_leaves_no_transaction_behind() {
    let Some((database, _)) = seeded(Fixture::named("article"), 23).await else {
        return;
    };
    let store = database.store();
    for delay in 0..40 {
        let reader = store.clone();
        let task = tokio::spawn(async move { list(&reader).await });
        tokio::time::sleep(Duration::from_micros(delay * 100)).await;
        task.abort();
        drop(task.await);
    }
    assert_eq!(list(&store).await.unwrap(), 6);
    // What a connection may ask for when it begins is what PgBouncer keeps track of.
    let asked: Vec<String> = ask(
        &store,
        "SELECT name FROM pg_settings WHERE source = 'client'",
    )
    .await;
    let known = [
        "DateStyle",
        "TimeZone",
        "application_name",
        "client_encoding",
    ];
    assert!(
        asked.iter().all(|name| known.contains(&name.as_str())),
        "{asked:?}"
    );
    // Closing waits for what still runs; afterwards every connection must be gone, which one that
    // hung in a transaction would not be.
    store.close().await;
    let mut other = database.connection().await;
    for _ in 0..100 {
        let open: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'redrive' \
             AND datname = current_database() AND state LIKE 'idle in transaction%'",
        )
        .fetch_one(&mut other)
        .await
        .unwrap();
        if open == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("a transaction was left open");
}
