//! From state rows to attempts: the heart of the model.

mod build;
mod summary;
#[cfg(test)]
mod tests;

use super::attempt::{Attempt, Failure, Outcome};
use super::state::{Instant, StateName, StateRow};

pub(super) use build::rules;
pub use summary::{ObservedDelay, RetryBudget};

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
    /// The rows right after those given, where newer ones exist: they finish what began on this
    /// page (how its last attempt ended, what became of its last retry) and give no events of
    /// their own. [`Context::LOOK_AHEAD`] of them are enough. Empty where the rows given reach to
    /// the newest.
    pub newer: Vec<StateRow>,
}

impl Context {
    /// An attempt's end, the retry planned after it, and that retry's release.
    pub const LOOK_AHEAD: u32 = 3;

    /// The context of a job's whole history.
    pub fn whole(created_at: Instant, state: Option<StateName>) -> Self {
        Self {
            created_at,
            state,
            older_rows: false,
            attempts_before: 0,
            newer: Vec::new(),
        }
    }
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

/// The end of a run whose `Processing` row is not among the rows given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    /// Id of the row.
    pub state_id: i64,
    /// When.
    pub at: Instant,
    /// The state it ended in: `Succeeded` or `Failed`.
    pub name: StateName,
    /// The row's reason, if any.
    pub reason: Option<String>,
    /// Number of the attempt, where it lies on an earlier page.
    pub attempt: Option<u32>,
    /// What the `Failed` row says.
    pub failure: Option<Failure>,
}

/// The rows at the end that no attempt has followed yet, or whose attempt is on the newer page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Id of the last of them.
    pub state_id: i64,
    /// Its state: in a queue, waiting for a due time or a parent, or a state of another name.
    pub name: StateName,
    /// When it began.
    pub at: Instant,
    /// The row's reason, if any.
    pub reason: Option<String>,
    /// When it is due, where the row says so.
    pub due_at: Option<Instant>,
}

/// One thing that happened to a job, in the order of the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// An execution.
    Attempt(Attempt),
    /// A `Failed` row with no attempt running: the job could not even begin.
    FailureOutsideAttempt(Failure),
    /// A run ended whose beginning is on an earlier page, or no longer stored.
    RunEnd(RunEnd),
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
    /// It waits for its next run; at most one, and the last event.
    Waiting(Waiting),
}

impl Event {
    /// Id of the row that the event is about; for an attempt its `Processing` row.
    pub fn state_id(&self) -> i64 {
        match self {
            Self::Attempt(attempt) => attempt.processing_id,
            Self::FailureOutsideAttempt(failure) => failure.state_id,
            Self::RunEnd(end) => end.state_id,
            Self::Decision(decision) => decision.state_id,
            Self::Deleted { state_id, .. } | Self::Restored { state_id, .. } => *state_id,
            Self::Waiting(waiting) => waiting.state_id,
        }
    }

    /// The failure it tells of, if any.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Attempt(attempt) => attempt.failure.as_ref(),
            Self::FailureOutsideAttempt(failure) => Some(failure),
            Self::RunEnd(end) => end.failure.as_ref(),
            _ => None,
        }
    }

    fn failure_mut(&mut self) -> Option<&mut Failure> {
        match self {
            Self::Attempt(attempt) => attempt.failure.as_mut(),
            Self::FailureOutsideAttempt(failure) => Some(failure),
            Self::RunEnd(end) => end.failure.as_mut(),
            _ => None,
        }
    }
}

/// What happened to a job, made of its state rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// Everything that happened, in the order of the rows.
    pub events: Vec<Event>,
    /// How many rounds were begun; 0 before the first attempt or decision. Where the history is
    /// not whole they are counted from the first row given.
    pub rounds: u32,
    /// Whether the history is whole.
    pub history: History,
    /// How many attempts lie before the rows given.
    attempts_before: u32,
    /// Each row given, and the event it belongs to: rows that lead to an event belong to it.
    rows: Vec<(i64, usize)>,
}

impl Timeline {
    /// Reads the rows of one job, ordered by id; their times may be out of order. Takes time in
    /// proportion to the rows, and never fails: rows that fit no rule are kept as they are.
    pub fn build(rows: &[StateRow], context: &Context) -> Self {
        build::build(rows, context)
    }

    /// The ids of the rows that each event covers, in the order of [`Timeline::events`]. Every
    /// row given is in exactly one of them.
    pub fn rows_by_event(&self) -> Vec<Vec<i64>> {
        let mut by_event = vec![Vec::new(); self.events.len()];
        for (row, event) in &self.rows {
            if let Some(ids) = by_event.get_mut(*event) {
                ids.push(*row);
            }
        }
        by_event
    }

    /// Turns running attempts whose server is gone into orphaned ones. `gone` is asked with the
    /// server's id as the `Processing` row names it; a row that names none stays running.
    pub fn mark_orphaned(&mut self, gone: impl Fn(&str) -> bool) {
        for event in &mut self.events {
            if let Event::Attempt(attempt) = event
                && attempt.outcome == Outcome::Running
                && attempt.server.as_deref().is_some_and(&gone)
            {
                attempt.outcome = Outcome::Orphaned;
            }
        }
    }
}
