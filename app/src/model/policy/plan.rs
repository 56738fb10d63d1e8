//! What is still to come, if every attempt fails.

use chrono::TimeDelta;

use super::{Band, Policy};
use crate::model::attempt::PlannedRetry;
use crate::model::state::Instant;

/// A span of instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeBand {
    /// The earliest.
    pub earliest: Instant,
    /// The latest; runs, and the scheduler's poll of up to 15 s before each of them, come on top.
    pub latest: Instant,
}

impl TimeBand {
    fn exactly(at: Instant) -> Self {
        Self {
            earliest: at,
            latest: at,
        }
    }

    fn after(self, wait: Band) -> Option<Self> {
        Some(Self {
            earliest: later(self.earliest, wait.min_ms)?,
            latest: later(self.latest, wait.max_ms)?,
        })
    }
}

/// `None` past the end of the calendar.
fn later(at: Instant, ms: i64) -> Option<Instant> {
    at.checked_add_signed(TimeDelta::try_milliseconds(ms)?)
}

/// A run that is still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedRun {
    /// Number of the retry.
    pub number: u32,
    /// The wait before it; `None` where it is not known. The first one's is the wait that the
    /// policy foresaw; its due time is known.
    pub wait: Option<Band>,
    /// When it begins; `None` where a wait before it is not known.
    pub at: Option<TimeBand>,
}

/// The retries that are left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The policy's maximum of retries.
    pub of: u32,
    /// The planned retry and those that would follow it, [`Plan::LISTED`] at most.
    pub runs: Vec<PlannedRun>,
    /// When the last retry runs: if that fails too, the job gives up. `None` where it cannot be
    /// known.
    pub gives_up: Option<TimeBand>,
}

impl Plan {
    /// Runs listed at most.
    pub const LISTED: u32 = 50;

    /// How many more runs follow those listed.
    pub fn not_listed(&self) -> u32 {
        self.runs
            .last()
            .map_or(0, |last| self.of.saturating_sub(last.number))
    }
}

impl Policy {
    /// The plan from a retry that waits, if every attempt fails. An overdue one counts as
    /// beginning now. `None` where its due time is not known.
    pub fn plan(&self, pending: &PlannedRetry, now: Instant) -> Option<Plan> {
        let of = pending.of;
        let first = TimeBand::exactly(pending.due_at?.max(now));
        let mut at = Some(first);
        let mut runs = vec![PlannedRun {
            number: pending.number,
            wait: self.delays.band(pending.number),
            at,
        }];
        let mut last = pending.number;
        while last < of && at.is_some() && last - pending.number < Self::COUNTED {
            last += 1;
            let wait = self.delays.band(last);
            at = at.zip(wait).and_then(|(at, wait)| at.after(wait));
            if last - pending.number < Plan::LISTED {
                runs.push(PlannedRun {
                    number: last,
                    wait,
                    at,
                });
            }
        }
        // Past a wait that is not known nothing can be said but that there are more retries.
        while last < of && last - pending.number < Plan::LISTED - 1 {
            last += 1;
            runs.push(PlannedRun {
                number: last,
                wait: self.delays.band(last),
                at: None,
            });
        }
        Some(Plan {
            of,
            runs,
            gives_up: at.filter(|_| last >= of),
        })
    }
}
