mod needs;
mod parts;

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;

use super::*;
use crate::components::job_rows::testing::{now, row};
use crate::model::collect::{RoundEnd, RoundSums, hour};
use crate::model::health::{Check, Sighting};
use crate::model::insights::digest::Raw;
use crate::model::insights::{Coverage, DueRetry, FirstAttemptsRow, JobKind, Pending, RoundsRow};
use crate::model::rates::{Rate, slot};
use crate::pages::document::testing::{attr, chip, rendered, texts};
use crate::ports::failures::{FailureCause, FailureCauses};
use crate::ports::jobs::StateCounts;

fn server(id: &str, age_s: i64, processing: i64) -> Server {
    Server {
        id: id.into(),
        workers: Some(20),
        queues: Some(vec!["default".into()]),
        started_at: Some(now()),
        started_raw: None,
        heartbeat_at: now() - TimeDelta::seconds(age_s),
        heartbeat_age_ms: age_s * 1_000,
        processing,
    }
}

fn seen(failed: i64, servers: Vec<Server>) -> Seen {
    let mut by_state: BTreeMap<_, _> = ListState::ALL.into_iter().map(|s| (s, 0)).collect();
    by_state.insert(ListState::Failed, failed);
    Seen {
        source: chip("prod"),
        counts: Some(CountsView {
            counts: StateCounts {
                by_state,
                other: BTreeMap::new(),
                no_state: 0,
                as_of: now() - TimeDelta::seconds(2),
                exact: false,
            },
            age_ms: 2_000,
        }),
        servers: Ok(Arc::new(servers)),
        stale_claims: None,
        gone_ms: 300_000,
        digest: Current::default(),
        forecast: Current::default(),
        causes: Current::default(),
        findings: Some(Arc::new(Findings {
            seen: BTreeMap::new(),
            unanswered: BTreeSet::new(),
            read_at: now(),
        })),
        collecting: Collecting::default(),
        version: None,
    }
}

fn page(seen: Seen) -> scraper::Html {
    let failed = seen
        .counts
        .as_ref()
        .is_some_and(|counts| counts.of(ListState::Failed) > 0);
    let rows = failed.then(|| row(1, "Failed")).into_iter().collect();
    let failures = Ok(JobPage {
        rows,
        has_newer: false,
        has_older: false,
    });
    rendered(move || {
        overview_page(OverviewPage {
            failures,
            by_change: true,
            seen,
        })
    })
}

fn kind(job_type: &str) -> JobKind {
    JobKind {
        job_type: format!("Bookstore.Jobs.{job_type}"),
        method: "RunAsync".into(),
    }
}

fn read<T>(value: T) -> Current<T> {
    Current {
        value: Some(Arc::new(value)),
        at: Some(now() - TimeDelta::seconds(3)),
        trouble: None,
    }
}

/// A week of a hundred first attempts per ten minutes: 98 of them well, 60 in the last two hours.
fn digest(since: i64) -> Digest {
    let end = slot(now());
    let first = (end - 1_200..=end)
        .map(|slot| FirstAttemptsRow {
            kind: kind("ImportJob"),
            slot,
            rate: Rate::new(if slot > end - 12 { 60 } else { 98 }, 100),
        })
        .collect();
    let rounds = |hour, later, end, number, rounds| RoundsRow {
        hour,
        kind: kind("ImportJob"),
        later,
        end,
        number,
        sums: RoundSums {
            rounds,
            backoff_ms: 0,
        },
    };
    let last = hour(now()) - 1;
    let day = vec![
        rounds(last, false, RoundEnd::Succeeded, 1, 3_034),
        rounds(last, false, RoundEnd::Succeeded, 2, 608),
        rounds(last, false, RoundEnd::GaveUp, 11, 38),
        rounds(last, true, RoundEnd::Succeeded, 1, 5),
    ];
    let mut week = day.clone();
    week.push(rounds(last - 100, false, RoundEnd::Succeeded, 1, 6_320));
    Digest::new(
        Raw {
            coverage: Coverage {
                since: Some(since),
                watermark: 9_000,
                epoch: 0,
                as_of: now(),
            },
            first,
            week,
            day,
            pending: Pending {
                rounds: vec![(kind("ImportJob"), false, 58)],
                recovery: Vec::new(),
            },
        },
        now(),
    )
}

fn forecast() -> Forecast {
    let retry = |job_type: &str, minutes: i64, number| DueRetry {
        job: minutes,
        kind: kind(job_type),
        due: now() + TimeDelta::minutes(minutes),
        number: Some(number),
    };
    Forecast::new(
        &[
            retry("StockSyncJob", 1, (10, 10)),
            retry("StockSyncJob", 2, (10, 10)),
            retry("StockSyncJob", 30, (3, 10)),
            retry("ImportJob", 40, (5, 5)),
        ],
        100,
        now(),
    )
}

#[test]
fn every_figure_of_the_lists_is_there_once() {
    let html = page(seen(4_871, vec![server("a", 4, 1)]));
    for list in ListState::ALL {
        let selector = format!("[data-figure={}]", list.slug());
        let expected = if list == ListState::Failed {
            "4871"
        } else {
            "0"
        };
        assert_eq!(
            attr(&html, &selector, "data-value"),
            [expected],
            "{selector}"
        );
        assert_eq!(
            attr(&html, &selector, "data-as-of"),
            ["2026-11-27T14:05:46Z"],
            "{selector}"
        );
    }
    assert_eq!(texts(&html, "dd.bad [data-figure]"), ["4,871"]);
}
