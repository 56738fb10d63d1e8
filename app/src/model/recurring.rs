//! Recurring jobs, and which retries of theirs come too late.

use super::insights::JobKind;
use super::insights::fit::{PolicyFit, Shape};
use super::policy::Simulation;

/// A recurring job with a next run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecurringJob {
    /// Its name.
    pub id: String,
    /// What it runs, as it is counted.
    pub kind: JobKind,
    /// When it runs, in the syntax of cron.
    pub cron: String,
}

/// What starts jobs of a kind again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trigger {
    /// The recurring job.
    pub job: RecurringJob,
    /// From one run to the next, where these lie closest, in milliseconds.
    pub every_ms: i64,
    /// Whether all of its runs lie so close.
    pub is_even: bool,
}

/// A retry that comes after the trigger's next run, whatever the policy draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLate {
    /// The first retry that does; those after it do so too.
    pub retry: u32,
    /// The policy's maximum.
    pub of: u32,
    /// It comes so long after the first failure, or later, in milliseconds.
    pub least_ms: i64,
    /// The first retry whose own wait is longer than the interval, with the shortest such wait in
    /// milliseconds.
    pub alone: Option<(u32, i64)>,
}

impl TooLate {
    /// What a policy does beside a trigger of such an interval. Waits are the shortest that the
    /// policy draws, or that were seen where no formula is known.
    pub fn of(fit: &PolicyFit, every_ms: i64) -> Option<Self> {
        let of = fit.policy.retries;
        let mut total = 0_i64;
        let mut first = None;
        let mut alone = None;
        for retry in 1..=of.min(Simulation::MOST) {
            let Some(wait) = least_wait(fit, retry) else {
                break;
            };
            total = total.saturating_add(wait);
            first = first.or((total > every_ms).then_some((retry, total)));
            alone = alone.or((wait > every_ms).then_some((retry, wait)));
        }
        first.map(|(retry, least_ms)| Self {
            retry,
            of,
            least_ms,
            alone,
        })
    }
}

fn least_wait(fit: &PolicyFit, retry: u32) -> Option<i64> {
    match fit.shape {
        Shape::Default | Shape::List => fit.policy.band(retry).map(|band| band.min_ms),
        Shape::Varied => {
            let mut seen = fit.retries.iter();
            seen.find(|seen| seen.retry == retry)
                .map(|seen| seen.seen.min_ms)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::collect::DelaySums;
    use crate::model::insights::DelaysRow;
    use crate::model::insights::fit::fits;

    const HOUR: i64 = 3_600_000;

    /// The policy that delays of these lengths show: shortest and longest before each retry.
    fn fit(of: u32, seen: &[(i64, i64)]) -> PolicyFit {
        let rows: Vec<DelaysRow> = seen
            .iter()
            .zip(1..)
            .map(|(&(min, max), retry)| DelaysRow {
                kind: JobKind {
                    job_type: "Import".into(),
                    method: "Run".into(),
                },
                of,
                retry,
                sums: DelaySums {
                    delays: 9,
                    sum_ms: 9 * min,
                    min_ms: Some(min),
                    max_ms: Some(max),
                },
            })
            .collect();
        fits(&rows).remove(0)
    }

    #[test]
    fn the_default_formula_outlasts_an_hour_with_its_eighth_retry() {
        let default = fit(10, &[(15_000, 44_000), (16_000, 74_000)]);
        assert_eq!(default.shape, Shape::Default);
        // The sum of (n-1)^4 + 15 + 0n up to 7 is 2,275 + 105 s, and 2,401 + 15 s more up to 8;
        // before retry 9 it waits 4,096 + 15 s.
        assert_eq!(
            TooLate::of(&default, HOUR),
            Some(TooLate {
                retry: 8,
                of: 10,
                least_ms: 4_796_000,
                alone: Some((9, 4_111_000)),
            })
        );
        assert_eq!(TooLate::of(&default, 24 * HOUR), None);
    }

    #[test]
    fn a_list_is_held_against_the_interval_as_it_is() {
        let list = fit(3, &[(60_000, 60_000), (300_000, 300_000), (10_000, 10_000)]);
        assert_eq!(list.shape, Shape::List);
        assert_eq!(
            TooLate::of(&list, 300_000),
            Some(TooLate {
                retry: 2,
                of: 3,
                least_ms: 360_000,
                alone: None,
            })
        );
        // A retry that comes with the next run does not come after it.
        assert_eq!(TooLate::of(&list, 370_000), None);
    }

    #[test]
    fn where_no_formula_is_known_only_what_was_seen_is_held_against_it() {
        let varied = fit(5, &[(1_000, 90_000), (400_000, 2_000_000)]);
        assert_eq!(varied.shape, Shape::Varied);
        let late = TooLate::of(&varied, 300_000).unwrap();
        assert_eq!((late.retry, late.least_ms), (2, 401_000));
        assert_eq!(late.alone, Some((2, 400_000)));
        assert_eq!(TooLate::of(&varied, 401_000), None);
    }
}
