//! Whether retrying after an exception is worth it.

use super::Rate;

/// What became of the finished rounds in which an attempt failed with one type of exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recovery {
    /// Rounds that succeeded later.
    pub recovered: u64,
    /// Rounds that gave up.
    pub gave_up: u64,
}

/// What the numbers of a [`Recovery`] allow to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// None of many recovered: retrying is for nothing.
    Permanent,
    /// Some recovered.
    Recovers,
    /// None recovered, of too few to say anything.
    TooFew,
}

impl Recovery {
    /// "Permanent" needs an upper bound (95 %) of at most one in four: even if the truth were at
    /// its most favourable, three of four retried rounds would give up all the same. None of 12 is
    /// the first that is enough.
    const PERMANENT_BELOW: f64 = 0.25;

    /// Recovered of all finished.
    pub fn rate(self) -> Rate {
        Rate::new(self.recovered, self.recovered.saturating_add(self.gave_up))
    }

    /// The verdict; `None` where no round has finished yet.
    pub fn verdict(self) -> Option<Verdict> {
        let interval = self.rate().interval(Rate::Z_95)?;
        Some(if self.recovered > 0 {
            Verdict::Recovers
        } else if interval.high <= Self::PERMANENT_BELOW {
            Verdict::Permanent
        } else {
            Verdict::TooFew
        })
    }
}
