//! Faults of a job database that need somebody, as the health checks saw them in the background.

use std::collections::BTreeMap;

use crate::model::health::{Check, Sighting};
use crate::model::state::Instant;

/// What the checks saw that need somebody when they see anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Findings {
    /// By check; those that could not be made are left out.
    pub seen: BTreeMap<Check, Sighting>,
    /// When the last of them was made, by the database's clock.
    pub read_at: Instant,
}

impl Findings {
    /// How many a check saw; 0 where it was not made.
    pub fn count(&self, check: Check) -> i64 {
        self.seen.get(&check).map_or(0, |sighting| sighting.count)
    }
}
