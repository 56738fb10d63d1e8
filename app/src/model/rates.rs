//! Rates: counts over counts, how sure they are, and when one has fallen.

mod fall;
mod verdict;

pub use fall::{Fall, FirstAttempts, SLOT_SECONDS, slot};
pub use verdict::{Recovery, Verdict};

/// So many of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rate {
    /// Those that count.
    pub numerator: u64,
    /// All of them.
    pub denominator: u64,
}

/// Where the true share lies with some certainty; both ends between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Rate {
    /// The normal deviate of a two-sided certainty of 95 %.
    pub const Z_95: f64 = 1.959_963_984_540_054;

    /// So many of so many.
    pub fn new(numerator: u64, denominator: u64) -> Self {
        Self {
            numerator,
            denominator,
        }
    }

    /// The share, from 0 to 1; `None` where there is nothing to divide.
    pub fn share(self) -> Option<f64> {
        (self.denominator > 0).then(|| as_f64(self.numerator) / as_f64(self.denominator))
    }

    /// The score interval of E. B. Wilson, "Probable inference, the law of succession, and
    /// statistical inference", Journal of the American Statistical Association 22 (1927) 209-212:
    ///
    /// `(p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)`
    ///
    /// It holds for small counts and for shares near 0 and 1 too, where the usual `p ± z·s` does
    /// not. `None` where there is nothing to divide.
    pub fn interval(self, z: f64) -> Option<Interval> {
        let share = self.share()?;
        let n = as_f64(self.denominator);
        let square = z * z;
        let middle = share + square / (2.0 * n);
        let reach = z * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
        let scale = 1.0 + square / n;
        // The formula gives exactly 0 and 1 here; floating point only nearly.
        let low = match self.numerator {
            0 => 0.0,
            _ => ((middle - reach) / scale).clamp(0.0, 1.0),
        };
        let high = if self.numerator >= self.denominator {
            1.0
        } else {
            ((middle + reach) / scale).clamp(0.0, 1.0)
        };
        Some(Interval { low, high })
    }

    /// The share as text: `80.0 %`. `0 %` and `100 %` only where it is exactly that: 9,999 of
    /// 10,000 is `99.99 %`. `None` where there is nothing to divide.
    pub fn percent(self) -> Option<String> {
        match self.numerator {
            0 => Some(percent(0.0)).filter(|_| self.denominator > 0),
            n if n == self.denominator => Some(percent(1.0)),
            _ => {
                let rest = as_f64(self.rest()) / as_f64(self.denominator);
                Some(near_end(self.share()?, rest))
            }
        }
    }

    /// Those that do not count.
    pub fn rest(self) -> u64 {
        self.denominator.saturating_sub(self.numerator)
    }

    /// Both together, as if counted at once.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            numerator: self.numerator.saturating_add(other.numerator),
            denominator: self.denominator.saturating_add(other.denominator),
        }
    }
}

impl Interval {
    /// The bounds as text, without the sign: `71.1–86.7`, `99.94–99.998`.
    pub fn percents(self) -> (String, String) {
        let bare = |share: f64| percent(share).trim_end_matches(" %").to_owned();
        (bare(self.low), bare(self.high))
    }
}

/// A share from 0 to 1 as text, by the rule of [`Rate::percent`].
pub fn percent(share: f64) -> String {
    if share <= 0.0 {
        return "0 %".to_owned();
    }
    if share >= 1.0 {
        return "100 %".to_owned();
    }
    near_end(share, 1.0 - share)
}

/// One decimal, or as many as show the first digit of the distance to the nearer of 0 and 100 %.
fn near_end(share: f64, rest: f64) -> String {
    const MOST: usize = 15;
    let distance = share.min(rest) * 100.0;
    let mut decimals = 1;
    let mut digit = 0.1;
    // A little more than half a digit is rounded up to it.
    while decimals < MOST && distance < digit * 0.999_999 {
        decimals += 1;
        digit /= 10.0;
    }
    format!("{:.decimals$} %", share * 100.0)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of jobs are far below 2^53, and a share needs no more digits"
)]
fn as_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
