//! What an action asks and answers.

pub mod claim;
pub mod decide;
pub mod found;
pub mod offer;
pub mod plan;
pub mod reason;
pub(crate) mod words;

use crate::model::state::{Instant, StateName};

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Run it again: into a queue, a new round.
    Requeue(Enqueue),
    /// Run a delayed, retrying or awaiting job at once.
    EnqueueNow(Enqueue),
    /// Delete it; it expires after a day.
    Delete,
    /// Take a delete back.
    UndoDelete,
}

/// How to enqueue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Enqueue {
    /// The operator's choice of queue.
    pub queue: Option<String>,
    /// Start the retry count again.
    pub reset_retries: bool,
}

impl Action {
    /// The word in URLs and in the audit.
    pub fn slug(&self) -> &'static str {
        match self {
            Self::Requeue(_) => "requeue",
            Self::EnqueueNow(_) => "enqueue-now",
            Self::Delete => "delete",
            Self::UndoDelete => "undo-delete",
        }
    }

    /// The verb for people.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Requeue(_) => "Requeue",
            Self::EnqueueNow(_) => "Enqueue now",
            Self::Delete => "Delete",
            Self::UndoDelete => "Undo the delete",
        }
    }

    /// The verb in the past, as Hangfire's reason text and the audit have it.
    pub fn done(&self) -> &'static str {
        match self {
            Self::Requeue(_) => "Requeued",
            Self::EnqueueNow(_) => "Enqueued now",
            Self::Delete => "Deleted",
            Self::UndoDelete => "Restored",
        }
    }
}

/// What the operator saw: the guard of every action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The job.
    pub job: i64,
    /// The state's name.
    pub state: StateName,
    /// The state row's id.
    pub state_id: i64,
}

/// Who acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The name.
    pub name: String,
    /// Whether it was proven.
    pub authenticated: bool,
}

/// One action on one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What to do.
    pub action: Action,
    /// What the operator saw.
    pub seen: Seen,
    /// Why, in the operator's words.
    pub reason: Option<String>,
    /// Who.
    pub actor: Actor,
}

/// What became of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It happened.
    Done {
        /// The job's new state.
        state: StateName,
        /// The new state row's id.
        state_id: i64,
        /// What else was changed, in sentences.
        notes: Vec<String>,
    },
    /// The job was changed first: nothing was done.
    Moved {
        /// What the operator saw.
        from: StateName,
        /// What it is now. `None` where it has no state.
        to: Option<StateName>,
        /// When that state began.
        at: Option<Instant>,
        /// The story in a sentence.
        why: String,
    },
    /// The job no longer exists.
    Gone,
    /// Somebody holds the job at this moment: nothing was done, try again.
    Busy {
        /// Since when.
        since: Option<Instant>,
        /// Who or what, in a sentence.
        why: String,
    },
    /// It may not be done: nothing was done.
    Refused {
        /// Why, in a sentence that says what to do instead.
        why: String,
    },
    /// The connection was lost while committing, and the audit could not be looked up.
    Unknown {
        /// What to check.
        why: String,
    },
}

impl Outcome {
    /// The word in JSON answers and in the audit.
    pub fn slug(&self) -> &'static str {
        match self {
            Self::Done { .. } => "done",
            Self::Moved { .. } => "moved",
            Self::Gone => "gone",
            Self::Busy { .. } => "busy",
            Self::Refused { .. } => "refused",
            Self::Unknown { .. } => "unknown",
        }
    }

    /// The outcome in a sentence or two, for the page and the audit.
    pub fn sentence(&self) -> String {
        match self {
            Self::Done { state, notes, .. } if notes.is_empty() => format!("It is {state} now."),
            Self::Done { notes, .. } => notes.join(" "),
            Self::Gone => "The job does not exist any more.".to_owned(),
            Self::Moved { why, .. }
            | Self::Busy { why, .. }
            | Self::Refused { why }
            | Self::Unknown { why } => why.clone(),
        }
    }
}
