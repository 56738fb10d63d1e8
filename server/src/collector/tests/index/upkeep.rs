//! How the index is made, and keeps up with jobs that change behind it.

use super::*;

/// An index that was made before groups knew their sizes.
#[tokio::test]
async fn groups_of_an_older_index_are_counted() {
    for database in whole(&Fixture::named("mixed")).await {
        database
            .execute(
                "DELETE FROM redrive.migrations WHERE version = 5; \
                 ALTER TABLE redrive.failure_groups DROP COLUMN jobs",
                "DELETE FROM redrive_migrations WHERE version = 5; \
                 ALTER TABLE redrive_failure_groups DROP COLUMN jobs",
            )
            .await;
        database.migrate().await;
        assert_eq!(
            database.wrong_sizes().await,
            Vec::<Vec<Option<String>>>::new()
        );
        let queue = JobFilter {
            queue: Some("default".to_owned()),
            ..of(ListState::Failed)
        };
        let matching = page(&database, &queue, ChangedAnchor::Start, 1)
            .await
            .matching;
        assert!(matching > Some(300), "{matching:?}");
    }
}

#[tokio::test]
async fn before_the_index_is_whole_its_absence_is_told() {
    let fixture = story::jobs(52, 600);
    let last = fixture.states.last().unwrap().id;
    for database in Database::both(&fixture).await {
        let why = |answer| match answer {
            Indexed::NotReady(why) => why,
            Indexed::Ready(page) => panic!("{page:?}"),
        };
        let asked = of(ListState::Failed);
        let ask = || database.lists.changed(&asked, ChangedAnchor::Start, 50);
        assert_eq!(why(ask().await.unwrap()), NotReady::NotBegun);
        let mut collector = collector(&database.store, 40);
        collector.pass().await.unwrap();
        let NotReady::Reading { watermark, highest } = why(ask().await.unwrap()) else {
            panic!("{}", database.name());
        };
        assert!((1..last).contains(&watermark));
        assert_eq!(highest, last);
        collect(&mut collector).await.unwrap();
        assert!(!listed(&database, &asked, 50).await.is_empty());
        // The collector stands still, and a row waits.
        database
            .execute(
                "INSERT INTO hangfire.state (jobid, name, createdat) \
                 VALUES (1, 'Enqueued', now() - interval '1 min')",
                "INSERT INTO State (JobId, Name, CreatedAt, Data) \
                 VALUES (1, 'Enqueued', 639315783000000000, '{}')",
            )
            .await;
        let NotReady::Behind { since } = why(ask().await.unwrap()) else {
            panic!("{}", database.name());
        };
        assert!(since < SystemClock.now() - TimeDelta::seconds(59));
        collect(&mut collector).await.unwrap();
        assert!(!listed(&database, &asked, 50).await.is_empty());
        // A newer Redrive keeps its tables in its own way.
        database
            .execute(
                "INSERT INTO redrive.migrations (scope, version, name) VALUES ('redrive', 99, 'x')",
                "INSERT INTO redrive_migrations VALUES ('redrive', 99, 'x', 0)",
            )
            .await;
        assert_eq!(why(ask().await.unwrap()), NotReady::NoTables);
        database
            .execute(
                "DROP TABLE redrive.failures",
                "DROP TABLE redrive_migrations",
            )
            .await;
        assert_eq!(why(ask().await.unwrap()), NotReady::NoTables);
    }
}

