//! Which exceptions are worth retrying.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{JobKind, RecoveryRow, RoundsRow};
use crate::model::collect::{RecoverySums, RoundEnd, Sums as _};
use crate::model::rates::{Recovery, Verdict};

/// What became of the rounds in which an attempt failed with one type of exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExceptionNumbers {
    /// Finished rounds.
    pub sums: RecoverySums,
    /// Rounds that have met it and not finished, now.
    pub pending: i64,
    /// Rounds that met it, finished or not, by kind; most first.
    pub kinds: Vec<(JobKind, i64)>,
    /// About how long the retries of rounds that gave up were waited for, in milliseconds: as long as a
    /// retry of their kind's rounds that gave up was on average. `None` where that is not known.
    pub backoff_lost_ms: Option<i64>,
}

/// What the rounds of a kind that gave up spent: retries, and the waits before them in milliseconds.
pub type Spent = BTreeMap<JobKind, (i64, i64)>;

/// What was spent, by kind.
pub fn spent(rounds: &[RoundsRow]) -> Spent {
    let mut spent = Spent::new();
    for row in rounds.iter().filter(|row| row.end == RoundEnd::GaveUp) {
        let (retries, ms) = spent.entry(row.kind.clone()).or_default();
        let each = i64::from(row.number.saturating_sub(1));
        *retries = retries.saturating_add(each.saturating_mul(row.sums.rounds));
        *ms = ms.saturating_add(row.sums.backoff_ms);
    }
    spent
}

/// So many retries of a kind, at its average wait.
fn waited(spent: &Spent, kind: &JobKind, retries: i64) -> Option<i64> {
    if retries == 0 {
        return Some(0);
    }
    let (all, ms) = spent.get(kind).filter(|(all, _)| *all > 0)?;
    i64::try_from(i128::from(*ms) * i128::from(retries) / i128::from(*all)).ok()
}

impl ExceptionNumbers {
    /// Recovered and given up.
    pub fn recovery(&self) -> Recovery {
        let unsigned = |count: i64| u64::try_from(count).unwrap_or(0);
        Recovery {
            recovered: unsigned(self.sums.recovered),
            gave_up: unsigned(self.sums.gave_up),
        }
    }

    /// What may be said; `None` where no round has finished.
    pub fn verdict(&self) -> Option<Verdict> {
        self.recovery().verdict()
    }

    /// Finished rounds that met it.
    pub fn decided(&self) -> i64 {
        self.sums.recovered.saturating_add(self.sums.gave_up)
    }
}

impl Default for ExceptionNumbers {
    fn default() -> Self {
        Self {
            sums: RecoverySums::default(),
            pending: 0,
            kinds: Vec::new(),
            backoff_lost_ms: Some(0),
        }
    }
}

