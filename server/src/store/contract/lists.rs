//! Lists.

use std::collections::BTreeSet;

use app::model::job::JobRow;
use app::model::state::{ListState, StateName};
use app::ports::jobs::{Anchor, JobFilter, JobStore};

use super::Seeded;
use super::reference::{self, Known};
use crate::store::decode;

/// Every row of a list, page by page, towards the older end.
pub async fn all_ids(store: &dyn JobStore, filter: &JobFilter, limit: u32) -> Vec<i64> {
    let mut ids = Vec::new();
    let mut anchor = Anchor::Start;
    loop {
        let page = store.list(filter, anchor, limit).await.unwrap();
        assert_eq!(page.has_newer, !ids.is_empty(), "has_newer at {anchor:?}");
        ids.extend(page.rows.iter().map(|row| row.id));
        let Some(last) = page.rows.last() else {
            assert!(!page.has_older);
            return ids;
        };
        if !page.has_older {
            return ids;
        }
        anchor = Anchor::OlderThan(last.id);
    }
}

fn of(state: ListState) -> JobFilter {
    JobFilter {
        state: Some(state),
        ..JobFilter::default()
    }
}

/// The list of each state holds exactly its jobs, newest first; the list of all holds all.
pub async fn states(seeded: &Seeded) {
    let mut listed = 0;
    for state in ListState::ALL {
        let filter = of(state);
        let ids = all_ids(&*seeded.store, &filter, 200).await;
        assert_eq!(ids, reference::ids(&seeded.rows, &filter), "{state:?}");
        listed += ids.len();
    }
    assert!(listed > 0, "rows in no list at all");
    let all = all_ids(&*seeded.store, &JobFilter::default(), 200).await;
    let every: Vec<i64> = seeded.rows.jobs.iter().rev().map(|job| job.id).collect();
    assert_eq!(all, every);
}

/// What a row shows is what its job's rows say.
pub async fn rows(seeded: &Seeded) {
    let known = reference::newest_first(&seeded.rows);
    let page = seeded
        .store
        .list(&JobFilter::default(), Anchor::Start, 200)
        .await
        .unwrap();
    assert_eq!(page.rows.len(), known.len().min(200));
    for (row, known) in page.rows.iter().zip(&known) {
        assert_row(row, known);
    }
}

pub fn assert_row(row: &JobRow, known: &Known<'_>) {
    let job = known.job;
    let at = job.id;
    let text = |value: Option<&str>| value.map(str::to_owned);
    assert_eq!(row.id, job.id);
    assert_eq!(
        row.state.name,
        job.statename.as_deref().map(StateName::parse),
        "job {at}"
    );
    assert_eq!(
        row.state.since,
        known.current().map(|s| s.createdat),
        "{at}"
    );
    assert_eq!(
        row.state.reason,
        known.current().and_then(|s| s.reason.clone()),
        "{at}"
    );
    assert_eq!(row.invocation.type_name, text(known.type_name()), "{at}");
    assert_eq!(row.invocation.method, text(known.method()), "{at}");
    assert_eq!(row.invocation.own_queue, text(known.own_queue()), "{at}");
    assert_eq!(row.queue, text(known.queue()), "{at}");
    assert_eq!(row.server, text(known.server()), "{at}");
    assert_eq!(
        usize::try_from(row.attempts).unwrap(),
        known.attempts().min(100),
        "{at}"
    );
    assert_eq!(row.exception_type, text(known.exception()), "{at}");
    assert_eq!(
        row.exception_message,
        known
            .last("Failed")
            .and_then(|s| s.get("ExceptionMessage"))
            .map(|message| message.chars().take(300).collect::<String>()),
        "{at}"
    );
    assert_eq!(row.failure_bytes, None, "{at}");
    assert_eq!(row.due_at, known.due(), "{at}");
    assert_eq!(row.created_at, job.createdat, "{at}");
    assert_eq!(row.expire_at, job.expireat, "{at}");
    let retry = known
        .states
        .iter()
        .rev()
        .find_map(|s| decode::retry_reason(s.reason.as_deref()?));
    assert_eq!(row.retry, retry, "{at}");
}

