//! What the background looks see: whether a source answers, its jobs, servers, claims and reads.

use app::ports::claims::ClaimFigures;
use prometheus::proto::{LabelPair, Metric, MetricFamily, MetricType};

use super::Seen;
use super::family::{family, float, gauge};
use crate::source::SERVER_GONE_MS;

/// One series of each source, where it has the value.
fn of_each<'a>(seen: &'a [Seen<'_>], value: impl Fn(&'a Seen<'_>) -> Option<f64>) -> Vec<Metric> {
    let series = seen
        .iter()
        .filter_map(|seen| Some(gauge(&[("source", seen.name())], value(seen)?)));
    series.collect()
}

fn yes(is_so: bool) -> f64 {
    if is_so { 1.0 } else { 0.0 }
}

/// The metrics.
pub(super) fn families(seen: &[Seen<'_>]) -> Vec<MetricFamily> {
    vec![
        build(),
        family(
            "redrive_source_up",
            "Whether the database answered at the last look.",
            MetricType::GAUGE,
            of_each(seen, |seen| Some(yes(seen.live.answers()))),
        ),
        family(
            "redrive_jobs",
            "Jobs by state, as of redrive_jobs_counted_timestamp_seconds.",
            MetricType::GAUGE,
            seen.iter().flat_map(jobs).collect(),
        ),
        family(
            "redrive_jobs_exact",
            "Whether each job was counted; 0 for the planner's estimate.",
            MetricType::GAUGE,
            of_each(seen, |seen| Some(yes(seen.live.counts.as_ref()?.exact))),
        ),
        family(
            "redrive_jobs_counted_timestamp_seconds",
            "When the jobs were counted.",
            MetricType::GAUGE,
            of_each(seen, |seen| {
                let counts = seen.live.counts.as_ref()?;
                Some(float(counts.as_of.timestamp()))
            }),
        ),
        family(
            "redrive_servers",
            "Job servers by whether their heartbeat is younger than five minutes.",
            MetricType::GAUGE,
            seen.iter().flat_map(servers).collect(),
        ),
        family(
            "redrive_claims",
            "Claims by status; stale ones are among the Sending ones.",
            MetricType::GAUGE,
            seen.iter().flat_map(claims).collect(),
        ),
        family(
            "redrive_claims_readable",
            "Whether a claims table could be read and counted at the last look.",
            MetricType::GAUGE,
            seen.iter().flat_map(readable).collect(),
        ),
        family(
            "redrive_database_read_seconds",
            "How long reads took since the start, waiting for a connection included.",
            MetricType::HISTOGRAM,
            seen.iter().flat_map(reads).collect(),
        ),
    ]
}

fn build() -> MetricFamily {
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    family(
        "redrive_build_info",
        "The version of Redrive that answers.",
        MetricType::GAUGE,
        vec![gauge(&version, 1.0)],
    )
}

fn jobs(seen: &Seen<'_>) -> Vec<Metric> {
    let Some(counts) = &seen.live.counts else {
        return Vec::new();
    };
    let of =
        |state: &str, jobs: i64| gauge(&[("source", seen.name()), ("state", state)], float(jobs));
    let listed = counts.by_state.iter();
    let mut series: Vec<Metric> = listed
        .map(|(state, jobs)| of(state.slug(), *jobs))
        .collect();
    series.push(of("other", counts.other.values().sum()));
    series.push(of("none", counts.no_state));
    series
}

fn servers(seen: &Seen<'_>) -> Vec<Metric> {
    if seen.live.info.is_none() {
        return Vec::new();
    }
    let beats = |age: i64| age <= SERVER_GONE_MS;
    let all = &seen.live.servers;
    let alive = all
        .iter()
        .filter(|server| beats(server.heartbeat_age_ms))
        .count();
    [("alive", alive), ("gone", all.len() - alive)]
        .map(|(status, servers)| {
            let labels = [("source", seen.name()), ("status", status)];
            gauge(&labels, float(i64::try_from(servers).unwrap_or(i64::MAX)))
        })
        .to_vec()
}

/// The tables, with their numbers where they could be counted.
fn tables<'a>(seen: &'a Seen<'_>) -> impl Iterator<Item = (&'a str, Option<&'a ClaimFigures>)> {
    seen.live
        .claims
        .iter()
        .flat_map(|all| all.iter())
        .map(|table| {
            let figures = table
                .figures
                .as_ref()
                .and_then(|figures| figures.as_ref().ok());
            (table.table.name.as_str(), figures.map(AsRef::as_ref))
        })
}

fn claims(seen: &Seen<'_>) -> Vec<Metric> {
    let counted = tables(seen).filter_map(|(table, figures)| Some((table, figures?)));
    let series = counted.flat_map(|(table, figures)| {
        let other: i64 = figures.other.iter().map(|(_, claims)| claims).sum();
        [
            ("sending", figures.sending),
            ("stale", figures.stale),
            ("sent", figures.sent),
            ("other", other),
        ]
        .map(|(status, claims)| {
            let labels = [
                ("source", seen.name()),
                ("claims", table),
                ("status", status),
            ];
            gauge(&labels, float(claims))
        })
    });
    series.collect()
}

fn readable(seen: &Seen<'_>) -> Vec<Metric> {
    let series = tables(seen).map(|(table, figures)| {
        let labels = [("source", seen.name()), ("claims", table)];
        gauge(&labels, yes(figures.is_some()))
    });
    series.collect()
}

/// The store's histograms, with the source's name.
fn reads(seen: &Seen<'_>) -> Vec<Metric> {
    let mut series = seen.source.store.read_times().counted();
    for metric in &mut series {
        let mut source = LabelPair::default();
        source.set_name("source".to_owned());
        source.set_value(seen.name().to_owned());
        let mut labels = metric.take_label();
        labels.insert(0, source);
        metric.set_label(labels);
    }
    series
}
