//! Retry policies: the delays they choose, and which one a job seems to have.
//!
//! Hangfire stores no policy. What is known of it is inferred from the reasons and delays of
//! planned retries; [`Origin`] says from how many.

pub mod form;
mod infer;
mod plan;
mod quartz;
mod simulate;

use std::collections::BTreeMap;

use super::words;

pub use plan::{Plan, PlannedRun, TimeBand};
pub use quartz::QuartzPolicy;
pub use simulate::{Fate, SimulatedRetry, Simulation};

/// A span of delays, in milliseconds, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Band {
    /// The shortest delay.
    pub min_ms: i64,
    /// The longest delay.
    pub max_ms: i64,
}

impl Band {
    /// A delay without chance in it.
    pub fn exactly(ms: i64) -> Self {
        Self {
            min_ms: ms,
            max_ms: ms,
        }
    }

    /// Whether a recorded delay lies within. Hangfire reads the clock twice while it plans a
    /// retry: what is recorded is the chosen delay or 1 ms less.
    pub fn holds(self, recorded_ms: i64) -> bool {
        recorded_ms >= self.min_ms.saturating_sub(RECORDED_LESS_MS) && recorded_ms <= self.max_ms
    }

    fn including(self, other: Self) -> Self {
        Self {
            min_ms: self.min_ms.min(other.min_ms),
            max_ms: self.max_ms.max(other.max_ms),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            min_ms: self.min_ms.saturating_add(other.min_ms),
            max_ms: self.max_ms.saturating_add(other.max_ms),
        }
    }
}

const RECORDED_LESS_MS: i64 = 1;

/// How a policy chooses its delays.
#[derive(Debug, Clone, PartialEq)]
pub enum Delays {
    /// Hangfire's default: `(n-1)^4 + 15 + r*n` seconds before retry n, r a whole number drawn
    /// from 0 to 29.
    HangfireDefault,
    /// A list of milliseconds: the n-th before retry n, and past its end the last one.
    List(Vec<i64>),
    /// What was seen before each retry, by its number. Nothing is known of the others. More than
    /// one length before the same retry is shown as a band.
    Seen(BTreeMap<u32, Band>),
    /// A policy that Quartz.NET stores.
    Quartz(QuartzPolicy),
}

impl Delays {
    /// The delay before retry `n`, from 1. `None` where it is not known, or there is none.
    pub fn band(&self, n: u32) -> Option<Band> {
        if n == 0 {
            return None;
        }
        match self {
            Self::HangfireDefault => Some(hangfire_default(n)),
            Self::List(delays) => {
                let index = usize::try_from(n - 1).ok()?;
                delays
                    .get(index)
                    .or(delays.last())
                    .map(|ms| Band::exactly(*ms))
            }
            Self::Seen(seen) => seen.get(&n).copied(),
            Self::Quartz(policy) => policy.band(n),
        }
    }
}

/// Hangfire's default formula, in whole seconds; the largest numbers saturate.
fn hangfire_default(n: u32) -> Band {
    const LARGEST_DRAW: i64 = 29;
    let n = i64::from(n);
    let fixed = (n - 1)
        .checked_pow(4)
        .and_then(|seconds| seconds.checked_add(15));
    let ms = |seconds: Option<i64>| {
        seconds
            .and_then(|seconds| seconds.checked_mul(1000))
            .unwrap_or(i64::MAX)
    };
    Band {
        min_ms: ms(fixed),
        max_ms: ms(fixed.and_then(|seconds| seconds.checked_add(LARGEST_DRAW * n))),
    }
}

/// How a policy is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It is stored, or was chosen on the page.
    Stored,
    /// Inferred from recorded delays.
    Inferred {
        /// How many of them are this job's own.
        own: usize,
        /// How many are of earlier jobs of the same type.
        earlier: usize,
    },
}

/// A retry policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Retries at most, after the first attempt.
    pub retries: u32,
    /// The delays before them.
    pub delays: Delays,
    /// How it is known.
    pub origin: Origin,
}

impl Policy {
    /// Sums and plans go no further than this many retries: such a policy never gives up in
    /// anybody's lifetime.
    const COUNTED: u32 = 1_000;

    /// The delay before retry `n`; `None` past the last retry, and where it is not known.
    pub fn band(&self, n: u32) -> Option<Band> {
        if n > self.retries {
            return None;
        }
        self.delays.band(n)
    }

    /// Whether a recorded delay fits; `None` where nothing is known of this retry.
    pub fn fits(&self, n: u32, recorded_ms: i64) -> Option<bool> {
        self.band(n).map(|band| band.holds(recorded_ms))
    }

    /// All waits together, from the first failure to giving up, without the runs themselves and
    /// without the scheduler's poll. `None` where a delay is not known, and where the policy
    /// allows more than a thousand retries.
    pub fn total_wait(&self) -> Option<Band> {
        if self.retries > Self::COUNTED {
            return None;
        }
        (1..=self.retries).try_fold(Band::exactly(0), |sum, n| Some(sum.plus(self.band(n)?)))
    }

    /// The delays in words: `Hangfire’s default formula`, `2 s, 5 s, 10 s`; `?` where one is not
    /// known, and an ellipsis where more follow.
    pub fn delay_words(&self) -> String {
        const LISTED: u32 = 12;
        if self.delays == Delays::HangfireDefault {
            return "Hangfire\u{2019}s default formula".to_owned();
        }
        let mut words: Vec<String> = (1..=self.retries.min(LISTED))
            .map(|n| {
                self.band(n).map_or_else(
                    || "?".to_owned(),
                    |band| words::duration_range(band.min_ms, band.max_ms),
                )
            })
            .collect();
        if self.retries > LISTED {
            words.push("\u{2026}".to_owned());
        }
        words.join(", ")
    }
}

#[cfg(test)]
mod tests;
