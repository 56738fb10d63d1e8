//! The numbers of each job kind, side by side.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::endings::Endings;
use super::span::Steps;
use super::{FirstAttemptsRow, JobKind, RoundsRow};
use crate::model::collect::RoundEnd;
use crate::model::rates::{Fall, FirstAttempts, Rate};

/// The numbers of one job kind, or of several together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KindNumbers {
    /// First attempts that ended in the span.
    pub first: Rate,
    /// The same in the seven days before it.
    pub usual: Rate,
    /// First attempts by step of the span.
    pub trend: Vec<Rate>,
    /// A fall that chance does not explain, at the end of the span.
    pub fall: Option<Fall>,
    /// First rounds that finished in the span.
    pub endings: Endings,
    /// Rounds that began with a requeue and finished in it.
    pub again: Endings,
    /// First rounds that have begun and not finished, now.
    pub pending: i64,
    /// The same of rounds that began with a requeue.
    pub pending_again: i64,
    /// Retries of rounds that gave up.
    pub wasted: i64,
    /// The delays of all planned retries of the finished rounds, in milliseconds.
    pub backoff_ms: i64,
    /// The same of rounds that gave up.
    pub backoff_lost_ms: i64,
}

impl KindNumbers {
    /// Finished rounds, of both sorts.
    pub fn finished(&self) -> i64 {
        self.endings
            .finished()
            .saturating_add(self.again.finished())
    }

    /// How far the rate of the fall's window lies from its baseline, in percentage points.
    pub fn points(&self) -> Option<f64> {
        let fall = self.fall?;
        Some((fall.window.share()? - fall.baseline.share()?) * 100.0)
    }

    fn take_round(&mut self, row: &RoundsRow) {
        if row.later {
            self.again.take(row);
        } else {
            self.endings.take(row);
        }
        self.backoff_ms = self.backoff_ms.saturating_add(row.sums.backoff_ms);
        if row.end == RoundEnd::GaveUp {
            let retries = i64::from(row.number.saturating_sub(1));
            self.wasted = self
                .wasted
                .saturating_add(retries.saturating_mul(row.sums.rounds));
            self.backoff_lost_ms = self.backoff_lost_ms.saturating_add(row.sums.backoff_ms);
        }
    }

    fn take_first(&mut self, steps: Steps, slot: i64, rate: Rate) {
        self.first = self.first.plus(rate);
        if self.trend.len() < steps.count {
            self.trend.resize(steps.count, Rate::default());
        }
        if let Some(place) = steps.index(slot).and_then(|i| self.trend.get_mut(i)) {
            *place = place.plus(rate);
        }
    }
}

/// What the numbers are made of.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// The steps of the span.
    pub steps: Steps,
    /// First attempts in the span, by step.
    pub first: &'a [FirstAttemptsRow],
    /// First attempts in the seven days before it.
    pub usual: &'a [FirstAttemptsRow],
    /// First attempts by slot, over the days that a fall is told from.
    pub lately: &'a [FirstAttemptsRow],
    /// The slot at whose end a fall is looked for.
    pub at_slot: i64,
    /// Finished rounds of the span.
    pub rounds: &'a [RoundsRow],
    /// What has begun and not finished: the kind, whether it began with a requeue, how many.
    pub pending: &'a [(JobKind, bool, i64)],
}

/// Every kind, and all of them together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kinds {
    /// Those that lost ground first, then by wasted attempts, then by how much they do.
    pub rows: Vec<(JobKind, KindNumbers)>,
    /// All together.
    pub all: KindNumbers,
}

