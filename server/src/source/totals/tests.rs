//! Totals, over a store that answers what it is told to.

use std::sync::Mutex;

use app::model::collect::position::Position;
use app::model::collect::{AttemptSums, DelaySums};
use app::model::insights::{
    AttemptsRow, Coverage, DelaysRow, DueRetry, FirstAttemptsRow, JobKind, Pending, RecoveryRow,
    RoundsRow,
};
use app::model::rates::Rate;
use async_trait::async_trait;
use chrono::{TimeZone as _, Utc};

use super::counted::{LAST_NUMBER, MOST_KINDS};
use super::*;

/// An attempt that ended: hour, kind, number, outcome, how long it waited in milliseconds.
type Row = (i64, JobKind, u32, &'static str, i64);

/// Hours are read at most this many at once.
#[derive(Default)]
struct Told {
    rows: Vec<Row>,
    watermark: i64,
    longest: Option<i64>,
    asked: Vec<(i64, i64)>,
}

#[derive(Default)]
struct Store(Mutex<Told>);

impl Store {
    fn tell(&self, rows: &[Row]) {
        let mut told = self.0.lock().unwrap();
        told.rows.extend_from_slice(rows);
        told.watermark += 1;
    }

    /// Ranges of hours that were asked for since the last time.
    fn asked(&self) -> Vec<(i64, i64)> {
        std::mem::take(&mut self.0.lock().unwrap().asked)
    }

    fn within(&self, scope: &Scope) -> Vec<Row> {
        let told = self.0.lock().unwrap();
        let rows = told.rows.iter();
        rows.filter(|row| (scope.from..scope.to).contains(&row.0))
            .cloned()
            .collect()
    }
}

#[async_trait]
impl InsightStore for Store {
    async fn coverage(&self) -> Result<Option<Coverage>, StoreError> {
        let told = self.0.lock().unwrap();
        Ok(Some(Coverage {
            since: told.rows.iter().map(|row| row.0).min(),
            watermark: told.watermark,
            epoch: 0,
            as_of: now(),
        }))
    }

    async fn attempts(&self, scope: &Scope) -> Result<Vec<AttemptsRow>, StoreError> {
        {
            let mut told = self.0.lock().unwrap();
            let length = scope.to - scope.from;
            if told.longest.is_some_and(|longest| length > longest) && scope.to < LAST {
                return Err(StoreError::TimedOut(Duration::from_secs(5)));
            }
            told.asked.push((scope.from, scope.to));
        }
        let rows = self.within(scope).into_iter();
        Ok(rows
            .map(|(_, kind, number, outcome, waited)| {
                let mut sums = AttemptSums {
                    attempts: 1,
                    ..AttemptSums::default()
                };
                sums.waited.count(waited);
                AttemptsRow {
                    kind,
                    later: false,
                    number,
                    outcome: outcome.to_owned(),
                    sums,
                }
            })
            .collect())
    }

    async fn first_attempts(
        &self,
        scope: &Scope,
        _step: i64,
    ) -> Result<Vec<FirstAttemptsRow>, StoreError> {
        let rows = self.within(scope).into_iter();
        Ok(rows
            .filter(|row| row.2 == 1)
            .map(|(hour, kind, _, outcome, _)| FirstAttemptsRow {
                kind,
                slot: hour * 6,
                rate: Rate::new(u64::from(outcome == "succeeded"), 1),
            })
            .collect())
    }

    async fn delays(&self, scope: &Scope) -> Result<Vec<DelaysRow>, StoreError> {
        let rows = self.within(scope).into_iter();
        Ok(rows
            .filter(|row| row.3 == "failed")
            .map(|(_, kind, number, ..)| DelaysRow {
                kind,
                of: 3,
                retry: number,
                sums: DelaySums {
                    delays: 1,
                    sum_ms: 2_000,
                    min_ms: Some(2_000),
                    max_ms: Some(2_000),
                },
            })
            .collect())
    }

    async fn rounds(&self, _scope: &Scope, _step: i64) -> Result<Vec<RoundsRow>, StoreError> {
        Ok(Vec::new())
    }

    async fn recovery(&self, _scope: &Scope) -> Result<Vec<RecoveryRow>, StoreError> {
        Ok(Vec::new())
    }

    async fn pending(&self) -> Result<Pending, StoreError> {
        Ok(Pending::default())
    }

    async fn due_retries(&self, _until: Moment, _limit: u32) -> Result<Vec<DueRetry>, StoreError> {
        Ok(Vec::new())
    }

    async fn counted_queues(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }
}

fn now() -> Moment {
    Utc.with_ymd_and_hms(2026, 11, 30, 12, 30, 0).unwrap()
}

/// The hour it is.
fn hour() -> i64 {
    now().timestamp() / 3600
}

fn kind(name: &str) -> JobKind {
    JobKind {
        job_type: name.to_owned(),
        method: "RunAsync".to_owned(),
    }
}

fn of<'a>(totals: &'a Totals, label: &Label) -> &'a Counted {
    let found = totals.counted().find(|(known, _)| *known == label);
    found.unwrap().1
}

