//! Single jobs of the recorded file: rows, pages, attempts, counts.

use app::model::attempt::Outcome;
use app::model::invocation::Arguments;
use app::model::job::QueueRow;
use app::model::state::StateName;
use app::model::timeline::{Context, Timeline};
use app::ports::jobs::StateCounts;

use super::*;

#[tokio::test]
async fn a_failed_row_says_what_failed() {
    let (_dir, store) = recorded().await;
    let row = row(&store, 3).await;
    assert_eq!(row.state.name, Some(StateName::Failed));
    assert_eq!(row.state.id, Some(52));
    assert_eq!(row.state.since, Some(at("2026-11-29T19:45:24.319198Z")));
    assert_eq!(
        row.state.reason.as_deref(),
        Some("An exception occurred during performance of the job.")
    );
    assert!(!row.state.unsettled);
    assert_eq!(
        row.invocation.type_name.as_deref(),
        Some(
            "Bookstore.Jobs.SupplierInvoiceJobs, Bookstore.Jobs, Version=1.0.0.0, Culture=neutral, PublicKeyToken=null"
        )
    );
    assert_eq!(row.invocation.method.as_deref(), Some("ImportNeverAsync"));
    assert_eq!(
        row.invocation.arguments,
        Arguments::Values(vec![Some("1".into())])
    );
    assert_eq!(row.invocation.own_queue, None);
    assert_eq!(row.queue.as_deref(), Some("default"));
    assert_eq!(
        row.server.as_deref(),
        Some("bookstore-1:20798:0efc3fea-7a74-4f54-8cb3-20a6329bb530")
    );
    assert_eq!(row.attempts, 4);
    assert_eq!(row.retry, Some((3, 3)));
    assert_eq!(
        row.exception_type.as_deref(),
        Some("Bookstore.Jobs.SupplierUnavailableException")
    );
    assert_eq!(
        row.exception_message.as_deref(),
        Some("Supplier refused invoice 1")
    );
    assert_eq!(
        (row.failure_bytes, row.arguments_bytes, row.due_at),
        (None, None, None)
    );
    assert_eq!(row.created_at, at("2026-11-29T19:45:19.552108Z"));
    assert_eq!(row.expire_at, None);
}

#[tokio::test]
async fn a_planned_retry_says_when_it_is_due() {
    let (_dir, store) = recorded().await;
    let row = row(&store, 6).await;
    assert_eq!(row.retry, Some((2, 10)));
    assert_eq!(
        row.due_at,
        DateTime::from_timestamp_millis(1_795_981_568_449)
    );
    assert_eq!(row.attempts, 2);
}

#[tokio::test]
async fn counts_are_of_every_job() {
    let (_dir, store) = changed(
        "INSERT INTO Job (StateName) VALUES (NULL), ('Parked'), ('Parked'); \
         DELETE FROM State WHERE JobId = 9;",
    )
    .await;
    let StateCounts {
        by_state,
        other,
        no_state,
        exact,
        ..
    } = store.counts().await.unwrap();
    let expected = [
        (ListState::Enqueued, 1),
        (ListState::Scheduled, 1),
        (ListState::Retrying, 1),
        (ListState::Processing, 0),
        (ListState::Awaiting, 0),
        (ListState::Succeeded, 4),
        (ListState::Failed, 2),
        (ListState::Deleted, 1),
    ];
    assert_eq!(by_state, expected.into_iter().collect());
    assert_eq!(other, [("Parked".to_owned(), 2)].into_iter().collect());
    assert_eq!((no_state, exact), (1, true));
}

#[tokio::test]
async fn one_job_whole() {
    let (_dir, store) = recorded().await;
    let job = store.job(1, 100).await.unwrap().unwrap();
    assert_eq!(job.state.id, Some(55));
    assert_eq!(job.invocation.method.as_deref(), Some("ImportAsync"));
    assert_eq!(
        job.invocation.parameter_types,
        [
            "System.Int32, System.Private.CoreLib, Version=10.0.0.0, Culture=neutral, PublicKeyToken=7cec85d7bea7798e"
        ]
    );
    let rows: Vec<i64> = job.states.iter().map(|state| state.id).collect();
    assert_eq!(rows, [1, 7, 10, 11, 42, 43, 44, 45, 53, 54, 55]);
    assert_eq!((job.states_total, job.attempts_before), (11, 0));
    assert_eq!(job.states[10].data.millis("PerformanceDuration"), Some(3));
    assert_eq!(
        job.parameters,
        [
            ("CurrentCulture".to_owned(), Some("\"\"".to_owned())),
            ("RetryCount".to_owned(), Some("2".to_owned()))
        ]
    );
    assert!(job.duplicate_parameters.is_empty());
    assert!(job.queue_rows.is_empty());
    assert_eq!(job.expire_at, Some(at("2026-11-30T19:45:26.345202Z")));

    let page = store.job(1, 4).await.unwrap().unwrap();
    assert_eq!(
        page.states.iter().map(|s| s.id).collect::<Vec<_>>(),
        [45, 53, 54, 55]
    );
    assert_eq!((page.states_total, page.attempts_before), (11, 2));
    let older = store.states_before(1, 45, 5).await.unwrap();
    assert_eq!(
        older.iter().map(|s| s.id).collect::<Vec<_>>(),
        [10, 11, 42, 43, 44]
    );

    let waiting = store.job(10, 100).await.unwrap().unwrap();
    assert_eq!(
        waiting.queue_rows,
        [QueueRow {
            id: 10,
            queue: "nobody".into(),
            fetched_at: None
        }]
    );
    assert_eq!(store.job(11, 100).await.unwrap(), None);
    assert_eq!(store.neighbours(11).await.unwrap(), (Some(10), None));
    assert_eq!(store.neighbours(5).await.unwrap(), (Some(4), Some(6)));
}

/// `(outcome, ran, backoff of the retry)` of each attempt of a job, in milliseconds.
async fn attempts(store: &SqliteStore, id: i64) -> Vec<(Outcome, Option<i64>, Option<i64>)> {
    let job = store.job(id, 100).await.unwrap().unwrap();
    let context = Context {
        created_at: job.created_at,
        state: job.state.name,
        older_rows: false,
        attempts_before: job.attempts_before,
        newer: Vec::new(),
    };
    Timeline::build(&job.states, &context)
        .attempts()
        .map(|attempt| {
            let failure = attempt.failure.as_ref();
            let retry = failure.and_then(|failure| failure.retry.as_ref());
            (
                attempt.outcome.clone(),
                attempt.ran.ms,
                retry.and_then(|retry| retry.backoff_ms),
            )
        })
        .collect()
}

#[tokio::test]
async fn attempts_of_the_recorded_jobs_are_exact() {
    let (_dir, store) = recorded().await;
    // Rows 7 to 10: 84.2283 ms; 43 to 44: 6.8292 ms; the last says itself that it ran for 3 ms.
    assert_eq!(
        attempts(&store, 1).await,
        [
            (Outcome::Failed, Some(84), Some(2_000)),
            (Outcome::Failed, Some(7), Some(5_000)),
            (Outcome::Succeeded, Some(3), None),
        ]
    );
    // Rows 6 to 9: 59.3596 ms.
    assert_eq!(
        attempts(&store, 2).await,
        [(Outcome::Failed, Some(59), None)]
    );
}
