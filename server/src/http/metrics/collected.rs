//! What the collector counted, and how far it has come.

use app::model::collect::Histogram;
use prometheus::proto::{Metric, MetricFamily, MetricType};

use super::Seen;
use super::family::{count, counter, family, float, gauge, histogram, seconds, summary};
use crate::source::totals::{Counted, Label};

/// The metrics.
pub(super) fn families(seen: &[Seen<'_>]) -> Vec<MetricFamily> {
    let each = |series: fn(&Seen<'_>) -> Option<f64>| -> Vec<Metric> {
        let series = seen
            .iter()
            .filter_map(|seen| Some(gauge(&[("source", seen.name())], series(seen)?)));
        series.collect()
    };
    vec![
        family(
            "redrive_attempts_total",
            "Attempts that ended, by their number within the round and how they ended.",
            MetricType::COUNTER,
            by_kind(seen, attempts),
        ),
        family(
            "redrive_first_attempts_total",
            "Jobs whose first attempt ended, once for each job.",
            MetricType::COUNTER,
            by_kind(seen, |of, counted, series| {
                series.push(counter(&of, unsigned(counted.first.denominator)));
            }),
        ),
        family(
            "redrive_first_attempts_succeeded_total",
            "Jobs whose first attempt ended with success.",
            MetricType::COUNTER,
            by_kind(seen, |of, counted, series| {
                series.push(counter(&of, unsigned(counted.first.numerator)));
            }),
        ),
        family(
            "redrive_attempt_wait_seconds",
            "How long attempts waited for a worker from when they were queued or due.",
            MetricType::HISTOGRAM,
            by_kind(seen, waits),
        ),
        family(
            "redrive_retry_delay_seconds",
            "Delays that policies chose for retries, where they were planned.",
            MetricType::SUMMARY,
            by_kind(seen, |of, counted, series| {
                let delays = (count(counted.delays), seconds(counted.delays_ms));
                series.push(summary(&of, delays.0, delays.1));
            }),
        ),
        family(
            "redrive_collector_up",
            "Whether this process collects without trouble; absent where another one does.",
            MetricType::GAUGE,
            each(|seen| {
                let collecting = &seen.live.collecting;
                let known = collecting.position.is_some() || collecting.trouble.is_some();
                known.then(|| {
                    if collecting.trouble.is_none() {
                        1.0
                    } else {
                        0.0
                    }
                })
            }),
        ),
        family(
            "redrive_collector_caught_up",
            "Whether every state row that could be seen at the last look is counted.",
            MetricType::GAUGE,
            each(|seen| {
                seen.live.collecting.position.as_ref()?;
                Some(if seen.live.collecting.caught_up {
                    1.0
                } else {
                    0.0
                })
            }),
        ),
        family(
            "redrive_collector_lag_rows",
            "Ids between the last state row that is counted and the newest one: as many rows, or fewer.",
            MetricType::GAUGE,
            each(|seen| {
                let position = seen.live.collecting.position.as_ref()?;
                let lag = seen.live.collecting.highest - position.watermark;
                Some(float(lag.max(0)))
            }),
        ),
        family(
            "redrive_collector_newest_row_timestamp_seconds",
            "The time of the newest state row that is counted.",
            MetricType::GAUGE,
            each(|seen| {
                let position = seen.live.collecting.position.as_ref()?;
                Some(float(position.newest_at?.timestamp()))
            }),
        ),
        family(
            "redrive_collector_written_timestamp_seconds",
            "When the collected numbers last changed, by the database's clock.",
            MetricType::GAUGE,
            each(|seen| Some(float(seen.live.totals.as_ref()?.as_of?.timestamp()))),
        ),
    ]
}

/// Labels of a kind: source, class, method.
type Of<'a> = [(&'static str, &'a str); 3];

fn by_kind(seen: &[Seen<'_>], series: impl Fn(Of<'_>, &Counted, &mut Vec<Metric>)) -> Vec<Metric> {
    let mut all = Vec::new();
    for seen in seen {
        for (label, counted) in seen.live.totals.iter().flat_map(|totals| totals.counted()) {
            let (job_type, method) = match label {
                Label::Kind(kind) => (kind.job_type.as_str(), kind.method.as_str()),
                Label::Others => ("(others)", ""),
            };
            let of = [
                ("source", seen.name()),
                ("type", job_type),
                ("method", method),
            ];
            series(of, counted, &mut all);
        }
    }
    all
}

fn attempts([source, job_type, method]: Of<'_>, counted: &Counted, series: &mut Vec<Metric>) {
    for ((number, outcome), attempts) in &counted.attempts {
        let number = number.to_string();
        let labels = [
            source,
            job_type,
            method,
            ("number", number.as_str()),
            ("outcome", outcome.as_str()),
        ];
        series.push(counter(&labels, float(*attempts)));
    }
}

fn waits([source, job_type, method]: Of<'_>, counted: &Counted, series: &mut Vec<Metric>) {
    let mut of = |retry: &str, waits: &Histogram| {
        let labels = [source, job_type, method, ("retry", retry)];
        series.push(histogram(&labels, waits));
    };
    of("false", &counted.first_waits);
    of("true", &counted.retry_waits);
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of jobs are far below 2^53"
)]
fn unsigned(count: u64) -> f64 {
    count as f64
}
