//! What a policy would do, retry by retry.

use super::{Band, Policy};

/// Whether a retry runs, beside the trigger's or recurring job's next regular run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It comes before that run, or there is none.
    Fits,
    /// It depends on what chance draws.
    MayNot,
    /// It never comes before that run.
    Never,
}

/// One retry of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimulatedRetry {
    /// Its number, from 1.
    pub retry: u32,
    /// The wait before it.
    pub wait: Band,
    /// All waits up to it, counted from the first failure.
    pub total: Band,
    /// Whether it comes before the next regular run.
    pub fate: Fate,
}

/// A policy played through, as if each run failed at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulation {
    /// The retries, in order; [`Simulation::MOST`] at most.
    pub retries: Vec<SimulatedRetry>,
    /// All waits together, after the last of which it gives up.
    pub gives_up: Band,
    /// How much the scheduler can add in all, since it looks only so often, in milliseconds.
    pub poll_ms: i64,
}

impl Simulation {
    /// So many retries are played through.
    pub const MOST: u32 = 200;

    /// Plays a policy through. `poll_ms` is how often the scheduler looks; `next_run_ms` when the
    /// trigger or recurring job runs next, after the run that failed, where it does. Quartz drops a
    /// retry that is due within a second of that run: `margin_ms` says so.
    ///
    /// `None` where a wait is not known.
    pub fn of(
        policy: &Policy,
        poll_ms: i64,
        next_run_ms: Option<i64>,
        margin_ms: i64,
    ) -> Option<Self> {
        let mut total = Band::exactly(0);
        let mut retries = Vec::new();
        for retry in 1..=policy.retries.min(Self::MOST) {
            let wait = policy.band(retry)?;
            total = total.plus(wait);
            let too_late =
                |ms: i64| next_run_ms.is_some_and(|next| ms.saturating_add(margin_ms) >= next);
            let fate = match (too_late(total.min_ms), too_late(total.max_ms)) {
                (true, _) => Fate::Never,
                (false, true) => Fate::MayNot,
                (false, false) => Fate::Fits,
            };
            retries.push(SimulatedRetry {
                retry,
                wait,
                total,
                fate,
            });
        }
        let count = i64::from(policy.retries.min(Self::MOST));
        Some(Self {
            retries,
            gives_up: total,
            poll_ms: poll_ms.saturating_mul(count),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::policy::{Delays, Origin, QuartzPolicy};

    fn policy(retries: u32, delays: Delays) -> Policy {
        Policy {
            retries,
            delays,
            origin: Origin::Stored,
        }
    }

    #[test]
    fn hangfires_default_gives_up_after_four_to_five_hours() {
        let played = Simulation::of(&policy(10, Delays::HangfireDefault), 15_000, None, 0).unwrap();
        assert_eq!(
            played.gives_up,
            Band {
                min_ms: 15_483_000,
                max_ms: 17_078_000
            }
        );
        assert_eq!(played.poll_ms, 150_000);
        let third = played.retries[2];
        // 15 + 16 + 31 s, and 44 + 74 + 118 s.
        assert_eq!(
            third.total,
            Band {
                min_ms: 62_000,
                max_ms: 236_000
            }
        );
        assert_eq!(third.fate, Fate::Fits);
    }

    #[test]
    fn quartz_drops_what_comes_within_a_second_of_the_next_run() {
        let exponential = QuartzPolicy::Exponential {
            retries: 4,
            initial_ms: 2_000,
            factor: 2.0,
            max_delay_ms: None,
            jitter: 0.0,
        };
        // Totals: 2, 6, 14, 30 s.
        let fates = |next: i64| -> Vec<Fate> {
            Simulation::of(
                &policy(4, Delays::Quartz(exponential.clone())),
                0,
                Some(next),
                1_000,
            )
            .unwrap()
            .retries
            .iter()
            .map(|retry| retry.fate)
            .collect()
        };
        assert_eq!(
            fates(15_001),
            [Fate::Fits, Fate::Fits, Fate::Fits, Fate::Never]
        );
        assert_eq!(
            fates(15_000),
            [Fate::Fits, Fate::Fits, Fate::Never, Fate::Never]
        );
        let drawn = Simulation::of(&policy(1, Delays::HangfireDefault), 0, Some(30_000), 0);
        assert_eq!(drawn.unwrap().retries[0].fate, Fate::MayNot);
    }

    #[test]
    fn what_is_not_known_is_not_played() {
        assert_eq!(
            Simulation::of(&policy(2, Delays::List(Vec::new())), 0, None, 0),
            None
        );
        let none = Simulation::of(&policy(0, Delays::HangfireDefault), 15_000, None, 0).unwrap();
        assert_eq!((none.retries.len(), none.gives_up), (0, Band::exactly(0)));
        let endless = Simulation::of(&policy(u32::MAX, Delays::List(vec![1])), 1, None, 0).unwrap();
        assert_eq!(endless.retries.len(), 200);
    }
}
