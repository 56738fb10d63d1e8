//! What goes where: numbers alone.

use super::{Bar, Bars};
use crate::charts::svg::{length, part};

/// A scale from 0: its end, and the distance of its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scale {
    pub(super) top: i64,
    pub(super) step: i64,
}

impl Scale {
    /// The finest scale of steps of 1, 2 or 5 with a power of ten that reaches `most` with at most
    /// so many lines.
    pub(super) fn of(most: i64, lines: i64) -> Self {
        let lines = lines.max(1);
        let most = most.max(1);
        let mut unit = 1_i64;
        loop {
            for factor in [1, 2, 5] {
                let step = unit.saturating_mul(factor);
                let needed = most / step + i64::from(most % step > 0);
                if needed <= lines {
                    return Self {
                        top: step.saturating_mul(needed),
                        step,
                    };
                }
            }
            unit = unit.saturating_mul(10);
        }
    }

    /// Where its lines are.
    pub(super) fn lines(self) -> impl Iterator<Item = i64> {
        let lines = self.top / self.step;
        (0..=lines).map(move |line| line * self.step)
    }

    /// How high a count stands, in pixels of a room; one that is there is seen.
    pub(super) fn height(self, count: i64, room: f64) -> f64 {
        match count {
            ..=0 => 0.0,
            count => (part(count, self.top) * room).max(1.0),
        }
    }
}

/// The count of a part of a bar.
pub(super) fn count(bar: &Bar, part: usize) -> i64 {
    bar.counts.get(part).copied().unwrap_or(0).max(0)
}

/// All parts of a bar but the one below.
pub(super) fn total(given: &Bars<'_>, bar: &Bar) -> i64 {
    (0..given.parts.len()).map(|part| count(bar, part)).sum()
}

/// The highest bar.
pub(super) fn highest(given: &Bars<'_>) -> i64 {
    let bars = given.bars.iter();
    bars.map(|bar| total(given, bar)).max().unwrap_or(0)
}

/// The highest of those below.
pub(super) fn highest_below(given: &Bars<'_>) -> i64 {
    let bars = given.bars.iter();
    bars.map(|bar| count(bar, given.parts.len()))
        .max()
        .unwrap_or(0)
}

/// A number that fits beside a scale: `940`, `2.5k`, `3M`.
pub(super) fn short(value: i64) -> String {
    let of = |unit: i64, word: &str| {
        let tenths = (length(value) / length(unit) * 10.0).round() / 10.0;
        format!("{tenths}{word}")
    };
    match value {
        ..1_000 => value.to_string(),
        1_000..1_000_000 => of(1_000, "k"),
        _ => of(1_000_000, "M"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_at_or_above_the_highest_bar() {
        let of = |most, lines| {
            let scale = Scale::of(most, lines);
            (scale.top, scale.step)
        };
        assert_eq!(of(0, 3), (1, 1));
        assert_eq!(of(3, 3), (3, 1));
        assert_eq!(of(4, 3), (4, 2));
        assert_eq!(of(58, 3), (60, 20));
        assert_eq!(of(5_300, 3), (6_000, 2_000));
        assert_eq!(of(40, 1), (50, 50));
        assert_eq!(of(i64::MAX, 3).0, i64::MAX);
        assert_eq!(
            Scale::of(58, 3).lines().collect::<Vec<_>>(),
            [0, 20, 40, 60]
        );
    }

    #[test]
    fn what_is_there_is_seen() {
        let scale = Scale {
            top: 10_000,
            step: 5_000,
        };
        assert!(scale.height(0, 100.0).abs() < 1e-9);
        assert!((scale.height(1, 100.0) - 1.0).abs() < 1e-9);
        assert!((scale.height(5_000, 100.0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn numbers_beside_a_scale_are_short() {
        let all: Vec<_> = [0, 940, 2_500, 5_000, 1_000_000, 2_500_000]
            .into_iter()
            .map(short)
            .collect();
        assert_eq!(all, ["0", "940", "2.5k", "5k", "1M", "2.5M"]);
    }
}
