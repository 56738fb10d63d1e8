//! Single jobs, counts, servers, queues.

use std::collections::{BTreeMap, BTreeSet};

use app::model::data::{StateData, parse_date};
use app::model::invocation::Arguments;
use app::model::job::JobRecord;
use app::model::state::{ListState, StateName, StateRow};

use super::Seeded;
use super::reference::{self, Known};
use crate::testing::fixture::State;

/// Every job whole. Of the large recording every thirtieth is enough.
pub async fn records(seeded: &Seeded) {
    let known = reference::newest_first(&seeded.rows);
    let step = known.len() / 100 + 1;
    for known in known.iter().step_by(step) {
        let record = seeded.store.job(known.job.id, 500).await.unwrap().unwrap();
        assert_record(seeded, &record, known);
    }
    assert_eq!(seeded.store.job(-1, 10).await.unwrap(), None);
    assert_eq!(seeded.store.job(i64::MAX, 10).await.unwrap(), None);
}

fn assert_record(seeded: &Seeded, record: &JobRecord, known: &Known<'_>) {
    let job = known.job;
    let at = job.id;
    assert_eq!(record.id, job.id);
    assert_eq!(
        record.state.name,
        job.statename.as_deref().map(StateName::parse)
    );
    assert_eq!(record.state.id, job.stateid);
    assert_eq!(record.state.since, known.current().map(|s| s.createdat));
    assert_eq!(record.created_at, job.createdat);
    assert_eq!(record.expire_at, job.expireat);
    assert_eq!(record.invocation.type_name.as_deref(), known.type_name());
    assert_eq!(record.invocation.method.as_deref(), known.method());
    assert_eq!(record.invocation.own_queue.as_deref(), known.own_queue());
    let arguments: Vec<Option<String>> = job
        .arguments
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry.as_str().map(str::to_owned))
        .collect();
    assert_eq!(record.invocation.arguments, Arguments::Values(arguments));
    assert_eq!(record.arguments_bytes, None);
    let types: Vec<String> = job
        .invocationdata
        .get("ParameterTypes")
        .and_then(|text| serde_json::from_str(text.as_str()?).ok())
        .unwrap_or_default();
    assert_eq!(record.invocation.parameter_types, types, "job {at}");
    let states: Vec<StateRow> = known.states.iter().map(|state| state_row(state)).collect();
    assert_eq!(record.states, states, "job {at}");
    assert_eq!(record.states_total, i64::try_from(states.len()).unwrap());
    assert_eq!(record.attempts_before, 0);

    let mut parameters: BTreeMap<String, Option<String>> = BTreeMap::new();
    for parameter in seeded.rows.parameters.iter().filter(|p| p.jobid == at) {
        parameters.insert(parameter.name.clone(), parameter.value.clone());
    }
    let waiting: Vec<(i64, Option<StateName>)> = parameters
        .get("Continuations")
        .cloned()
        .flatten()
        .map(|json| serde_json::from_str::<Vec<serde_json::Value>>(&json).unwrap())
        .unwrap_or_default()
        .iter()
        .map(|entry| {
            let id: i64 = entry["JobId"].as_str().unwrap().parse().unwrap();
            let state = seeded
                .rows
                .jobs
                .iter()
                .find(|job| job.id == id)
                .and_then(|job| job.statename.as_deref().map(StateName::parse));
            (id, state)
        })
        .collect();
    let found: Vec<(i64, Option<StateName>)> = record
        .continuations
        .iter()
        .map(|waiting| (waiting.job, waiting.state.clone()))
        .collect();
    assert_eq!(found, waiting, "job {at}");
    assert_eq!(
        record.parameters,
        parameters.into_iter().collect::<Vec<_>>(),
        "job {at}"
    );
    let queue: Vec<_> = seeded
        .rows
        .queue
        .iter()
        .filter(|row| row.jobid == at)
        .map(|row| (row.id, row.name.clone(), row.fetchedat))
        .collect();
    let found: Vec<_> = record
        .queue_rows
        .iter()
        .map(|row| (row.id, row.queue.clone(), row.fetched_at))
        .collect();
    assert_eq!(found, queue, "job {at}");
}

pub fn state_row(state: &State) -> StateRow {
    StateRow {
        id: state.id,
        name: StateName::parse(&state.name),
        reason: state.reason.clone(),
        created_at: state.createdat,
        data: StateData::parse_column(state.data.as_ref().map(ToString::to_string).as_deref()),
        details_chars: None,
    }
}

/// A job's history in pages of two is the whole history, and the numbers before it are right.
pub async fn history_in_pages(seeded: &Seeded) {
    let known = reference::newest_first(&seeded.rows);
    let Some(longest) = known.iter().max_by_key(|known| known.states.len()) else {
        return;
    };
    let id = longest.job.id;
    let record = seeded.store.job(id, 2).await.unwrap().unwrap();
    let right: Vec<StateRow> = longest
        .states
        .iter()
        .map(|state| state_row(state))
        .collect();
    assert_eq!(record.states_total, i64::try_from(right.len()).unwrap());
    let before = &right[..right.len() - record.states.len()];
    let attempts = before
        .iter()
        .filter(|state| state.name == StateName::Processing)
        .count();
    assert_eq!(usize::try_from(record.attempts_before).unwrap(), attempts);
    let mut found = record.states;
    loop {
        let page = seeded
            .store
            .states_before(id, found[0].id, 2)
            .await
            .unwrap();
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 2);
        found.splice(0..0, page);
    }
    assert_eq!(found, right);
}

