use super::*;
use crate::model::collect::{RoundEnd, RoundSums};

/// 27 Nov 2026, 14:05:48 UTC; its hour began at 14:00.
fn now() -> Instant {
    "2026-11-27T14:05:48Z".parse().unwrap()
}

fn kind(job_type: &str) -> JobKind {
    JobKind {
        job_type: job_type.into(),
        method: "RunAsync".into(),
    }
}

fn first(job_type: &str, slot: i64, numerator: u64, denominator: u64) -> FirstAttemptsRow {
    FirstAttemptsRow {
        kind: kind(job_type),
        slot,
        rate: Rate::new(numerator, denominator),
    }
}

fn rounds(hour: i64, later: bool, end: RoundEnd, number: u32, rounds: i64) -> RoundsRow {
    RoundsRow {
        hour,
        kind: kind("Import"),
        later,
        end,
        number,
        sums: RoundSums {
            rounds,
            backoff_ms: 0,
        },
    }
}

fn raw() -> Raw {
    Raw {
        coverage: Coverage {
            since: Some(0),
            watermark: 7,
            epoch: 0,
            as_of: now(),
        },
        first: Vec::new(),
        week: Vec::new(),
        day: Vec::new(),
        pending: Pending::default(),
    }
}

fn digest(change: impl FnOnce(&mut Raw)) -> Digest {
    let mut raw = raw();
    change(&mut raw);
    Digest::new(raw, now())
}

#[test]
fn the_hours_that_are_read_end_with_the_running_one() {
    let hour = hour(now());
    let scopes = scopes(now());
    assert_eq!((scopes.day.from, scopes.day.to), (hour - 23, hour + 1));
    assert_eq!((scopes.week.from, scopes.week.to), (hour - 167, hour + 1));
    // A window of 24 hours that ends half an hour ago, and the seven days before it, begin
    // 8 days and 20 minutes before the running slot.
    let oldest = slot(now()) - 3 + 1 - (24 + 168) * 6;
    assert!(scopes.first.from * 6 <= oldest);
}

#[test]
fn first_attempts_are_summed_by_the_hour_and_compared_with_the_week_before() {
    let end = slot(now());
    let hour = hour(now());
    let digest = digest(|raw| {
        raw.first = vec![
            first("Import", end, 3, 4),
            first("Stock", end, 5, 5),
            // The last slot of the day, and the one before it.
            first("Import", end - 143, 10, 20),
            first("Import", end - 144, 90, 100),
            // The oldest slot of the week before the day, and one that is too old.
            first("Stock", end - 144 - 1007, 1, 2),
            first("Stock", end - 144 - 1008, 50, 50),
        ];
    });
    assert_eq!(digest.first.day, Rate::new(18, 29));
    assert_eq!(digest.first.usual, Rate::new(91, 102));
    // 14:00 holds the running slot; 14:00 the day before the slots 14:10 (143 before) and 14:00.
    assert_eq!(
        digest.first_by_hour,
        [(hour - 24, Rate::new(100, 120)), (hour, Rate::new(8, 9)),]
    );
    // Import has 11 failed ones of the day, Stock none.
    let kinds: Vec<_> = digest
        .kinds
        .iter()
        .map(|kind| (kind.kind.job_type.as_str(), kind.first.day))
        .collect();
    assert_eq!(
        kinds,
        [("Import", Rate::new(13, 24)), ("Stock", Rate::new(5, 5))]
    );
    assert_eq!(digest.fall, None);
}

#[test]
fn a_line_has_steps_that_hold_enough() {
    let hour = hour(now());
    let last = (hour + 1) * 6 - 1;
    let steps = |per_hour: u64| {
        let digest = digest(|raw| {
            raw.first = (0..WEEK)
                .map(|ago| first("Import", last - ago * 6, per_hour, per_hour))
                .collect();
        });
        digest.first_by_steps()
    };
    assert_eq!(steps(30).0, 1);
    assert_eq!(steps(29).0, 3);
    // The running hour is the one from 14:00; the week began on the 20th at 15:00.
    let (length, six) = steps(6);
    assert_eq!((length, six.len()), (6, 29));
    assert_eq!(six[0], (hour - 14 - WEEK + 12, Rate::new(18, 18)));
    assert_eq!(six[1], (hour - 14 - WEEK + 18, Rate::new(36, 36)));
    assert_eq!(six[28], (hour - 2, Rate::new(18, 18)));
    assert_eq!(steps(1).0, 24);
    assert_eq!(digest(|_| {}).first_by_steps(), (1, Vec::new()));
}

#[test]
fn a_fall_of_one_kind_is_told_with_its_numbers() {
    let end = slot(now());
    let digest = digest(|raw| {
        // A hundred jobs per slot: 98 of them well for a week, 60 of them well for two hours.
        for slot in end - 1_200..=end {
            let well = if slot > end - 12 { 60 } else { 98 };
            raw.first.push(first("Import", slot, well, 100));
            raw.first.push(first("Stock", slot, 99, 100));
        }
    });
    let falls = digest.falls();
    assert_eq!(falls.len(), 1);
    let (name, fall) = &falls[0];
    assert_eq!(*name, &kind("Import"));
    assert_eq!(fall.window, Rate::new(720, 1_200));
    assert_eq!(fall.baseline, Rate::new(98 * 1_008, 100 * 1_008));
    assert_eq!(fall.from, end - 11);
    assert!((fall.depth() - 0.38).abs() < 1e-12, "{}", fall.depth());
    assert!(digest.fall.is_some());
}

#[test]
fn rounds_are_spread_by_the_attempt_that_ended_them() {
    use RoundEnd::{GaveUp, Succeeded};
    let hour = hour(now());
    let rows = vec![
        rounds(hour - 24, false, Succeeded, 1, 1_000),
        rounds(hour - 23, false, Succeeded, 1, 90),
        rounds(hour - 1, false, Succeeded, 1, 40),
        rounds(hour - 1, false, Succeeded, 2, 7),
        rounds(hour - 1, false, GaveUp, 4, 2),
        rounds(hour - 1, true, Succeeded, 1, 3),
        rounds(hour, false, Succeeded, 5, 1),
        rounds(hour, true, GaveUp, 1, 5),
    ];
    let digest = digest(|raw| {
        raw.day = rows.clone().split_off(1);
        raw.week = rows;
        raw.pending.rounds = vec![
            (kind("Import"), false, 6),
            (kind("Import"), true, 2),
            (kind("Stock"), false, 5),
        ];
    });
    let week = &digest.week.first;
    assert_eq!((week.first, week.second, week.later), (1_130, 7, 1));
    assert_eq!((week.gave_up, week.finished()), (2, 1_140));
    let again = &digest.week.again;
    assert_eq!((again.first, again.gave_up), (3, 5));
    let day = &digest.day;
    assert_eq!(
        (day.succeeded(), day.gave_up(), day.finished()),
        (141, 7, 148)
    );
    assert_eq!(day.after_retry(), 8);
    assert_eq!(digest.hours.len(), 24);
    assert_eq!(digest.hours[0].0, hour - 23);
    assert_eq!(digest.hours[0].1.first.first, 90);
    let (last, full) = digest.last_hour().unwrap();
    assert_eq!(
        (*last, full.succeeded(), full.after_retry()),
        (hour - 1, 50, 7)
    );
    assert_eq!(digest.hours[23].1.again.gave_up, 5);
    assert_eq!((digest.pending, digest.pending_again), (11, 2));
}
