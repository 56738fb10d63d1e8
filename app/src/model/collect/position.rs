//! How far the rows have been read, although their ids may commit out of order.
//!
//! On `PostgreSQL` a row is given its id before its transaction commits, so a missing id may
//! still appear. Whoever writes rows holds a lock on the table from before it takes an id until
//! after its rows can be seen. So all writers that hold it after an id was seen are noted with
//! that id, and once none of them holds it any more, nothing can appear up to it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::state::Instant;

/// Writers of the table at one moment, by a name that is never given again.
pub type Writers = BTreeSet<String>;

/// Who was writing around one snapshot; `None` where ids commit in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Around {
    /// Before the snapshot was taken.
    pub before: Writers,
    /// After it.
    pub after: Writers,
}

/// An id, and who was writing after it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Horizon {
    id: i64,
    writers: Writers,
}

/// How far the rows have been read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// How often the database turned out to be another one, restored or rebuilt.
    pub epoch: u32,
    /// The highest id that was read.
    pub watermark: i64,
    /// The highest id of a job of which a row was read.
    pub newest_job: i64,
    /// The time of the newest row that was read.
    pub newest_at: Option<Instant>,
    /// Rows up to this time were counted before the database was restored.
    pub counted_to: Option<Instant>,
    /// Whether the index holds every job that is failed or waits for a retry: the rows were read to
    /// their end, and all jobs looked through. Left out where not, as by those who know of no index.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub indexed: bool,
    /// How many rows were read, in this epoch.
    pub rows: i64,
    /// The highest id that was ever given to a row, where the database tells. A row whose id
    /// somebody chose himself may lie far above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<i64>,
    /// Nothing can appear up to this id any more.
    settled: i64,
    /// Missing ids below the watermark that may still appear, as ranges with both ends.
    gaps: Vec<(i64, i64)>,
    horizons: Vec<Horizon>,
}

/// More horizons than this become one, which waits for all their writers.
const HORIZONS: usize = 8;
/// So many gaps are kept among ids that were not given yet: where ids are given by somebody else,
/// as in a copy that is kept up to date from elsewhere, they would never be settled.
const NOT_GIVEN: usize = 1_000;

impl Position {
    /// Missing ids that may still appear, as ranges with both ends.
    pub fn gaps(&self) -> &[(i64, i64)] {
        &self.gaps
    }

    /// Whether a row of this id may still appear below the watermark.
    pub fn is_in_gap(&self, id: i64) -> bool {
        let at = self.gaps.partition_point(|(_, last)| *last < id);
        self.gaps.get(at).is_some_and(|(first, _)| *first <= id)
    }

    /// Moves on past rows that were read: all of the gaps, and those next after the watermark,
    /// in the order of ids. `highest` is the highest id in the same snapshot, `given` the highest
    /// that was given, where the database tells: what was not given yet is still to come.
    pub fn advance(
        &mut self,
        ids: &[i64],
        highest: i64,
        given: Option<i64>,
        around: Option<&Around>,
    ) {
        self.rows += i64::try_from(ids.len()).unwrap_or(i64::MAX);
        self.given = given.or(self.given);
        let from = self.watermark;
        self.watermark = ids.last().map_or(from, |last| from.max(*last));
        let Some(around) = around else {
            self.settled = self.watermark;
            self.gaps.clear();
            self.horizons.clear();
            return;
        };
        self.settle(&around.before);
        let fresh = (from + 1, self.watermark);
        let settled = self.settled;
        self.gaps = std::mem::take(&mut self.gaps)
            .into_iter()
            .chain([fresh])
            .flat_map(|range| missing(range, ids))
            .filter(|(_, last)| *last > settled)
            .map(|(first, last)| (first.max(settled + 1), last))
            .collect();
        let given = given.unwrap_or(i64::MAX);
        let beyond = self.gaps.iter().filter(|(first, _)| *first > given).count();
        if beyond > NOT_GIVEN {
            let keep = self.gaps.partition_point(|(first, _)| *first <= given);
            self.gaps.drain(keep..keep + beyond - NOT_GIVEN);
        }
        self.look_ahead(highest.max(self.watermark).min(given), &around.after);
    }

    /// Takes out of the gaps rows that were read, where more of them may be there.
    pub fn advance_within(&mut self, ids: &[i64]) {
        self.rows += i64::try_from(ids.len()).unwrap_or(i64::MAX);
        self.gaps = std::mem::take(&mut self.gaps)
            .into_iter()
            .flat_map(|range| missing(range, ids))
            .collect();
    }

    /// Whether the ids are not those that were read before: the highest one that was given, or
    /// that is there, is lower than it was.
    pub fn is_of_another(&self, highest: i64, given: Option<i64>) -> bool {
        match (self.given, given) {
            (Some(was), Some(now)) => now < was,
            (_, Some(now)) => now.max(highest) < self.watermark,
            (_, None) => highest > 0 && highest < self.watermark,
        }
    }

    /// Horizons whose writers had all gone before the snapshot was taken hold from now on.
    fn settle(&mut self, before: &Writers) {
        for horizon in &mut self.horizons {
            horizon.writers.retain(|writer| before.contains(writer));
            if horizon.writers.is_empty() {
                self.settled = self.settled.max(horizon.id);
            }
        }
        self.horizons.retain(|horizon| !horizon.writers.is_empty());
    }

    fn look_ahead(&mut self, id: i64, after: &Writers) {
        if id <= self.settled {
            return;
        }
        let is_full = self.horizons.len() >= HORIZONS;
        match self.horizons.last_mut() {
            Some(last) if last.id == id => {}
            Some(last) if is_full => {
                last.id = id;
                last.writers.extend(after.iter().cloned());
            }
            _ => self.horizons.push(Horizon {
                id,
                writers: after.clone(),
            }),
        }
    }

    /// Begins anew, in a database that was restored or rebuilt: its ids are not those that were
    /// read. Rows as old as those are taken in, and not counted a second time.
    pub fn restart(&mut self, now: Instant) {
        *self = Self {
            epoch: self.epoch.saturating_add(1),
            counted_to: self.newest_at.map(|at| at.min(now)).max(self.counted_to),
            newest_at: self.newest_at,
            ..Self::default()
        };
    }
}

/// What is left of a range without the ids that were read, which are in order.
fn missing(range: (i64, i64), ids: &[i64]) -> Vec<(i64, i64)> {
    let (mut first, last) = range;
    let mut left = Vec::new();
    let begin = ids.partition_point(|id| *id < first);
    for id in ids.iter().skip(begin).take_while(|id| **id <= last) {
        if first < *id {
            left.push((first, id - 1));
        }
        first = id + 1;
    }
    if first <= last {
        left.push((first, last));
    }
    left
}
