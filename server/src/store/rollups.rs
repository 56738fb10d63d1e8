//! The numbers as rows of the own tables, in one form for both dialects: each table's rows are
//! sent as one JSON array, and its statement adds them to what is there.

use app::model::collect::{
    AttemptKey, AttemptSums, DelayKey, DelaySums, FirstKey, FirstSums, Gauge, Increments,
    RecoveryKey, RecoverySums, RoundKey, RoundSums,
};
use serde::Serialize;

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
    rows: &std::collections::BTreeMap<K, S>,
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