impl Kinds {
    /// Sums rows by kind.
    pub fn of(given: &Given<'_>) -> Self {
        let mut by_kind: BTreeMap<&JobKind, KindNumbers> = BTreeMap::new();
        let mut all = KindNumbers::default();
        let steps = given.steps;
        for row in given.first {
            let numbers = by_kind.entry(&row.kind).or_default();
            numbers.take_first(steps, row.slot, row.rate);
            all.take_first(steps, row.slot, row.rate);
        }
        for row in given.usual {
            all.usual = all.usual.plus(row.rate);
            if let Some(numbers) = by_kind.get_mut(&row.kind) {
                numbers.usual = numbers.usual.plus(row.rate);
            }
        }
        for row in given.rounds {
            by_kind.entry(&row.kind).or_default().take_round(row);
            all.take_round(row);
        }
        for (kind, later, count) in given.pending.iter().filter(|(.., count)| *count > 0) {
            for numbers in [by_kind.entry(kind).or_default(), &mut all] {
                let place = if *later {
                    &mut numbers.pending_again
                } else {
                    &mut numbers.pending
                };
                *place = place.saturating_add(*count);
            }
        }
        for (kind, fall) in falls(given.lately, given.at_slot) {
            if let Some(numbers) = by_kind.get_mut(kind) {
                numbers.fall = Some(fall);
            }
        }
        let together = given.lately.iter().map(|row| (row.slot, row.rate));
        all.fall = FirstAttempts::new(together).fall(given.at_slot);
        let mut rows: Vec<(JobKind, KindNumbers)> = by_kind
            .into_iter()
            .map(|(kind, numbers)| (kind.clone(), numbers))
            .collect();
        // Stable: kinds of one rank stay in the order of their names.
        rows.sort_by(|(_, a), (_, b)| {
            let lost = |numbers: &KindNumbers| numbers.points().unwrap_or(0.0);
            lost(a)
                .total_cmp(&lost(b))
                .then_with(|| Reverse(a.wasted).cmp(&Reverse(b.wasted)))
                .then_with(|| Reverse(a.finished()).cmp(&Reverse(b.finished())))
        });
        Self { rows, all }
    }

    /// Kinds whose first-attempt rate has fallen.
    pub fn fallen(&self) -> impl Iterator<Item = &(JobKind, KindNumbers)> {
        self.rows
            .iter()
            .filter(|(_, numbers)| numbers.fall.is_some())
    }
}

