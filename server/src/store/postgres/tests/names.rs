//! Named statements: that they are used, and given up where they do not mean what they should.

use std::sync::Arc;

use app::actions::{Action, Actor, Enqueue, Outcome, Request, Seen};
use app::model::state::StateName;
use app::ports::actions::ActionStore as _;
use app::ports::audit::AuditStore as _;
use app::ports::jobs::{Anchor, JobFilter, JobStore as _};

use super::{ask, seeded};
use crate::clock::{Clock as _, SystemClock};
use crate::store::contract::{self, Seeded};
use crate::store::postgres::PostgresStore;
use crate::store::postgres::conn::begin;
use crate::store::postgres::pool::Purpose;
use crate::testing::fixture::Fixture;
use crate::testing::pgbouncer::PgBouncer;
use crate::testing::postgres::TestDatabase;

const NAMES: &str = "SELECT count(*) FROM pg_prepared_statements \
    WHERE statement NOT LIKE '%pg_prepared_statements%'";

async fn list(store: &PostgresStore) -> Vec<i64> {
    let page = store.list(&JobFilter::default(), Anchor::Start, 50).await;
    page.unwrap().rows.iter().map(|row| row.id).collect()
}

/// A store with the rows of `article`, that has listed them over its one connection.
async fn listed() -> Option<(TestDatabase, PostgresStore, Vec<i64>)> {
    let (database, _) = seeded(Fixture::named("article"), 23).await?;
    let store = database.store();
    let ids = list(&store).await;
    assert_eq!(ids.len(), 6);
    Some((database, store, ids))
}

#[tokio::test]
async fn pages_prepare_their_statements_once() {
    let Some((_database, store, _)) = listed().await else {
        return;
    };
    let once = ask::<i64>(&store, NAMES).await;
    // Three of the look at the catalogue, the ids of a page, and its light rows.
    assert_eq!(once, [5]);
    for _ in 0..3 {
        list(&store).await;
        assert_eq!(ask::<i64>(&store, NAMES).await, once);
    }
    assert!(store.session().pool().is_named());
}

#[tokio::test]
async fn a_url_without_a_statement_cache_means_no_names() {
    let Some((database, _, ids)) = listed().await else {
        return;
    };
    let sign = if database.url.contains('?') { '&' } else { '?' };
    let url = format!("{}{sign}statement-cache-capacity=0", database.url);
    let store = PostgresStore::connect(&url, "hangfire", Arc::new(SystemClock)).unwrap();
    assert_eq!(list(&store).await, ids);
    assert_eq!(ask::<i64>(&store, NAMES).await, [0]);
}

#[tokio::test]
async fn names_that_got_lost_are_given_up() {
    let Some((_database, store, ids)) = listed().await else {
        return;
    };
    ask::<bool>(&store, "DEALLOCATE ALL").await;
    assert_eq!(list(&store).await, ids);
    assert!(!store.session().pool().is_named());
    assert_eq!(ask::<i64>(&store, NAMES).await, [0]);
}

#[tokio::test]
async fn a_table_that_changed_under_a_name_is_read_on() {
    let Some((database, store, _)) = listed().await else {
        return;
    };
    store.migrate().await.unwrap();
    assert_eq!(store.audit(None, None, 50).await.unwrap().len(), 0);
    // The statement has one column more now, which the server refuses to give under its old name.
    database
        .execute("ALTER TABLE redrive.audit ADD COLUMN later text")
        .await;
    assert_eq!(store.audit(None, None, 50).await.unwrap().len(), 0);
    assert!(store.session().pool().is_named());
}

#[tokio::test]
async fn a_server_that_was_started_anew_is_read_at_once() {
    let Some((database, store, ids)) = listed().await else {
        return;
    };
    // Several idle connections, all of which end.
    let readers: Vec<_> = (0..5)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { list(&store).await })
        })
        .collect();
    for reader in readers {
        assert_eq!(reader.await.unwrap(), ids);
    }
    let mut other = database.connection().await;
    sqlx::query(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
         WHERE datname = current_database() AND application_name = 'redrive'",
    )
    .execute(&mut other)
    .await
    .unwrap();
    assert_eq!(list(&store).await, ids);
    assert!(store.session().pool().is_named());
}

