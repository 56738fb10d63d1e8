//! Metrics as the library writes them.

use app::model::collect::{BOUNDS_MS, Histogram as Spans};
use prometheus::proto::{
    Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType, Summary,
};

/// Bounds of the collector's histograms that are shown, in milliseconds: each is one of
/// [`BOUNDS_MS`], so that nothing has to be guessed.
const SHOWN_MS: [i64; 11] = [
    10, 100, 500, 1_000, 5_000, 10_000, 30_000, 60_000, 300_000, 1_800_000, 7_200_000,
];

/// Labels of a series.
pub(super) type Labels<'a> = &'a [(&'static str, &'a str)];

/// A metric with its series.
pub(super) fn family(
    name: &str,
    help: &str,
    kind: MetricType,
    series: Vec<Metric>,
) -> MetricFamily {
    let mut family = MetricFamily::default();
    family.set_name(name.to_owned());
    family.set_help(help.to_owned());
    family.set_field_type(kind);
    family.set_metric(series);
    family
}

fn labels(labels: Labels<'_>) -> Vec<LabelPair> {
    let pairs = labels.iter().map(|(name, value)| {
        let mut pair = LabelPair::default();
        pair.set_name((*name).to_owned());
        pair.set_value((*value).to_owned());
        pair
    });
    pairs.collect()
}

/// A value that rises and falls.
pub(super) fn gauge(of: Labels<'_>, value: f64) -> Metric {
    let mut gauge = Gauge::default();
    gauge.set_value(value);
    let mut metric = Metric::from_label(labels(of));
    metric.set_gauge(gauge);
    metric
}

/// A value that only rises.
pub(super) fn counter(of: Labels<'_>, value: f64) -> Metric {
    let mut counter = Counter::default();
    counter.set_value(value);
    let mut metric = Metric::from_label(labels(of));
    metric.set_counter(counter);
    metric
}

/// A count and a sum.
pub(super) fn summary(of: Labels<'_>, count: u64, sum: f64) -> Metric {
    let mut summary = Summary::default();
    summary.set_sample_count(count);
    summary.set_sample_sum(sum);
    let mut metric = Metric::from_label(labels(of));
    metric.set_summary(summary);
    metric
}

/// Spans by their length, in seconds.
pub(super) fn histogram(of: Labels<'_>, spans: &Spans) -> Metric {
    let up_to = |bound: i64| -> i64 {
        let buckets = BOUNDS_MS.partition_point(|other| *other <= bound);
        spans.counts.iter().take(buckets).sum()
    };
    let buckets = SHOWN_MS.into_iter().map(|bound| {
        let mut bucket = Bucket::default();
        bucket.set_upper_bound(seconds(bound));
        bucket.set_cumulative_count(count(up_to(bound)));
        bucket
    });
    let mut histogram = Histogram::default();
    histogram.set_bucket(buckets.collect());
    histogram.set_sample_count(count(spans.counts.iter().sum()));
    histogram.set_sample_sum(seconds(spans.sum_ms));
    let mut metric = Metric::from_label(labels(of));
    metric.set_histogram(histogram);
    metric
}

/// A count, which is never negative but where rows were taken away that were never added.
pub(super) fn count(count: i64) -> u64 {
    u64::try_from(count).unwrap_or_default()
}

/// The format knows floating point alone.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts and milliseconds are far below 2^53"
)]
pub(super) fn float(count: i64) -> f64 {
    count as f64
}

/// Milliseconds in seconds.
pub(super) fn seconds(ms: i64) -> f64 {
    float(ms) / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shown_bound_is_one_of_the_collectors() {
        for bound in SHOWN_MS {
            assert!(BOUNDS_MS.contains(&bound), "{bound}");
        }
    }

    #[test]
    fn spans_fall_into_the_buckets_that_hold_them() {
        let mut spans = Spans::default();
        for ms in [10, 11, 100, 700, 700, 100_000_000] {
            spans.count(ms);
        }
        let metric = histogram(&[("source", "main")], &spans);
        let histogram = metric.get_histogram();
        let buckets: Vec<(f64, u64)> = histogram
            .get_bucket()
            .iter()
            .map(|bucket| (bucket.upper_bound(), bucket.cumulative_count()))
            .collect();
        assert_eq!(
            buckets[..5],
            [(0.01, 1), (0.1, 3), (0.5, 3), (1.0, 5), (5.0, 5)]
        );
        assert_eq!(buckets[10], (7_200.0, 5));
        assert_eq!(histogram.get_sample_count(), 6);
        assert!((histogram.get_sample_sum() - 100_001.521).abs() < 1e-9);
    }
}
