//! Beside a running Hangfire server.

use std::sync::Arc;

use app::model::state::ListState;
use app::ports::jobs::{Anchor, JobFilter};
use app::ports::source::{Access, Source as _};

use super::*;
use crate::testing::peer::{Peer, until};

/// The only job, once it rests in a list after so many attempts.
async fn rests(store: &SqliteStore, list: ListState, attempts: u32) -> (i64, StateName, i64) {
    let filter = JobFilter {
        state: Some(list),
        ..JobFilter::default()
    };
    until("the job rests", async || {
        let page = store.list(&filter, Anchor::Start, 10).await.unwrap();
        let row = page.rows.first()?;
        (row.attempts == attempts && !row.state.unsettled).then(|| {
            (
                row.id,
                row.state.name.clone().unwrap(),
                row.state.id.unwrap(),
            )
        })
    })
    .await
}

/// A worker takes its row of the queue away after the job has its new state.
async fn is_left_by_its_worker(store: &SqliteStore, id: i64) {
    until("no worker has a row of it", async || {
        let job = store.job(id, 1).await.unwrap().unwrap();
        job.queue_rows.is_empty().then_some(())
    })
    .await;
}

async fn a_requeued_job_is_finished(store: &SqliteStore, peer: &Peer) {
    // Fails twice, is never retried by the system, and succeeds on its third run.
    peer.enqueue("third-time", 1).await;
    for attempt in 1..=2 {
        let seen = rests(store, ListState::Failed, attempt).await;
        let outcome = store
            .act(SystemClock.new_id(), &on(seen, requeue()))
            .await
            .unwrap();
        assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
    }
    let (id, ..) = rests(store, ListState::Succeeded, 3).await;
    let job = store.job(id, 50).await.unwrap().unwrap();
    let names: Vec<&str> = job.states.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "Enqueued",
            "Processing",
            "Failed",
            "Enqueued",
            "Processing",
            "Failed",
            "Enqueued",
            "Processing",
            "Succeeded"
        ]
    );
    is_left_by_its_worker(store, id).await;
    let servers = store.servers().await.unwrap();
    assert!(
        servers.iter().any(|server| server.id.starts_with("peer:")),
        "{servers:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_servers_file_is_read_and_acted_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("live.db");
    let Some(peer) = Peer::on_sqlite(&path, &[]).await else {
        return;
    };
    let store = SqliteStore::open(&path, Arc::new(SystemClock))
        .await
        .unwrap();
    store.migrate().await.unwrap();
    assert_eq!(store.info().await.unwrap().access, Access::ReadWrite);
    a_requeued_job_is_finished(&store, &peer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_runs_on_a_file_of_ours() {
    let file = TestFile::new().await;
    let Some(peer) = Peer::on_sqlite(&file.path, &[]).await else {
        return;
    };
    a_requeued_job_is_finished(&file.store, &peer).await;
}

/// Hangfire and we requeue the same job at the same moment, again and again: each run that starts
/// was asked for by exactly one of us.
#[tokio::test(flavor = "multi_thread")]
async fn hangfire_and_we_never_run_a_job_twice() {
    let file = TestFile::new().await;
    let Some(peer) = Peer::on_sqlite(&file.path, &[]).await else {
        return;
    };
    let store = &file.store;
    peer.enqueue("once", 1).await;
    let (mut ours, mut theirs) = (0, 0);
    let rested = async |runs: u32| {
        let seen = rests(store, ListState::Failed, runs).await;
        is_left_by_its_worker(store, seen.0).await;
        seen
    };
    let mut seen = rested(1).await;
    for round in 0..25 {
        let job = seen.0;
        let request = on(seen, requeue());
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
        theirs += u32::from(by_them) + u32::from(also_by_them);
        assert!(
            ours + theirs > round,
            "somebody requeued it in round {round}"
        );
        seen = rested(1 + ours + theirs).await;
    }
    let states = store.job(seen.0, 1_000).await.unwrap().unwrap().states;
    for name in ["Enqueued", "Processing", "Failed"] {
        let rows = states.iter().filter(|row| row.name.as_str() == name);
        assert_eq!(
            u32::try_from(rows.count()).unwrap(),
            1 + ours + theirs,
            "{name}: {ours} ours, {theirs} theirs"
        );
    }
}
