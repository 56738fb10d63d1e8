//! Collects the jobs of a scenario while they are told.

use std::collections::HashSet;

use app::model::state::Instant;
use chrono::TimeDelta;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::catalogue::{Errand, Kind};
use super::fleet::Fleet;
use super::life::{Draft, Life};

/// Where the jobs of a scenario are told.
pub(super) struct Stage {
    pub(super) rng: StdRng,
    pub(super) fleet: Fleet,
    pub(super) now: Instant,
    pub(super) drafts: Vec<Draft>,
    orders: HashSet<u32>,
}

impl Stage {
    pub(super) fn new(seed: u64, now: Instant) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let fleet = Fleet::new(&mut rng, now);
        Self {
            rng,
            fleet,
            now,
            drafts: Vec::new(),
            orders: HashSet::new(),
        }
    }

    /// The moment so many seconds before now.
    pub(super) fn ago(&self, seconds: i64) -> Instant {
        self.now - TimeDelta::seconds(seconds)
    }

    /// A job of a kind, with random arguments.
    pub(super) fn errand(&mut self, kind: Kind) -> Errand {
        self.errand_at(kind, self.now)
    }

    /// A job of a kind. Orders are numbered by the time of their email, and each has one, because
    /// its claim is unique.
    pub(super) fn errand_at(&mut self, kind: Kind, at: Instant) -> Errand {
        let mut number = self.rng.random_range(1_000..9_999);
        if kind == Kind::Email {
            let minutes = (at - self.now + TimeDelta::days(30)).num_minutes();
            number = 40_000 + 2 * u32::try_from(minutes).unwrap_or_default();
            while !self.orders.insert(number) {
                number += 1;
            }
        }
        kind.errand_for(&mut self.rng, number)
    }

    /// Tells one job's life and keeps it. Gives its index.
    pub(super) fn tell(
        &mut self,
        story: &'static str,
        errand: Errand,
        created_at: Instant,
        tale: impl FnOnce(&mut Life<'_>),
    ) -> usize {
        let mut life = Life::begin(
            story,
            errand,
            created_at,
            self.now,
            &mut self.rng,
            &self.fleet,
        );
        tale(&mut life);
        self.drafts.push(life.finish());
        self.drafts.len() - 1
    }

    /// Makes `child` a continuation of `parent`.
    pub(super) fn continue_with(&mut self, parent: usize, child: usize, options: i32) {
        self.drafts[parent].children.push((child, options));
    }
}
