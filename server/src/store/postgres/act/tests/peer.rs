//! With a real Hangfire server on the same database.

use super::*;
use crate::testing::peer::{Peer, until};

/// The states of a job, in order.
async fn states(database: &TestDatabase, job: i64) -> Vec<String> {
    sqlx::query_scalar("SELECT name FROM hangfire.state WHERE jobid = $1 ORDER BY id")
        .bind(job)
        .fetch_all(&mut database.connection().await)
        .await
        .unwrap()
}

async fn state(database: &TestDatabase, job: i64) -> Option<String> {
    sqlx::query_scalar("SELECT statename FROM hangfire.job WHERE id = $1")
        .bind(job)
        .fetch_one(&mut database.connection().await)
        .await
        .unwrap()
}

/// The job has come to rest in this state, and no worker has a row of it.
async fn rests(database: &TestDatabase, job: i64, name: &str) -> Option<()> {
    (state(database, job).await.as_deref() == Some(name)
        && queue_rows(database, job).await.is_empty())
    .then_some(())
}

/// It has so many state rows, or more.
async fn has_rows(database: &TestDatabase, job: i64, rows: usize) -> Option<()> {
    (states(database, job).await.len() >= rows).then_some(())
}

async fn failed_job(kind: &str) -> Option<(TestDatabase, Peer, i64)> {
    let database = TestDatabase::empty().await?;
    let peer = Peer::on_postgres(&database, &[]).await?;
    own_tables(&database).await;
    let job = peer.enqueue(kind, 1).await;
    until("the job has failed", async || {
        rests(&database, job, "Failed").await
    })
    .await;
    Some((database, peer, job))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_requeued_job_is_run_by_a_real_server_once() {
    let Some((database, _peer, job)) = failed_job("once").await else {
        return;
    };
    assert_eq!(
        states(&database, job).await,
        ["Enqueued", "Processing", "Failed"]
    );
    let outcome = act(&database, job, requeue()).await;
    done(&outcome);
    until("it has run again", async || {
        has_rows(&database, job, 6).await?;
        rests(&database, job, "Failed").await
    })
    .await;
    // Deleted, and its delete undone, it does not run; requeued to another queue, it does.
    done(&act(&database, job, Action::Delete).await);
    done(&act(&database, job, Action::UndoDelete).await);
    let critical = Action::Requeue(Enqueue {
        queue: Some("critical".to_owned()),
        reset_retries: false,
    });
    done(&act(&database, job, critical).await);
    until("it has run once more", async || {
        has_rows(&database, job, 11).await?;
        rests(&database, job, "Failed").await
    })
    .await;
    assert_eq!(
        states(&database, job).await,
        [
            "Enqueued",
            "Processing",
            "Failed",
            "Enqueued",
            "Processing",
            "Failed",
            "Deleted",
            "Failed",
            "Enqueued",
            "Processing",
            "Failed"
        ]
    );
}

/// Hangfire and we requeue the same job at the same moment, again and again: each run that starts
/// was asked for by exactly one of us.
#[tokio::test(flavor = "multi_thread")]
async fn hangfire_and_we_never_run_a_job_twice() {
    let Some((database, peer, job)) = failed_job("once").await else {
        return;
    };
    let store = store(&database);
    let (mut ours, mut theirs) = (0, 0);
    for round in 0..25 {
        let request = seen(&database, job, requeue()).await;
        let (by_us, also_by_us, by_them, also_by_them) = tokio::join!(
            store.act(SystemClock.new_id(), &request),
            store.act(SystemClock.new_id(), &request),
            peer.requeue(job),
            peer.requeue(job),
        );
        for outcome in [by_us, also_by_us] {
            match outcome.unwrap() {
                Outcome::Done { .. } => ours += 1,
                Outcome::Moved { .. } | Outcome::Busy { .. } => {}
                other => panic!("{other:?}"),
            }
        }
        theirs += usize::from(by_them) + usize::from(also_by_them);
        until("the job has failed again", async || {
            rests(&database, job, "Failed").await
        })
        .await;
        assert!(
            ours + theirs > round,
            "somebody requeued it in round {round}"
        );
    }
    let states = states(&database, job).await;
    for name in ["Enqueued", "Processing", "Failed"] {
        let rows = states.iter().filter(|state| *state == name).count();
        assert_eq!(
            rows,
            1 + ours + theirs,
            "{name}: {ours} ours, {theirs} theirs"
        );
    }
    assert_eq!(
        count(&database, "SELECT count(*) FROM hangfire.lock").await,
        0
    );
}

/// A requeue of a job that is being run is refused while its server lives.
#[tokio::test(flavor = "multi_thread")]
async fn a_running_job_is_left_to_its_server() {
    let Some(database) = TestDatabase::empty().await else {
        return;
    };
    let Some(peer) = Peer::on_postgres(&database, &[]).await else {
        return;
    };
    own_tables(&database).await;
    let job = peer.enqueue("slow", 2).await;
    until("it runs", async || {
        (state(&database, job).await.as_deref() == Some("Processing")).then_some(())
    })
    .await;
    assert!(refused(&act(&database, job, requeue()).await).contains("It is running"));
    until("it has succeeded", async || {
        rests(&database, job, "Succeeded").await
    })
    .await;
    assert_eq!(
        states(&database, job).await,
        ["Enqueued", "Processing", "Succeeded"]
    );
}
