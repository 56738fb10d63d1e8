//! What rows add to the numbers.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::Serialize;

use super::Histogram;

/// Sums under one key.
pub trait Sums: Default + PartialEq {
    /// Adds others, `times` times; -1 takes them away.
    fn add(&mut self, other: &Self, times: i64);
}

/// Which attempts are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct AttemptKey {
    /// The hour in which they ended, counted from 1970.
    pub hour: i64,
    /// The job's type, with its namespace.
    pub job_type: String,
    /// The method.
    pub method: String,
    /// The job's own queue, else that of its last `Enqueued` row.
    pub queue: String,
    /// Whether their round began with a requeue.
    pub later: bool,
    /// The number within the round, from 1. 0 for attempts without a number: put back, cancelled,
    /// or of a round whose beginning is not known.
    pub number: u32,
    /// [`crate::model::attempt::Outcome::slug`].
    pub outcome: &'static str,
}

/// Counts of attempts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AttemptSums {
    /// How many there were.
    pub attempts: i64,
    /// How long they waited, where that is recorded.
    pub waited: Histogram,
    /// How long they ran, where that is recorded.
    pub ran: Histogram,
}

impl Sums for AttemptSums {
    fn add(&mut self, other: &Self, times: i64) {
        self.attempts += other.attempts * times;
        self.waited.add(&other.waited, times);
        self.ran.add(&other.ran, times);
    }
}

/// Which first attempts are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FirstKey {
    /// The ten minutes in which they ended: [`crate::model::rates::slot`].
    pub slot: i64,
    /// As in [`AttemptKey`].
    pub job_type: String,
    /// As in [`AttemptKey`].
    pub method: String,
    /// As in [`AttemptKey`].
    pub queue: String,
}

/// Counts of first attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FirstSums {
    /// Those that succeeded.
    pub succeeded: i64,
    /// All.
    pub ended: i64,
}

impl Sums for FirstSums {
    fn add(&mut self, other: &Self, times: i64) {
        self.succeeded += other.succeeded * times;
        self.ended += other.ended * times;
    }
}

/// How a round finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundEnd {
    /// Its last attempt succeeded.
    Succeeded,
    /// It came to rest in Failed, or was deleted right after it failed.
    GaveUp,
}

/// Which finished rounds are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RoundKey {
    /// The hour in which they finished, counted from 1970.
    pub hour: i64,
    /// As in [`AttemptKey`].
    pub job_type: String,
    /// As in [`AttemptKey`].
    pub method: String,
    /// As in [`AttemptKey`].
    pub queue: String,
    /// Whether they began with a requeue.
    pub later: bool,
    /// How they finished.
    #[serde(rename = "ending")]
    pub end: RoundEnd,
    /// With which attempt.
    pub number: u32,
}

/// Counts of rounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RoundSums {
    /// How many there were.
    pub rounds: i64,
    /// The delays of all their planned retries together, in milliseconds.
    pub backoff_ms: i64,
}

impl Sums for RoundSums {
    fn add(&mut self, other: &Self, times: i64) {
        self.rounds += other.rounds * times;
        self.backoff_ms = self
            .backoff_ms
            .saturating_add(other.backoff_ms.saturating_mul(times));
    }
}

/// Which finished rounds are counted together by what their attempts failed with. A round with
/// two types of exceptions counts for both.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RecoveryKey {
    /// The hour in which they finished, counted from 1970.
    pub hour: i64,
    /// As in [`AttemptKey`].
    pub job_type: String,
    /// As in [`AttemptKey`].
    pub method: String,
    /// The exception's type; empty where none was stored.
    pub exception: String,
}

/// Counts of rounds, and of the attempts after the first one that failed so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RecoverySums {
    /// Rounds that succeeded.
    pub recovered: i64,
    /// Rounds that gave up.
    pub gave_up: i64,
    /// Retries of those that succeeded.
    pub retries_recovered: i64,
    /// Retries of those that gave up: spent for nothing.
    pub retries_gave_up: i64,
}

impl Sums for RecoverySums {
    fn add(&mut self, other: &Self, times: i64) {
        self.recovered += other.recovered * times;
        self.gave_up += other.gave_up * times;
        self.retries_recovered += other.retries_recovered * times;
        self.retries_gave_up += other.retries_gave_up * times;
    }
}

