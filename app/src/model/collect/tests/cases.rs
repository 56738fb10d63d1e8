//! Faults that people met in other dashboards: attempts counted as jobs, the last failure rounded
//! away, numbers made from no data, verdicts from too few jobs.

use std::collections::BTreeMap;

use chrono::TimeDelta;

use super::oracle::{self, Whole};
use super::{fold, made};
use crate::model::collect::{Gauge, Increments, RoundEnd};
use crate::model::rates::{Rate, Recovery, Verdict};
use crate::model::state::StateRow;
use crate::model::testing::{at, because, row};

const SCHEDULER: &str = "Triggered by DelayedJobScheduler";

/// Rows of one job, one after the other.
struct Story {
    now: crate::model::state::Instant,
    rows: Vec<StateRow>,
    id: i64,
}

impl Story {
    fn new(first_id: i64, begin: &str) -> Self {
        Self {
            now: at(begin),
            rows: Vec::new(),
            id: first_id,
        }
    }

    fn after_ms(mut self, ms: i64) -> Self {
        self.now += TimeDelta::milliseconds(ms);
        self
    }

    fn add(mut self, name: &str, reason: Option<&str>, data: &str) -> Self {
        let time = self.now.to_rfc3339();
        self.rows.push(match reason {
            Some(reason) => because(self.id, name, &time, reason, data),
            None => row(self.id, name, &time, data),
        });
        self.id += 1;
        self.now += TimeDelta::milliseconds(500);
        self
    }

