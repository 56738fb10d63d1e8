//! Never double: the guard, the lock and the one queue row.

use std::collections::BTreeMap;

use app::actions::decide::decide;
use app::actions::found::Found;
use app::ports::error::StoreError;
use futures::future::join_all;
use sqlx::Connection as _;

use super::super::{find, write};
use super::*;
use crate::store::sqlite::work::Work;

const QUEUE_ROWS: &str = "SELECT Id, Queue, FetchedAt FROM JobQueue WHERE JobId = ";

#[tokio::test(flavor = "multi_thread")]
async fn of_200_clicks_one_is_done() {
    let file = TestFile::recorded("transitions-sqlite/base.db").await;
    let request = on(seen(&file.store, 1).await, requeue());
    let clicks = (0..200).map(|_| {
        let (store, request) = (file.store.clone(), request.clone());
        tokio::spawn(async move {
            let id = SystemClock.new_id();
            (id, store.act(id, &request).await.unwrap())
        })
    });
    let mut done = Vec::new();
    for click in join_all(clicks).await {
        let (id, outcome) = click.unwrap();
        match &outcome {
            Outcome::Done { state_id, .. } => done.push(*state_id),
            Outcome::Moved { .. } | Outcome::Busy { .. } => {}
            other => panic!("{other:?}"),
        }
        let (word, note) = audited(&file.store, id).await;
        assert_eq!((word.as_str(), note), (outcome.slug(), outcome.sentence()));
    }
    assert_eq!(done, [30]);
    assert_eq!(
        rows(&file, &format!("{QUEUE_ROWS}1")).await,
        ["9|default|0"]
    );
    let audit = "SELECT outcome = 'done', count(*) FROM redrive_audit GROUP BY 1 ORDER BY 1";
    assert_eq!(rows(&file, audit).await, ["0|199", "1|1"]);
}

/// As an action, but decided before the transaction and not looked at again inside it.
async fn unguarded(file: &TestFile, request: &Request, found: Found) {
    let plan = decide(request, &found).unwrap();
    let mut connection = file.connect().await;
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let clock = &file.store.inner.clock;
    let mut rest = Vec::new();
    write::all(&mut transaction, clock, &plan, &mut rest)
        .await
        .unwrap();
    transaction.commit().await.unwrap();
}

#[tokio::test]
async fn without_the_guard_a_job_is_queued_by_every_click() {
    let file = TestFile::recorded("transitions-sqlite/base.db").await;
    let request = on(seen(&file.store, 1).await, requeue());
    let found = file
        .store
        .read(|c| -> Work<'_, Found> {
            Box::pin(async move {
                Ok(Found {
                    now: now(),
                    limits: app::actions::found::Limits::default(),
                    seen_since: None,
                    job: find::job(c, 1).await?.unwrap(),
                    relatives: BTreeMap::new(),
                    servers: Vec::new(),
                })
            })
        })
        .await
        .unwrap();
    for _ in 0..3 {
        unguarded(&file, &request, found.clone()).await;
    }
    // What the guard is there to prevent; if this counts one, the test above proves nothing.
    assert_eq!(rows(&file, &format!("{QUEUE_ROWS}1")).await.len(), 3);
}

#[tokio::test]
async fn enqueue_delete_requeue_leaves_one_queue_row() {
    let file = TestFile::recorded("transitions-sqlite/base.db").await;
    assert!(
        matches!(act(&file.store, 11, requeue()).await, Outcome::Refused { why } if why.contains("queued already"))
    );
    for action in [Action::Delete, requeue(), Action::Delete, requeue()] {
        let outcome = act(&file.store, 11, action).await;
        assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
    }
    assert_eq!(
        rows(&file, &format!("{QUEUE_ROWS}11")).await,
        ["5|nobody|0"]
    );
    let elsewhere = Action::Requeue(Enqueue {
        queue: Some("critical".to_owned()),
        reset_retries: false,
    });
    assert!(matches!(
        act(&file.store, 11, Action::Delete).await,
        Outcome::Done { .. }
    ));
    assert!(matches!(
        act(&file.store, 11, elsewhere).await,
        Outcome::Done { .. }
    ));
    assert_eq!(
        rows(&file, &format!("{QUEUE_ROWS}11")).await,
        ["5|critical|0"]
    );
}

