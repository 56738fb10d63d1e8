//! Numbers written down by hand.

use std::time::Duration;

use app::model::collect::batch::Changes;
use app::model::collect::position::Position;
use app::model::collect::{
    AttemptKey, AttemptSums, DelayKey, DelaySums, FirstKey, FirstSums, Gauge, Histogram,
    Increments, RecoveryKey, RecoverySums, RoundEnd, RoundKey, RoundSums,
};
use app::model::insights::{Coverage, FirstAttemptsRow, Scope};
use app::model::rates::Rate;
use app::ports::collector::CollectorStore;
use app::ports::insights::InsightStore;
use uuid::Uuid;

use super::{hours, kind, sums_are_those_of};

const MAIL: &str = "Shop.Mail";
const PING: &str = "Shop.Ping";

fn spans(spans: &[i64]) -> Histogram {
    let mut histogram = Histogram::default();
    for ms in spans {
        histogram.count(*ms);
    }
    histogram
}

/// Hour 100 is 1970-01-05 04:00; it lies in day 4, and begins with slot 600.
fn numbers() -> Increments {
    let mut all = Increments::default();
    for (hour, job_type, queue, number, outcome, ran) in [
        (100, PING, "a", 1, "succeeded", &[5, 70][..]),
        (101, PING, "b", 1, "succeeded", &[5_000][..]),
        (102, PING, "a", 1, "failed", &[9][..]),
        (101, MAIL, "a", 2, "succeeded", &[][..]),
        (-1, MAIL, "a", 1, "failed", &[1][..]),
    ] {
        let key = AttemptKey {
            hour,
            job_type: job_type.to_owned(),
            method: "Run".to_owned(),
            queue: queue.to_owned(),
            later: false,
            number,
            outcome,
        };
        let sums = AttemptSums {
            attempts: i64::try_from(ran.len().max(1)).unwrap(),
            waited: spans(&[300]),
            ran: spans(ran),
        };
        all.attempts.insert(key, sums);
    }
    for (slot, job_type, queue, succeeded, ended) in [
        (600, PING, "a", 3, 4),
        (604, PING, "b", 10, 10),
        (605, PING, "a", 1, 2),
        (606, PING, "a", 7, 7),
        (600, MAIL, "a", 0, 5),
        (-6, MAIL, "a", 1, 1),
    ] {
        let key = FirstKey {
            slot,
            job_type: job_type.to_owned(),
            method: "Run".to_owned(),
            queue: queue.to_owned(),
        };
        all.first_attempts
            .insert(key, FirstSums { succeeded, ended });
    }
    rounds_and_delays(&mut all);
    all
}

fn rounds_and_delays(all: &mut Increments) {
    for (hour, later, end, number, rounds) in [
        (100, false, RoundEnd::Succeeded, 1, 13),
        (100, true, RoundEnd::Succeeded, 1, 2),
        (101, false, RoundEnd::GaveUp, 4, 3),
        (102, false, RoundEnd::Succeeded, 1, 7),
    ] {
        let key = RoundKey {
            hour,
            job_type: PING.to_owned(),
            method: "Run".to_owned(),
            queue: "a".to_owned(),
            later,
            end,
            number,
        };
        let sums = RoundSums {
            rounds,
            backoff_ms: rounds * 1_000,
        };
        all.rounds.insert(key, sums);
    }
    for (hour, exception, recovered) in [(100, "E", 1), (101, "E", 2), (101, "", 4)] {
        let key = RecoveryKey {
            hour,
            job_type: PING.to_owned(),
            method: "Run".to_owned(),
            exception: exception.to_owned(),
        };
        let sums = RecoverySums {
            recovered,
            gave_up: 1,
            retries_recovered: 5,
            retries_gave_up: 9,
        };
        all.recovery.insert(key, sums);
    }
    for (day, ms) in [(4, 15_000), (5, 44_000), (-1, 1)] {
        let key = DelayKey {
            day,
            job_type: PING.to_owned(),
            method: "Run".to_owned(),
            of: 10,
            retry: 1,
        };
        let sums = DelaySums {
            delays: 1,
            sum_ms: ms,
            min_ms: Some(ms),
            max_ms: Some(ms),
        };
        all.delays.insert(key, sums);
    }
    all.gauge(
        Gauge::PendingRounds {
            job_type: MAIL.to_owned(),
            method: "Run".to_owned(),
            later: true,
        },
        3,
    );
}

