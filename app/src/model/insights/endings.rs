//! With which attempt rounds finished.

use super::RoundsRow;
use crate::model::collect::RoundEnd;
use crate::model::rates::Rate;

/// Finished rounds, by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Endings {
    /// Succeeded with the first attempt.
    pub first: i64,
    /// Succeeded with the second.
    pub second: i64,
    /// Succeeded with the third.
    pub third: i64,
    /// Succeeded with the fourth or a later one.
    pub later: i64,
    /// Gave up.
    pub gave_up: i64,
}

/// One way to end, as pages part them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Succeeded with the first attempt.
    First,
    /// Succeeded with the second.
    Second,
    /// Succeeded with the third.
    Third,
    /// Succeeded with the fourth or a later one.
    Later,
    /// Gave up.
    GaveUp,
}

impl Ending {
    /// All, in the order of drawings.
    pub const ALL: [Self; 5] = [
        Self::First,
        Self::Second,
        Self::Third,
        Self::Later,
        Self::GaveUp,
    ];

    /// `1st`, `4th+`, `gave up`.
    pub fn label(self) -> &'static str {
        match self {
            Self::First => "1st",
            Self::Second => "2nd",
            Self::Third => "3rd",
            Self::Later => "4th+",
            Self::GaveUp => "gave up",
        }
    }

    /// The least number of attempts of a job that ended so; `None` where its state tells more.
    pub fn attempts(self) -> Option<u32> {
        match self {
            Self::Second => Some(2),
            Self::Third => Some(3),
            Self::Later => Some(4),
            Self::First | Self::GaveUp => None,
        }
    }
}

impl Endings {
    /// Counts so many rounds.
    pub fn count(&mut self, end: RoundEnd, number: u32, rounds: i64) {
        let place = match (end, number) {
            (RoundEnd::GaveUp, _) => &mut self.gave_up,
            (RoundEnd::Succeeded, 0 | 1) => &mut self.first,
            (RoundEnd::Succeeded, 2) => &mut self.second,
            (RoundEnd::Succeeded, 3) => &mut self.third,
            (RoundEnd::Succeeded, _) => &mut self.later,
        };
        *place = place.saturating_add(rounds);
    }

    /// Counts the rounds of a row.
    pub fn take(&mut self, row: &RoundsRow) {
        self.count(row.end, row.number, row.sums.rounds);
    }

    /// How many ended so.
    pub fn of(&self, ending: Ending) -> i64 {
        match ending {
            Ending::First => self.first,
            Ending::Second => self.second,
            Ending::Third => self.third,
            Ending::Later => self.later,
            Ending::GaveUp => self.gave_up,
        }
    }

    /// All of them.
    pub fn finished(&self) -> i64 {
        self.succeeded().saturating_add(self.gave_up)
    }

    /// Those that succeeded, with whichever attempt.
    pub fn succeeded(&self) -> i64 {
        [self.first, self.second, self.third, self.later]
            .into_iter()
            .fold(0, i64::saturating_add)
    }

    /// Those that did not succeed with their first attempt.
    pub fn needed_more(&self) -> i64 {
        self.finished().saturating_sub(self.first)
    }

    /// The share that ended so.
    pub fn rate(&self, ending: Ending) -> Rate {
        rate(self.of(ending), self.finished())
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            first: self.first.saturating_add(other.first),
            second: self.second.saturating_add(other.second),
            third: self.third.saturating_add(other.third),
            later: self.later.saturating_add(other.later),
            gave_up: self.gave_up.saturating_add(other.gave_up),
        }
    }
}

/// A rate of two counts; what is negative counts as none.
pub fn rate(numerator: i64, denominator: i64) -> Rate {
    let unsigned = |count: i64| u64::try_from(count).unwrap_or(0);
    Rate::new(unsigned(numerator), unsigned(denominator))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_parted_by_the_attempt_that_ended_them() {
        let mut endings = Endings::default();
        for (end, number, rounds) in [
            (RoundEnd::Succeeded, 1, 80),
            (RoundEnd::Succeeded, 2, 7),
            (RoundEnd::Succeeded, 3, 5),
            (RoundEnd::Succeeded, 4, 2),
            (RoundEnd::Succeeded, 11, 1),
            (RoundEnd::GaveUp, 1, 3),
            (RoundEnd::GaveUp, 11, 2),
        ] {
            endings.count(end, number, rounds);
        }
        assert_eq!(
            Ending::ALL.map(|ending| endings.of(ending)),
            [80, 7, 5, 3, 5]
        );
        assert_eq!(endings.finished(), 100);
        assert_eq!(endings.succeeded(), 95);
        assert_eq!(endings.needed_more(), 20);
        assert_eq!(endings.rate(Ending::First), Rate::new(80, 100));
        assert_eq!(endings.plus(&endings).finished(), 200);
    }
}
