//! The numbers as rows of the own tables, in one form for both dialects: each table's rows are
//! sent as one JSON array, and its statement adds them to what is there.

use app::model::collect::batch::Changes;
use app::model::collect::{
    AttemptKey, AttemptSums, DelayKey, DelaySums, Failure, FailureGroup, FirstKey, FirstSums,
    Gauge, Increments, RecoveryKey, RecoverySums, RoundKey, RoundSums, server_number,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Rows to add, as JSON; none for tables to which nothing is added.
#[derive(Debug, Default)]
pub struct Rows {
    /// Table `attempts`.
    pub attempts: Option<String>,
    /// Table `first_attempts`.
    pub first_attempts: Option<String>,
    /// Table `rounds`.
    pub rounds: Option<String>,
    /// Table `recovery`.
    pub recovery: Option<String>,
    /// Table `delays`.
    pub delays: Option<String>,
    /// Table `gauges`.
    pub gauges: Option<String>,
}

#[derive(Serialize)]
struct Row<'a, K, S> {
    #[serde(flatten)]
    key: &'a K,
    #[serde(flatten)]
    sums: &'a S,
}

#[derive(Serialize)]
struct GaugeRow<'a> {
    gauge: &'static str,
    job_type: &'a str,
    method: &'a str,
    label: &'a str,
    value: i64,
}

/// Rows of the index, as JSON.
#[derive(Debug, Default)]
pub struct IndexRows {
    /// Table `failure_groups`.
    pub groups: Option<String>,
    /// Table `failures`.
    pub failures: Option<String>,
    /// Jobs that are to have no row.
    pub left: Vec<i64>,
    /// All of these jobs, each once.
    pub touched: Vec<i64>,
    /// How many of them each group has afterwards.
    pub sizes: Sizes,
}

#[derive(Serialize)]
struct Growth {
    id: i64,
    jobs: i64,
}

#[derive(Serialize)]
struct GroupRow<'a> {
    id: i64,
    list: &'static str,
    job_type: &'a str,
    method: Option<&'a str>,
    queue: Option<&'a str>,
    exception: Option<&'a str>,
    attempts: u32,
}

#[derive(Serialize)]
struct FailureRow {
    job: i64,
    list: &'static str,
    changed_at: i64,
    state_id: i64,
    group_id: i64,
    attempts: u32,
    server: Option<i64>,
}

impl IndexRows {
    /// Of what a batch changes.
    ///
    /// # Errors
    /// Never for what changes hold.
    pub fn of(changes: &Changes) -> Result<Self, serde_json::Error> {
        let left: Vec<i64> = [changes.left.as_slice(), &changes.forgotten].concat();
        let touched: BTreeSet<i64> = left
            .iter()
            .chain(changes.failures.keys())
            .copied()
            .collect();
        let mut rows = Self {
            left,
            touched: touched.into_iter().collect(),
            ..Self::default()
        };
        if changes.failures.is_empty() {
            return Ok(rows);
        }
        let left: HashSet<i64> = rows.left.iter().copied().collect();
        let mut groups = BTreeMap::new();
        let mut failures = Vec::with_capacity(changes.failures.len());
        for (job, failure) in &changes.failures {
            let row = failure_row(*job, failure);
            groups
                .entry(row.group_id)
                .or_insert_with(|| group_row(row.group_id, &failure.group));
            if !left.contains(job) {
                *rows.sizes.0.entry(row.group_id).or_default() += 1;
            }
            failures.push(row);
        }
        let groups: Vec<GroupRow<'_>> = groups.into_values().collect();
        rows.groups = Some(serde_json::to_string(&groups)?);
        rows.failures = Some(serde_json::to_string(&failures)?);
        Ok(rows)
    }
}

/// How many of the jobs that a batch touches each group has afterwards.
#[derive(Debug, Default)]
pub struct Sizes(BTreeMap<i64, i64>);

impl Sizes {
    /// By how much groups grow, as JSON; `None` where none does. `before` are the groups of the same
    /// jobs before the batch, each as often as it had any.
    ///
    /// # Errors
    /// Never.
    pub fn growth(self, before: &[i64]) -> Result<Option<String>, serde_json::Error> {
        let mut growth = self.0;
        for group in before {
            *growth.entry(*group).or_default() -= 1;
        }
        growth.retain(|_, jobs| *jobs != 0);
        if growth.is_empty() {
            return Ok(None);
        }
        let rows: Vec<Growth> = growth
            .into_iter()
            .map(|(id, jobs)| Growth { id, jobs })
            .collect();
        serde_json::to_string(&rows).map(Some)
    }
}

fn failure_row(job: i64, failure: &Failure) -> FailureRow {
    FailureRow {
        job,
        list: failure.group.list.slug(),
        changed_at: failure.changed_at.timestamp_micros(),
        state_id: failure.state_id,
        group_id: failure.group.id(),
        attempts: failure.attempts,
        server: failure.server.as_deref().map(server_number),
    }
}

fn group_row(id: i64, group: &FailureGroup) -> GroupRow<'_> {
    GroupRow {
        id,
        list: group.list.slug(),
        job_type: &group.job_type,
        method: group.method.as_deref(),
        queue: group.queue.as_deref(),
        exception: group.exception.as_deref(),
        attempts: group.attempts,
    }
}

impl Rows {
    /// Of increments.
    ///
    /// # Errors
    /// Never for what increments hold.
    pub fn of(increments: &Increments) -> Result<Self, serde_json::Error> {
        let Increments {
            attempts,
            first_attempts,
            rounds,
            recovery,
            delays,
            gauges,
        } = increments;
        let gauges: Vec<GaugeRow<'_>> = gauges.iter().map(gauge_row).collect();
        Ok(Self {
            attempts: json::<AttemptKey, AttemptSums>(attempts)?,
            first_attempts: json::<FirstKey, FirstSums>(first_attempts)?,
            rounds: json::<RoundKey, RoundSums>(rounds)?,
            recovery: json::<RecoveryKey, RecoverySums>(recovery)?,
            delays: json::<DelayKey, DelaySums>(delays)?,
            gauges: if gauges.is_empty() {
                None
            } else {
                Some(serde_json::to_string(&gauges)?)
            },
        })
    }
}

fn json<K: Serialize, S: Serialize>(
    rows: &BTreeMap<K, S>,
) -> Result<Option<String>, serde_json::Error> {
    if rows.is_empty() {
        return Ok(None);
    }
    let rows: Vec<Row<'_, K, S>> = rows.iter().map(|(key, sums)| Row { key, sums }).collect();
    serde_json::to_string(&rows).map(Some)
}

fn gauge_row<'a>((gauge, value): (&'a Gauge, &i64)) -> GaugeRow<'a> {
    let (gauge, job_type, method, label) = match gauge {
        Gauge::Jobs { state } => ("jobs", "", "", state.as_str()),
        Gauge::PendingRounds {
            job_type,
            method,
            later,
        } => {
            let label = if *later { "later" } else { "first" };
            ("pending-rounds", job_type.as_str(), method.as_str(), label)
        }
        Gauge::PendingRecovery {
            job_type,
            method,
            exception,
        } => (
            "pending-recovery",
            job_type.as_str(),
            method.as_str(),
            exception.as_str(),
        ),
    };
    GaugeRow {
        gauge,
        job_type,
        method,
        label,
        value: *value,
    }
}
