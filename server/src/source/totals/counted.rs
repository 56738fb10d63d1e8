//! Sums by kind of job, and the totals that are shown of them.

use std::collections::{BTreeMap, BTreeSet};

use app::model::collect::Histogram;
use app::model::insights::{AttemptsRow, DelaysRow, FirstAttemptsRow, JobKind};
use app::model::rates::Rate;
use app::model::state::Instant;

/// Kinds of jobs that are shown by themselves, at most; the others are summed.
pub const MOST_KINDS: usize = 100;
/// Attempts with this number and higher ones are counted together.
pub const LAST_NUMBER: u32 = 12;

/// What was counted of one kind of jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    /// Attempts that ended, by number (0: none, at most twelve) and outcome
    /// ([`app::model::attempt::Outcome::slug`]).
    pub attempts: BTreeMap<(u32, String), i64>,
    /// First attempts that succeeded, of all that ended.
    pub first: Rate,
    /// How long first attempts waited for a worker.
    pub first_waits: Histogram,
    /// How long retries waited for a worker after they came due.
    pub retry_waits: Histogram,
    /// Retries that a policy planned.
    pub delays: i64,
    /// What their delays were together, in milliseconds.
    pub delays_ms: i64,
}

impl Counted {
    fn add(&mut self, other: &Self) {
        for (key, attempts) in &other.attempts {
            *self.attempts.entry(key.clone()).or_default() += attempts;
        }
        self.first = self.first.plus(other.first);
        self.first_waits.add(&other.first_waits, 1);
        self.retry_waits.add(&other.retry_waits, 1);
        self.delays += other.delays;
        self.delays_ms = self.delays_ms.saturating_add(other.delays_ms);
    }

    /// Becomes what is counted now, where that is more. A job that is counted anew may leave less
    /// under a label, and a counter that falls would be taken for one that began anew.
    fn advance(&mut self, now: &Self) {
        for (key, attempts) in &now.attempts {
            let known = self.attempts.entry(key.clone()).or_default();
            *known = (*known).max(*attempts);
        }
        self.first = Rate {
            numerator: self.first.numerator.max(now.first.numerator),
            denominator: self.first.denominator.max(now.first.denominator),
        };
        raise(&mut self.first_waits, &now.first_waits);
        raise(&mut self.retry_waits, &now.retry_waits);
        self.delays = self.delays.max(now.delays);
        self.delays_ms = self.delays_ms.max(now.delays_ms);
    }
}

fn raise(known: &mut Histogram, now: &Histogram) {
    for (count, now) in known.counts.iter_mut().zip(&now.counts) {
        *count = (*count).max(*now);
    }
    known.sum_ms = known.sum_ms.max(now.sum_ms);
}

/// Sums by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sums(BTreeMap<JobKind, Counted>);

impl Sums {
    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        for (kind, counted) in &other.0 {
            self.0.entry(kind.clone()).or_default().add(counted);
        }
    }

    pub(crate) fn add_attempts(&mut self, rows: Vec<AttemptsRow>) {
        for row in rows {
            let counted = self.0.entry(row.kind).or_default();
            let number = row.number.min(LAST_NUMBER);
            *counted.attempts.entry((number, row.outcome)).or_default() += row.sums.attempts;
            match number {
                0 => {}
                1 => counted.first_waits.add(&row.sums.waited, 1),
                _ => counted.retry_waits.add(&row.sums.waited, 1),
            }
        }
    }

    pub(crate) fn add_first_attempts(&mut self, rows: Vec<FirstAttemptsRow>) {
        for row in rows {
            let counted = self.0.entry(row.kind).or_default();
            counted.first = counted.first.plus(row.rate);
        }
    }

    pub(crate) fn add_delays(&mut self, rows: Vec<DelaysRow>) {
        for row in rows {
            let counted = self.0.entry(row.kind).or_default();
            counted.delays += row.sums.delays;
            counted.delays_ms = counted.delays_ms.saturating_add(row.sums.sum_ms);
        }
    }
}

/// Of which jobs something is counted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// Of one kind.
    Kind(JobKind),
    /// Of all kinds that have no label of their own.
    Others,
}

/// What is shown: it only grows while the program runs, and a kind that has a label keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    labelled: BTreeSet<JobKind>,
    counted: BTreeMap<Label, Counted>,
    /// When the numbers were last written, by the database's clock.
    pub as_of: Option<Instant>,
}

impl Totals {
    /// What was counted, by label.
    pub fn counted(&self) -> impl Iterator<Item = (&Label, &Counted)> {
        self.counted.iter()
    }

    /// Takes in what is counted now.
    pub fn advance(&mut self, sums: &Sums, as_of: Instant) {
        self.label(sums);
        let mut now: BTreeMap<Label, Counted> = BTreeMap::new();
        for (kind, counted) in &sums.0 {
            let label = if self.labelled.contains(kind) {
                Label::Kind(kind.clone())
            } else {
                Label::Others
            };
            now.entry(label).or_default().add(counted);
        }
        for (label, counted) in now {
            self.counted.entry(label).or_default().advance(&counted);
        }
        self.as_of = Some(as_of);
    }

    /// Gives labels to new kinds while there are some left, first to those with most attempts.
    fn label(&mut self, sums: &Sums) {
        let attempts = |counted: &Counted| counted.attempts.values().sum::<i64>();
        let mut new: Vec<(&JobKind, &Counted)> = sums
            .0
            .iter()
            .filter(|(kind, _)| !self.labelled.contains(*kind))
            .collect();
        new.sort_by_key(|(_, counted)| std::cmp::Reverse(attempts(counted)));
        let left = MOST_KINDS.saturating_sub(self.labelled.len());
        let new = new.into_iter().take(left).map(|(kind, _)| kind.clone());
        self.labelled.extend(new);
    }
}
