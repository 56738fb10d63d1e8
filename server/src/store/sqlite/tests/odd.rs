//! Rows of the recorded file made rare, broken or huge, as only `SQLite` can keep them.

use app::model::invocation::Arguments;
use app::model::state::StateName;

use super::*;

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
