//! Faults of a job database that need somebody, as the health checks saw them in the background.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::health::{Check, Sighting};
use crate::model::state::Instant;

/// What the checks saw that need somebody when they see anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Findings {
    /// By check. Of one that could not be made it is what it saw the last time, if it ever was.
    pub seen: BTreeMap<Check, Sighting>,
    /// Checks that could not be made: what they would see now is not known.
    pub unanswered: BTreeSet<Check>,
    /// When the last round ended, by this host's clock.
    pub read_at: Instant,
}

impl Findings {
    /// How many a check saw; 0 where it was not made.
    pub fn count(&self, check: Check) -> i64 {
        self.seen.get(&check).map_or(0, |sighting| sighting.count)
    }
}
