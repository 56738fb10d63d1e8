//! Which exceptions are worth retrying.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{JobKind, RecoveryRow};
use crate::model::collect::{RecoverySums, Sums as _};
use crate::model::rates::{Recovery, Verdict};

/// What became of the rounds in which an attempt failed with one type of exception.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExceptionNumbers {
    /// Finished rounds.
    pub sums: RecoverySums,
    /// Rounds that have met it and not finished, now.
    pub pending: i64,
    /// Rounds that met it, finished or not, by kind; most first.
    pub kinds: Vec<(JobKind, i64)>,
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

/// By exception: those that retrying does not mend first, by the retries spent on them; then by
/// rounds that gave up, then by rounds. An exception is named as it was counted, empty where none
/// was stored.
pub fn exceptions(
    rows: &[RecoveryRow],
    pending: &[(JobKind, String, i64)],
) -> Vec<(String, ExceptionNumbers)> {
    let mut by_name: BTreeMap<&str, (ExceptionNumbers, BTreeMap<&JobKind, i64>)> = BTreeMap::new();
    for row in rows {
        let (numbers, kinds) = by_name.entry(&row.exception).or_default();
        numbers.sums.add(&row.sums, 1);
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
        let all = exceptions(&rows, &pending);
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
    fn an_exception_is_summed_over_kinds() {
        let rows = [
            row("A", "Timeout", [1, 0, 1, 0]),
            row("B", "Timeout", [2, 1, 2, 3]),
        ];
        let pending = [(kind("C"), "Timeout".to_owned(), 1)];
        let all = exceptions(&rows, &pending);
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
