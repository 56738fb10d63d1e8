//! Whether the delays that were planned fit the policy that they show.

use std::collections::BTreeMap;

use super::{DelaysRow, JobKind};
use crate::model::collect::{DelaySums, Sums as _};
use crate::model::policy::{Band, Delays, Policy};
use crate::model::timeline::ObservedDelay;

/// What the delays of one kind under one maximum show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// They lie in the bands of Hangfire's default formula.
    Default,
    /// The same before each retry, every time.
    List,
    /// Before at least one retry of more than one length, and not as the default formula draws
    /// them: the policy draws otherwise, or it was changed.
    Varied,
}

/// One retry of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryFit {
    /// Its number.
    pub retry: u32,
    /// How many delays were planned before it.
    pub delays: i64,
    /// From the shortest to the longest of them.
    pub seen: Band,
    /// Their mean, in milliseconds.
    pub mean_ms: i64,
    /// What the policy says; `None` where nothing does.
    pub band: Option<Band>,
}

impl RetryFit {
    /// Whether all delays lie in the band; `None` where there is none.
    pub fn fits(&self) -> Option<bool> {
        let band = self.band?;
        Some(band.holds(self.seen.min_ms) && band.holds(self.seen.max_ms))
    }
}

/// The policy of one kind under one maximum of retries, as inferred from its delays.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyFit {
    /// The kind.
    pub kind: JobKind,
    /// The policy; its maximum is what the reasons named.
    pub policy: Policy,
    /// What its delays show.
    pub shape: Shape,
    /// The retries that were planned, by number.
    pub retries: Vec<RetryFit>,
}

impl PolicyFit {
    /// How many delays were planned.
    pub fn delays(&self) -> i64 {
        self.retries.iter().map(|retry| retry.delays).sum()
    }
}

/// So many copies of a delay are told to the inference where all were of one length: as many as it
/// needs to see that nothing is drawn.
const COPIES: i64 = 5;

/// By kind and maximum, in their order.
pub fn fits(rows: &[DelaysRow]) -> Vec<PolicyFit> {
    let mut sums: BTreeMap<(&JobKind, u32), BTreeMap<u32, DelaySums>> = BTreeMap::new();
    for row in rows {
        sums.entry((&row.kind, row.of))
            .or_default()
            .entry(row.retry)
            .or_default()
            .add(&row.sums, 1);
    }
    sums.into_iter()
        .filter_map(|((kind, of), retries)| fit(kind, of, &retries))
        .collect()
}

fn fit(kind: &JobKind, of: u32, retries: &BTreeMap<u32, DelaySums>) -> Option<PolicyFit> {
    let known: Vec<(u32, i64, Band, i64)> = retries
        .iter()
        .filter_map(|(retry, sums)| {
            let seen = Band {
                min_ms: sums.min_ms?,
                max_ms: sums.max_ms?,
            };
            (sums.delays > 0).then(|| (*retry, sums.delays, seen, sums.sum_ms / sums.delays))
        })
        .collect();
    let observed: Vec<ObservedDelay> = known
        .iter()
        .flat_map(|(retry, delays, seen, _)| lengths(*delays, *seen).map(move |ms| (*retry, ms)))
        .map(|(retry, backoff_ms)| ObservedDelay {
            retry,
            of,
            backoff_ms,
        })
        .collect();
    let policy = Policy::infer(&[], &observed)?;
    let always = known
        .iter()
        .all(|(retry, ..)| policy.band(*retry).is_some_and(is_one_length));
    let shape = if policy.delays == Delays::HangfireDefault {
        Shape::Default
    } else if always {
        Shape::List
    } else {
        Shape::Varied
    };
    let retries = known
        .into_iter()
        .map(|(retry, delays, seen, mean_ms)| RetryFit {
            retry,
            delays,
            seen,
            mean_ms,
            band: match shape {
                // Its band was made of these delays: they could not but fit.
                Shape::Varied => Delays::HangfireDefault.band(retry),
                _ => policy.band(retry),
            },
        })
        .collect();
    Some(PolicyFit {
        kind: kind.clone(),
        policy,
        shape,
        retries,
    })
}

/// The delays that are known one by one: the shortest and the longest; one length where all were
/// the same.
fn lengths(delays: i64, seen: Band) -> impl Iterator<Item = i64> {
    let one = is_one_length(seen);
    let copies = usize::try_from(delays.clamp(1, COPIES)).unwrap_or(1);
    let same = std::iter::repeat_n(seen.max_ms, if one { copies } else { 0 });
    let both = [seen.min_ms, seen.max_ms];
    same.chain(both.into_iter().take(if one { 0 } else { 2 }))
}

/// Hangfire may record a delay 1 ms short.
fn is_one_length(band: Band) -> bool {
    band.max_ms.saturating_sub(band.min_ms) <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(of: u32, retry: u32, delays: i64, (min, max): (i64, i64)) -> DelaysRow {
        DelaysRow {
            kind: JobKind {
                job_type: "Import".into(),
                method: "Run".into(),
            },
            of,
            retry,
            sums: DelaySums {
                delays,
                sum_ms: delays * (min + max) / 2,
                min_ms: Some(min),
                max_ms: Some(max),
            },
        }
    }

    #[test]
    fn drawn_delays_show_the_default_formula() {
        let rows = [
            row(10, 1, 40, (15_000, 44_000)),
            row(10, 2, 12, (15_999, 74_000)),
        ];
        let [fit] = fits(&rows).try_into().unwrap();
        assert_eq!((fit.shape, fit.policy.retries), (Shape::Default, 10));
        assert_eq!(fit.delays(), 52);
        assert_eq!(
            fit.retries[1],
            RetryFit {
                retry: 2,
                delays: 12,
                seen: Band {
                    min_ms: 15_999,
                    max_ms: 74_000
                },
                mean_ms: 44_999,
                band: Some(Band {
                    min_ms: 16_000,
                    max_ms: 74_000
                }),
            }
        );
        assert_eq!(fit.retries[1].fits(), Some(true));
    }

    #[test]
    fn the_same_again_and_again_is_a_list() {
        // 20 s lies in the first band of the default formula, but is not drawn.
        let rows = [
            row(2, 1, 9, (19_999, 20_000)),
            row(2, 2, 3, (30_000, 30_000)),
        ];
        let [fit] = fits(&rows).try_into().unwrap();
        assert_eq!((fit.shape, fit.policy.retries), (Shape::List, 2));
        assert_eq!(fit.policy.delay_words(), "20 s, 30 s");
        assert_eq!(fit.retries[0].fits(), Some(true));
    }

    #[test]
    fn a_policy_that_was_changed_varies_and_fits_nothing() {
        let rows = [
            row(10, 1, 60, (2_000, 40_000)),
            row(10, 2, 6, (16_000, 70_000)),
        ];
        let [fit] = fits(&rows).try_into().unwrap();
        assert_eq!(fit.shape, Shape::Varied);
        // Held against the default formula: the first retry does not fit, the second does.
        let held: Vec<_> = fit.retries.iter().map(RetryFit::fits).collect();
        assert_eq!(held, [Some(false), Some(true)]);
    }

    #[test]
    fn maxima_are_policies_of_their_own() {
        let rows = [
            row(3, 1, 1, (2_000, 2_000)),
            row(10, 1, 1, (17_000, 17_000)),
        ];
        let maxima: Vec<u32> = fits(&rows).iter().map(|fit| fit.policy.retries).collect();
        assert_eq!(maxima, [3, 10]);
        // A delay that was counted and taken away again leaves nothing.
        assert_eq!(fits(&[row(3, 1, 0, (2_000, 2_000))]), []);
    }
}
