//! Jobs that are failed, or wait for a retry, at this moment: what the collector's index keeps of
//! them.

use super::hash::hash;
use super::{Increments, Job, Memory};
use crate::model::state::{Instant, ListState, StateName, StateRow};

/// What such jobs have in common. Names are cut as they are counted; empty ones are none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FailureGroup {
    /// [`ListState::Failed`] or [`ListState::Retrying`].
    pub list: ListState,
    /// The type, with its namespace.
    pub job_type: String,
    /// The method.
    pub method: Option<String>,
    /// The job's own queue, else its last `Enqueued` row's.
    pub queue: Option<String>,
    /// Exception type of the last `Failed` row.
    pub exception: Option<String>,
    /// Attempts so far; [`FailureGroup::MOST_ATTEMPTS`] stands for more, too.
    pub attempts: u32,
}

impl FailureGroup {
    /// Jobs with more attempts are in the group of this many.
    pub const MOST_ATTEMPTS: u32 = 100;

    /// A name for it, made of what it is: two groups have the same with no chance worth a thought.
    pub fn id(&self) -> i64 {
        let attempts = self.attempts.to_string();
        hash([
            Some(self.list.slug()),
            Some(&self.job_type),
            self.method.as_deref(),
            self.queue.as_deref(),
            self.exception.as_deref(),
            Some(&attempts),
        ])
        .cast_signed()
    }
}

/// The number that stands for a server in the index.
pub fn server_number(id: &str) -> i64 {
    hash([Some(id)]).cast_signed()
}

/// One such job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What it has in common with others.
    pub group: FailureGroup,
    /// When its current state began.
    pub changed_at: Instant,
    /// The row of its current state; 0 where there is none.
    pub state_id: i64,
    /// Attempts so far, as far as they are known.
    pub attempts: u32,
    /// The server of its last attempt.
    pub server: Option<String>,
}

impl Memory {
    /// The job as the index keeps it; `None` where it is in another state.
    pub fn failure(&self) -> Option<Failure> {
        let list = match self.previous.as_deref()? {
            name if name == StateName::Failed.as_str() => ListState::Failed,
            name if name == StateName::Scheduled.as_str() => ListState::Retrying,
            _ => return None,
        };
        let is_it = self.list.as_deref() == Some(list.slug());
        is_it.then(|| self.failure_as(list, self.last_row))
    }

    fn failure_as(&self, list: ListState, state_id: i64) -> Failure {
        let some = |text: String| (!text.is_empty()).then_some(text);
        Failure {
            group: FailureGroup {
                list,
                job_type: self.job_type.clone(),
                method: some(self.method.clone()),
                queue: some(self.queue()),
                exception: self.exception.clone(),
                attempts: self.attempts.min(FailureGroup::MOST_ATTEMPTS),
            },
            changed_at: self.changed_at.unwrap_or_default(),
            state_id,
            attempts: self.attempts,
            server: self.server.clone(),
        }
    }
}

/// A job that says of itself that it is failed or waits for a retry, and that the index lacks, or
/// has with another row: its rows were written before the index was, or it was changed by hand.
#[derive(Debug, Clone, PartialEq)]
pub struct Stray {
    /// The job; its current row is the newest that names its state, even where it is changing.
    pub job: Job,
    /// Whether its state is `Failed`; else it is `Scheduled`.
    pub is_failed: bool,
    /// What is remembered of it.
    pub memory: Option<Memory>,
    /// Its rows up to the position.
    pub rows: Vec<StateRow>,
}

impl Stray {
    /// As the index should have it; `None` where it is not of its jobs after all, or where its
    /// current row is yet to be read.
    pub fn failure(&self, watermark: i64) -> Option<Failure> {
        let current = self.job.current_row;
        if current.is_some_and(|row| row > watermark) {
            return None;
        }
        let mut known = Memory::new(&self.job);
        let is_past = |row: &&StateRow| current.is_none_or(|current| row.id <= current);
        for row in self.rows.iter().filter(is_past) {
            known.take(row, &self.job, &mut Increments::default());
        }
        // What is remembered may go further back than the rows that are left.
        if let Some(memory) = &self.memory {
            if self.rows.is_empty() {
                known.clone_from(memory);
            }
            known.attempts = known.attempts.max(memory.attempts);
            known.server = known.server.or_else(|| memory.server.clone());
            known.exception = known.exception.or_else(|| memory.exception.clone());
            known.last_queue = known.last_queue.or_else(|| memory.last_queue.clone());
        }
        let is_current = current.is_none_or(|current| current == known.last_row);
        let fits = |failure: &Failure| (failure.group.list == ListState::Failed) == self.is_failed;
        let found = known.failure().filter(|_| is_current).filter(fits);
        if found.is_some() {
            return found;
        }
        self.is_failed.then(|| {
            // Its row is gone: nothing says when that state began, other than after the job did.
            known.changed_at = known.changed_at.or(self.job.created_at);
            known.failure_as(ListState::Failed, current.unwrap_or(0))
        })
    }
}