#[tokio::test]
async fn what_was_counted_at_any_time_is_summed() {
    let store = Store::default();
    let imports = kind("Import");
    store.tell(&[
        // Of 1902 and of next year: clocks of job servers may say anything.
        (-593_222, imports.clone(), 1, "succeeded", 5),
        (hour() - 1_000, imports.clone(), 1, "failed", 5),
        (hour() - 1_000, imports.clone(), 2, "succeeded", 40_000),
        (hour(), imports.clone(), 1, "succeeded", 5),
        (hour() + 9_000, imports.clone(), LAST_NUMBER + 3, "lost", 5),
        (hour(), imports.clone(), 0, "put-back", 5),
    ]);
    let mut reader = Reader::default();
    let totals = reader.read(&store, now()).await.unwrap().unwrap();
    let counted = of(&totals, &Label::Kind(imports));
    let attempts: Vec<(u32, &str, i64)> = counted
        .attempts
        .iter()
        .map(|((number, outcome), attempts)| (*number, outcome.as_str(), *attempts))
        .collect();
    assert_eq!(
        attempts,
        [
            (0, "put-back", 1),
            (1, "failed", 1),
            (1, "succeeded", 2),
            (2, "succeeded", 1),
            (LAST_NUMBER, "lost", 1)
        ]
    );
    assert_eq!(counted.first, Rate::new(2, 3));
    assert_eq!(counted.first_waits.sum_ms, 15);
    assert_eq!(counted.retry_waits.sum_ms, 40_005);
    assert_eq!((counted.delays, counted.delays_ms), (1, 2_000));
}

#[tokio::test]
async fn only_what_may_have_changed_is_read_again() {
    let store = Store::default();
    store.tell(&[(hour() - 1_000, kind("Import"), 1, "succeeded", 5)]);
    let mut reader = Reader::default();
    reader.read(&store, now()).await.unwrap().unwrap();
    let edge = whole_days(hour() - RECENT);
    let first = whole_days(hour() - 1_000);
    assert_eq!(store.asked(), [(first, edge), (edge, LAST)]);
    // Nothing was written: nothing is read.
    assert!(reader.read(&store, now()).await.unwrap().is_none());
    assert_eq!(store.asked(), []);
    store.tell(&[(hour(), kind("Import"), 1, "succeeded", 5)]);
    let totals = reader.read(&store, now()).await.unwrap().unwrap();
    assert_eq!(store.asked(), [(edge, LAST)]);
    assert_eq!(
        of(&totals, &Label::Kind(kind("Import"))).first,
        Rate::new(2, 2)
    );
    // A day later one day more is old.
    store.tell(&[(hour() + 24, kind("Import"), 1, "failed", 5)]);
    let later = now() + chrono::TimeDelta::hours(24);
    let totals = reader.read(&store, later).await.unwrap().unwrap();
    assert_eq!(store.asked(), [(edge, edge + 24), (edge + 24, LAST)]);
    assert_eq!(
        of(&totals, &Label::Kind(kind("Import"))).first,
        Rate::new(2, 3)
    );
}

