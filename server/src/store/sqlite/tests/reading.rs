//! Reading the recorded file: ten jobs that a real server ran, among them one that failed twice
//! and then succeeded, and one that failed for good.

use std::sync::Arc;

use app::model::attempt::Outcome;
use app::model::invocation::Arguments;
use app::model::job::{JobRow, QueueRow};
use app::model::state::{Instant, ListState, StateName};
use app::model::timeline::{Context, Timeline};
use app::ports::jobs::{Anchor, JobFilter, JobPage, JobStore, StateCounts};
use app::ports::source::{Access, Dialect, Source};
use chrono::DateTime;
use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection};

use super::super::*;
use super::{clock, fixture};
use crate::clock::Clock;
use crate::store::contract::{self, Seeded};
use crate::testing::fixture::Fixture;
use crate::testing::sqlite::TestFile;

const FILE: &str = "hangfire-storage-sqlite/hangfire.db";

async fn recorded() -> (tempfile::TempDir, SqliteStore) {
    let (dir, path) = fixture(FILE);
    let store = SqliteStore::open(&path, clock()).await.unwrap();
    (dir, store)
}

/// The recorded file after some statements of a test.
async fn changed(sql: &str) -> (tempfile::TempDir, SqliteStore) {
    let (dir, path) = fixture(FILE);
    let mut connection = SqliteConnection::connect(path.to_str().unwrap())
        .await
        .unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    let store = SqliteStore::open(&path, clock()).await.unwrap();
    (dir, store)
}

fn at(rfc3339: &str) -> Instant {
    DateTime::parse_from_rfc3339(rfc3339).unwrap().to_utc()
}

fn ids(page: &JobPage) -> Vec<i64> {
    page.rows.iter().map(|row| row.id).collect()
}

async fn listed(store: &SqliteStore, filter: JobFilter) -> Vec<i64> {
    ids(&store.list(&filter, Anchor::Start, 50).await.unwrap())
}

fn state(state: ListState) -> JobFilter {
    JobFilter {
        state: Some(state),
        ..JobFilter::default()
    }
}

async fn row(store: &SqliteStore, id: i64) -> JobRow {
    let page = store
        .list(&JobFilter::default(), Anchor::Start, 200)
        .await
        .unwrap();
    page.rows.into_iter().find(|row| row.id == id).unwrap()
}