/// By exception: those that retrying does not mend first, by the retries spent on them; then by
/// rounds that gave up, then by rounds. An exception is named as it was counted, empty where none
/// was stored.
pub fn exceptions(
    rows: &[RecoveryRow],
    pending: &[(JobKind, String, i64)],
    spent: &Spent,
) -> Vec<(String, ExceptionNumbers)> {
    let mut by_name: BTreeMap<&str, (ExceptionNumbers, BTreeMap<&JobKind, i64>)> = BTreeMap::new();
    for row in rows {
        let (numbers, kinds) = by_name.entry(&row.exception).or_default();
        numbers.sums.add(&row.sums, 1);
        let waited = waited(spent, &row.kind, row.sums.retries_gave_up);
        numbers.backoff_lost_ms = numbers
            .backoff_lost_ms
            .zip(waited)
            .map(|(sum, ms)| sum.saturating_add(ms));
        *kinds.entry(&row.kind).or_default() += row.sums.recovered.saturating_add(row.sums.gave_up);
    }
    for (kind, exception, count) in pending.iter().filter(|(.., count)| *count > 0) {
        let (numbers, kinds) = by_name.entry(exception).or_default();
        numbers.pending = numbers.pending.saturating_add(*count);
        *kinds.entry(kind).or_default() += count;
    }
    let mut all: Vec<(String, ExceptionNumbers)> = by_name
        .into_iter()
        .map(|(name, (mut numbers, kinds))| {
            numbers.kinds = kinds.into_iter().map(|(k, met)| (k.clone(), met)).collect();
            numbers.kinds.sort_by_key(|(_, met)| Reverse(*met));
            (name.to_owned(), numbers)
        })
        .collect();
    all.sort_by_key(|(_, numbers)| {
        let permanent = numbers.verdict() == Some(Verdict::Permanent);
        let wasted = if permanent {
            numbers.sums.retries_gave_up
        } else {
            0
        };
        Reverse((permanent, wasted, numbers.sums.gave_up, numbers.decided()))
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str) -> JobKind {
        JobKind {
            job_type: name.into(),
            method: "RunAsync".into(),
        }
    }

    fn row(kind_name: &str, exception: &str, sums: [i64; 4]) -> RecoveryRow {
        let [recovered, gave_up, retries_recovered, retries_gave_up] = sums;
        RecoveryRow {
            kind: kind(kind_name),
            exception: exception.into(),
            sums: RecoverySums {
                recovered,
                gave_up,
                retries_recovered,
                retries_gave_up,
            },
        }
    }

    #[test]
    fn only_what_never_recovers_of_many_is_permanent() {
        let rows = [
            row("ReconcileJob", "Permanent", [0, 12, 0, 36]),
            row("ReconcileJob", "Timeout", [20, 1, 22, 3]),
            row("ReconcileJob", "Http", [1, 0, 1, 0]),
            row("ReconcileJob", "Argument", [0, 1, 0, 0]),
        ];
        let pending = [(kind("ReconcileJob"), "NullReference".to_owned(), 1)];
        let all = exceptions(&rows, &pending, &Spent::new());
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["Permanent", "Timeout", "Argument", "Http", "NullReference"]
        );
        let verdicts: Vec<_> = all.iter().map(|(_, numbers)| numbers.verdict()).collect();
        assert_eq!(
            verdicts,
            [
                Some(Verdict::Permanent),
                Some(Verdict::Recovers),
                Some(Verdict::TooFew),
                Some(Verdict::Recovers),
                None,
            ]
        );
        let (_, permanent) = &all[0];
        assert_eq!(permanent.sums.retries_gave_up, 36);
        assert_eq!(permanent.recovery().rate().percent().unwrap(), "0 %");
        let (_, timeout) = &all[1];
        assert_eq!(timeout.recovery().rate().percent().unwrap(), "95.2 %");
        let (_, open) = &all[4];
        assert_eq!((open.decided(), open.pending), (0, 1));
        assert_eq!(open.recovery().rate().percent(), None);
    }

    #[test]
    fn waits_are_those_of_the_kinds_rounds_that_gave_up() {
        let round = |end, number, (rounds, backoff_ms)| RoundsRow {
            hour: 1,
            kind: kind("ReconcileJob"),
            later: false,
            end,
            number,
            sums: crate::model::collect::RoundSums { rounds, backoff_ms },
        };
        // 13 rounds of three retries, 5 s each; what succeeded waited too, but not for nothing.
        let spent = spent(&[
            round(RoundEnd::GaveUp, 4, (13, 195_000)),
            round(RoundEnd::Succeeded, 2, (19, 95_000)),
        ]);
        let rows = [
            row("ReconcileJob", "Permanent", [0, 12, 0, 36]),
            row("ReconcileJob", "Timeout", [20, 1, 21, 3]),
            row("ReconcileJob", "Argument", [0, 1, 0, 0]),
            row("OtherJob", "Other", [0, 1, 0, 2]),
        ];
        let waits: Vec<_> = exceptions(&rows, &[], &spent)
            .into_iter()
            .map(|(name, numbers)| (name, numbers.backoff_lost_ms))
            .collect();
        let named = |name: &str, ms| (name.to_owned(), ms);
        assert_eq!(
            waits,
            [
                named("Permanent", Some(180_000)),
                named("Timeout", Some(15_000)),
                named("Argument", Some(0)),
                named("Other", None),
            ]
        );
    }

    #[test]
    fn an_exception_is_summed_over_kinds() {
        let rows = [
            row("A", "Timeout", [1, 0, 1, 0]),
            row("B", "Timeout", [2, 1, 2, 3]),
        ];
        let pending = [(kind("C"), "Timeout".to_owned(), 1)];
        let all = exceptions(&rows, &pending, &Spent::new());
        let [(_, timeout)] = all.as_slice() else {
            panic!("{all:?}");
        };
        assert_eq!(timeout.sums, row("", "", [3, 1, 3, 3]).sums);
        let met: Vec<(&str, i64)> = timeout
            .kinds
            .iter()
            .map(|(kind, met)| (kind.job_type.as_str(), *met))
            .collect();
        assert_eq!(met, [("B", 3), ("A", 1), ("C", 1)]);
    }
}