/// What somebody does to jobs without a state row is seen in the lists at once where jobs leave them,
/// and after the index was mended where they come.
#[tokio::test]
async fn jobs_that_change_behind_the_index_leave_and_enter_its_lists() {
    let fixture = Fixture::named("mixed");
    for database in whole(&fixture).await {
        let name = database.name();
        let failed = listed(&database, &of(ListState::Failed), 200).await;
        assert!(failed.len() > 300, "{name}");
        let (gone, succeeded, emptied) = (failed[0], failed[1], failed[2]);
        let other = fixture.jobs.iter().find(|job| {
            let is = |name: &str| {
                fixture
                    .states
                    .iter()
                    .any(|s| s.jobid == job.id && s.name == name)
            };
            job.statename.as_deref() == Some("Succeeded") && is("Failed")
        });
        let other = other.unwrap().id;
        database
            .execute(
                &format!(
                    "DELETE FROM hangfire.job WHERE id = {gone}; \
                     UPDATE hangfire.job SET statename = 'Succeeded' WHERE id = {succeeded}; \
                     DELETE FROM hangfire.state WHERE jobid = {emptied}; \
                     UPDATE hangfire.job SET statename = 'Failed', stateid = (SELECT max(id) \
                       FROM hangfire.state WHERE jobid = {other} AND name = 'Failed') \
                       WHERE id = {other}"
                ),
                &format!(
                    "DELETE FROM State WHERE JobId IN ({gone}, {emptied}); \
                     DELETE FROM Job WHERE Id = {gone}; \
                     UPDATE Job SET StateName = 'Succeeded' WHERE Id = {succeeded}; \
                     UPDATE Job SET StateName = 'Failed' WHERE Id = {other}"
                ),
            )
            .await;
        // One whose row expired stays, with what is remembered of it.
        assert_eq!(
            listed(&database, &of(ListState::Failed), 200).await,
            failed[2..]
        );
        let row = page(&database, &of(ListState::Failed), ChangedAnchor::Start, 1).await;
        assert_eq!(row.page.rows[0].id, emptied);
        assert!(row.page.rows[0].attempts > 0, "{name}");
        let mut collector = collector(&database.store, 1_000);
        collect(&mut collector).await.unwrap();
        collector.mend().await.unwrap();
        let now = listed(&database, &of(ListState::Failed), 200).await;
        assert!(now.contains(&other), "{name}");
        let mut ids = now.clone();
        ids.sort_unstable();
        let mut right = all_ids(database.lists.as_ref(), &of(ListState::Failed), 200).await;
        right.sort_unstable();
        assert_eq!(ids, right, "{name}");
        let stored = database.index().await;
        let is_of = |job: i64| {
            stored
                .iter()
                .any(|line| line.starts_with(&format!("[{job},")))
        };
        assert!(!is_of(gone) && !is_of(succeeded) && is_of(other), "{name}");
    }
}

/// Collected before there was an index: it is made from the rows, and from what is remembered.
#[tokio::test]
async fn an_index_that_was_not_kept_from_the_start_is_made_up_for() {
    let fixture = story::jobs(54, 700);
    for database in whole(&fixture).await {
        let numbers = database.numbers().await;
        database
            .execute(
                "DELETE FROM redrive.failures; DELETE FROM redrive.failure_groups; \
                 UPDATE redrive.collector_job SET memory = (memory::jsonb - 'changed_at' - 'server' \
                   - 'exception')::text; \
                 UPDATE redrive.collector SET position = replace(position, ',\"indexed\":true', '')",
                "DELETE FROM redrive_failures; DELETE FROM redrive_failure_groups; \
                 UPDATE redrive_collector_job SET memory = json_remove(memory, '$.changed_at', \
                   '$.server', '$.exception'); \
                 UPDATE redrive_collector SET position = replace(position, ',\"indexed\":true', '')",
            )
            .await;
        let mut collector = collector(&database.store, 1_000);
        collect(&mut collector).await.unwrap();
        assert!(collector.position.as_ref().unwrap().indexed);
        indexed_is_right(&database, database.name()).await;
        assert_eq!(database.numbers().await, numbers);
    }
}

