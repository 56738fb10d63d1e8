//! When the planned retries of the next hour come due.

use std::collections::BTreeMap;

use chrono::TimeDelta;

use super::{DueRetry, JobKind};
use crate::model::state::Instant;

#[cfg(test)]
mod tests;

/// Retries are counted in steps of five minutes.
pub const STEP_SECONDS: i64 = 300;
/// So many of them: an hour.
pub const STEPS: usize = 12;

/// The retries of the next hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forecast {
    /// When they were read.
    pub read_at: Instant,
    /// One for each five minutes, from the running ones on.
    pub steps: Vec<Step>,
    /// Retries that were due before the first step: nobody has released them.
    pub overdue: i64,
    /// The retries of the steps by kind, those with the most first.
    pub kinds: Vec<KindDue>,
    /// Where more are planned than were read: what comes due from this instant on is not known.
    pub known_to: Option<Instant>,
}

/// Five minutes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// When they begin.
    pub from: Instant,
    /// Retries that come due within them, after which the policy gives up.
    pub last_tries: Due,
    /// The other ones.
    pub others: Due,
}

/// Retries that come due together, and what they have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Due {
    /// How many.
    pub retries: i64,
    /// Of which job, where it is one alone.
    pub job: Option<i64>,
    /// Of which kind, where all are of one.
    pub kind: Option<JobKind>,
}

impl Due {
    fn one(retry: &DueRetry) -> Self {
        Self {
            retries: 1,
            job: Some(retry.job),
            kind: Some(retry.kind.clone()),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        match (self.retries, other.retries) {
            (0, _) => other,
            (_, 0) => self,
            (some, more) => Self {
                retries: some + more,
                job: None,
                kind: self.kind.filter(|kind| other.kind.as_ref() == Some(kind)),
            },
        }
    }
}

impl Step {
    /// Every retry that comes due within them.
    pub fn all(&self) -> Due {
        self.last_tries.clone().plus(self.others.clone())
    }
}

/// Retries of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindDue {
    /// Of which jobs.
    pub kind: JobKind,
    /// Retries that come due.
    pub retries: i64,
    /// Those of them after which the policy gives up.
    pub last_tries: i64,
    /// When the first of the last tries comes due.
    pub first_last_try: Option<Instant>,
    /// The lowest maximum of retries among the last tries: each of their jobs has had at least
    /// so many attempts.
    pub fewest_attempts: Option<u32>,
}

/// The beginning of the five minutes that an instant lies in.
fn step_start(at: Instant) -> Instant {
    let seconds = at.timestamp().rem_euclid(STEP_SECONDS);
    let micros = i64::from(at.timestamp_subsec_micros());
    at - TimeDelta::seconds(seconds) - TimeDelta::microseconds(micros)
}

impl Forecast {
    /// Up to when retries are to be read.
    pub fn until(now: Instant) -> Instant {
        step_start(now) + TimeDelta::seconds(STEP_SECONDS * i64::try_from(STEPS).unwrap_or(0))
    }

    /// Sums what was read at `now`: `due` in the order of due times, at most `limit` of them.
    pub fn new(due: &[DueRetry], limit: usize, now: Instant) -> Self {
        let begin = step_start(now);
        let mut steps: Vec<Step> = (0..STEPS)
            .map(|step| Step {
                from: begin + TimeDelta::seconds(STEP_SECONDS * i64::try_from(step).unwrap_or(0)),
                last_tries: Due::default(),
                others: Due::default(),
            })
            .collect();
        let mut kinds: BTreeMap<&JobKind, KindDue> = BTreeMap::new();
        let mut overdue = 0;
        for retry in due {
            if retry.due < begin {
                overdue += 1;
                continue;
            }
            let index = (retry.due - begin).num_seconds() / STEP_SECONDS;
            let Some(step) = usize::try_from(index).ok().and_then(|i| steps.get_mut(i)) else {
                continue;
            };
            let is_last = retry.number.is_some_and(|(number, of)| number >= of);
            let group = if is_last {
                &mut step.last_tries
            } else {
                &mut step.others
            };
            *group = std::mem::take(group).plus(Due::one(retry));
            let kind = kinds.entry(&retry.kind).or_insert_with(|| KindDue {
                kind: retry.kind.clone(),
                retries: 0,
                last_tries: 0,
                first_last_try: None,
                fewest_attempts: None,
            });
            kind.retries += 1;
            if is_last {
                kind.last_tries += 1;
                kind.first_last_try = kind.first_last_try.or(Some(retry.due));
                let of = retry.number.map(|(_, of)| of);
                kind.fewest_attempts = [kind.fewest_attempts, of].into_iter().flatten().min();
            }
        }
        let mut kinds: Vec<KindDue> = kinds.into_values().collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.retries));
        Self {
            read_at: now,
            steps,
            overdue,
            kinds,
            known_to: due
                .last()
                .filter(|_| due.len() >= limit)
                .map(|last| last.due),
        }
    }

    /// Retries that come due within the hour.
    pub fn retries(&self) -> i64 {
        self.kinds.iter().map(|kind| kind.retries).sum()
    }

    /// Those of them after which the policy gives up.
    pub fn last_tries(&self) -> i64 {
        self.kinds.iter().map(|kind| kind.last_tries).sum()
    }

    /// When the first of the last tries comes due.
    pub fn first_last_try(&self) -> Option<Instant> {
        self.kinds
            .iter()
            .filter_map(|kind| kind.first_last_try)
            .min()
    }

    /// The end of the last step.
    pub fn to(&self) -> Instant {
        Self::until(self.read_at)
    }
}