/// The ids next to a job, also next to one that is not there.
pub async fn neighbours(seeded: &Seeded) {
    let ids: Vec<i64> = seeded.rows.jobs.iter().map(|job| job.id).collect();
    let (first, last) = (ids[0], ids[ids.len() - 1]);
    for id in [first - 1, first, last, last + 1, i64::MAX] {
        let older = ids.iter().copied().filter(|&other| other < id).max();
        let newer = ids.iter().copied().filter(|&other| other > id).min();
        assert_eq!(seeded.store.neighbours(id).await.unwrap(), (older, newer));
    }
}

/// Every job is counted once.
pub async fn counts(seeded: &Seeded) {
    let mut right: BTreeMap<ListState, i64> =
        ListState::ALL.into_iter().map(|state| (state, 0)).collect();
    for known in reference::newest_first(&seeded.rows) {
        *right.entry(known.list().unwrap()).or_default() += 1;
    }
    let counts = seeded.store.counts().await.unwrap();
    assert_eq!(counts.by_state, right);
    assert!(counts.exact);
    assert_eq!((counts.no_state, counts.other.len()), (0, 0));
}

/// Every server, with what it serves and runs.
pub async fn servers(seeded: &Seeded) {
    let servers = seeded.store.servers().await.unwrap();
    assert_eq!(servers.len(), seeded.rows.servers.len());
    let known = reference::newest_first(&seeded.rows);
    for (found, right) in servers.iter().zip(&seeded.rows.servers) {
        let data = right.data.as_ref().unwrap();
        let queues: Vec<String> = data["Queues"]
            .as_array()
            .unwrap()
            .iter()
            .map(|queue| queue.as_str().unwrap().to_owned())
            .collect();
        assert_eq!(found.id, right.id);
        assert_eq!(found.queues, Some(queues));
        assert_eq!(found.workers, data["WorkerCount"].as_i64());
        assert!(found.started_at.is_some() && found.started_raw.is_none());
        assert_eq!(found.heartbeat_at, right.lastheartbeat);
        let processing = known
            .iter()
            .filter(|known| known.list() == Some(ListState::Processing))
            .filter(|known| known.server() == Some(&right.id))
            .count();
        assert_eq!(found.processing, i64::try_from(processing).unwrap());
    }
}

/// Every queue that a row or a server names.
pub async fn queues(seeded: &Seeded) {
    let mut right: BTreeSet<String> = seeded
        .rows
        .queue
        .iter()
        .map(|row| row.name.clone())
        .collect();
    for server in &seeded.rows.servers {
        let queues = server.data.as_ref().unwrap()["Queues"].as_array().unwrap();
        right.extend(
            queues
                .iter()
                .map(|queue| queue.as_str().unwrap().to_owned()),
        );
    }
    let found = seeded.store.queues().await.unwrap();
    assert_eq!(found, right.into_iter().collect::<Vec<_>>());
}

/// Every delay that one of the newest 5,000 state rows plans, by its own two dates.
pub async fn delays(seeded: &Seeded) {
    let mut states: Vec<&State> = seeded.rows.states.iter().collect();
    states.sort_by_key(|state| state.id);
    let newest = &states[states.len().saturating_sub(5_000)..];
    let right: Vec<(i64, &str, i64)> = newest
        .iter()
        .filter_map(|state| {
            let plan = state.reason.as_deref()?.strip_prefix("Retry attempt ")?;
            let date = |key| parse_date(state.get(key)?);
            let delay = match state.name.as_str() {
                "Enqueued" => 0,
                _ => (date("EnqueueAt")? - date("ScheduledAt")?).num_milliseconds(),
            };
            Some((state.jobid, plan.split_once(':')?.0, delay))
        })
        .collect();
    let found = seeded.store.recent_delays().await.unwrap();
    let found: Vec<(i64, String, i64)> = found
        .iter()
        .map(|found| {
            let job = seeded
                .rows
                .jobs
                .iter()
                .find(|job| job.id == found.job)
                .unwrap();
            assert_eq!(job.invocationdata["Type"], found.type_name.as_str());
            assert_eq!(job.invocationdata["Method"], found.method.as_str());
            let plan = format!("{} of {}", found.delay.retry, found.delay.of);
            (found.job, plan, found.delay.backoff_ms)
        })
        .collect();
    assert_eq!(found.len(), right.len());
    for (found, right) in found.iter().zip(right) {
        assert_eq!((found.0, found.1.as_str()), (right.0, right.1));
        assert!((found.2 - right.2).abs() <= 1, "job {}", found.0);
    }
}