/// Of a job whose state was never written as a row, only the job tells.
#[tokio::test]
async fn failed_jobs_without_any_row_are_listed() {
    let mut tables = story::jobs(55, 60).tables;
    let state = tables.get_mut("state").unwrap();
    let mut job = None;
    state.retain(|row| {
        if row["name"] == "Failed" {
            job = job.or(row["jobid"].as_i64());
        }
        row["jobid"].as_i64() != job
    });
    let fixture = Fixture::of(tables);
    for database in whole(&fixture).await {
        let job = job.unwrap();
        database
            .execute(
                &format!(
                    "DELETE FROM hangfire.state WHERE jobid = {job}; \
                     UPDATE hangfire.job SET statename = 'Failed', stateid = NULL WHERE id = {job}"
                ),
                &format!(
                    "DELETE FROM State WHERE JobId = {job}; \
                     UPDATE Job SET StateName = 'Failed' WHERE Id = {job}"
                ),
            )
            .await;
        collector(&database.store, 100).mend().await.unwrap();
        let failed = listed(&database, &of(ListState::Failed), 200).await;
        assert!(failed.contains(&job), "{}", database.name());
    }
}

/// Groups that hold nobody any more go.
#[tokio::test]
async fn groups_go_with_their_last_job() {
    let fixture = story::jobs(56, 100);
    for database in whole(&fixture).await {
        database
            .execute(
                "DELETE FROM hangfire.job",
                "DELETE FROM State; DELETE FROM Job",
            )
            .await;
        let mut collector = collector(&database.store, 100);
        collector.mend().await.unwrap();
        assert_eq!(database.index().await, Vec::<String>::new());
        assert_eq!(database.groups().await, 0);
    }
}

/// What was not collected yet is in the lists, in its place.
#[tokio::test]
async fn jobs_that_changed_a_moment_ago_are_listed_before_they_are_collected() {
    let fixture = story::jobs(59, 1_500);
    for database in whole(&fixture).await {
        let name = database.name();
        let now = ticks::ticks(SystemClock.now());
        let before = listed(&database, &of(ListState::Failed), 200).await;
        let (requeued, last) = (before[1], before[before.len() - 1]);
        let waits = fixture
            .jobs
            .iter()
            .find(|job| job.statename.as_deref() == Some("Enqueued"))
            .unwrap()
            .id;
        database
            .execute(
                &format!(
                    "INSERT INTO hangfire.state (jobid, name, createdat, data) VALUES \
                     ({requeued}, 'Enqueued', now(), '{{}}'), \
                     ({waits}, 'Failed', now(), '{{\"ExceptionType\":\"New.Fault\"}}'); \
                     UPDATE hangfire.job j SET (statename, stateid) = (SELECT s.name, s.id \
                       FROM hangfire.state s WHERE s.jobid = j.id ORDER BY s.id DESC LIMIT 1) \
                       WHERE id IN ({requeued}, {waits})"
                ),
                &format!(
                    "INSERT INTO State (JobId, Name, CreatedAt, Data) VALUES \
                     ({requeued}, 'Enqueued', {now}, '{{}}'), \
                     ({waits}, 'Failed', {now}, '{{\"ExceptionType\":\"New.Fault\"}}'); \
                     UPDATE Job SET StateName = 'Enqueued' WHERE Id = {requeued}; \
                     UPDATE Job SET StateName = 'Failed' WHERE Id = {waits}"
                ),
            )
            .await;
        let mut right = vec![waits];
        right.extend(before.iter().filter(|id| **id != requeued));
        for limit in [1, 3, 200] {
            let found = listed(&database, &of(ListState::Failed), limit).await;
            assert_eq!(found, right, "{name}, {limit} at once");
        }
        let newer = listed_back(&database, &of(ListState::Failed), 2).await;
        assert_eq!(newer, right[..right.len() - 1], "{name}");
        assert_eq!(right.last(), Some(&last));
        let fault = |exception: &str| JobFilter {
            exception: Some(exception.to_owned()),
            ..of(ListState::Failed)
        };
        assert_eq!(
            listed(&database, &fault("Fault"), 5).await,
            [waits],
            "{name}"
        );
        assert!(
            !listed(&database, &fault("TimeoutException"), 200)
                .await
                .contains(&waits)
        );
        collect(&mut collector(&database.store, 100)).await.unwrap();
        assert_eq!(
            listed(&database, &of(ListState::Failed), 3).await,
            right,
            "{name}"
        );
    }
}
