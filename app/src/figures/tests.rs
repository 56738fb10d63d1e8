use std::collections::BTreeMap;

use super::*;
use crate::model::collect::{RoundEnd, RoundSums, hour};
use crate::model::insights::digest::Raw;
use crate::model::insights::{Coverage, DueRetry, FirstAttemptsRow, JobKind, Pending, RoundsRow};
use crate::model::rates::slot;

fn now() -> Instant {
    "2026-11-27T14:05:48Z".parse().unwrap()
}

fn kind() -> JobKind {
    JobKind {
        job_type: "Bookstore.Jobs.ImportJob".into(),
        method: "RunAsync".into(),
    }
}

fn counts() -> StateCounts {
    StateCounts {
        by_state: BTreeMap::from([(ListState::Failed, 4_871), (ListState::Processing, 46)]),
        other: BTreeMap::from([("Batched".to_owned(), 3)]),
        no_state: 9,
        as_of: now(),
        exact: true,
    }
}

fn rounds(end: RoundEnd, number: u32, rounds: i64) -> RoundsRow {
    RoundsRow {
        hour: hour(now()) - 1,
        kind: kind(),
        later: false,
        end,
        number,
        sums: RoundSums {
            rounds,
            backoff_ms: 0,
        },
    }
}

fn digest() -> Digest {
    let raw = Raw {
        coverage: Coverage {
            // Counted of the running hour and the nine before it.
            since: Some(hour(now()) - 9),
            watermark: 7,
            epoch: 0,
            as_of: now(),
        },
        first: vec![FirstAttemptsRow {
            kind: kind(),
            slot: slot(now()),
            rate: Rate::new(841, 1_000),
        }],
        week: vec![rounds(RoundEnd::GaveUp, 11, 120)],
        day: vec![
            rounds(RoundEnd::Succeeded, 1, 3_034),
            rounds(RoundEnd::Succeeded, 2, 608),
            rounds(RoundEnd::GaveUp, 11, 38),
        ],
        pending: Pending::default(),
    };
    Digest::new(raw, now())
}

fn by_name<'a>(all: &'a [Figure], name: &str) -> &'a Figure {
    all.iter().find(|figure| figure.name == name).unwrap()
}

#[test]
fn figures_say_what_they_count() {
    let counts = counts();
    let digest = digest();
    let server = |age_s: i64| Server {
        id: "app-01".into(),
        workers: Some(44),
        queues: None,
        started_at: None,
        started_raw: None,
        heartbeat_at: now(),
        heartbeat_age_ms: age_s * 1_000,
        processing: 1,
    };
    let due = [DueRetry {
        job: 1,
        kind: kind(),
        due: now(),
        number: None,
    }];
    let forecast = Forecast::new(&due, 1, now());
    let servers = [server(4), server(300), server(301)];
    let all = figures(&Facts {
        counts: Some(&counts),
        digest: Some(&digest),
        collected_at: Some(now()),
        forecast: Some(&forecast),
        servers: &servers,
        stale_claims: Some(17),
    });
    let failed = by_name(&all, "failed");
    assert_eq!(
        (failed.text.as_str(), failed.value),
        ("4,871", Value::Count(4_871))
    );
    assert_eq!(failed.more, "38 gave up 13:00\u{2013}14:00, mean 12");
    assert!(failed.bad);
    assert_eq!(failed.as_of, Some(now()));
    assert_eq!(by_name(&all, "processing").more, "of 88 workers");
    assert_eq!(
        by_name(&all, "retrying").more,
        "at least 1 due within the hour"
    );
    // Jobs in states of extensions count, those without a state do not.
    assert_eq!(by_name(&all, ALL_JOBS).value, Value::Count(4_871 + 46 + 3));
    assert!(by_name(&all, STALE_CLAIMS).bad);
    let succeeded = by_name(&all, SUCCEEDED_LAST_HOUR);
    assert_eq!(succeeded.text, "3,642");
    assert_eq!(succeeded.more, "608 of them after a retry");
    let first = by_name(&all, FIRST_ATTEMPT);
    assert_eq!(first.text, Rate::new(841, 1_000).percent().unwrap());
    assert_eq!(first.value.number().unwrap(), "0.841");
    assert_eq!(first.value.parts(), (Some(841), Some(1_000)));
    assert!(!first.bad);
}

#[test]
fn what_is_not_known_is_a_dash_and_never_zero() {
    let all = figures(&Facts::default());
    for figure in &all {
        assert_eq!(figure.text, "\u{2013}", "{}", figure.name);
        assert_eq!(figure.value, Value::Unknown, "{}", figure.name);
        assert_eq!((figure.bad, figure.as_of), (false, None), "{}", figure.name);
    }
}

#[test]
fn progress_is_told_until_all_is_read() {
    let mut collecting = Collecting {
        watermark: Some(450),
        highest: 1_000,
        caught_up: false,
        trouble: None,
    };
    assert_eq!(collecting.percent(), Some(45));
    let words = collecting.words().unwrap();
    assert!(words.contains("45 %, state row 450 of 1,000"), "{words}");
    collecting.caught_up = true;
    assert_eq!((collecting.percent(), collecting.words()), (None, None));
    collecting.trouble = Some("disk full".into());
    assert!(collecting.words().unwrap().contains("disk full"));
    assert_eq!(Collecting::default().words(), None);
}

#[test]
fn the_last_hour_of_a_day_ends_at_midnight() {
    assert_eq!(hour_words(23), "23:00\u{2013}00:00");
    assert_eq!(hour_words(24 * 20_000 + 7), "07:00\u{2013}08:00");
}
