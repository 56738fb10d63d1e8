//! Lists in the order of change, and failures by cause.

mod upkeep;

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
