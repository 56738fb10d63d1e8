//! Connections that break in the middle.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use app::ports::error::StoreError;
use sqlx::Connection as _;
use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// What a proxy does when it sees the first COMMIT.
#[derive(Clone, Copy, PartialEq)]
enum Cut {
    /// Passes it on, waits until the database has answered, and cuts the connection.
    AfterItArrived,
    /// Cuts the connection.
    BeforeItArrives,
    /// Passes it on, cuts the connection, and lets nobody in again.
    ForGood,
}

/// A way to the database that breaks once; its URL.
async fn proxy(database: &TestDatabase, cut: Cut) -> String {
    let options: PgConnectOptions = database.url.parse().unwrap();
    let target = (options.get_host().to_owned(), options.get_port());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let is_cut = Arc::new(AtomicBool::new(false));
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            if cut == Cut::ForGood && is_cut.load(Ordering::SeqCst) {
                continue;
            }
            let server = TcpStream::connect((target.0.as_str(), target.1))
                .await
                .unwrap();
            tokio::spawn(pass(client, server, cut, is_cut.clone()));
        }
    });
    let options = options.host("127.0.0.1").port(port);
    sqlx::ConnectOptions::to_url_lossy(&options).to_string()
}

async fn pass(mut client: TcpStream, mut server: TcpStream, cut: Cut, is_cut: Arc<AtomicBool>) {
    let (mut from_client, mut from_server) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            read = client.read(&mut from_client) => {
                let Ok(n @ 1..) = read else { return };
                let is_commit = from_client[..n].windows(7).any(|w| w == b"COMMIT\0");
                if is_commit && !is_cut.swap(true, Ordering::SeqCst) {
                    if cut != Cut::BeforeItArrives {
                        server.write_all(&from_client[..n]).await.unwrap();
                        // The answer comes when it is committed.
                        assert_ne!(server.read(&mut from_server).await.unwrap(), 0);
                    }
                    return;
                }
                if server.write_all(&from_client[..n]).await.is_err() { return }
            }
            read = server.read(&mut from_server) => {
                let Ok(n @ 1..) = read else { return };
                if client.write_all(&from_server[..n]).await.is_err() { return }
            }
        }
    }
}

/// Acts through a way that is cut. Reads end in ROLLBACK, so the first COMMIT is the action's.
async fn act_through(database: &TestDatabase, cut: Cut) -> (Uuid, Outcome) {
    let url = proxy(database, cut).await;
    let store = PostgresStore::connect(&url, "hangfire", Arc::new(SystemClock)).unwrap();
    store.session().layout().await.unwrap();
    let id = SystemClock.new_id();
    let request = seen(database, 1, requeue()).await;
    (id, store.act(id, &request).await.unwrap())
}

#[tokio::test]
async fn a_commit_that_arrived_is_done() {
    let Some(database) = base(23).await else {
        return;
    };
    let (id, outcome) = act_through(&database, Cut::AfterItArrived).await;
    let state_id = done(&outcome);
    assert_eq!(
        audited(&database, id).await,
        Some(("done".to_owned(), Some(8), Some(state_id)))
    );
    assert_eq!(queue_rows(&database, 1).await.len(), 1);
}

#[tokio::test]
async fn a_commit_that_did_not_arrive_changed_nothing() {
    let Some(database) = base(23).await else {
        return;
    };
    let before = snapshot(&database).await;
    let (id, outcome) = act_through(&database, Cut::BeforeItArrives).await;
    let Outcome::Busy { why, .. } = outcome else {
        panic!("{outcome:?}");
    };
    assert!(why.contains("Nothing was changed"), "{why}");
    assert_eq!(
        audited(&database, id).await,
        Some(("busy".to_owned(), Some(8), None))
    );
    assert_eq!(snapshot(&database).await, before);
}

#[tokio::test]
async fn an_audit_that_cannot_be_asked_is_unknown() {
    let Some(database) = base(23).await else {
        return;
    };
    let (id, outcome) = act_through(&database, Cut::ForGood).await;
    let Outcome::Unknown { why } = outcome else {
        panic!("{outcome:?}");
    };
    assert!(why.contains(&id.to_string()), "{why}");
    // What it tells to look for is there.
    assert_eq!(audited(&database, id).await.unwrap().0, "done");
}

/// Nothing was begun, so there is no outcome.
#[tokio::test]
async fn a_database_that_is_away_is_an_error() {
    let Some(database) = base(23).await else {
        return;
    };
    let store = store(&database);
    let request = seen(&database, 1, requeue()).await;
    store.session().layout().await.unwrap();
    database.remove().await;
    let away = store.act(SystemClock.new_id(), &request).await;
    assert!(matches!(away, Err(StoreError::Away(_))), "{away:?}");
    database.create().await;
}

/// Killed when everything is written but not committed: nothing is left, not even a lock.
#[tokio::test]
async fn a_killed_transaction_leaves_nothing() {
    let Some(database) = base(23).await else {
        return;
    };
    let before = snapshot(&database).await;
    let store = store(&database);
    let request = seen(&database, 1, requeue()).await;
    let mut other = database.connection().await;
    let mut holding = other.begin().await.unwrap();
    sqlx::query("LOCK TABLE redrive.audit IN SHARE MODE")
        .execute(&mut *holding)
        .await
        .unwrap();
    let acting = tokio::spawn(async move { store.act(SystemClock.new_id(), &request).await });
    let mut watching = database.connection().await;
    loop {
        let killed: Vec<bool> = sqlx::query_scalar(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = \
             current_database() AND application_name = 'redrive' AND wait_event_type = 'Lock'",
        )
        .fetch_all(&mut watching)
        .await
        .unwrap();
        if !killed.is_empty() {
            break;
        }
        tokio::task::yield_now().await;
    }
    holding.rollback().await.unwrap();
    let killed = acting.await.unwrap();
    assert!(matches!(killed, Err(StoreError::Away(_))), "{killed:?}");
    assert_eq!(rows(&mut watching).await, before);
    done(&act(&database, 1, requeue()).await);
}

/// A handler that is dropped half-way does not take its action with it.
#[tokio::test]
async fn a_dropped_caller_does_not_stop_its_action() {
    let Some(database) = base(23).await else {
        return;
    };
    let store = store(&database);
    let request = seen(&database, 1, requeue()).await;
    let id = SystemClock.new_id();
    {
        let acting = store.act(id, &request);
        tokio::pin!(acting);
        // Polled once: it has begun, and is dropped here.
        assert!(futures::poll!(&mut acting).is_pending());
    }
    while audited(&database, id).await.is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(audited(&database, id).await.unwrap().0, "done");
    assert_eq!(queue_rows(&database, 1).await.len(), 1);
}
