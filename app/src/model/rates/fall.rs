//! Whether the first-attempt success rate has fallen.

use super::{Interval, Rate};
use crate::model::state::Instant;

/// First attempts are counted in slots of ten minutes.
pub const SLOT_SECONDS: i64 = 600;

/// The slot that an instant lies in: ten minutes counted from 1970.
pub fn slot(at: Instant) -> i64 {
    at.timestamp().div_euclid(SLOT_SECONDS)
}

const HOUR: i64 = 3600 / SLOT_SECONDS;
/// The window has at least this length, and at most [`LONGEST`].
const SHORTEST: i64 = 2 * HOUR;
const LONGEST: i64 = 24 * HOUR;
/// The window is stretched until it holds this many jobs.
const ENOUGH: u64 = 100;
/// The baseline: the seven days before the window.
const BASELINE: i64 = 7 * 24 * HOUR;
/// How far apart the bounds are taken.
const Z: f64 = 3.9;
/// The bounds have parted at this many slots in a row, which is half an hour. Looked at every ten
/// minutes, a rate of 98 % that does not change would else have a false alarm in three weeks of a
/// hundred; so it has one in less than one of a hundred, and a drop to 90 % at 200 jobs an hour is
/// still announced within two hours in 98 cases of a hundred.
const HELD: i64 = 4;

/// First attempts of a job type over time: how many ended in each slot, and how many of these
/// with success.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FirstAttempts {
    /// Slots in which any ended, rising, each with the sum of all slots up to and with it.
    sums: Vec<(i64, Rate)>,
}

/// A fall of the rate that chance does not explain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fall {
    /// The first slot of the window.
    pub from: i64,
    /// The rate in the window.
    pub window: Rate,
    /// The rate in the seven days before it.
    pub baseline: Rate,
}

impl Fall {
    /// How far the share has fallen: 0.1 for ten points.
    pub fn depth(&self) -> f64 {
        let share = |rate: Rate| rate.share().unwrap_or_default();
        share(self.baseline) - share(self.window)
    }
}

impl FirstAttempts {
    /// From slots in any order; one may come several times.
    pub fn new(slots: impl IntoIterator<Item = (i64, Rate)>) -> Self {
        let mut slots: Vec<(i64, Rate)> = slots.into_iter().collect();
        slots.sort_unstable_by_key(|(slot, _)| *slot);
        let mut sums: Vec<(i64, Rate)> = Vec::with_capacity(slots.len());
        for (slot, rate) in slots {
            let (before, sum) = sums.last().copied().unwrap_or((slot, Rate::default()));
            let sum = sum.plus(rate);
            match sums.last_mut() {
                Some(last) if before == slot => last.1 = sum,
                _ => sums.push((slot, sum)),
            }
        }
        Self { sums }
    }

    /// The rate from one slot to another, the latter left out.
    pub fn between(&self, from: i64, to: i64) -> Rate {
        let (from, to) = (self.before(from), self.before(to));
        Rate {
            numerator: to.numerator.saturating_sub(from.numerator),
            denominator: to.denominator.saturating_sub(from.denominator),
        }
    }

    /// The sum of all slots before one.
    fn before(&self, slot: i64) -> Rate {
        let count = self.sums.partition_point(|(at, _)| *at < slot);
        match count.checked_sub(1).and_then(|last| self.sums.get(last)) {
            Some((_, sum)) => *sum,
            None => Rate::default(),
        }
    }

    /// The first slot of the window that ends with the slot `now`: the last two hours, stretched
    /// up to a day until it holds a hundred jobs.
    fn window(&self, now: i64) -> i64 {
        let end = now.saturating_add(1);
        let most = self.before(end).denominator.saturating_sub(ENOUGH);
        // The first slot whose sum goes beyond what may be left out.
        let first = self
            .sums
            .partition_point(|(_, sum)| sum.denominator <= most);
        let enough = self.sums.get(first).map_or(end, |(slot, _)| *slot);
        enough.clamp(end.saturating_sub(LONGEST), end.saturating_sub(SHORTEST))
    }

    /// Whether the rate of the window that ends with the slot `now` has fallen: the bounds of
    /// window and baseline (Wilson, z = 3.9) lie apart, and have done so for half an hour.
    pub fn fall(&self, now: i64) -> Option<Fall> {
        let fall = self.parted(now)?;
        (1..HELD)
            .all(|before| self.parted(now.saturating_sub(before)).is_some())
            .then_some(fall)
    }

    fn parted(&self, now: i64) -> Option<Fall> {
        let from = self.window(now);
        let window = self.between(from, now.saturating_add(1));
        let baseline = self.between(from.saturating_sub(BASELINE), from);
        let Interval { high, .. } = window.interval(Z)?;
        let Interval { low, .. } = baseline.interval(Z)?;
        (high < low).then_some(Fall {
            from,
            window,
            baseline,
        })
    }
}
