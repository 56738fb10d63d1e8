//! What the numbers of the last days come to: read once for all viewers, shown on the overview.

use std::collections::BTreeMap;

use super::endings::Endings;
use super::{Coverage, FirstAttemptsRow, JobKind, Pending, RoundsRow, Scope};
use crate::model::collect::{HOUR_SECONDS, hour};
use crate::model::rates::{Fall, FirstAttempts, Rate, SLOT_SECONDS, slot};
use crate::model::state::Instant;

#[cfg(test)]
mod tests;

/// Hours of a day.
pub const DAY: i64 = 24;
/// Hours of a week.
pub const WEEK: i64 = 7 * DAY;
const SLOTS_PER_HOUR: i64 = HOUR_SECONDS / SLOT_SECONDS;
/// Rates over time are shown in steps of so many hours.
const STEPS: [i64; 4] = [1, 3, 6, 12];
/// A step holds so many first attempts on average, or is longer: fewer show little but chance.
const ENOUGH: u64 = 30;

/// What a digest is made of, as the store gave it.
#[derive(Debug, Clone)]
pub struct Raw {
    /// What the numbers are made of.
    pub coverage: Coverage,
    /// First attempts of [`scopes`]`.first`, by single slots.
    pub first: Vec<FirstAttemptsRow>,
    /// Rounds of [`scopes`]`.week`, in one step.
    pub week: Vec<RoundsRow>,
    /// Rounds of [`scopes`]`.day`, by the hour.
    pub day: Vec<RoundsRow>,
    /// What has begun and not finished.
    pub pending: Pending,
}

/// The hours that a digest is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scopes {
    /// Eight days and a bit: the longest window of the fall detection, its baseline, and the half
    /// hour that a fall must have held.
    pub first: Scope,
    /// The seven days that end with the running hour.
    pub week: Scope,
    /// The day that ends with the running hour.
    pub day: Scope,
}

/// The hours to read at `now`.
pub fn scopes(now: Instant) -> Scopes {
    let to = hour(now) + 1;
    let last = |hours: i64| Scope {
        from: to - hours,
        to,
        job_type: None,
        method: None,
        queue: None,
    };
    Scopes {
        first: last(WEEK + DAY + 2),
        week: last(WEEK),
        day: last(DAY),
    }
}

/// The numbers of the last days.
#[derive(Debug, Clone, PartialEq)]
pub struct Digest {
    /// What they are made of.
    pub coverage: Coverage,
    /// When they were read.
    pub read_at: Instant,
    /// First attempts of the last seven days by the hour, rising; hours without any are left out.
    pub first_by_hour: Vec<(i64, Rate)>,
    /// First attempts of all kinds together.
    pub first: Compared,
    /// The fall of all kinds together, where there is one.
    pub fall: Option<Fall>,
    /// First attempts by kind, those with the most failed ones of the last 24 hours first.
    pub kinds: Vec<KindFirst>,
    /// Rounds that finished within the last seven days.
    pub week: Spread,
    /// Rounds that finished within the last 24 hours.
    pub day: Spread,
    /// Rounds that finished in each of the last 24 hours, the running one last.
    pub hours: Vec<(i64, Spread)>,
    /// First rounds that have begun and not finished.
    pub pending: i64,
    /// The same of rounds that began with a requeue.
    pub pending_again: i64,
}

/// First attempts of the last 24 hours, and of the seven days before them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compared {
    /// The last 24 hours.
    pub day: Rate,
    /// The seven days before them.
    pub usual: Rate,
}

/// First attempts of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindFirst {
    /// Of which jobs.
    pub kind: JobKind,
    /// How many succeeded.
    pub first: Compared,
    /// Its fall, where there is one.
    pub fall: Option<Fall>,
    /// The last 24 hours by the hour, the running one last.
    pub hours: Vec<Rate>,
}

/// How rounds finished.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spread {
    /// First rounds of their jobs.
    pub first: Endings,
    /// Rounds that began with a requeue.
    pub again: Endings,
}

impl Spread {
    fn of<'a>(rows: impl IntoIterator<Item = &'a RoundsRow>) -> Self {
        let mut spread = Self::default();
        for row in rows {
            let endings = if row.later {
                &mut spread.again
            } else {
                &mut spread.first
            };
            endings.take(row);
        }
        spread
    }

    /// Every round that succeeded.
    pub fn succeeded(&self) -> i64 {
        self.first.succeeded() + self.again.succeeded()
    }

    /// First rounds that succeeded with a retry.
    pub fn after_retry(&self) -> i64 {
        self.first.succeeded() - self.first.first
    }

    /// Every round that gave up.
    pub fn gave_up(&self) -> i64 {
        self.first.gave_up + self.again.gave_up
    }

    /// Every round that finished.
    pub fn finished(&self) -> i64 {
        self.first.finished() + self.again.finished()
    }
}

