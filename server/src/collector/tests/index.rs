//! Lists in the order of change, and how the index keeps up with jobs that change behind it.

use app::model::state::ListState;
use app::ports::failures::{
    ChangedAnchor, ChangedPage, FailureCause, FailureStore as _, Indexed, NotReady,
};
use app::ports::jobs::JobFilter;
use chrono::TimeDelta;

use super::database::{Database, Kind};
use super::{collect, collector, indexed_is_right, story};
use crate::clock::{Clock as _, SystemClock};
use crate::store::contract::lists::{all_ids, by_number_and_time, by_text};
use crate::store::contract::{FOLDERS, reference};
use crate::store::sqlite::ticks;
use crate::testing::fixture::Fixture;

const LISTS: [ListState; 2] = [ListState::Failed, ListState::Retrying];

fn of(state: ListState) -> JobFilter {
    JobFilter {
        state: Some(state),
        ..JobFilter::default()
    }
}

async fn page(
    database: &Database,
    filter: &JobFilter,
    anchor: ChangedAnchor,
    limit: u32,
) -> ChangedPage {
    match database.lists.changed(filter, anchor, limit).await.unwrap() {
        Indexed::Ready(page) => page,
        Indexed::NotReady(why) => panic!("{why:?}"),
    }
}

fn ids(page: &ChangedPage) -> Vec<i64> {
    page.page.rows.iter().map(|row| row.id).collect()
}

/// Every row of a list, page by page, towards the older end.
async fn listed(database: &Database, filter: &JobFilter, limit: u32) -> Vec<i64> {
    let mut all = Vec::new();
    let mut anchor = ChangedAnchor::Start;
    loop {
        let page = page(database, filter, anchor, limit).await;
        assert_eq!(page.page.has_newer, !all.is_empty(), "{anchor:?}");
        all.extend(ids(&page));
        match page.ends {
            Some((_, last)) if page.page.has_older => anchor = ChangedAnchor::OlderThan(last),
            _ => {
                assert!(!page.page.has_older);
                return all;
            }
        }
    }
}

/// The same from the oldest row on towards the newer end, without that row.
async fn listed_back(database: &Database, filter: &JobFilter, limit: u32) -> Vec<i64> {
    let mut all = Vec::new();
    let mut end = None;
    let mut anchor = ChangedAnchor::Start;
    loop {
        let page = page(database, filter, anchor, limit).await;
        match page.ends {
            Some((_, last)) if page.page.has_older => anchor = ChangedAnchor::OlderThan(last),
            Some((_, last)) => break end = Some(last),
            None => break,
        }
    }
    let Some(end) = end else { return all };
    anchor = ChangedAnchor::NewerThan(end);
    loop {
        let page = page(database, filter, anchor, limit).await;
        assert!(page.page.has_older, "the anchor itself is older");
        all.splice(0..0, ids(&page));
        match page.ends {
            Some((first, _)) if page.page.has_newer => anchor = ChangedAnchor::NewerThan(first),
            _ => return all,
        }
    }
}

async fn whole(fixture: &Fixture) -> Vec<Database> {
    let databases = Database::both(fixture).await;
    for database in &databases {
        let mut collector = collector(&database.store, 1_000);
        collect(&mut collector).await.unwrap();
        collector.leave().await;
    }
    databases
}

/// With each filter, and page by page both ways, the lists hold what plain loops over the rows find.
#[tokio::test]
async fn lists_are_what_the_rows_say() {
    let mut listed_rows = 0;
    let mut counted = 0;
    for folder in FOLDERS {
        let fixture = Fixture::named(folder);
        let known = reference::newest_first(&fixture);
        let mut filters: Vec<JobFilter> = LISTS.map(of).to_vec();
        for filter in by_text(&known)
            .into_iter()
            .chain(by_number_and_time(&known))
        {
            filters.extend(LISTS.map(|state| JobFilter {
                state: Some(state),
                ..filter.clone()
            }));
        }
        let mut seen = std::collections::HashSet::new();
        filters.retain(|filter| seen.insert(filter.clone()));
        for database in whole(&fixture).await {
            let name = database.name();
            for filter in &filters {
                let right = reference::changed_ids(&fixture, filter);
                listed_rows += right.len();
                let found = listed(&database, filter, 200).await;
                assert_eq!(found, right, "{folder} on {name}: {filter:?}");
                let first = page(&database, filter, ChangedAnchor::Start, 1).await;
                if let Some(matching) = first.matching {
                    assert_eq!(usize::try_from(matching), Ok(right.len()), "{filter:?}");
                    counted += right.len();
                }
            }
            for filter in LISTS.map(of) {
                let right = reference::changed_ids(&fixture, &filter);
                let limit = u32::try_from(right.len() / 3 + 1).unwrap();
                assert_eq!(listed(&database, &filter, limit).await, right);
                let newer = right.split_last().map_or(&[][..], |(_, newer)| newer);
                assert_eq!(listed_back(&database, &filter, limit).await, newer);
            }
        }
    }
    assert!(listed_rows > 1_000, "{listed_rows}");
    assert!(counted > 500, "{counted}");
}

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

