//! How long reads of a database take, for the metrics.

use std::time::Duration;

use app::ports::error::StoreError;
use prometheus::core::Collector as _;
use prometheus::proto::Metric;
use prometheus::{HistogramOpts, HistogramVec};

/// Upper bounds of the buckets, in seconds. Reads end at 5 s.
const BOUNDS: [f64; 11] = [
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0,
];

/// Counts reads by how long they took and how they ended. Cheap to clone; clones count together.
#[derive(Debug, Clone)]
pub struct ReadTimes(Option<HistogramVec>);

impl Default for ReadTimes {
    fn default() -> Self {
        let options = HistogramOpts::new("reads", "Reads").buckets(BOUNDS.to_vec());
        // Constant names and rising bounds: it is made.
        Self(HistogramVec::new(options, &["result"]).ok())
    }
}

impl ReadTimes {
    /// Counts a read, from when a connection was asked for to when its rows were there.
    pub fn count<T>(&self, took: Duration, read: &Result<T, StoreError>) {
        let result = match read {
            Ok(_) => "ok",
            Err(StoreError::TimedOut(_)) => "timed_out",
            Err(_) => "failed",
        };
        if let Some(times) = &self.0 {
            times
                .with_label_values(&[result])
                .observe(took.as_secs_f64());
        }
    }

    /// What was counted: histograms in seconds with the label `result` (`ok`, `timed_out`,
    /// `failed`).
    pub fn counted(&self) -> Vec<Metric> {
        let families = self.0.iter().flat_map(HistogramVec::collect);
        families
            .flat_map(|mut family| family.take_metric())
            .collect()
    }
}

/// What a store measures of itself.
pub trait Measured {
    /// How long its reads took.
    fn read_times(&self) -> &ReadTimes;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_counted_by_how_they_end() {
        let times = ReadTimes::default();
        times.count(Duration::from_micros(1_500), &Ok(()));
        times.clone().count(Duration::from_millis(3), &Ok(7));
        let late = Err::<(), _>(StoreError::TimedOut(Duration::from_secs(5)));
        times.count(Duration::from_secs(6), &late);
        let away = Err::<(), _>(StoreError::Away("gone".to_owned()));
        times.count(Duration::from_secs(1), &away);
        let mut seen: Vec<(String, u64, String, Vec<u64>)> = times
            .counted()
            .iter()
            .map(|metric| {
                let histogram = metric.get_histogram();
                let buckets = histogram.get_bucket().iter();
                (
                    metric.get_label()[0].value().to_owned(),
                    histogram.get_sample_count(),
                    format!("{:.4}", histogram.get_sample_sum()),
                    buckets
                        .map(prometheus::proto::Bucket::cumulative_count)
                        .collect(),
                )
            })
            .collect();
        seen.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(
            seen,
            [
                (
                    "failed".to_owned(),
                    1,
                    "1.0000".to_owned(),
                    vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]
                ),
                (
                    "ok".to_owned(),
                    2,
                    "0.0045".to_owned(),
                    vec![0, 0, 1, 2, 2, 2, 2, 2, 2, 2, 2]
                ),
                ("timed_out".to_owned(), 1, "6.0000".to_owned(), vec![0; 11]),
            ]
        );
    }
}