/// Two programs take turns behind a proxy that hands each transaction to another backend: names of
/// one would mean statements of the other.
#[tokio::test]
async fn two_programs_read_and_act_behind_a_pooling_proxy() {
    let rows = Fixture::named("article");
    let Some((database, _)) = seeded(rows.clone(), 23).await else {
        return;
    };
    let Some(proxy) = PgBouncer::before(&database) else {
        return;
    };
    database.store().migrate().await.unwrap();
    let (one, two) = (proxy.store(), proxy.store());
    let ids = list(&one).await;
    assert_eq!(ids, list(&database.store()).await);
    // In another order on each side, and an odd number of transactions each time, so that nobody
    // meets the same backend for ever.
    for _ in 0..50 {
        assert_eq!(list(&two).await, ids);
        let (listed, job) = tokio::join!(list(&one), two.job(1, 200));
        assert_eq!(listed, ids);
        assert_eq!(job.unwrap().unwrap().id, 1);
        let (job, listed) = tokio::join!(one.job(2, 200), list(&two));
        assert_eq!(job.unwrap().unwrap().id, 2);
        assert_eq!(listed, ids);
        if [&one, &two]
            .iter()
            .all(|store| !store.session().pool().is_named())
        {
            break;
        }
    }
    assert!(!one.session().pool().is_named());
    assert!(!two.session().pool().is_named());
    let failed = two.job(2, 200).await.unwrap().unwrap();
    assert_eq!(failed.state.name, Some(StateName::Failed));
    let request = Request {
        action: Action::Requeue(Enqueue::default()),
        seen: Seen {
            job: 2,
            state: StateName::Failed,
            state_id: failed.state.id.unwrap(),
        },
        reason: None,
        actor: Actor {
            name: "ada".to_owned(),
            authenticated: false,
        },
    };
    let (left, right) = tokio::join!(
        one.act(SystemClock.new_id(), &request),
        two.act(SystemClock.new_id(), &request)
    );
    let done = [&left, &right]
        .into_iter()
        .filter(|outcome| matches!(outcome, Ok(Outcome::Done { .. })))
        .count();
    assert_eq!(done, 1, "{left:?} {right:?}");
    let job = one.job(2, 200).await.unwrap().unwrap();
    assert_eq!(job.state.name, Some(StateName::Enqueued));
    assert_eq!(job.queue_rows.len(), 1);
}

/// Both drivers call their first statement the same. The server would answer one program's question
/// with the other's statement, and no error would tell.
#[tokio::test]
async fn a_name_that_means_the_statement_of_another_program_is_not_used() {
    let Some((database, _)) = seeded(Fixture::named("article"), 23).await else {
        return;
    };
    let Some(proxy) = PgBouncer::before(&database) else {
        return;
    };
    let (one, two) = (proxy.store(), proxy.store());
    let (left, right) = (one.session(), two.session());
    // Two at once, so that there are two backends, which then take turns.
    let begin = begin!("BEGIN");
    let first = left.pool().begin(Purpose::Rare, begin).await.unwrap();
    let second = right.pool().begin(Purpose::Rare, begin).await.unwrap();
    first.rollback().await;
    second.rollback().await;
    left.layout().await.unwrap();
    right.layout().await.unwrap();
    assert_eq!(one.job(2, 200).await.unwrap().unwrap().id, 2);
    left.pool().settled().await;
    assert!(right.pool().is_named());
    for _ in 0..4 {
        assert_eq!(two.neighbours(2).await.unwrap(), (Some(1), Some(3)));
        right.pool().settled().await;
    }
    assert!(!right.pool().is_named());
}

#[tokio::test]
async fn every_recorded_row_is_read_behind_a_pooling_proxy() {
    let rows = Fixture::named("operators");
    let Some((database, _)) = seeded(rows.clone(), 23).await else {
        return;
    };
    let Some(proxy) = PgBouncer::before(&database) else {
        return;
    };
    let store = Arc::new(proxy.store());
    contract::reads(&Seeded { store, rows }).await;
}
