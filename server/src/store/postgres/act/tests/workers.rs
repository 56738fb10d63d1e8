//! Workers that fetch while an action is open, and workers that sleep.

use std::time::Duration;

use sqlx::Connection as _;
use sqlx::postgres::PgListener;

use super::*;

/// How Hangfire's workers take a row.
const FETCH: &str = "
UPDATE hangfire.jobqueue SET fetchedat = now() WHERE id = (
  SELECT id FROM hangfire.jobqueue WHERE queue = 'nobody' AND fetchedat IS NULL
  ORDER BY fetchedat NULLS FIRST, queue, jobid FOR UPDATE SKIP LOCKED LIMIT 1)
RETURNING id";

/// Waits until an action is held up by a lock.
async fn is_waiting(conn: &mut PgConnection) {
    loop {
        let waiting: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
             AND application_name = 'redrive' AND wait_event_type = 'Lock'",
        )
        .fetch_one(&mut *conn)
        .await
        .unwrap();
        if waiting > 0 {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// Job 13, deleted with its queue row still there, and somebody about to requeue it.
async fn about_to_requeue() -> Option<(TestDatabase, PostgresStore, Request)> {
    let database = base(23).await?;
    done(&act(&database, 13, Action::Delete).await);
    let request = seen(&database, 13, requeue()).await;
    let store = store(&database);
    Some((database, store, request))
}

#[tokio::test]
async fn a_row_that_a_worker_is_taking_is_busy() {
    let Some((database, store, request)) = about_to_requeue().await else {
        return;
    };
    let (mut worker, mut watching) = (database.connection().await, database.connection().await);
    let mut fetching = worker.begin().await.unwrap();
    let fetched: Option<i64> = sqlx::query_scalar(FETCH)
        .fetch_optional(&mut *fetching)
        .await
        .unwrap();
    assert_eq!(fetched, Some(7));
    let acting =
        tokio::spawn(async move { store.act(SystemClock.new_id(), &request).await.unwrap() });
    is_waiting(&mut watching).await;
    fetching.commit().await.unwrap();
    let outcome = acting.await.unwrap();
    assert!(
        matches!(outcome, Outcome::Busy { since: Some(_), .. }),
        "{outcome:?}"
    );
    assert_eq!(
        queue_rows(&database, 13).await,
        [(7, "nobody".to_owned(), true)]
    );
}

#[tokio::test]
async fn a_row_that_an_action_looks_at_is_not_taken() {
    let Some((database, store, request)) = about_to_requeue().await else {
        return;
    };
    let mut other = database.connection().await;
    let (mut worker, mut watching) = (database.connection().await, database.connection().await);
    let mut holding = other.begin().await.unwrap();
    sqlx::query("LOCK TABLE redrive.audit IN SHARE MODE")
        .execute(&mut *holding)
        .await
        .unwrap();
    let acting =
        tokio::spawn(async move { store.act(SystemClock.new_id(), &request).await.unwrap() });
    is_waiting(&mut watching).await;
    let mut fetch = async || -> Option<i64> {
        sqlx::query_scalar(FETCH)
            .fetch_optional(&mut worker)
            .await
            .unwrap()
    };
    assert_eq!(fetch().await, None);
    holding.rollback().await.unwrap();
    done(&acting.await.unwrap());
    assert_eq!(fetch().await, Some(7));
    assert_eq!(fetch().await, None);
}

#[tokio::test]
async fn workers_that_listen_are_woken() {
    let Some(database) = base(23).await else {
        return;
    };
    let mut listener = PgListener::connect(&database.url).await.unwrap();
    listener.listen("new_job").await.unwrap();
    // A delete wakes nobody: the one notification is the requeue's.
    done(&act(&database, 11, Action::Delete).await);
    done(&act(&database, 1, requeue()).await);
    let woken = tokio::time::timeout(Duration::from_secs(10), listener.recv())
        .await
        .unwrap()
        .unwrap();
    assert_eq!((woken.channel(), woken.payload()), ("new_job", ""));
    let again = tokio::time::timeout(Duration::from_millis(200), listener.recv()).await;
    assert!(again.is_err(), "{again:?}");
}
