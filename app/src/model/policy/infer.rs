//! Which policy the recorded delays of a job show.

use std::collections::BTreeMap;

use super::{Band, Delays, Origin, Policy};
use crate::model::timeline::ObservedDelay;

/// So many delays of one length before the same retry are no draws of the default formula: it has
/// 30 lengths for each retry.
const SAME_LENGTH: usize = 5;

impl Policy {
    /// The policy that a job's own delays show, with the help of earlier jobs of the same type;
    /// each list in the order of time, the newest last. `None` where no retry was ever planned.
    ///
    /// The maximum is the newest one that a reason names. Delays of earlier jobs under another
    /// maximum, or that contradict this job's own, belong to another policy and are left out.
    /// Where the delays lie within the default formula's bands it is the default, unless one
    /// retry waited the very same time again and again.
    pub fn infer(own: &[ObservedDelay], earlier: &[ObservedDelay]) -> Option<Self> {
        let retries = own.last().or(earlier.last())?.of;
        let same = |delays: &[ObservedDelay]| -> Vec<ObservedDelay> {
            delays
                .iter()
                .filter(|delay| delay.of == retries)
                .copied()
                .collect()
        };
        let own = same(own);
        let mut earlier = same(earlier);
        let own_seen = seen(&own);
        let all: Vec<ObservedDelay> = earlier.iter().chain(&own).copied().collect();
        let drawn = fits_default(&own) && fits_default(&earlier);
        if drawn && !all.is_empty() && !always_the_same(&all) {
            return Some(Self::inferred(
                retries,
                Delays::HangfireDefault,
                own.len(),
                earlier.len(),
            ));
        }
        if contradicts(&own_seen, &seen(&earlier)) {
            earlier.clear();
            if !own.is_empty() && fits_default(&own) {
                return Some(Self::inferred(
                    retries,
                    Delays::HangfireDefault,
                    own.len(),
                    0,
                ));
            }
        }
        let mut bands = seen(&earlier);
        for (retry, band) in own_seen {
            bands
                .entry(retry)
                .and_modify(|all| *all = all.including(band))
                .or_insert(band);
        }
        Some(Self::inferred(
            retries,
            Delays::Seen(bands),
            own.len(),
            earlier.len(),
        ))
    }

    fn inferred(retries: u32, delays: Delays, own: usize, earlier: usize) -> Self {
        Self {
            retries,
            delays,
            origin: Origin::Inferred { own, earlier },
        }
    }
}

fn fits_default(delays: &[ObservedDelay]) -> bool {
    delays.iter().all(|delay| {
        Delays::HangfireDefault
            .band(delay.retry)
            .is_some_and(|band| band.holds(delay.backoff_ms))
    })
}

fn always_the_same(delays: &[ObservedDelay]) -> bool {
    let mut by_retry: BTreeMap<u32, (usize, Band)> = BTreeMap::new();
    for delay in delays {
        let band = Band::exactly(chosen(delay.backoff_ms));
        by_retry
            .entry(delay.retry)
            .and_modify(|(count, all)| {
                *count += 1;
                *all = all.including(band);
            })
            .or_insert((1, band));
    }
    by_retry
        .values()
        .any(|(count, band)| *count >= SAME_LENGTH && band.min_ms == band.max_ms)
}

/// Whether earlier jobs always waited another time than this one did: the policy was changed.
/// Where they differ among themselves, chance is part of the policy.
fn contradicts(own: &BTreeMap<u32, Band>, earlier: &BTreeMap<u32, Band>) -> bool {
    own.iter().any(|(retry, own)| {
        earlier
            .get(retry)
            .is_some_and(|band| band.min_ms == band.max_ms && own != band)
    })
}

fn seen(delays: &[ObservedDelay]) -> BTreeMap<u32, Band> {
    let mut seen: BTreeMap<u32, Band> = BTreeMap::new();
    for delay in delays {
        let band = Band::exactly(chosen(delay.backoff_ms));
        seen.entry(delay.retry)
            .and_modify(|all| *all = all.including(band))
            .or_insert(band);
    }
    seen
}

/// The delay that was chosen: Hangfire's are whole seconds, and one that lacks 1 ms lost it
/// between two looks at the clock.
fn chosen(recorded_ms: i64) -> i64 {
    if recorded_ms.rem_euclid(1000) == 999 {
        recorded_ms + 1
    } else {
        recorded_ms
    }
}
