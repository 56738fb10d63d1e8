//! Histories of many jobs, against the same jobs read one by one.

use app::model::invocation::Arguments;
use app::model::job::{JobHistory, JobRecord};
use app::model::state::{StateName, StateRow};
use app::ports::histories::HistoryStore;
use app::ports::jobs::JobStore;

use crate::testing::fixture::Fixture;

/// The longest arguments that are read, in bytes.
const ARGUMENTS: usize = 4_096;

/// The first 200 jobs of recorded rows, with all of their rows and with the newest three.
pub async fn are_what_single_jobs_are(
    jobs: &dyn JobStore,
    histories: &dyn HistoryStore,
    rows: &Fixture,
) {
    let ids: Vec<i64> = rows.jobs.iter().map(|job| job.id).collect();
    for ids in ids.chunks(200).take(1) {
        let mut records = Vec::new();
        for id in ids {
            records.push(jobs.job(*id, 200).await.unwrap().unwrap());
        }
        for limit in [200, 3] {
            let asked: Vec<i64> = ids.iter().rev().copied().chain([-1, i64::MAX]).collect();
            let asked = &asked[asked.len().saturating_sub(200)..];
            let found = histories.histories(asked, limit).await.unwrap();
            let expected: Vec<JobHistory> = records
                .iter()
                .filter(|record| asked.contains(&record.id))
                .map(|record| history(record, limit))
                .collect();
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found, expected);
            }
        }
    }
    assert_eq!(histories.histories(&[], 10).await.unwrap(), []);
}

/// What a job's history must be, from the job read alone.
fn history(record: &JobRecord, limit: u32) -> JobHistory {
    let mut invocation = record.invocation.clone();
    if let Arguments::Values(values) = &invocation.arguments
        && serde_json::to_string(values).unwrap().len() > ARGUMENTS
    {
        invocation.arguments = Arguments::TooLarge;
    }
    let first = record.states.len().saturating_sub(limit as usize);
    let (older, newest) = record.states.split_at(first);
    let attempts = |rows: &[StateRow]| {
        rows.iter()
            .filter(|row| row.name == StateName::Processing)
            .count()
    };
    JobHistory {
        id: record.id,
        state: record.state.clone(),
        invocation,
        created_at: record.created_at,
        states: newest
            .iter()
            .cloned()
            .map(|mut row| {
                row.data.remove("ExceptionDetails");
                row.details_chars = None;
                row
            })
            .collect(),
        older_rows: record.states_total > i64::try_from(newest.len()).unwrap(),
        attempts_before: record.attempts_before + u32::try_from(attempts(older)).unwrap(),
    }
}

/// What jobs call, read by id in parts of seven.
pub async fn calls_come_by_id(histories: &dyn HistoryStore, rows: &Fixture) {
    let mut after = 0;
    let mut seen = Vec::new();
    loop {
        let calls = histories.calls_after(after, 7).await.unwrap();
        let Some(last) = calls.last() else {
            break;
        };
        after = last.id;
        seen.extend(calls);
    }
    let ids: Vec<i64> = seen.iter().map(|call| call.id).collect();
    let expected: Vec<i64> = rows.jobs.iter().map(|job| job.id).collect();
    assert_eq!(ids, expected);
    for (call, job) in seen.iter().zip(&rows.jobs) {
        let text = |key: &str| job.invocationdata.get(key).and_then(|value| value.as_str());
        assert_eq!(call.invocation.type_name.as_deref(), text("Type"));
        assert_eq!(call.invocation.method.as_deref(), text("Method"));
        let arguments: Vec<Option<String>> = job
            .arguments
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry.as_str().map(str::to_owned))
            .collect();
        if job.arguments.to_string().len() <= ARGUMENTS {
            assert_eq!(call.invocation.arguments, Arguments::Values(arguments));
        }
    }
}

/// Of jobs of [`super::odd::huge`] nothing huge is read, and no job is missing.
pub async fn huge_values_are_left_out(histories: &dyn HistoryStore, rows: &Fixture) {
    let ids: Vec<i64> = rows.jobs.iter().map(|job| job.id).collect();
    let found = histories.histories(&ids, 200).await.unwrap();
    assert_eq!(found.iter().map(|one| one.id).collect::<Vec<_>>(), ids);
    let calls = histories.calls_after(0, 1_000).await.unwrap();
    assert_eq!(calls.len(), ids.len());
    for (call, job) in calls.iter().zip(&rows.jobs) {
        if job.arguments.to_string().len() > 2 * ARGUMENTS {
            assert_eq!(call.invocation.arguments, Arguments::TooLarge);
        }
    }
    for history in found {
        for (_, value) in history.states.iter().flat_map(|state| state.data.pairs()) {
            assert!(value.chars().count() <= 64_001);
        }
    }
}