#[tokio::test]
async fn lists_hold_the_jobs_of_their_state() {
    let (_dir, store) = recorded().await;
    for (list, expected) in [
        (ListState::Enqueued, vec![10]),
        (ListState::Scheduled, vec![9]),
        (ListState::Retrying, vec![6]),
        (ListState::Processing, vec![]),
        (ListState::Awaiting, vec![]),
        (ListState::Succeeded, vec![8, 7, 5, 1]),
        (ListState::Failed, vec![3, 2]),
        (ListState::Deleted, vec![4]),
    ] {
        assert_eq!(listed(&store, state(list)).await, expected, "{list:?}");
    }
    assert_eq!(
        listed(&store, JobFilter::default()).await,
        [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    );
}

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
async fn filters_mean_what_their_names_say() {
    let (_dir, store) = recorded().await;
    let of = |change: fn(&mut JobFilter)| {
        let mut filter = JobFilter::default();
        change(&mut filter);
        listed(&store, filter)
    };
    assert_eq!(of(|f| f.queue = Some("nobody".into())).await, [10]);
    assert_eq!(
        of(|f| f.queue = Some("default".into())).await,
        [8, 7, 6, 5, 4, 3, 2, 1]
    );
    assert_eq!(
        of(|f| f.method = Some("SummaryAsync".into())).await,
        [10, 9, 7]
    );
    assert_eq!(
        of(|f| f.job_type = Some("ReportJobs".into())).await,
        [10, 9, 8, 7]
    );
    assert_eq!(
        of(|f| f.job_type = Some("Bookstore.Jobs.ReportJobs".into())).await,
        [10, 9, 8, 7]
    );
    let part = of(|f| f.job_type = Some("Jobs.ReportJobs".into())).await;
    assert_eq!(part, Vec::<i64>::new());
    assert_eq!(
        of(|f| f.job_type = Some("portJobs".into())).await,
        Vec::<i64>::new()
    );
    assert_eq!(
        of(|f| f.exception = Some("SupplierUnavailableException".into())).await,
        [4, 3]
    );
    assert_eq!(
        of(|f| f.exception = Some("System.TimeoutException".into())).await,
        [6, 5, 1]
    );
    assert_eq!(of(|f| f.attempts_min = Some(3)).await, [3, 1]);
    assert_eq!(of(|f| f.attempts_min = Some(4)).await, [3]);
    let server = Some("bookstore-1:20798:0efc3fea-7a74-4f54-8cb3-20a6329bb530".to_owned());
    let filter = JobFilter {
        server,
        ..state(ListState::Failed)
    };
    assert_eq!(listed(&store, filter).await, [3, 2]);
    // Job 3 failed at 24.319198, job 2 at 19.727403.
    let from = |from, to| JobFilter {
        from,
        to,
        ..state(ListState::Failed)
    };
    let then = Some(at("2026-11-29T19:45:24.319198Z"));
    assert_eq!(listed(&store, from(then, None)).await, [3]);
    assert_eq!(listed(&store, from(None, then)).await, [2]);
}

#[tokio::test]
async fn types_of_generics_are_found_by_name_alone() {
    let (_dir, store) = changed(
        "UPDATE Job SET InvocationData = json_set(InvocationData, '$.Type', CASE Id \
         WHEN 1 THEN 'Shop.Box`1[[Shop.ImportJob, Shop]], Shop' \
         WHEN 2 THEN 'Shop.Outer+ImportJob, Shop, Version=1.0.0.0' \
         WHEN 3 THEN 'ImportJob' ELSE 'Shop.OtherJob, ImportJob' END) WHERE Id < 5; \
         UPDATE Job SET InvocationData = '{\"Type\":' WHERE Id = 10; \
         UPDATE Job SET InvocationData = NULL WHERE Id = 9;",
    )
    .await;
    let of = |name: &str| {
        let job_type = Some(name.to_owned());
        listed(
            &store,
            JobFilter {
                job_type,
                ..JobFilter::default()
            },
        )
    };
    assert_eq!(of("ImportJob").await, [3, 2]);
    assert_eq!(of("Shop.Outer+ImportJob").await, [2]);
    assert_eq!(of("Box`1").await, [1]);
    assert_eq!(of("Shop.Box`1[[Shop.ImportJob, Shop]]").await, [1]);
    assert_eq!(of("Shop.OtherJob").await, [4]);
    assert_eq!(of("Shop").await, Vec::<i64>::new());
}

#[tokio::test]
async fn pages_are_the_same_both_ways() {
    let (_dir, store) = recorded().await;
    let all = JobFilter::default();
    let first = store.list(&all, Anchor::Start, 4).await.unwrap();
    assert_eq!(
        (ids(&first), first.has_newer, first.has_older),
        (vec![10, 9, 8, 7], false, true)
    );
    let second = store.list(&all, Anchor::OlderThan(7), 4).await.unwrap();
    assert_eq!(
        (ids(&second), second.has_newer, second.has_older),
        (vec![6, 5, 4, 3], true, true)
    );
    let third = store.list(&all, Anchor::OlderThan(3), 4).await.unwrap();
    assert_eq!(
        (ids(&third), third.has_newer, third.has_older),
        (vec![2, 1], true, false)
    );
    assert_eq!(
        store.list(&all, Anchor::NewerThan(2), 4).await.unwrap(),
        second
    );
    let back = store.list(&all, Anchor::NewerThan(6), 4).await.unwrap();
    assert_eq!(
        (ids(&back), back.has_newer, back.has_older),
        (ids(&first), false, true)
    );
    let end = store.list(&all, Anchor::OlderThan(1), 4).await.unwrap();
    assert_eq!(
        (ids(&end), end.has_newer, end.has_older),
        (vec![], true, false)
    );
    let end = store.list(&all, Anchor::NewerThan(10), 4).await.unwrap();
    assert_eq!(
        (ids(&end), end.has_newer, end.has_older),
        (vec![], false, true)
    );
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

#[tokio::test]
async fn a_state_that_hangfire_is_changing_is_unsettled() {
    // As between the commits of a failing job: the Failed row is there, the job still Processing.
    let (_dir, store) = changed(
        "UPDATE Job SET StateName = 'Processing' WHERE Id = 2; \
         DELETE FROM State WHERE JobId = 3 AND Name = 'Failed'; \
         UPDATE Job SET StateName = 'failed' WHERE Id = 3; \
         UPDATE State SET Name = 'failed' WHERE Id = 51;",
    )
    .await;
    let two = row(&store, 2).await;
    assert_eq!((two.state.id, two.state.unsettled), (Some(6), true));
    // Names are compared without case.
    let three = row(&store, 3).await;
    assert_eq!((three.state.id, three.state.unsettled), (Some(51), false));
    let two = store.job(2, 10).await.unwrap().unwrap();
    assert_eq!((two.state.id, two.state.unsettled), (Some(6), true));

    let (_dir, store) = changed("DELETE FROM State WHERE JobId = 3 AND Name = 'Failed'").await;
    let three = row(&store, 3).await;
    assert_eq!((three.state.id, three.state.unsettled), (None, true));
    assert_eq!(
        (three.state.since, three.state.name),
        (None, Some(StateName::Failed))
    );
}

#[tokio::test]
async fn odd_rows_never_cost_the_page() {
    let (_dir, store) = changed(
        "UPDATE Job SET InvocationData = '{\"Type\":', Arguments = '[1' WHERE Id = 1; \
         UPDATE Job SET InvocationData = NULL, Arguments = NULL, CreatedAt = 'soon' WHERE Id = 2; \
         UPDATE Job SET InvocationData = '[]', Arguments = x'ff', StateName = NULL WHERE Id = 3; \
         UPDATE Job SET InvocationData = '{}' WHERE Id = 4; \
         UPDATE State SET Data = '{\"ExceptionType\"' WHERE Id = 9; \
         UPDATE State SET Data = NULL WHERE Id = 40; \
         UPDATE State SET Reason = cast(x'52ff' AS TEXT) WHERE Id = 41; \
         INSERT INTO JobParameter (JobId, Name, Value) VALUES (1, 'RetryCount', '3'), (1, NULL, NULL); \
         INSERT INTO Server VALUES ('a', '{', NULL), ('b', NULL, 'never');",
    )
    .await;
    let page = store
        .list(&JobFilter::default(), Anchor::Start, 50)
        .await
        .unwrap();
    assert_eq!(page.rows.len(), 10);
    let one = row(&store, 1).await;
    assert_eq!(
        (one.invocation.type_name, one.invocation.arguments),
        (None, Arguments::Corrupt("[1".into()))
    );
    let two = row(&store, 2).await;
    assert_eq!((two.exception_type, two.state.id), (None, Some(9)));
    let three = row(&store, 3).await;
    assert_eq!((three.state.name, three.state.unsettled), (None, true));
    let four = row(&store, 4).await;
    assert_eq!(
        (four.exception_type, four.state.reason.as_deref()),
        (None, Some("R\u{fffd}"))
    );
    for id in 1..=10 {
        assert!(store.job(id, 50).await.unwrap().is_some());
    }
    let job = store.job(1, 50).await.unwrap().unwrap();
    assert_eq!(job.duplicate_parameters, ["RetryCount"]);
    assert!(
        job.parameters
            .contains(&("RetryCount".to_owned(), Some("3".to_owned())))
    );
    let job = store.job(2, 50).await.unwrap().unwrap();
    assert!(job.states[2].data.is_corrupt());
    assert_eq!(store.servers().await.unwrap().len(), 2);
    assert!(store.counts().await.is_ok());
    let filter = JobFilter {
        exception: Some("TimeoutException".into()),
        ..JobFilter::default()
    };
    assert_eq!(listed(&store, filter).await, [6, 5, 1]);
}

#[tokio::test]
async fn what_is_large_stays_in_the_file() {
    let (_dir, store) = changed(
        "UPDATE Job SET Arguments = json_array(hex(zeroblob(1000000))), InvocationData = \
         json_set(InvocationData, '$.Arguments', json_array(hex(zeroblob(1000000))), '$.Queue', 'big') WHERE Id = 1; \
         UPDATE Job SET Arguments = json_array(hex(zeroblob(40000))) WHERE Id = 2; \
         UPDATE State SET Data = json_set(Data, '$.ExceptionDetails', hex(zeroblob(35000)) || 'é') WHERE Id = 9;",
    )
    .await;
    let one = row(&store, 1).await;
    assert_eq!(one.invocation.arguments, Arguments::TooLarge);
    assert_eq!(one.arguments_bytes, Some(2_000_004));
    assert_eq!(one.invocation.method.as_deref(), Some("ImportAsync"));
    let two = row(&store, 2).await;
    assert_eq!((two.exception_type, two.exception_message), (None, None));
    assert!(two.failure_bytes.is_some_and(|bytes| bytes > 70_000));
    assert_eq!(two.arguments_bytes, Some(80_004));

    let one = store.job(1, 10).await.unwrap().unwrap();
    assert_eq!(
        (one.arguments_bytes, one.invocation.arguments),
        (Some(2_000_004), Arguments::TooLarge)
    );
    let two = store.job(2, 10).await.unwrap().unwrap();
    assert_eq!(two.arguments_bytes, None);
    let failed = &two.states[2];
    assert_eq!(failed.details_chars, Some(70_001));
    assert_eq!(
        failed.data.get("ExceptionDetails").map(str::len),
        Some(64_000)
    );
    assert_eq!(
        failed.data.get("ExceptionMessage"),
        Some("Invoice 1 has no matching order")
    );
}

/// A clock that a test sets.
struct At(Instant);

impl Clock for At {
    fn now(&self) -> Instant {
        self.0
    }
}

#[tokio::test]
async fn servers_have_queues_and_heartbeats() {
    let (_dir, path) = fixture("transitions-sqlite/base.db");
    let mut connection = SqliteConnection::connect(path.to_str().unwrap())
        .await
        .unwrap();
    sqlx::raw_sql(
        "DELETE FROM Server; INSERT INTO Server VALUES \
         ('a:1:x', '{\"WorkerCount\":4,\"Queues\":[\"critical\",\"default\"],\"StartedAt\":\"2026-11-29T19:12:26.5Z\"}', 639315783194587619), \
         ('b:2:y', '{\"WorkerCount\":\"2\",\"Queues\":{\"$type\":\"System.String[], mscorlib\",\"$values\":[\"reports\"]},\"StartedAt\":\"27.03.2026 07:30:00\"}', 639315783204587619); \
         UPDATE State SET Data = json_set(Data, '$.ServerId', 'a:1:x') WHERE Name = 'Processing'",
    )
    .execute(&mut connection)
    .await
    .unwrap();
    let now = at("2026-11-29T19:45:30.458761Z");
    let store = SqliteStore::open(&path, Arc::new(At(now))).await.unwrap();
    let servers = store.servers().await.unwrap();
    assert_eq!(servers.len(), 2);
    let (a, b) = (&servers[0], &servers[1]);
    assert_eq!(
        (a.id.as_str(), a.workers, a.processing),
        ("a:1:x", Some(4), 1)
    );
    assert_eq!(
        a.queues,
        Some(vec!["critical".to_owned(), "default".to_owned()])
    );
    assert_eq!(a.started_at, Some(at("2026-11-29T19:12:26.5Z")));
    assert_eq!(a.heartbeat_at, at("2026-11-29T19:45:19.458761Z"));
    assert_eq!(a.heartbeat_age_ms, 11_000);
    assert_eq!(
        (b.workers, b.processing, b.heartbeat_age_ms),
        (Some(2), 0, 10_000)
    );
    assert_eq!(b.queues, Some(vec!["reports".to_owned()]));
    assert_eq!(
        (b.started_at, b.started_raw.as_deref()),
        (None, Some("27.03.2026 07:30:00"))
    );
    let queues = store.queues().await.unwrap();
    for queue in ["critical", "default", "reports"] {
        assert!(queues.iter().any(|known| known == queue), "{queues:?}");
    }
}

#[tokio::test]
async fn a_file_is_read_only_until_its_own_tables_are_there() {
    let (_dir, store) = recorded().await;
    let info = store.info().await.unwrap();
    assert_eq!((info.dialect, info.schema_version), (Dialect::Sqlite, None));
    assert!(
        matches!(&info.access, Access::ReadOnly { remedy: Some(sql), .. } if sql.contains("redrive_audit"))
    );
    store.migrate().await.unwrap();
    assert_eq!(store.info().await.unwrap().access, Access::ReadWrite);

    let writer = store.writer().await.unwrap();
    sqlx::query("INSERT INTO redrive_migrations VALUES ('redrive', 99, 'later', 0)")
        .execute(&writer)
        .await
        .unwrap();
    let access = store.info().await.unwrap().access;
    assert!(matches!(access, Access::ReadOnly { why, remedy: None } if why.contains("newer")));
}

#[tokio::test]
async fn a_file_that_must_not_be_written_is_read() {
    let (_dir, path) = fixture(FILE);
    let store = SqliteStore::lazy(&path, clock(), Some("set so in the configuration".into()));
    assert_eq!(listed(&store, state(ListState::Failed)).await, [3, 2]);
    assert!(matches!(
        store.writer().await,
        Err(StoreError::Forbidden(_))
    ));
    let access = store.info().await.unwrap().access;
    assert!(matches!(access, Access::ReadOnly { why, .. } if why == "set so in the configuration"));
}

#[tokio::test]
async fn a_file_that_goes_away_and_comes_back_is_noticed() {
    let (dir, store) = recorded().await;
    let aside = dir.path().join("aside.db");
    std::fs::rename(store.path(), &aside).unwrap();
    assert!(matches!(store.counts().await, Err(StoreError::Away(_))));
    std::fs::rename(&aside, store.path()).unwrap();
    assert!(store.counts().await.is_ok());
    // Another file under the same name.
    let (_other, base) = fixture("transitions-sqlite/base.db");
    std::fs::remove_file(store.path()).unwrap();
    std::fs::rename(&base, store.path()).unwrap();
    assert_eq!(
        store.job(12, 10).await.unwrap().unwrap().state.name,
        Some(StateName::Processing)
    );
}

async fn holds(folder: &str) {
    let rows = Fixture::named(folder);
    let file = TestFile::with(&rows).await;
    let store = Arc::new(file.store.clone());
    contract::reads(&Seeded { store, rows }).await;
}

#[tokio::test]
async fn recorded_rows_are_read_as_they_are() {
    for folder in contract::FOLDERS {
        if folder != "mixed" {
            holds(folder).await;
        }
    }
}

#[tokio::test]
async fn a_large_recording_is_read_as_it_is() {
    holds("mixed").await;
}

/// The planner's steps for a page of a list.
async fn plan(store: &SqliteStore, filter: &JobFilter, anchor: Anchor) -> Vec<String> {
    let sql = format!(
        "EXPLAIN QUERY PLAN {}",
        list::query(filter, anchor, 50).sql().as_str()
    );
    store
        .read(move |c| {
            Box::pin(async move {
                let steps = sqlx::query(AssertSqlSafe(sql)).fetch_all(c).await?;
                steps.iter().map(|step| step.try_get("detail")).collect()
            })
        })
        .await
        .unwrap()
}

#[tokio::test]
async fn lists_walk_hangfires_own_indexes() {
    let (_dir, store) = recorded().await;
    let plain = state(ListState::Failed);
    let narrowed = JobFilter {
        exception: Some("TimeoutException".into()),
        queue: Some("default".into()),
        from: Some(Instant::UNIX_EPOCH),
        ..state(ListState::Retrying)
    };
    for filter in [plain, narrowed] {
        for (anchor, range) in [
            (Anchor::Start, ""),
            (Anchor::OlderThan(9), " AND rowid<?"),
            (Anchor::NewerThan(2), " AND rowid>?"),
        ] {
            let steps = plan(&store, &filter, anchor).await;
            let page =
                format!("SEARCH j USING COVERING INDEX IX_Job_StateName (StateName=?{range})");
            let narrow = format!("SEARCH j USING INDEX IX_Job_StateName (StateName=?{range})");
            assert!(
                steps.iter().any(|s| *s == page || *s == narrow),
                "{steps:#?}"
            );
            // No table is walked.
            for scan in steps.iter().filter(|s| s.starts_with("SCAN")) {
                let own = ["SCAN p", "SCAN m", "SCAN CONSTANT ROW", "SCAN (subquery"];
                assert!(own.iter().any(|own| scan.starts_with(own)), "{steps:#?}");
            }
            // Each look at the history is done once for a job.
            let mut looks: Vec<_> = steps
                .iter()
                .filter(|s| s.starts_with("CORRELATED"))
                .collect();
            let all = looks.len();
            looks.sort();
            looks.dedup();
            assert_eq!(looks.len(), all, "{steps:#?}");
            let states = steps
                .iter()
                .filter(|s| s.contains(" State") || s.contains(" s USING"));
            for step in states {
                assert!(
                    step.contains("IX_State_JobId (JobId=?")
                        || step.contains("INTEGER PRIMARY KEY"),
                    "{steps:#?}"
                );
            }
        }
    }
    let all = plan(&store, &JobFilter::default(), Anchor::OlderThan(9)).await;
    assert!(
        all.contains(&"SEARCH j USING INTEGER PRIMARY KEY (rowid<?)".to_owned()),
        "{all:#?}"
    );
}

#[tokio::test]
async fn a_job_of_a_hundred_thousand_rows_is_like_others() {
    let (_dir, store) = changed(
        "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 100999) \
         INSERT INTO State SELECT i, 10, CASE i % 3 WHEN 0 THEN 'Enqueued' WHEN 1 THEN 'Processing' \
         ELSE 'Scheduled' END, NULL, 639315783200000000 + i, '{\"Queue\":\"busy\"}', 0 FROM n; \
         UPDATE Job SET StateName = 'Enqueued' WHERE Id = 10",
    )
    .await;
    // 100999 = 3 * 33666 + 1, so the last row is a Processing one and the job looks unsettled.
    let ten = row(&store, 10).await;
    assert_eq!((ten.state.id, ten.state.unsettled), (Some(100_998), true));
    assert_eq!((ten.attempts, ten.queue.as_deref()), (100, Some("busy")));
    let job = store.job(10, 50).await.unwrap().unwrap();
    assert_eq!((job.states_total, job.states.len()), (100_001, 50));
    // Processing rows are 1000, 1003, …, 100999: 33334; 17 of them are among the newest 50.
    assert_eq!(job.attempts_before, 33_334 - 17);
    assert_eq!(
        listed(
            &store,
            JobFilter {
                attempts_min: Some(33_334),
                ..JobFilter::default()
            }
        )
        .await,
        [10]
    );
    let none = JobFilter {
        attempts_min: Some(33_335),
        ..JobFilter::default()
    };
    assert_eq!(listed(&store, none).await, Vec::<i64>::new());
}