/// Which kinds have fallen at the end of a slot, from rows by slot.
pub fn falls(
    rows: &[FirstAttemptsRow],
    at_slot: i64,
) -> impl Iterator<Item = (&JobKind, Fall)> + use<'_> {
    let mut slots: BTreeMap<&JobKind, Vec<(i64, Rate)>> = BTreeMap::new();
    for row in rows {
        slots
            .entry(&row.kind)
            .or_default()
            .push((row.slot, row.rate));
    }
    slots
        .into_iter()
        .filter_map(move |(kind, slots)| Some((kind, FirstAttempts::new(slots).fall(at_slot)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::collect::RoundSums;
    use crate::model::insights::span::Span;

    fn kind(method: &str) -> JobKind {
        JobKind {
            job_type: "Bookstore.Jobs.InvoiceEmailJob".into(),
            method: method.into(),
        }
    }

    fn first(method: &str, slot: i64, of: (u64, u64)) -> FirstAttemptsRow {
        FirstAttemptsRow {
            kind: kind(method),
            slot,
            rate: Rate::new(of.0, of.1),
        }
    }

    fn round(method: &str, later: bool, end: RoundEnd, number: u32, sums: (i64, i64)) -> RoundsRow {
        RoundsRow {
            hour: 1_000,
            kind: kind(method),
            later,
            end,
            number,
            sums: RoundSums {
                rounds: sums.0,
                backoff_ms: sums.1,
            },
        }
    }

    fn steps() -> Steps {
        Span {
            from: 1_000,
            to: 1_024,
        }
        .steps(48)
    }

    #[test]
    fn a_kind_has_its_rate_its_usual_one_and_what_its_rounds_came_to() {
        let first_rows = [
            first("SendAsync", 6_000, (40, 50)),
            first("SendAsync", 6_143, (40, 50)),
        ];
        let usual = [
            first("SendAsync", 5_000, (95, 100)),
            // It did not run in the span.
            first("OldAsync", 5_000, (1, 1)),
        ];
        let rounds = [
            round("SendAsync", false, RoundEnd::Succeeded, 1, (80, 0)),
            round("SendAsync", false, RoundEnd::Succeeded, 5, (12, 60_000)),
            round("SendAsync", false, RoundEnd::GaveUp, 11, (8, 900_000)),
            round("SendAsync", true, RoundEnd::Succeeded, 1, (3, 0)),
            round("SendAsync", true, RoundEnd::GaveUp, 1, (2, 0)),
        ];
        let pending = [(kind("SendAsync"), false, 4), (kind("NewAsync"), true, 1)];
        let kinds = Kinds::of(&Given {
            steps: steps(),
            first: &first_rows,
            usual: &usual,
            lately: &[],
            at_slot: 6_143,
            rounds: &rounds,
            pending: &pending,
        });
        let names: Vec<&str> = kinds.rows.iter().map(|(k, _)| k.method.as_str()).collect();
        assert_eq!(names, ["SendAsync", "NewAsync"]);
        let (_, send) = &kinds.rows[0];
        assert_eq!(send.first, Rate::new(80, 100));
        assert_eq!(send.usual, Rate::new(95, 100));
        assert_eq!(send.trend.len(), 48);
        assert_eq!(send.trend[0], Rate::new(40, 50));
        assert_eq!(send.trend[47], Rate::new(40, 50));
        assert_eq!(send.trend[1], Rate::default());
        assert_eq!(send.endings.finished(), 100);
        assert_eq!((send.endings.later, send.endings.gave_up), (12, 8));
        assert_eq!((send.again.first, send.again.gave_up), (3, 2));
        assert_eq!(send.finished(), 105);
        assert_eq!((send.pending, send.pending_again), (4, 0));
        // Eight rounds of eleven attempts: ten retries each.
        assert_eq!(send.wasted, 80);
        assert_eq!((send.backoff_ms, send.backoff_lost_ms), (960_000, 900_000));
        let (_, new) = &kinds.rows[1];
        assert_eq!((new.pending_again, new.finished()), (1, 0));
        assert_eq!(new.first.percent(), None);
        // The usual rate of all counts kinds that are gone.
        assert_eq!(kinds.all.usual, Rate::new(96, 101));
        assert_eq!((kinds.all.pending, kinds.all.pending_again), (4, 1));
        assert_eq!(kinds.all.wasted, 80);
        assert_eq!(kinds.fallen().count(), 0);
    }

    /// Eight days of 34 jobs in ten minutes, all well; in the last three hours half of them fail.
    fn declining(method: &str, now: i64) -> Vec<FirstAttemptsRow> {
        (now - 1_152..=now)
            .map(|slot| {
                let good = if slot > now - 18 { 17 } else { 34 };
                first(method, slot, (good, 34))
            })
            .collect()
    }

    #[test]
    fn those_that_lost_ground_come_first() {
        let now = 6_143;
        let mut lately = declining("SendAsync", now);
        lately.extend((now - 1_152..=now).map(|slot| first("WasteAsync", slot, (30, 34))));
        let span: Vec<FirstAttemptsRow> = lately
            .iter()
            .filter(|row| row.slot >= 6_000)
            .cloned()
            .collect();
        let rounds = [round("WasteAsync", false, RoundEnd::GaveUp, 11, (800, 0))];
        let kinds = Kinds::of(&Given {
            steps: steps(),
            first: &span,
            usual: &[],
            lately: &lately,
            at_slot: now,
            rounds: &rounds,
            pending: &[],
        });
        let names: Vec<&str> = kinds.rows.iter().map(|(k, _)| k.method.as_str()).collect();
        assert_eq!(names, ["SendAsync", "WasteAsync"]);
        let (_, send) = &kinds.rows[0];
        let fall = send.fall.unwrap();
        // The window: the last two hours, twelve slots of 17 of 34.
        assert_eq!(fall.window, Rate::new(204, 408));
        assert_eq!(fall.from, now - 11);
        // The week before it: 1,008 slots of 34, 17 lost in each of the six last.
        assert_eq!(fall.baseline, Rate::new(1_008 * 34 - 6 * 17, 1_008 * 34));
        let points = send.points().unwrap();
        assert!((-49.71..-49.69).contains(&points), "{points}");
        assert_eq!(kinds.rows[1].1.fall, None);
        assert_eq!(kinds.fallen().count(), 1);
    }

    #[test]
    fn one_failure_in_ten_thousand_stays_visible() {
        let rows = [first("PingAsync", 6_000, (9_999, 10_000))];
        let kinds = Kinds::of(&Given {
            steps: steps(),
            first: &rows,
            usual: &[],
            lately: &[],
            at_slot: 6_143,
            rounds: &[
                round("PingAsync", false, RoundEnd::Succeeded, 1, (9_999, 0)),
                round("PingAsync", false, RoundEnd::GaveUp, 1, (1, 0)),
            ],
            pending: &[],
        });
        let (_, ping) = &kinds.rows[0];
        assert_eq!(ping.first.percent().unwrap(), "99.99 %");
        assert_eq!((ping.endings.needed_more(), ping.wasted), (1, 0));
    }
}
