//! Fixed-bucket histograms of spans.

use serde::Serialize;

/// Upper bounds of the buckets in milliseconds, both ends of a bucket known by the one before; one
/// more bucket holds what is longer. They are stored by position: never change one, nor the order.
pub const BOUNDS_MS: [i64; 26] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000,
    120_000, 300_000, 600_000, 1_200_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 28_800_000,
    86_400_000,
];

const BUCKETS: usize = BOUNDS_MS.len() + 1;

/// How many spans had which length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Histogram {
    /// One count per bucket: at most the bound of that place; the last one is longer.
    pub counts: Vec<i64>,
    /// All spans together, in milliseconds.
    pub sum_ms: i64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS],
            sum_ms: 0,
        }
    }
}

impl Histogram {
    /// Counts a span.
    pub fn count(&mut self, ms: i64) {
        let bucket = BOUNDS_MS.partition_point(|bound| *bound < ms);
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        }
        self.sum_ms = self.sum_ms.saturating_add(ms);
    }

    /// Adds another one, `times` times.
    pub fn add(&mut self, other: &Self, times: i64) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more * times;
        }
        self.sum_ms = self
            .sum_ms
            .saturating_add(other.sum_ms.saturating_mul(times));
    }
}