/// Writes the numbers into an empty database, and reads them back in parts.
pub async fn numbers_are_summed_as_written(write: &dyn CollectorStore, store: &dyn InsightStore) {
    let me = Uuid::from_u128(5);
    assert_eq!(store.coverage().await.unwrap(), None);
    let from = write.lease(me, Duration::from_mins(1)).await.unwrap();
    let from = from.unwrap();
    // The lease alone counts nothing.
    assert_eq!(store.coverage().await.unwrap(), None);
    let changes = Changes {
        increments: numbers(),
        ..Changes::default()
    };
    let mut to = Position::default();
    (to.epoch, to.watermark) = (2, 4_711);
    assert!(write.write(me, &from, &to, &changes).await.unwrap());
    let coverage = store.coverage().await.unwrap().unwrap();
    let as_of = coverage.as_of;
    assert_eq!(
        coverage,
        Coverage {
            since: Some(-1),
            watermark: 4_711,
            epoch: 2,
            as_of
        }
    );
    first_attempts(store).await;
    attempts(store).await;
    rounds(store).await;
    recovery_and_delays(store).await;
    let pending = store.pending().await.unwrap();
    assert_eq!(pending.rounds, [(kind(MAIL, "Run"), true, 3)]);
    assert_eq!(pending.recovery, []);
    assert_eq!(store.counted_queues().await.unwrap(), ["a", "b"]);
    sums_are_those_of(store, &numbers()).await;
    // Taken away again, nothing is left of them.
    let mut nothing = Changes::default();
    nothing.increments.add(&numbers(), -1);
    nothing.increments.delays.clear();
    assert!(write.write(me, &to, &to, &nothing).await.unwrap());
    let left = Increments {
        delays: numbers().delays,
        ..Increments::default()
    };
    sums_are_those_of(store, &left).await;
}

async fn first_attempts(store: &dyn InsightStore) {
    let row = |job_type, slot, succeeded, ended| FirstAttemptsRow {
        kind: kind(job_type, "Run"),
        slot,
        rate: Rate::new(succeeded, ended),
    };
    let by_five = store.first_attempts(&hours(100, 102), 5).await.unwrap();
    assert_eq!(
        by_five,
        [
            row(MAIL, 600, 0, 5),
            row(PING, 600, 13, 14),
            row(PING, 605, 8, 9),
        ]
    );
    // An hour ends before the next one's first slot.
    let of_queue = Scope {
        queue: Some("a".to_owned()),
        ..hours(100, 101)
    };
    assert_eq!(
        store.first_attempts(&of_queue, 6).await.unwrap(),
        [row(MAIL, 600, 0, 5), row(PING, 600, 4, 6)]
    );
    // Steps count from the scope's first hour, before 1970 too.
    assert_eq!(
        store.first_attempts(&hours(-2, 0), 6).await.unwrap(),
        [row(MAIL, -6, 1, 1)]
    );
    assert_eq!(
        store.first_attempts(&hours(-2, 0), 12).await.unwrap(),
        [row(MAIL, -12, 1, 1)]
    );
}

async fn attempts(store: &dyn InsightStore) {
    let rows = store.attempts(&hours(100, 102)).await.unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| {
            let (kind, sums) = (row.kind.job_type.as_str(), &row.sums);
            let ran: Vec<(usize, i64)> = (0..)
                .zip(sums.ran.counts.iter().copied())
                .filter(|(_, count)| *count > 0)
                .collect();
            (kind, row.number, sums.attempts, ran, sums.ran.sum_ms)
        })
        .collect();
    // Buckets end at 5, 100 and 5,000 ms.
    assert_eq!(
        found,
        [
            (MAIL, 2, 1, vec![], 0),
            (PING, 1, 3, vec![(2, 1), (6, 1), (11, 1)], 5_075)
        ]
    );
    assert_eq!(rows[1].sums.waited, spans(&[300, 300]));
    assert!(rows.iter().all(|row| row.outcome == "succeeded"));
}

async fn rounds(store: &dyn InsightStore) {
    let rows = store.rounds(&hours(99, 200), 3).await.unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| {
            let sums = row.sums;
            (
                row.hour,
                row.later,
                row.end,
                row.number,
                sums.rounds,
                sums.backoff_ms,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (99, false, RoundEnd::Succeeded, 1, 13, 13_000),
            (99, false, RoundEnd::GaveUp, 4, 3, 3_000),
            (99, true, RoundEnd::Succeeded, 1, 2, 2_000),
            (102, false, RoundEnd::Succeeded, 1, 7, 7_000),
        ]
    );
    let by_six = store.rounds(&hours(100, 200), 6).await.unwrap();
    assert_eq!(by_six[0].sums.rounds, 20);
}

async fn recovery_and_delays(store: &dyn InsightStore) {
    // Neither is counted by queue.
    let scope = Scope {
        queue: Some("nobody's".to_owned()),
        ..hours(100, 102)
    };
    let recovery = store.recovery(&scope).await.unwrap();
    let found: Vec<_> = recovery
        .iter()
        .map(|row| (row.exception.as_str(), row.sums))
        .collect();
    let sums = |recovered, gave_up, retries_recovered, retries_gave_up| RecoverySums {
        recovered,
        gave_up,
        retries_recovered,
        retries_gave_up,
    };
    assert_eq!(found, [("", sums(4, 1, 5, 9)), ("E", sums(3, 2, 10, 18))]);
    for (scope, wanted) in [
        (hours(119, 120), Some((1, 15_000, 15_000, 15_000))),
        (hours(100, 121), Some((2, 59_000, 15_000, 44_000))),
        (hours(120, 121), Some((1, 44_000, 44_000, 44_000))),
        (hours(-1, 0), Some((1, 1, 1, 1))),
        (hours(144, 200), None),
        (hours(100, 100), None),
        (hours(110, 100), None),
    ] {
        let rows = store.delays(&scope).await.unwrap();
        let found = rows.first().map(|row| {
            let sums = row.sums;
            let (min, max) = (sums.min_ms.unwrap(), sums.max_ms.unwrap());
            (sums.delays, sums.sum_ms, min, max)
        });
        assert_eq!(found, wanted, "{scope:?}");
    }
}
