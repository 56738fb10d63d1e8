//! The scenario: every row of the demo database, made from a seed and a moment.

use std::collections::BTreeMap;

use app::model::state::{Instant, StateName};
use chrono::{Days, TimeDelta, Timelike};

use super::fleet::Fleet;
use super::format::json;
use super::job::{Claim, DemoJob, QueueRow};
use super::life::Draft;
use super::stage::Stage;

/// How long finished jobs stay, from the demo's now.
const EXPIRY_DAYS: i64 = 30;

/// Everything that the demo database holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The moment it was made for.
    pub now: Instant,
    /// Jobs, by id; state ids follow time over all jobs.
    pub jobs: Vec<DemoJob>,
    /// Servers with a row.
    pub servers: Vec<ServerRow>,
    /// Members of Hangfire's sets.
    pub sets: Vec<SetRow>,
    /// Fields of Hangfire's hashes.
    pub hashes: Vec<HashRow>,
    /// Hangfire's counters: value, and expiry where they have one.
    pub counters: BTreeMap<String, (i64, Option<Instant>)>,
    /// The claims table, in the order of claiming.
    pub claims: Vec<Claim>,
}

/// A server's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerRow {
    /// Its id.
    pub id: String,
    /// Its data, as stored.
    pub data: String,
    /// Its last heartbeat.
    pub heartbeat_at: Instant,
    /// Whether it lives, so that its heartbeat must be kept fresh.
    pub alive: bool,
}

/// A member of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetRow {
    /// The set.
    pub key: &'static str,
    /// The score: unix seconds, or 0.
    pub score: i64,
    /// The member.
    pub value: String,
}

/// A field of a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashRow {
    /// The hash.
    pub key: String,
    /// The field.
    pub field: &'static str,
    /// Its value.
    pub value: String,
}

/// Makes the demo's rows: `jobs` jobs over the 14 days before `now`, but never fewer than those
/// that are told one by one (about 110). The same arguments give the same rows.
pub fn scenario(seed: u64, jobs: usize, now: Instant) -> Scenario {
    // Databases keep microseconds.
    let now = now
        .with_nanosecond(now.nanosecond() / 1_000 * 1_000)
        .unwrap_or(now);
    let mut stage = Stage::new(seed, now);
    stage.specials();
    let recurring = stage.recurring();
    let rest = jobs.saturating_sub(stage.drafts.len());
    stage.traffic(rest);
    let servers = servers(&stage.fleet, now);
    let (jobs, ids) = settle(&stage.drafts, now);
    let mut claims: Vec<Claim> = stage
        .drafts
        .iter()
        .flat_map(|draft| draft.claims.iter().cloned())
        .collect();
    claims.sort_by_key(|claim| claim.claimed_at);
    let (mut sets, hashes) = recurring.rows(&jobs, &ids, now);
    sets.extend(sets_of(&jobs));
    Scenario {
        now,
        counters: counters(&jobs, now),
        jobs,
        servers,
        sets,
        hashes,
        claims,
    }
}

fn servers(fleet: &Fleet, now: Instant) -> Vec<ServerRow> {
    fleet
        .with_row()
        .zip(0i64..)
        .map(|(process, index)| {
            let queues: Vec<&str> = process.queues.to_vec();
            ServerRow {
                id: process.id.clone(),
                data: format!(
                    "{{\"WorkerCount\":{},\"Queues\":{{\"$type\":\"System.String[], \
                     System.Private.CoreLib\",\"$values\":{}}},\"StartedAt\":\"{}\"}}",
                    process.workers.len(),
                    json(&queues),
                    process.started_at.format("%Y-%m-%dT%H:%M:%S%.6f0Z"),
                ),
                heartbeat_at: process
                    .until
                    .unwrap_or_else(|| now - TimeDelta::seconds(2 + index * 5)),
                alive: process.until.is_none(),
            }
        })
        .collect()
}

/// Gives the drafts their ids: jobs by the time of creation, state rows by their own time. Gives
/// also the id of each draft.
fn settle(drafts: &[Draft], now: Instant) -> (Vec<DemoJob>, Vec<i64>) {
    let mut order: Vec<usize> = (0..drafts.len()).collect();
    order.sort_by_key(|&index| (drafts[index].created_at, index));
    let mut ids = vec![0i64; drafts.len()];
    for (&index, id) in order.iter().zip(1i64..) {
        ids[index] = id;
    }
    let mut jobs: Vec<DemoJob> = order
        .iter()
        .map(|&index| job(&drafts[index], ids[index], &ids, now))
        .collect();
    let mut rows: Vec<(Instant, usize, usize)> = jobs
        .iter()
        .enumerate()
        .flat_map(|(job, demo)| {
            let states = demo.states.iter().enumerate();
            states.map(move |(index, state)| (state.at, job, index))
        })
        .collect();
    rows.sort_unstable();
    let mut last = Instant::UNIX_EPOCH;
    for (&(at, job, index), id) in rows.iter().zip(1i64..) {
        // Rows of different jobs that fall into one microsecond are moved apart by one each.
        last = at.max(last + TimeDelta::microseconds(1));
        let state = &mut jobs[job].states[index];
        state.id = id;
        state.at = last;
    }
    (jobs, ids)
}