impl Digest {
    /// Sums what was read at `now`.
    pub fn new(raw: Raw, now: Instant) -> Self {
        let this_hour = hour(now);
        let this_slot = slot(now);
        let mut by_kind: BTreeMap<JobKind, Vec<(i64, Rate)>> = BTreeMap::new();
        let mut all: BTreeMap<i64, Rate> = BTreeMap::new();
        for row in raw.first {
            let sum = all.entry(row.slot).or_default();
            *sum = sum.plus(row.rate);
            by_kind
                .entry(row.kind)
                .or_default()
                .push((row.slot, row.rate));
        }
        let mut first_by_hour: BTreeMap<i64, Rate> = BTreeMap::new();
        for (slot, rate) in &all {
            let hour = slot.div_euclid(SLOTS_PER_HOUR);
            if hour > this_hour - WEEK {
                let sum = first_by_hour.entry(hour).or_default();
                *sum = sum.plus(*rate);
            }
        }
        let all = FirstAttempts::new(all);
        let mut kinds: Vec<KindFirst> = by_kind
            .into_iter()
            .map(|(kind, slots)| {
                let hours = last_hours(
                    this_hour,
                    slots
                        .iter()
                        .map(|(slot, rate)| (slot.div_euclid(SLOTS_PER_HOUR), *rate)),
                );
                let first = FirstAttempts::new(slots);
                KindFirst {
                    kind,
                    hours,
                    first: Compared::at(&first, this_slot),
                    fall: first.fall(this_slot),
                }
            })
            .collect();
        // Stable: kinds alike stay in the order of their names.
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.first.day.rest()));
        let hours = (this_hour + 1 - DAY..=this_hour)
            .map(|hour| {
                (
                    hour,
                    Spread::of(raw.day.iter().filter(|row| row.hour == hour)),
                )
            })
            .collect();
        let pending = |later: bool| {
            let rounds = raw.pending.rounds.iter();
            rounds.filter(|row| row.1 == later).map(|row| row.2).sum()
        };
        Self {
            coverage: raw.coverage,
            read_at: now,
            first_by_hour: first_by_hour.into_iter().collect(),
            first: Compared::at(&all, this_slot),
            fall: all.fall(this_slot),
            kinds,
            week: Spread::of(&raw.week),
            day: Spread::of(&raw.day),
            hours,
            pending: pending(false),
            pending_again: pending(true),
        }
    }

    /// First attempts of the last seven days in steps of so many hours: the shortest that hold
    /// enough of them. Steps begin at midnight UTC, and those without any are left out.
    pub fn first_by_steps(&self) -> (i64, Vec<(i64, Rate)>) {
        let in_steps = |hours: i64| {
            let mut steps: BTreeMap<i64, Rate> = BTreeMap::new();
            for (hour, rate) in &self.first_by_hour {
                let sum = steps.entry(hour.div_euclid(hours) * hours).or_default();
                *sum = sum.plus(*rate);
            }
            steps
        };
        let ended: u64 = self.first_by_hour.iter().map(|(_, r)| r.denominator).sum();
        let is_enough = |steps: &BTreeMap<i64, Rate>| {
            u64::try_from(steps.len()).is_ok_and(|len| ended >= ENOUGH.saturating_mul(len))
        };
        let enough = STEPS
            .into_iter()
            .map(|hours| (hours, in_steps(hours)))
            .find(|(_, steps)| is_enough(steps));
        let (hours, steps) = enough.unwrap_or_else(|| (DAY, in_steps(DAY)));
        (hours, steps.into_iter().collect())
    }

    /// First attempts of all kinds together in each of the last 24 hours, the running one last.
    pub fn first_lately(&self) -> Vec<Rate> {
        last_hours(hour(self.read_at), self.first_by_hour.iter().copied())
    }

    /// Rounds that gave up in each of the last 24 hours, the running one last; `None` for hours
    /// before the first of which anything is counted.
    pub fn gave_up_lately(&self) -> Vec<Option<i64>> {
        let since = self.coverage.since.unwrap_or(i64::MAX);
        let hours = self.hours.iter();
        hours
            .map(|(hour, spread)| (*hour >= since).then(|| spread.gave_up()))
            .collect()
    }

    /// How many hours of the last seven days anything was counted of: those since the first.
    pub fn hours_of_week(&self) -> i64 {
        let end = hour(self.read_at) + 1;
        let since = self.coverage.since.unwrap_or(end);
        end.saturating_sub(since).clamp(0, WEEK)
    }

    /// What finished in the last full hour.
    pub fn last_hour(&self) -> Option<&(i64, Spread)> {
        self.hours.iter().rev().nth(1)
    }

    /// Kinds whose rate has fallen, the deepest fall first.
    pub fn falls(&self) -> Vec<(&JobKind, Fall)> {
        let mut falls: Vec<_> = self
            .kinds
            .iter()
            .filter_map(|kind| Some((&kind.kind, kind.fall?)))
            .collect();
        falls.sort_by(|(_, a), (_, b)| b.depth().total_cmp(&a.depth()));
        falls
    }
}

/// The rates of each of the last 24 hours.
fn last_hours(this_hour: i64, rates: impl Iterator<Item = (i64, Rate)>) -> Vec<Rate> {
    let mut by_hour: BTreeMap<i64, Rate> = (this_hour + 1 - DAY..=this_hour)
        .map(|hour| (hour, Rate::default()))
        .collect();
    for (hour, rate) in rates {
        if let Some(sum) = by_hour.get_mut(&hour) {
            *sum = sum.plus(rate);
        }
    }
    by_hour.into_values().collect()
}

impl Compared {
    /// The 24 hours that end with a slot, and the seven days before them.
    fn at(first: &FirstAttempts, now: i64) -> Self {
        let end = now + 1;
        let day = end - DAY * SLOTS_PER_HOUR;
        Self {
            day: first.between(day, end),
            usual: first.between(day - WEEK * SLOTS_PER_HOUR, day),
        }
    }
}
