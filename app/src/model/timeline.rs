//! From state rows to attempts: the heart of the model.

use super::attempt::{Attempt, Failure};
use super::state::{Instant, StateName, StateRow};

/// What the rows alone do not tell.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// When the job was created.
    pub created_at: Instant,
    /// The job's own state; `None` while it is being created.
    pub state: Option<StateName>,
    /// Whether older rows of the job exist that are not among those given (a page of a long
    /// history).
    pub older_rows: bool,
    /// How many `Processing` rows lie before the first row given.
    pub attempts_before: u32,
}

/// Whether the history reaches back to the job's creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// The first row lies within a minute of the job's creation.
    Whole,
    /// Older rows are on an earlier page; numbers are exact.
    Paged,
    /// Older rows are gone: numbers are at least what they say, shown as `n+`.
    Trimmed,
}

/// Why a new round began, or a planned run was released, by somebody's hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Id of the `Enqueued` or `Scheduled` row.
    pub state_id: i64,
    /// When.
    pub at: Instant,
    /// The row's reason, if any.
    pub reason: Option<String>,
    /// The round that it opens; `None` where it only released a planned run.
    pub opens_round: Option<u32>,
}

/// One thing that happened to a job, in the order of the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// An execution.
    Attempt(Attempt),
    /// A `Failed` row with no attempt running: the job could not even begin.
    FailureOutsideAttempt(Failure),
    /// An operator's (or API's) decision to run it again, or at once.
    Decision(Decision),
    /// It was deleted while no attempt ran.
    Deleted {
        /// Id of the `Deleted` row.
        state_id: i64,
        /// When.
        at: Instant,
        /// The row's reason, if any.
        reason: Option<String>,
    },
    /// A delete was undone.
    Restored {
        /// Id of the restored row.
        state_id: i64,
        /// When.
        at: Instant,
        /// The row's reason, if any.
        reason: Option<String>,
    },
}

/// What happened to a job, made of its state rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// Everything that happened, in the order of the rows.
    pub events: Vec<Event>,
    /// How many rounds were begun; 0 before the first attempt or decision.
    pub rounds: u32,
    /// Whether the history is whole.
    pub history: History,
}

impl Timeline {
    /// Reads the rows of one job, ordered by id.
    pub fn build(rows: &[StateRow], context: &Context) -> Self {
        let _ = (rows, context);
        Self {
            events: Vec::new(),
            rounds: 0,
            history: History::Whole,
        }
    }

    /// The attempts, in order.
    pub fn attempts(&self) -> impl DoubleEndedIterator<Item = &Attempt> {
        self.events.iter().filter_map(|event| match event {
            Event::Attempt(attempt) => Some(attempt),
            _ => None,
        })
    }

    /// The latest failure, of an attempt or outside any.
    pub fn last_failure(&self) -> Option<&Failure> {
        self.events.iter().rev().find_map(|event| match event {
            Event::Attempt(attempt) => attempt.failure.as_ref(),
            Event::FailureOutsideAttempt(failure) => Some(failure),
            _ => None,
        })
    }
}
