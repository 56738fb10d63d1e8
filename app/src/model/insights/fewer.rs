//! What fewer retries would cost, and which retries never helped.

use std::collections::BTreeMap;

use super::{DelaysRow, JobKind, RoundsRow};
use crate::model::collect::RoundEnd;
use crate::model::rates::{Recovery, Verdict};

/// The mean delay before each retry, in milliseconds, by its number.
pub type MeanDelays = BTreeMap<u32, i64>;

/// The mean delays of one kind, over all its policies.
pub fn mean_delays(rows: &[DelaysRow], kind: &JobKind) -> MeanDelays {
    let mut sums: BTreeMap<u32, (i64, i64)> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.kind == *kind) {
        let (sum, count) = sums.entry(row.retry).or_default();
        *sum = sum.saturating_add(row.sums.sum_ms);
        *count = count.saturating_add(row.sums.delays);
    }
    sums.into_iter()
        .filter(|(_, (_, count))| *count > 0)
        .map(|(retry, (sum, count))| (retry, sum / count))
        .collect()
}

/// What stopping after so many attempts would have come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Attempts at most.
    pub attempts: u32,
    /// Rounds that succeeded later than that.
    pub lost: i64,
    /// Attempts that would not have been made.
    pub saved: i64,
    /// About so much waiting would not have been done, in milliseconds; `None` where a delay is not
    /// known.
    pub backoff_saved_ms: Option<i64>,
    /// About so long after the first failure a job is known as failed, in milliseconds; `None`
    /// where a delay is not known.
    pub known_after_ms: Option<i64>,
}

/// The finished rounds of one kind, replayed under lower limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fewer {
    /// Rounds that succeeded after more than one attempt.
    pub recovered: i64,
    /// Rounds that gave up.
    pub gave_up: i64,
    /// The limit as it is: the policy's, where its delays tell it, else the most attempts seen.
    pub now: Limit,
    /// The lowest limit that would have lost nothing; `None` where no lower one would.
    pub free: Option<Limit>,
    /// Lower limits that would have lost something, from the highest down to a single attempt.
    pub dearer: Vec<Limit>,
}

impl Fewer {
    /// Limits listed at most, beyond [`Fewer::now`] and [`Fewer::free`].
    pub const LISTED: usize = 9;

    /// Replays the rounds of a kind; `None` where none needed more than one attempt.
    pub fn of(kind: &JobKind, rounds: &[RoundsRow], delays: &[DelaysRow]) -> Option<Self> {
        let rows: Vec<&RoundsRow> = rounds.iter().filter(|row| row.kind == *kind).collect();
        let most = rows.iter().map(|row| row.number).max()?;
        if most < 2 {
            return None;
        }
        let policy = delays
            .iter()
            .filter(|row| row.kind == *kind)
            .map(|row| row.of.saturating_add(1))
            .max();
        let means = mean_delays(delays, kind);
        let succeeded = |row: &&&RoundsRow| row.end == RoundEnd::Succeeded;
        let needed = rows.iter().filter(succeeded).map(|row| row.number).max();
        let needed = needed.unwrap_or(1).max(1);
        let sum = |rows: &mut dyn Iterator<Item = &&RoundsRow>| {
            rows.fold(0_i64, |sum, row| sum.saturating_add(row.sums.rounds))
        };
        let now = policy.unwrap_or(most).max(most);
        let limit = |attempts| limit(&rows, &means, attempts);
        Some(Self {
            recovered: sum(&mut rows.iter().filter(succeeded).filter(|row| row.number > 1)),
            gave_up: sum(&mut rows.iter().filter(|row| row.end == RoundEnd::GaveUp)),
            now: limit(now),
            free: (needed < now).then(|| limit(needed)),
            dearer: (1..needed).rev().take(Self::LISTED).map(limit).collect(),
        })
    }
}