fn job(draft: &Draft, id: i64, ids: &[i64], now: Instant) -> DemoJob {
    let mut states = draft.states.clone();
    if let Some(parent) = draft.parent {
        for (name, value) in states.iter_mut().flat_map(|state| &mut state.data) {
            if *name == "ParentId" {
                *value = ids[parent].to_string();
            }
        }
    }
    let mut parameters = draft.parameters.clone();
    if !draft.children.is_empty() {
        let members: Vec<String> = draft
            .children
            .iter()
            .map(|&(child, options)| match options {
                0 => format!("{{\"JobId\":\"{}\"}}", ids[child]),
                _ => format!("{{\"JobId\":\"{}\",\"Options\":{options}}}", ids[child]),
            })
            .collect();
        parameters.push(("Continuations", format!("[{}]", members.join(","))));
    }
    let call = draft.errand.call.clone();
    let queue = call.own_queue.unwrap_or(draft.errand.queue).to_owned();
    let (state, since) = draft.states.last().map_or_else(
        || (StateName::Enqueued, draft.created_at),
        |state| (state.name.clone(), state.at),
    );
    let queue_rows = match state {
        StateName::Enqueued => vec![QueueRow {
            queue,
            fetched_at: None,
        }],
        StateName::Processing => vec![QueueRow {
            queue,
            fetched_at: Some(since - TimeDelta::milliseconds(6)),
        }],
        _ => Vec::new(),
    };
    DemoJob {
        story: draft.story,
        id,
        call,
        created_at: draft.created_at,
        expire_at: state.is_final().then(|| now + TimeDelta::days(EXPIRY_DAYS)),
        state,
        parameters,
        states,
        queue_rows,
        due_at: draft.due_at,
        intention: draft.intention.clone(),
    }
}

/// The sets that Hangfire keeps: due jobs, pending retries, waiting continuations.
fn sets_of(jobs: &[DemoJob]) -> Vec<SetRow> {
    let mut sets = Vec::new();
    for job in jobs {
        let Some(state) = job.states.last() else {
            continue;
        };
        match job.state {
            StateName::Scheduled => {
                let is_retry = state
                    .reason
                    .as_deref()
                    .is_some_and(|reason| reason.starts_with("Retry attempt "));
                if is_retry {
                    sets.push(SetRow {
                        key: "retries",
                        score: 0,
                        value: job.id.to_string(),
                    });
                }
                sets.push(SetRow {
                    key: "schedule",
                    score: job.due_at.map_or(0, |due| due.timestamp()),
                    value: match job.call.own_queue {
                        Some(queue) => format!("{queue}:{}", job.id),
                        None => job.id.to_string(),
                    },
                });
            }
            StateName::Awaiting => sets.push(SetRow {
                key: "awaiting",
                score: state.at.timestamp(),
                value: job.id.to_string(),
            }),
            _ => {}
        }
    }
    sets
}

/// The statistics that Hangfire counts: totals by state, and what ended per day and, in the last
/// day, per hour.
fn counters(jobs: &[DemoJob], now: Instant) -> BTreeMap<String, (i64, Option<Instant>)> {
    let mut counters: BTreeMap<String, (i64, Option<Instant>)> = BTreeMap::new();
    let mut count = |key: String, expire_at: Option<Instant>| {
        counters.entry(key).or_insert((0, expire_at)).0 += 1;
    };
    for job in jobs {
        for (index, state) in job.states.iter().enumerate() {
            let next = job.states.get(index + 1);
            let word = match state.name {
                StateName::Succeeded => "succeeded",
                StateName::Deleted => "deleted",
                StateName::Failed if !is_passed_through(next.and_then(|n| n.reason.as_deref())) => {
                    "failed"
                }
                _ => continue,
            };
            if next.is_none() && state.name.is_final() {
                count(format!("stats:{word}"), None);
            }
            let day = state.at.format("%Y-%m-%d");
            count(
                format!("stats:{word}:{day}"),
                state.at.checked_add_days(Days::new(30)),
            );
            if state.at > now - TimeDelta::days(1) {
                let hour = state.at.format("%Y-%m-%d-%H");
                count(
                    format!("stats:{word}:{hour}"),
                    Some(state.at + TimeDelta::days(1)),
                );
            }
        }
    }
    counters
}

/// Whether a job merely passed through Failed, by the reason of its next row.
fn is_passed_through(next_reason: Option<&str>) -> bool {
    next_reason.is_some_and(|reason| {
        reason.starts_with("Retry attempt ") || reason.starts_with("Exceeded the maximum")
    })
}
