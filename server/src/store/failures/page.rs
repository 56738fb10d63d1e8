//! Pages of a list in the order of change: which rows are asked for, and what they tell of the list.

use std::collections::HashMap;

use app::model::job::JobRow;
use app::ports::failures::{ChangedAnchor, ChangedKey, ChangedPage};
use app::ports::jobs::JobPage;

/// So many rows that were not collected yet are looked at.
pub const TAIL: i64 = 5_000;

/// A row of the index, or a job whose current row was not collected yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Its place.
    pub key: ChangedKey,
    /// Attempts so far, as far as the index knows.
    pub attempts: i64,
}

/// Where a walk begins, and in which direction it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walk {
    /// The first row, which belongs to it; `None` for the newest.
    pub from: Option<ChangedKey>,
    /// Towards older rows, else towards newer ones.
    pub older: bool,
    /// Rows at most.
    pub limit: u32,
}

impl Walk {
    /// Rows of the index and those that were not collected yet, in the order of the walk.
    pub fn merge(self, mut found: Vec<Found>, tail: &[ChangedKey]) -> Vec<Found> {
        let lies_there = |key: &&ChangedKey| match self.from {
            None => true,
            Some(from) if self.older => **key <= from,
            Some(from) => **key >= from,
        };
        let uncollected = tail.iter().filter(lies_there);
        found.extend(uncollected.map(|key| Found {
            key: *key,
            attempts: 0,
        }));
        found.sort_by_key(|row| row.key);
        if self.older {
            found.reverse();
        }
        found.truncate(usize::try_from(self.limit).unwrap_or(usize::MAX));
        found
    }
}

/// A page that is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    from: Option<ChangedKey>,
    older: bool,
    limit: u32,
}

impl Asked {
    /// By its anchor; at most `limit` rows.
    pub fn new(anchor: ChangedAnchor, limit: u32) -> Self {
        let (from, older) = match anchor {
            ChangedAnchor::Start => (None, true),
            ChangedAnchor::OlderThan(key) => (Some(key), true),
            ChangedAnchor::NewerThan(key) => (Some(key), false),
        };
        Self { from, older, limit }
    }

    /// The rows to read. The anchor itself is among them: where it still fits, it tells without
    /// another query that the list goes on beyond it. One row more tells the same at the other end.
    pub fn forth(self) -> Walk {
        Walk {
            from: self.from,
            older: self.older,
            limit: self.limit.saturating_add(2),
        }
    }

    /// What is still to be read: a row on the other side of the anchor, where that tells nothing.
    pub fn back(self, found: &[Found]) -> Option<Walk> {
        let from = self.from?;
        let fits = found.first().is_some_and(|row| row.key == from);
        (!fits).then_some(Walk {
            from: Some(from),
            older: !self.older,
            limit: 1,
        })
    }

    /// The rows of the page, newest first; `behind` are the rows of [`Self::back`].
    pub fn cut(self, mut found: Vec<Found>, behind: &[Found]) -> Cut {
        let fits = self.from.is_some() && found.first().map(|row| row.key) == self.from;
        if fits {
            found.remove(0);
        }
        let wanted = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let beyond = found.len() > wanted;
        found.truncate(wanted);
        if !self.older {
            found.reverse();
        }
        let behind = fits || !behind.is_empty();
        Cut {
            has_newer: if self.older { behind } else { beyond },
            has_older: if self.older { beyond } else { behind },
            found,
        }
    }
}

/// The rows of a page, and what lies around it.
#[derive(Debug)]
pub struct Cut {
    /// The rows, newest first.
    pub found: Vec<Found>,
    has_newer: bool,
    has_older: bool,
}

impl Cut {
    /// The jobs of the page.
    pub fn ids(&self) -> Vec<i64> {
        self.found.iter().map(|row| row.key.job).collect()
    }

    /// The page, with the light rows of its jobs, and with how many fit in all. Attempts whose rows
    /// are gone count.
    pub fn page(self, rows: Vec<JobRow>, matching: Option<i64>) -> ChangedPage {
        let mut by_id: HashMap<i64, JobRow> = rows.into_iter().map(|row| (row.id, row)).collect();
        let ends = match (self.found.first(), self.found.last()) {
            (Some(first), Some(last)) => Some((first.key, last.key)),
            _ => None,
        };
        let rows = self.found.iter().filter_map(|found| {
            let mut row = by_id.remove(&found.key.job)?;
            let known = u32::try_from(found.attempts).unwrap_or(u32::MAX);
            row.attempts = row.attempts.max(known.min(JobRow::ATTEMPTS_CAP));
            Some(row)
        });
        ChangedPage {
            page: JobPage {
                rows: rows.collect(),
                has_newer: self.has_newer,
                has_older: self.has_older,
            },
            ends,
            matching,
        }
    }
}