    /// From its queue to a failure.
    fn fails(self, with: &str) -> Self {
        let data = format!(r#"{{"ExceptionType":"{with}"}}"#);
        let released = (!self.rows.is_empty()).then_some(SCHEDULER);
        self.add("Enqueued", released, r#"{"Queue":"default"}"#)
            .add("Processing", None, "{}")
            .add("Failed", None, &data)
    }

    fn retries(self, number: u32, of: u32) -> Self {
        let due = (self.now + TimeDelta::seconds(5)).to_rfc3339();
        let data = format!(r#"{{"EnqueueAt":"{due}"}}"#);
        self.add(
            "Scheduled",
            Some(&format!("Retry attempt {number} of {of}: no")),
            &data,
        )
        .after_ms(8_000)
    }

    fn succeeds(self) -> Self {
        let released = (!self.rows.is_empty()).then_some(SCHEDULER);
        self.add("Enqueued", released, r#"{"Queue":"default"}"#)
            .add("Processing", None, "{}")
            .add("Succeeded", None, "{}")
    }
}

fn counted(jobs: &BTreeMap<i64, Whole>) -> Increments {
    let rows: usize = jobs.values().map(|job| job.rows.len()).sum();
    let (sums, _) = fold(jobs, &[rows / 3, rows / 2]);
    assert_eq!(sums, oracle::numbers(jobs.values()));
    sums
}

fn first_attempts(sums: &Increments) -> Rate {
    let count = |count: i64| u64::try_from(count).unwrap();
    sums.first_attempts
        .values()
        .fold(Rate::default(), |rate, sums| {
            rate.plus(Rate::new(count(sums.succeeded), count(sums.ended)))
        })
}

/// By number of the attempt: rounds that finished so.
fn finished(sums: &Increments, end: RoundEnd, later: bool) -> BTreeMap<u32, i64> {
    let mut by_number = BTreeMap::new();
    for (key, sums) in &sums.rounds {
        if key.end == end && key.later == later {
            *by_number.entry(key.number).or_default() += sums.rounds;
        }
    }
    by_number
}

/// 80 jobs succeed at once, 20 fail four times and then succeed.
#[test]
fn a_blip_is_no_disaster() {
    let mut jobs = BTreeMap::new();
    for g in 1..=100_i64 {
        let mut rows = Story::new(7_000_000 + g * 100, "2026-11-02T08:00:00").after_ms(g * 60_000);
        if g > 80 {
            for attempt in 1..=4 {
                rows = rows.fails("System.TimeoutException").retries(attempt, 10);
            }
        }
        jobs.insert(g, made(rows.succeeds().rows, "InvoiceEmailJob"));
    }
    let sums = counted(&jobs);
    let rate = first_attempts(&sums);
    assert_eq!(rate, Rate::new(80, 100));
    assert_eq!(rate.percent().as_deref(), Some("80.0 %"));
    let attempts = |outcome: &str| -> i64 {
        let with = sums
            .attempts
            .iter()
            .filter(|(key, _)| key.outcome == outcome);
        with.map(|(_, sums)| sums.attempts).sum()
    };
    assert_eq!((attempts("succeeded"), attempts("failed")), (100, 80));
    assert_eq!(
        finished(&sums, RoundEnd::Succeeded, false),
        BTreeMap::from([(1, 80), (5, 20)])
    );
    assert_eq!(finished(&sums, RoundEnd::GaveUp, false), BTreeMap::new());
    assert_eq!(finished(&sums, RoundEnd::Succeeded, true), BTreeMap::new());
    // The default formula's shape is another matter: each delay was 5 s.
    let delays: Vec<(u32, i64, Option<i64>, Option<i64>)> = sums
        .delays
        .iter()
        .map(|(key, sums)| (key.retry, sums.delays, sums.min_ms, sums.max_ms))
        .collect();
    let each = |retry| (retry, 20, Some(5_000), Some(5_000));
    assert_eq!(delays, [each(1), each(2), each(3), each(4)]);
}

/// 9,999 of 10,000 succeed, the last one fails and rests in Failed.
#[test]
fn the_one_failure_of_ten_thousand_is_seen() {
    let mut jobs = BTreeMap::new();
    for g in 1..=10_000_i64 {
        let rows = Story::new(7_100_000 + g * 10, "2026-11-02T00:00:00").after_ms(g * 8_000);
        let rows = if g == 10_000 {
            rows.fails("System.TimeoutException")
        } else {
            rows.succeeds()
        };
        jobs.insert(g, made(rows.rows, "PingJob"));
    }
    let sums = counted(&jobs);
    assert_eq!(first_attempts(&sums), Rate::new(9_999, 10_000));
    assert_eq!(first_attempts(&sums).percent().as_deref(), Some("99.99 %"));
    assert_eq!(
        finished(&sums, RoundEnd::GaveUp, false),
        BTreeMap::from([(1, 1)])
    );
}

/// Only a job that is still running.
#[test]
fn of_no_finished_attempt_there_is_no_rate() {
    let rows = Story::new(1, "2026-11-02T12:00:00")
        .add("Enqueued", None, "{}")
        .add("Processing", None, "{}");
    let sums = counted(&super::one(made(rows.rows, "NightlyReport")));
    assert_eq!(first_attempts(&sums), Rate::new(0, 0));
    assert_eq!(first_attempts(&sums).percent(), None);
    let pending = Gauge::PendingRounds {
        job_type: "NightlyReport".to_owned(),
        method: "RunAsync".to_owned(),
        later: false,
    };
    assert_eq!(sums.gauges.get(&pending), Some(&1));
}

const PERMANENT: &str = "Bookstore.Jobs.PermanentJobException";
const TIMEOUT: &str = "System.TimeoutException";

/// What each exception leads to: twelve jobs fail for good, of 21 with a timeout all but one
/// recover, one is still retrying, one failed once and rests, one had two errors.
#[test]
fn stop_retrying_is_said_of_the_one_that_never_recovers() {
    let mut jobs = BTreeMap::new();
    for g in 1..=32_i64 {
        let mut rows = Story::new(11_000_000 + g * 100, "2026-11-02T08:00:00").after_ms(g * 60_000);
        let with = if g <= 12 { PERMANENT } else { TIMEOUT };
        if g <= 13 {
            for attempt in 1..=3 {
                rows = rows.fails(with).retries(attempt, 3);
            }
            rows = rows.fails(with);
        } else {
            rows = rows.fails(with).retries(1, 3).succeeds();
        }
        jobs.insert(g, made(rows.rows, "ReconcileJob"));
    }
    let begin = "2026-11-02T09:00:00";
    for (job, rows) in [
        (
            41,
            Story::new(11_004_101, begin)
                .fails("System.NullReferenceException")
                .retries(1, 3),
        ),
        (
            42,
            Story::new(11_004_201, begin).fails("System.ArgumentException"),
        ),
        (
            43,
            Story::new(11_004_301, begin)
                .fails(TIMEOUT)
                .retries(1, 3)
                .fails("System.Net.Http.HttpRequestException")
                .retries(2, 3)
                .succeeds(),
        ),
    ] {
        jobs.insert(job, made(rows.rows, "ReconcileJob"));
    }
    let sums = counted(&jobs);
    let recovery = |exception: &str| {
        let mut recovery = Recovery::default();
        let mut for_nothing = 0;
        for (key, sums) in &sums.recovery {
            if key.exception == exception {
                recovery.recovered += u64::try_from(sums.recovered).unwrap();
                recovery.gave_up += u64::try_from(sums.gave_up).unwrap();
                for_nothing += sums.retries_gave_up;
            }
        }
        (recovery.rate(), recovery.verdict(), for_nothing)
    };
    assert_eq!(
        recovery(PERMANENT),
        (Rate::new(0, 12), Some(Verdict::Permanent), 36)
    );
    assert_eq!(
        recovery(TIMEOUT),
        (Rate::new(20, 21), Some(Verdict::Recovers), 3)
    );
    assert_eq!(
        recovery("System.Net.Http.HttpRequestException"),
        (Rate::new(1, 1), Some(Verdict::Recovers), 0)
    );
    assert_eq!(
        recovery("System.ArgumentException"),
        (Rate::new(0, 1), Some(Verdict::TooFew), 0)
    );
    let retrying = "System.NullReferenceException";
    assert_eq!(recovery(retrying), (Rate::new(0, 0), None, 0));
    let pending = Gauge::PendingRecovery {
        job_type: "ReconcileJob".to_owned(),
        method: "RunAsync".to_owned(),
        exception: retrying.to_owned(),
    };
    assert_eq!(sums.gauges.get(&pending), Some(&1));
    let states: Vec<(&str, i64)> = sums
        .gauges
        .iter()
        .filter_map(|(gauge, jobs)| match gauge {
            Gauge::Jobs { state } => Some((state.as_str(), *jobs)),
            _ => None,
        })
        .collect();
    assert_eq!(states, [("failed", 14), ("retrying", 1), ("succeeded", 20)]);
}

/// A requeue does not rewrite that the round before it gave up.
#[test]
fn rounds_after_a_requeue_are_counted_apart() {
    let rows = Story::new(1, "2026-11-02T08:00:00")
        .fails(TIMEOUT)
        .retries(1, 1)
        .fails(TIMEOUT)
        .add("Enqueued", Some("Triggered via Dashboard UI"), "{}")
        .add("Processing", None, "{}")
        .add("Succeeded", None, "{}");
    let sums = counted(&super::one(made(rows.rows, "A")));
    assert_eq!(
        finished(&sums, RoundEnd::GaveUp, false),
        BTreeMap::from([(2, 1)])
    );
    assert_eq!(
        finished(&sums, RoundEnd::Succeeded, true),
        BTreeMap::from([(1, 1)])
    );
    assert_eq!(first_attempts(&sums), Rate::new(0, 1));
    let backoff: Vec<i64> = sums.rounds.values().map(|sums| sums.backoff_ms).collect();
    assert_eq!(backoff, [5_000, 0]);
}

/// Names of any length are counted, under what an index can hold.
#[test]
fn a_type_with_a_name_of_four_thousand_characters_is_counted() {
    let rows = Story::new(1, "2026-11-02T08:00:00").succeeds();
    let sums = counted(&super::one(made(rows.rows, &"T".repeat(4_096))));
    let (key, _) = sums.first_attempts.first_key_value().unwrap();
    assert_eq!(key.job_type, format!("{}\u{2026}", "T".repeat(300)));
}

/// A row whose successors were read before it: the job is counted as if it had come in time.
#[test]
fn a_row_that_comes_late_is_counted_in_its_place() {
    use crate::model::collect::batch::{Batch, JobRow};
    use crate::model::collect::position::Position;
    use std::collections::HashMap;

    let rows = Story::new(1, "2026-11-02T08:00:00")
        .fails(TIMEOUT)
        .retries(1, 1)
        .fails(TIMEOUT)
        .rows;
    let job = made(rows.clone(), "A");
    let of = |row: &StateRow| JobRow {
        job: 1,
        row: row.clone(),
    };
    let wanted = oracle::numbers([&job]);
    for late in 0..rows.len() {
        let (came, rest): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.id != rows[late].id);
        let first = Batch {
            rows: came.iter().map(|row| of(row)).collect(),
            jobs: HashMap::from([(1, job.job.clone())]),
            ..Batch::default()
        };
        let before = first.fold(&Position::default());
        let second = Batch {
            rows: rest.iter().map(|row| of(row)).collect(),
            jobs: HashMap::from([(1, job.job.clone())]),
            memories: before.remembered.clone().into_iter().collect(),
            older: HashMap::from([(1, came.into_iter().cloned().collect())]),
        };
        let mut sums = before.increments;
        sums.add(&second.fold(&Position::default()).increments, 1);
        // Shortest and longest cannot be taken back, and need not be.
        sums.delays.retain(|_, sums| sums.delays != 0);
        let mut wanted = wanted.clone();
        wanted.delays.retain(|key, _| sums.delays.contains_key(key));
        assert_eq!(sums, wanted, "row {late} came late");
    }
}