fn limit(rows: &[&RoundsRow], means: &MeanDelays, attempts: u32) -> Limit {
    let mut limit = Limit {
        attempts,
        lost: 0,
        saved: 0,
        backoff_saved_ms: Some(0),
        known_after_ms: waits(means, 1, attempts),
    };
    for row in rows.iter().filter(|row| row.number > attempts) {
        let rounds = row.sums.rounds;
        if row.end == RoundEnd::Succeeded {
            limit.lost = limit.lost.saturating_add(rounds);
        }
        let attempts_saved = i64::from(row.number - attempts).saturating_mul(rounds);
        limit.saved = limit.saved.saturating_add(attempts_saved);
        let waited = waits(means, attempts, row.number);
        limit.backoff_saved_ms = limit
            .backoff_saved_ms
            .zip(waited)
            .map(|(sum, ms)| sum.saturating_add(ms.saturating_mul(rounds)));
    }
    limit
}

/// The mean waits from one attempt to another: before the retries that follow it.
fn waits(means: &MeanDelays, from: u32, to: u32) -> Option<i64> {
    (from..to).try_fold(0_i64, |sum, retry| {
        Some(sum.saturating_add(*means.get(&retry)?))
    })
}

/// Retries that outlive their usefulness: no round succeeded as late, and many tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outlived {
    /// The last attempt that any round succeeded with; 0 where none succeeded.
    pub last_success: u32,
    /// Rounds that went on after it and gave up.
    pub rounds: i64,
    /// The attempts that they made after it.
    pub attempts: i64,
    /// About how long they waited for these, in milliseconds; `None` where a delay is not known.
    pub backoff_ms: Option<i64>,
}