/// Far more groups than are asked one by one at once.
#[tokio::test]
async fn filters_that_many_groups_fit_are_answered() {
    let fixture = story::jobs(50, 4_000);
    let known = reference::newest_first(&fixture);
    let of_job = |queue: &str, least: u32| JobFilter {
        queue: Some(queue.to_owned()),
        attempts_min: Some(least),
        ..of(ListState::Failed)
    };
    for database in whole(&fixture).await {
        let filters = [
            of_job("mail", 1),
            of_job("own", 2),
            of_job("own", 4),
            of_job("mail", 200),
            JobFilter {
                job_type: Some("Job2".to_owned()),
                exception: Some("TimeoutException".to_owned()),
                server: Some("app-1".to_owned()),
                ..of(ListState::Failed)
            },
            JobFilter {
                server: Some("app-2".to_owned()),
                ..of_job("mail", 1)
            },
        ];
        for filter in filters {
            let right = reference::changed_ids(&fixture, &filter);
            assert_eq!(listed(&database, &filter, 7).await, right, "{filter:?}");
        }
    }
    assert!(known.len() > 3_000);
}

/// Rows that one transaction wrote have one time.
#[tokio::test]
async fn jobs_that_changed_at_once_are_paged_without_loss() {
    let fixture = Fixture::named("mixed");
    for database in whole(&fixture).await {
        database
            .execute(
                "UPDATE redrive.failures SET changed_at = 1793600000000000",
                "UPDATE redrive_failures SET changed_at = 1793600000000000",
            )
            .await;
        let mut right = reference::ids(&fixture, &of(ListState::Failed));
        assert!(right.len() > 300);
        assert_eq!(listed(&database, &of(ListState::Failed), 40).await, right);
        right.pop();
        assert_eq!(
            listed_back(&database, &of(ListState::Failed), 40).await,
            right
        );
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

/// Failed jobs by what they call and what they failed with.
#[tokio::test]
async fn failures_are_grouped_by_cause() {
    let fixture = story::jobs(57, 4_000);
    let failed = of(ListState::Failed);
    let mut right: Vec<FailureCause> = Vec::new();
    for known in reference::newest_first(&fixture) {
        if !known.fits(&failed) {
            continue;
        }
        let at = known.current().unwrap().createdat;
        let job_type = reference::without_assembly(known.type_name().unwrap());
        let (method, exception) = (known.method().unwrap(), known.exception().unwrap());
        let same = |cause: &&mut FailureCause| {
            (
                cause.kind.job_type.as_str(),
                cause.kind.method.as_str(),
                cause.exception.as_str(),
            ) == (job_type, method, exception)
        };
        if let Some(cause) = right.iter_mut().find(same) {
            cause.jobs += 1;
            cause.newest = cause.newest.max(at);
            cause.oldest = cause.oldest.min(at);
        } else {
            right.push(FailureCause {
                kind: app::model::insights::JobKind {
                    job_type: job_type.to_owned(),
                    method: method.to_owned(),
                },
                exception: exception.to_owned(),
                jobs: 1,
                newest: at,
                oldest: at,
            });
        }
    }
    right.sort_by_key(|cause| std::cmp::Reverse((cause.jobs, cause.newest)));
    assert!(right.len() > 8);
    for database in whole(&fixture).await {
        let Indexed::Ready(causes) = database.lists.causes(5).await.unwrap() else {
            panic!("{}", database.name());
        };
        assert_eq!(causes.top, right[..5], "{}", database.name());
        assert_eq!(causes.causes, i64::try_from(right.len()).unwrap());
        let jobs: i64 = right.iter().map(|cause| cause.jobs).sum();
        assert_eq!(causes.jobs, jobs);
    }
}

/// Nobody may read the own tables: lists go by id, and say so.
#[tokio::test]
async fn a_role_that_may_not_read_the_index_is_told_so() {
    let fixture = story::jobs(58, 20);
    let Some(database) = Database::postgres(&fixture).await else {
        return;
    };
    let Kind::Postgres(server) = &database.kind else {
        return;
    };
    let role = server.reader("blind").await;
    let store = crate::store::postgres::PostgresStore::connect(
        &server.url_as(&role),
        "hangfire",
        std::sync::Arc::new(SystemClock),
    )
    .unwrap();
    let answer = store
        .changed(&of(ListState::Failed), ChangedAnchor::Start, 50)
        .await
        .unwrap();
    assert_eq!(answer, Indexed::NotReady(NotReady::NoTables));
    store.close().await;
    server
        .execute(&format!("DROP OWNED BY \"{role}\"; DROP ROLE \"{role}\""))
        .await;
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
