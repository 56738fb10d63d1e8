//! What each filter of a list finds in the recorded file.

use super::*;

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