impl Outlived {
    /// Of the finished rounds of a kind; `None` where too few went on to say anything.
    pub fn of(kind: &JobKind, rounds: &[RoundsRow], delays: &[DelaysRow]) -> Option<Self> {
        let rows: Vec<&RoundsRow> = rounds.iter().filter(|row| row.kind == *kind).collect();
        let succeeded = rows.iter().filter(|row| row.end == RoundEnd::Succeeded);
        let last_success = succeeded.map(|row| row.number).max().unwrap_or(0);
        // A single attempt is no retry: without any success the first one is still needed.
        let after = last_success.max(1);
        let means = mean_delays(delays, kind);
        let beyond = limit(&rows, &means, after);
        let gave_up: i64 = rows
            .iter()
            .filter(|row| row.number > after)
            .map(|row| row.sums.rounds)
            .sum();
        let recovery = Recovery {
            recovered: 0,
            gave_up: u64::try_from(gave_up).unwrap_or(0),
        };
        (recovery.verdict() == Some(Verdict::Permanent)).then_some(Self {
            last_success,
            rounds: gave_up,
            attempts: beyond.saved,
            backoff_ms: beyond.backoff_saved_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::collect::{DelaySums, RoundSums};

    fn kind() -> JobKind {
        JobKind {
            job_type: "StockSyncJob".into(),
            method: "PushAsync".into(),
        }
    }

    fn round(end: RoundEnd, number: u32, rounds: i64) -> RoundsRow {
        RoundsRow {
            hour: 1,
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

    fn delay(of: u32, retry: u32, delays: i64, sum_ms: i64) -> DelaysRow {
        DelaysRow {
            kind: kind(),
            of,
            retry,
            sums: DelaySums {
                delays,
                sum_ms,
                min_ms: None,
                max_ms: None,
            },
        }
    }

    /// Four retries of 1, 2, 4 and 8 s. 100 succeed at once, 20 with the 2nd attempt, 5 with the
    /// third; 10 give up with the fifth.
    fn rounds() -> Vec<RoundsRow> {
        vec![
            round(RoundEnd::Succeeded, 1, 100),
            round(RoundEnd::Succeeded, 2, 20),
            round(RoundEnd::Succeeded, 3, 5),
            round(RoundEnd::GaveUp, 5, 10),
        ]
    }

    fn delays() -> Vec<DelaysRow> {
        vec![
            delay(4, 1, 35, 35_000),
            delay(4, 2, 15, 30_000),
            delay(4, 3, 10, 40_000),
            delay(4, 4, 10, 80_000),
        ]
    }

    #[test]
    fn rounds_are_replayed_under_lower_limits() {
        let fewer = Fewer::of(&kind(), &rounds(), &delays()).unwrap();
        assert_eq!((fewer.recovered, fewer.gave_up), (25, 10));
        assert_eq!(
            fewer.now,
            Limit {
                attempts: 5,
                lost: 0,
                saved: 0,
                backoff_saved_ms: Some(0),
                known_after_ms: Some(15_000),
            }
        );
        // Three attempts lose nothing: the ten that gave up save two each, and 4 + 8 s.
        assert_eq!(
            fewer.free,
            Some(Limit {
                attempts: 3,
                lost: 0,
                saved: 20,
                backoff_saved_ms: Some(120_000),
                known_after_ms: Some(3_000),
            })
        );
        assert_eq!(
            fewer.dearer,
            [
                // 5 lost; saved: 5 * 1 + 10 * 3; waits: 5 * 2 s + 10 * 14 s.
                Limit {
                    attempts: 2,
                    lost: 5,
                    saved: 35,
                    backoff_saved_ms: Some(150_000),
                    known_after_ms: Some(1_000),
                },
                // 25 lost; saved: 20 + 5 * 2 + 10 * 4; waits: 20 * 1 + 5 * 3 + 10 * 15 s.
                Limit {
                    attempts: 1,
                    lost: 25,
                    saved: 70,
                    backoff_saved_ms: Some(185_000),
                    known_after_ms: Some(0),
                },
            ]
        );
    }

    #[test]
    fn nothing_is_said_of_waits_that_were_not_seen() {
        let fewer = Fewer::of(&kind(), &rounds(), &delays()[..3]).unwrap();
        assert_eq!(fewer.now.known_after_ms, None);
        let free = fewer.free.unwrap();
        assert_eq!((free.saved, free.backoff_saved_ms), (20, None));
        assert_eq!(free.known_after_ms, Some(3_000));
    }

    #[test]
    fn a_kind_that_needs_all_its_attempts_has_no_free_limit() {
        let rows = [
            round(RoundEnd::Succeeded, 2, 3),
            round(RoundEnd::GaveUp, 2, 1),
        ];
        let fewer = Fewer::of(&kind(), &rows, &[]).unwrap();
        assert_eq!((fewer.now.attempts, fewer.free), (2, None));
        assert_eq!(fewer.dearer.len(), 1);
        assert_eq!(
            Fewer::of(&kind(), &[round(RoundEnd::Succeeded, 1, 9)], &[]),
            None
        );
        assert_eq!(Fewer::of(&kind(), &[], &[]), None);
    }

    #[test]
    fn retries_outlive_their_use_where_many_went_on_for_nothing() {
        // None of ten: even one in three could be true.
        assert_eq!(Outlived::of(&kind(), &rounds(), &delays()), None);
        let mut more = rounds();
        more.push(round(RoundEnd::GaveUp, 4, 2));
        assert_eq!(
            Outlived::of(&kind(), &more, &delays()),
            Some(Outlived {
                last_success: 3,
                rounds: 12,
                attempts: 10 * 2 + 2,
                backoff_ms: Some(10 * 12_000 + 2 * 4_000),
            })
        );
        let never = [round(RoundEnd::GaveUp, 5, 12)];
        let outlived = Outlived::of(&kind(), &never, &delays()).unwrap();
        assert_eq!((outlived.last_success, outlived.attempts), (0, 48));
        // What is not retried outlives nothing.
        let single = [round(RoundEnd::GaveUp, 1, 500)];
        assert_eq!(Outlived::of(&kind(), &single, &[]), None);
    }
}