#[tokio::test]
async fn a_history_that_takes_too_long_is_read_in_pieces() {
    let store = Store::default();
    let rows: Vec<Row> = (0..500)
        .map(|ago| (hour() - 3 * ago, kind("Import"), 1, "succeeded", 5))
        .collect();
    store.tell(&rows);
    store.0.lock().unwrap().longest = Some(100);
    let mut reader = Reader::default();
    let totals = reader.read(&store, now()).await.unwrap().unwrap();
    let first = of(&totals, &Label::Kind(kind("Import"))).first;
    assert_eq!(first, Rate::new(500, 500));
    // Pieces are whole days, and none is read twice.
    let mut asked = store.asked();
    asked.sort_unstable();
    assert!(asked.len() > 10, "{asked:?}");
    for pair in asked.windows(2) {
        assert_eq!((pair[0].1, pair[0].1 % 24), (pair[1].0, 0), "{asked:?}");
    }
}

#[tokio::test]
async fn a_counter_never_falls() {
    let store = Store::default();
    let import = (hour(), kind("Import"), 1, "lost", 5);
    store.tell(&[import.clone(), import.clone()]);
    let mut reader = Reader::default();
    reader.read(&store, now()).await.unwrap().unwrap();
    // A row that came late turns one of them into another outcome.
    store.0.lock().unwrap().rows.pop();
    store.tell(&[(hour(), kind("Import"), 1, "failed", 5)]);
    let totals = reader.read(&store, now()).await.unwrap().unwrap();
    let counted = of(&totals, &Label::Kind(kind("Import")));
    let attempts: Vec<i64> = counted.attempts.values().copied().collect();
    assert_eq!(attempts, [1, 2]);
    // It goes on from there once there are more.
    store.tell(&[import.clone(), import]);
    let totals = reader.read(&store, now()).await.unwrap().unwrap();
    let counted = of(&totals, &Label::Kind(kind("Import")));
    let attempts: Vec<i64> = counted.attempts.values().copied().collect();
    assert_eq!(attempts, [1, 3]);
}

#[tokio::test]
async fn kinds_beyond_the_most_are_summed() {
    let store = Store::default();
    let mut rows: Vec<Row> = (0..MOST_KINDS + 20)
        .map(|n| (hour(), kind(&format!("Job{n:03}")), 1, "succeeded", 5))
        .collect();
    // The last one has most attempts, so it has a label of its own.
    rows.push(rows.last().unwrap().clone());
    store.tell(&rows);
    let mut reader = Reader::default();
    let totals = reader.read(&store, now()).await.unwrap().unwrap();
    assert_eq!(totals.counted().count(), MOST_KINDS + 1);
    assert_eq!(of(&totals, &Label::Others).first, Rate::new(20, 20));
    let last = kind(&format!("Job{:03}", MOST_KINDS + 19));
    assert_eq!(of(&totals, &Label::Kind(last)).first, Rate::new(2, 2));
    // A new kind joins the others: those with labels keep them.
    store.tell(&vec![(hour(), kind("New"), 1, "succeeded", 5); 50]);
    let totals = reader.read(&store, now()).await.unwrap().unwrap();
    assert_eq!(totals.counted().count(), MOST_KINDS + 1);
    assert_eq!(of(&totals, &Label::Others).first, Rate::new(70, 70));
}

#[test]
fn history_that_is_being_indexed_is_not_shown() {
    let elsewhere = Progress::default();
    let indexing = Progress {
        position: Some(Position::default()),
        ..elsewhere.clone()
    };
    let there = Progress {
        caught_up: true,
        ..indexing.clone()
    };
    let shown = [&elsewhere, &indexing, &there].map(is_indexed);
    assert_eq!(shown, [true, false, true]);
}
