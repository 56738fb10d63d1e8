//! How long attempts waited and ran, as far as histograms tell.

use std::collections::BTreeMap;

use super::{AttemptsRow, JobKind};
use crate::model::collect::{AttemptSums, BOUNDS_MS, Histogram, Sums as _};

/// What is known of a percentile: the bucket that it lies in ends here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// At most so many milliseconds.
    AtMost(i64),
    /// More than the last bound, in milliseconds.
    MoreThan(i64),
}

/// Three percentiles of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentiles {
    /// How many spans there were.
    pub count: i64,
    /// Half of them.
    pub p50: Bound,
    /// 95 of 100.
    pub p95: Bound,
    /// 99 of 100.
    pub p99: Bound,
}

impl Percentiles {
    /// Of a histogram; `None` where it is empty.
    pub fn of(histogram: &Histogram) -> Option<Self> {
        let count: i64 = histogram.counts.iter().sum();
        if count <= 0 {
            return None;
        }
        let at = |percent: i64| bound(histogram, count, percent);
        Some(Self {
            count,
            p50: at(50),
            p95: at(95),
            p99: at(99),
        })
    }
}

/// The bucket that holds the least span that so many of a hundred do not go beyond.
fn bound(histogram: &Histogram, count: i64, percent: i64) -> Bound {
    let rank = (count.saturating_mul(percent).saturating_add(99) / 100).max(1);
    let mut below = 0;
    for (bucket, bound) in histogram.counts.iter().zip(BOUNDS_MS) {
        below += bucket;
        if below >= rank {
            return Bound::AtMost(bound);
        }
    }
    Bound::MoreThan(BOUNDS_MS.last().copied().unwrap_or(0))
}

/// Attempts of one kind with one number; those from the fourth on together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times {
    /// The kind.
    pub kind: JobKind,
    /// The number within the round: 1, 2, 3, or 4 for that and later ones.
    pub number: u32,
    /// How many attempts there were.
    pub attempts: i64,
    /// How long they waited in the queue, where that is recorded.
    pub waited: Option<Percentiles>,
    /// How long they ran, where that is recorded.
    pub ran: Option<Percentiles>,
}

/// Numbers from this on are taken together.
pub const LAST_NUMBER: u32 = 4;

/// By kind and number, of attempts that have one.
pub fn times(rows: &[AttemptsRow]) -> Vec<Times> {
    let mut sums: BTreeMap<(&JobKind, u32), AttemptSums> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.number > 0) {
        let number = row.number.min(LAST_NUMBER);
        sums.entry((&row.kind, number))
            .or_default()
            .add(&row.sums, 1);
    }
    sums.into_iter()
        .map(|((kind, number), sums)| Times {
            kind: kind.clone(),
            number,
            attempts: sums.attempts,
            waited: Percentiles::of(&sums.waited),
            ran: Percentiles::of(&sums.ran),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(spans: &[i64]) -> Histogram {
        let mut histogram = Histogram::default();
        for ms in spans {
            histogram.count(*ms);
        }
        histogram
    }

    #[test]
    fn percentiles_name_the_bucket_that_they_lie_in() {
        assert_eq!(Percentiles::of(&Histogram::default()), None);
        // 100 spans: 50 of 3 ms, 45 of 70 ms, 4 of 9 s, one of two days.
        let spans: Vec<i64> = [(50, 3), (45, 70), (4, 9_000), (1, 172_800_000)]
            .into_iter()
            .flat_map(|(times, ms)| std::iter::repeat_n(ms, times))
            .collect();
        assert_eq!(
            Percentiles::of(&histogram(&spans)),
            Some(Percentiles {
                count: 100,
                p50: Bound::AtMost(5),
                p95: Bound::AtMost(100),
                p99: Bound::AtMost(10_000),
            })
        );
        let long = Percentiles::of(&histogram(&[172_800_000])).unwrap();
        assert_eq!(long.p50, Bound::MoreThan(86_400_000));
        // A span that is exactly a bound lies in the bucket that ends there.
        let exact = Percentiles::of(&histogram(&[5])).unwrap();
        assert_eq!(exact.p99, Bound::AtMost(5));
    }

    #[test]
    fn the_fourth_attempt_and_later_ones_are_taken_together() {
        let row = |number: u32, outcome: &str, ran: &[i64]| AttemptsRow {
            kind: JobKind {
                job_type: "A".into(),
                method: "Run".into(),
            },
            later: false,
            number,
            outcome: outcome.into(),
            sums: AttemptSums {
                attempts: i64::try_from(ran.len()).unwrap(),
                waited: Histogram::default(),
                ran: histogram(ran),
            },
        };
        let all = times(&[
            row(1, "succeeded", &[3, 3]),
            row(1, "failed", &[70]),
            row(4, "failed", &[3]),
            row(9, "failed", &[70, 70]),
            row(0, "put-back", &[9_000]),
        ]);
        let facts: Vec<_> = all
            .iter()
            .map(|row| (row.number, row.attempts, row.ran.unwrap().p50))
            .collect();
        assert_eq!(
            facts,
            [(1, 3, Bound::AtMost(5)), (4, 3, Bound::AtMost(100))]
        );
        assert_eq!(all[0].waited, None);
    }
}
