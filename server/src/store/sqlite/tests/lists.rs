//! Lists: which jobs they hold, in which pages, and that they walk indexes.

use super::*;

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

/// The planner's steps for a page of a list.
async fn plan(store: &SqliteStore, filter: &JobFilter, anchor: Anchor) -> Vec<String> {
    let sql = format!(
        "EXPLAIN QUERY PLAN {}",
        super::super::list::query(filter, anchor, 50).sql().as_str()
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