/// Which planned delays are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct DelayKey {
    /// The day on which they were planned, counted from 1970.
    pub day: i64,
    /// As in [`AttemptKey`].
    pub job_type: String,
    /// As in [`AttemptKey`].
    pub method: String,
    /// The policy's maximum of retries.
    #[serde(rename = "retries")]
    pub of: u32,
    /// The number of the retry.
    pub retry: u32,
}

/// Delays that a policy chose, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct DelaySums {
    /// How many.
    pub delays: i64,
    /// All together.
    pub sum_ms: i64,
    /// The shortest; taking delays away leaves it.
    pub min_ms: Option<i64>,
    /// The longest; taking delays away leaves it.
    pub max_ms: Option<i64>,
}

impl Sums for DelaySums {
    fn add(&mut self, other: &Self, times: i64) {
        self.delays += other.delays * times;
        self.sum_ms = self
            .sum_ms
            .saturating_add(other.sum_ms.saturating_mul(times));
        self.min_ms = [self.min_ms, other.min_ms].into_iter().flatten().min();
        self.max_ms = self.max_ms.max(other.max_ms);
    }
}

/// A number of jobs or rounds at this moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gauge {
    /// Jobs in a state, as their rows say. Those in final states expire without a word.
    Jobs {
        /// The word of the list, else the stored name.
        state: String,
    },
    /// Rounds that have begun and not finished.
    PendingRounds {
        /// As in [`AttemptKey`].
        job_type: String,
        /// As in [`AttemptKey`].
        method: String,
        /// As in [`AttemptKey`].
        later: bool,
    },
    /// The same by what their attempts failed with so far.
    PendingRecovery {
        /// As in [`AttemptKey`].
        job_type: String,
        /// As in [`AttemptKey`].
        method: String,
        /// As in [`RecoveryKey`].
        exception: String,
    },
}

impl Sums for i64 {
    fn add(&mut self, other: &Self, times: i64) {
        *self += other * times;
    }
}

/// What rows add to the numbers. Keys under which nothing is added are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Increments {
    /// Attempts that ended.
    pub attempts: BTreeMap<AttemptKey, AttemptSums>,
    /// First attempts that ended.
    pub first_attempts: BTreeMap<FirstKey, FirstSums>,
    /// Rounds that finished.
    pub rounds: BTreeMap<RoundKey, RoundSums>,
    /// The same by exception.
    pub recovery: BTreeMap<RecoveryKey, RecoverySums>,
    /// Delays that were planned.
    pub delays: BTreeMap<DelayKey, DelaySums>,
    /// Changes of what is counted at this moment.
    pub gauges: BTreeMap<Gauge, i64>,
}

impl Increments {
    /// Adds others, `times` times; -1 takes them away.
    pub fn add(&mut self, other: &Self, times: i64) {
        add_all(&mut self.attempts, &other.attempts, times);
        add_all(&mut self.first_attempts, &other.first_attempts, times);
        add_all(&mut self.rounds, &other.rounds, times);
        add_all(&mut self.recovery, &other.recovery, times);
        add_all(&mut self.delays, &other.delays, times);
        add_all(&mut self.gauges, &other.gauges, times);
    }

    /// Counts a gauge up or down.
    pub fn gauge(&mut self, gauge: Gauge, by: i64) {
        add_one(&mut self.gauges, gauge, &by, 1);
    }

    /// Whether nothing is added.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn add_all<K: Clone + Ord, S: Sums>(to: &mut BTreeMap<K, S>, from: &BTreeMap<K, S>, times: i64) {
    for (key, sums) in from {
        add_one(to, key.clone(), sums, times);
    }
}

fn add_one<K: Ord, S: Sums>(to: &mut BTreeMap<K, S>, key: K, sums: &S, times: i64) {
    match to.entry(key) {
        Entry::Vacant(vacant) => {
            let mut new = S::default();
            new.add(sums, times);
            if new != S::default() {
                vacant.insert(new);
            }
        }
        Entry::Occupied(mut occupied) => {
            occupied.get_mut().add(sums, times);
            if *occupied.get() == S::default() {
                occupied.remove();
            }
        }
    }
}