#[tokio::test]
async fn a_live_lock_is_hangfires_and_an_expired_one_is_cleared() {
    let file = TestFile::recorded("transitions-sqlite/base.db").await;
    let lock = |expires: i64| {
        format!(
            "INSERT INTO DistributedLock VALUES ('x', 'HangFire:job:1:state-lock', 'y', {expires})"
        )
    };
    file.run(&lock(ago(-20))).await;
    let outcome = act(&file.store, 1, requeue()).await;
    assert!(matches!(outcome, Outcome::Busy { .. }), "{outcome:?}");
    assert_eq!(
        rows(&file, "SELECT Resource FROM DistributedLock").await,
        ["HangFire:job:1:state-lock"]
    );
    assert!(rows(&file, &format!("{QUEUE_ROWS}1")).await.is_empty());

    file.run(&format!("DELETE FROM DistributedLock; {}", lock(ago(700))))
        .await;
    let outcome = act(&file.store, 1, requeue()).await;
    assert!(
        matches!(&outcome, Outcome::Done { notes, .. } if notes.iter().any(|n| n.contains("lock of job #1") && n.contains("cleared"))),
        "{outcome:?}"
    );
    assert!(
        rows(&file, "SELECT Resource FROM DistributedLock")
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn a_live_lock_of_a_waiting_job_stops_the_delete_of_its_parent() {
    let file = TestFile::recorded("transitions-sqlite/base.db").await;
    file.run(&format!(
        "INSERT INTO DistributedLock VALUES ('x', 'HangFire:job:5:state-lock', 'y', {})",
        ago(-20)
    ))
    .await;
    let outcome = act(&file.store, 3, Action::Delete).await;
    assert!(
        matches!(&outcome, Outcome::Busy { why, .. } if why.contains("#5")),
        "{outcome:?}"
    );
    let states = "SELECT StateName FROM Job WHERE Id IN (3, 4, 5, 6)";
    assert_eq!(
        rows(&file, states).await,
        ["Failed", "Awaiting", "Awaiting", "Awaiting"]
    );
}

#[tokio::test]
async fn an_unsettled_job_is_busy() {
    let file = TestFile::recorded("transitions-sqlite/base.db").await;
    let request = on(seen(&file.store, 1).await, requeue());
    // As Hangfire leaves it for a moment: the row that it passes through is there, the job not yet.
    file.run(&state_row(1000, 1, "Enqueued", ago(0), "{}"))
        .await;
    let outcome = file
        .store
        .act(SystemClock.new_id(), &request)
        .await
        .unwrap();
    assert!(matches!(outcome, Outcome::Busy { .. }), "{outcome:?}");
    assert!(rows(&file, &format!("{QUEUE_ROWS}1")).await.is_empty());
}

#[tokio::test]
async fn a_file_that_somebody_else_is_writing_is_busy() {
    let file = TestFile::recorded("transitions-sqlite/base.db").await;
    let request = on(seen(&file.store, 1).await, requeue());
    let mut other = file.connect().await;
    let writing = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let outcome = file
        .store
        .act(SystemClock.new_id(), &request)
        .await
        .unwrap();
    assert!(
        matches!(&outcome, Outcome::Busy { why, .. } if why.contains("Another process")),
        "{outcome:?}"
    );
    writing.rollback().await.unwrap();
    let outcome = file
        .store
        .act(SystemClock.new_id(), &request)
        .await
        .unwrap();
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
}

/// Nothing was begun, so there is no outcome: the file is gone, or cannot be opened.
#[tokio::test]
async fn a_file_that_is_away_is_an_error() {
    let file = TestFile::recorded("transitions-sqlite/base.db").await;
    let request = on(seen(&file.store, 1).await, requeue());
    let kept = file.path.with_extension("kept");
    std::fs::rename(&file.path, &kept).unwrap();
    let absent = file.store.act(SystemClock.new_id(), &request).await;
    assert!(matches!(absent, Err(StoreError::Absent(_))), "{absent:?}");
    std::fs::create_dir(&file.path).unwrap();
    let away = file.store.act(SystemClock.new_id(), &request).await;
    assert!(matches!(away, Err(StoreError::Away(_))), "{away:?}");
    std::fs::remove_dir(&file.path).unwrap();
    std::fs::rename(&kept, &file.path).unwrap();
    let outcome = file.store.act(SystemClock.new_id(), &request).await;
    assert!(matches!(outcome, Ok(Outcome::Done { .. })), "{outcome:?}");
    assert_eq!(
        rows(&file, "SELECT count(*) FROM redrive_audit").await,
        ["1"]
    );
}

#[tokio::test]
async fn the_same_audit_id_acts_once() {
    let file = TestFile::recorded("transitions-sqlite/base.db").await;
    let id = SystemClock.new_id();
    let request = on(seen(&file.store, 1).await, Action::Delete);
    assert!(matches!(
        file.store.act(id, &request).await.unwrap(),
        Outcome::Done { .. }
    ));
    let undo = on(seen(&file.store, 1).await, Action::UndoDelete);
    let again = file.store.act(id, &undo).await;
    assert!(matches!(again, Err(StoreError::Internal(_))), "{again:?}");
    assert_eq!(seen(&file.store, 1).await.1, StateName::Deleted);
}

#[tokio::test]
async fn a_file_without_own_tables_or_write_access_is_refused() {
    let file = TestFile::recorded("transitions-sqlite/base.db").await;
    let read_only = SqliteStore::lazy(
        &file.path,
        file.store.inner.clock.clone(),
        Some("It is set to read-only.".into()),
    );
    let outcome = act(&read_only, 1, requeue()).await;
    assert!(matches!(&outcome, Outcome::Refused { why } if why == "It is set to read-only."));
    file.run("DROP TABLE redrive_migrations").await;
    let outcome = act(&file.store, 1, requeue()).await;
    assert!(
        matches!(&outcome, Outcome::Refused { why } if why.contains("own tables")),
        "{outcome:?}"
    );
    assert!(rows(&file, &format!("{QUEUE_ROWS}1")).await.is_empty());
}