/// Pages of any size, both ways, hold every row once.
pub async fn paging(seeded: &Seeded) {
    for state in [ListState::Succeeded, ListState::Failed] {
        let filter = of(state);
        let right = reference::ids(&seeded.rows, &filter);
        if right.is_empty() {
            continue;
        }
        let limit = u32::try_from(right.len() / 3 + 1).unwrap().min(200);
        assert_eq!(all_ids(&*seeded.store, &filter, limit).await, right);
        let mut back: Vec<i64> = Vec::new();
        let mut anchor = Anchor::NewerThan(right[right.len() - 1]);
        loop {
            let page = seeded.store.list(&filter, anchor, limit).await.unwrap();
            assert!(page.has_older, "the anchor itself is older");
            let ids: Vec<i64> = page.rows.iter().map(|row| row.id).collect();
            back.splice(0..0, ids.iter().copied());
            match ids.first() {
                Some(&first) if page.has_newer => anchor = Anchor::NewerThan(first),
                _ => break,
            }
        }
        assert_eq!(back, right[..right.len() - 1]);
    }
}

/// Each filter alone, with every value that occurs, and some together.
pub async fn filters(seeded: &Seeded) {
    let known = reference::newest_first(&seeded.rows);
    let mut all = by_text(&known);
    all.extend(by_number_and_time(&known));
    for filter in all {
        let right = reference::ids(&seeded.rows, &filter);
        let found = all_ids(&*seeded.store, &filter, 200).await;
        assert_eq!(found, right, "{filter:?}");
    }
}

/// Each text filter alone, with every value that occurs.
pub fn by_text(known: &[Known<'_>]) -> Vec<JobFilter> {
    let mut filters = BTreeSet::new();
    for known in known {
        let mut add = |field: &'static str, value: Option<&str>| {
            filters.extend(value.map(|value| (field, value.to_owned())));
        };
        add("queue", known.queue());
        add("server", known.server());
        add("method", known.method());
        let full = known.type_name().map(reference::without_assembly);
        add("type", full);
        add("type", full.map(reference::last_part));
        add("exception", known.exception());
        add("exception", known.exception().map(reference::last_part));
    }
    let mut all: Vec<JobFilter> = filters
        .into_iter()
        .flat_map(|(field, value)| {
            let value = Some(value);
            let plain = match field {
                "queue" => JobFilter {
                    queue: value,
                    ..JobFilter::default()
                },
                "server" => JobFilter {
                    server: value,
                    ..JobFilter::default()
                },
                "method" => JobFilter {
                    method: value,
                    ..JobFilter::default()
                },
                "type" => JobFilter {
                    job_type: value,
                    ..JobFilter::default()
                },
                _ => JobFilter {
                    exception: value,
                    ..JobFilter::default()
                },
            };
            let failed = JobFilter {
                state: Some(ListState::Failed),
                ..plain.clone()
            };
            let retrying = JobFilter {
                state: Some(ListState::Retrying),
                ..plain.clone()
            };
            [plain, failed, retrying]
        })
        .collect();
    for nothing in ["nobody", "It's \"x\"; --", "%", "nul\0", "Ω\u{202e}", ""] {
        all.push(JobFilter {
            queue: Some(nothing.to_owned()),
            ..of(ListState::Failed)
        });
        all.push(JobFilter {
            job_type: Some(nothing.to_owned()),
            ..JobFilter::default()
        });
    }
    all
}

/// Filters by attempts and by time.
pub fn by_number_and_time(known: &[Known<'_>]) -> Vec<JobFilter> {
    let mut all = Vec::new();
    for attempts in [0, 1, 2, 3, 101] {
        all.push(JobFilter {
            attempts_min: Some(attempts),
            ..JobFilter::default()
        });
        all.push(JobFilter {
            attempts_min: Some(attempts),
            ..of(ListState::Failed)
        });
    }
    let mut times: Vec<_> = known
        .iter()
        .filter_map(|k| Some(k.current()?.createdat))
        .collect();
    times.sort_unstable();
    if let (Some(&middle), Some(&late)) =
        (times.get(times.len() / 2), times.get(times.len() * 3 / 4))
    {
        all.push(JobFilter {
            from: Some(middle),
            ..JobFilter::default()
        });
        all.push(JobFilter {
            to: Some(middle),
            ..JobFilter::default()
        });
        all.push(JobFilter {
            from: Some(middle),
            to: Some(late),
            ..of(ListState::Succeeded)
        });
    }
    all
}
