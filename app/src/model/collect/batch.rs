//! One batch of rows, of many jobs.

use std::collections::{BTreeMap, HashMap};

use super::position::Position;
use super::{Failure, Increments, Job, Memory};
use crate::model::state::{Instant, StateRow};

/// A row, and the job it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRow {
    /// The job.
    pub job: i64,
    /// The row.
    pub row: StateRow,
}

/// What one look at the database gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// Rows that were not read before, in the order of ids.
    pub rows: Vec<JobRow>,
    /// The jobs of the rows and of the memories, as far as they are there.
    pub jobs: HashMap<i64, Job>,
    /// What is remembered of the jobs of the rows, and of every job whose round is undecided.
    pub memories: HashMap<i64, Memory>,
    /// All rows that were read before, of jobs of which nothing is remembered, and of jobs of
    /// which a row came late; in the order of ids. May lack jobs that have none.
    pub older: HashMap<i64, Vec<StateRow>>,
}

/// What a batch changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// What is added to the numbers.
    pub increments: Increments,
    /// What is remembered anew.
    pub remembered: BTreeMap<i64, Memory>,
    /// Jobs of which nothing is remembered any more: they are final, and can be read again.
    pub forgotten: Vec<i64>,
    /// Jobs that are failed or wait for a retry now, as the index is to have them.
    pub failures: BTreeMap<i64, Failure>,
    /// Jobs that the index is to have no longer.
    pub left: Vec<i64>,
    /// Whether groups of the index that hold no job any more go.
    pub prune: bool,
}

impl Batch {
    /// Takes in the rows. `from` is the position before they were read.
    pub fn fold(&self, from: &Position) -> Changes {
        let mut by_job: BTreeMap<i64, Vec<&StateRow>> = BTreeMap::new();
        for JobRow { job, row } in &self.rows {
            by_job.entry(*job).or_default().push(row);
        }
        for job in self.memories.keys() {
            by_job.entry(*job).or_default();
        }
        let mut changes = Changes::default();
        for (id, rows) in by_job {
            self.fold_job(id, &rows, from, &mut changes);
        }
        changes
    }

    fn fold_job(&self, id: i64, rows: &[&StateRow], from: &Position, changes: &mut Changes) {
        let unknown = Job::unknown();
        let job = self.jobs.get(&id).unwrap_or(&unknown);
        let mut known = Known {
            job,
            counted_to: from.counted_to,
            out: Increments::default(),
        };
        let stored = self.memories.get(&id);
        let older = self.older.get(&id).map_or(&[][..], Vec::as_slice);
        let (before, mut memory) = match (stored, older) {
            (Some(stored), _) => (Some(stored.clone()), stored.clone()),
            (None, []) => (None, Memory::new(job)),
            (None, older) => {
                let mut again = Memory::new(job);
                for row in older {
                    again.take(row, job, &mut Increments::default());
                }
                again.settle(&mut Increments::default());
                (Some(again.clone()), again)
            }
        };
        let is_late = rows.first().is_some_and(|row| row.id < memory.last_row());
        if is_late {
            // A row that came after its successors: the job is counted anew with it.
            memory = known.anew(older, rows, before.as_ref());
        } else {
            for row in rows {
                known.take(&mut memory, row);
            }
        }
        if job.current_row == Some(memory.last_row()) {
            known.settle(&mut memory);
        }
        for gauge in before.iter().flat_map(Memory::gauges) {
            known.out.gauge(gauge, -1);
        }
        let gauges = memory.gauges();
        let is_pending = gauges.len() > 1;
        for gauge in gauges {
            known.out.gauge(gauge, 1);
        }
        changes.increments.add(&known.out, 1);
        let was = before.as_ref().and_then(Memory::failure);
        match memory.failure() {
            Some(failure) if was.as_ref() != Some(&failure) || is_late => {
                changes.failures.insert(id, failure);
            }
            None if was.is_some() => changes.left.push(id),
            _ => {}
        }
        if memory.is_final() && !is_pending {
            changes.forgotten.extend(stored.map(|_| id));
        } else if stored != Some(&memory) {
            changes.remembered.insert(id, memory);
        }
    }
}

/// A job, and what its rows add.
struct Known<'a> {
    job: &'a Job,
    counted_to: Option<Instant>,
    out: Increments,
}

impl Known<'_> {
    /// Rows that were counted before the database was restored are taken in, not counted.
    fn is_counted(&self, at: Instant) -> bool {
        self.counted_to.is_some_and(|to| at <= to)
    }

    fn take(&mut self, memory: &mut Memory, row: &StateRow) {
        if self.is_counted(row.created_at) {
            memory.take(row, self.job, &mut Increments::default());
        } else {
            memory.take(row, self.job, &mut self.out);
        }
    }

    fn settle(&mut self, memory: &mut Memory) {
        if memory.rests_since.is_some_and(|at| self.is_counted(at)) {
            memory.settle(&mut Increments::default());
        } else {
            memory.settle(&mut self.out);
        }
    }

    /// Counts a job anew, and takes away what its rows had added without those that came late.
    fn anew(&mut self, older: &[StateRow], late: &[&StateRow], before: Option<&Memory>) -> Memory {
        let mut all: Vec<&StateRow> = older.iter().chain(late.iter().copied()).collect();
        all.sort_by_key(|row| row.id);
        let mut memory = Memory::new(self.job);
        for row in all {
            self.take(&mut memory, row);
        }
        let mut counted = Known {
            job: self.job,
            counted_to: self.counted_to,
            out: Increments::default(),
        };
        let mut replayed = Memory::new(self.job);
        for row in older {
            counted.take(&mut replayed, row);
        }
        if before.is_some_and(|before| !before.is_undecided()) {
            counted.settle(&mut replayed);
        }
        self.out.add(&counted.out, -1);
        memory
    }
}
