//! What an action on a claim asks and answers.

pub mod decide;
mod warning;

use super::Actor;
use crate::model::claim::{ClaimStatus, ClaimTime};
use crate::model::state::StateName;

pub use warning::requeue_warning;

/// What to do with a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimAction {
    /// Take it back, in the way that its table's jobs know: release and requeue, requeue alone, or
    /// conditional update and requeue with hand-over.
    Reclaim,
    /// Delete the row, and run its job again.
    Release,
    /// The operator knows that it was delivered.
    MarkAsSent {
        /// The provider's message id.
        provider_id: Option<String>,
    },
}

impl ClaimAction {
    /// The word in URLs and in the audit.
    pub fn slug(&self) -> &'static str {
        match self {
            Self::Reclaim => "reclaim",
            Self::Release => "release",
            Self::MarkAsSent { .. } => "mark-sent",
        }
    }

    /// The verb for people.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Reclaim => "Reclaim",
            Self::Release => "Release",
            Self::MarkAsSent { .. } => "Mark as sent",
        }
    }
}

/// What the operator saw: the guard. The status is always Sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenClaim {
    /// The key.
    pub key: String,
    /// The stored claim time; `None` where the row or the table has none.
    pub claimed_at: Option<String>,
}

/// One action on one claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRequest {
    /// What to do.
    pub action: ClaimAction,
    /// What the operator saw.
    pub seen: SeenClaim,
    /// The jobs that stand behind the claim, found outside the transaction; each is looked at again
    /// inside it.
    pub owners: Vec<i64>,
    /// The one to run again, where the operator chose one.
    pub job: Option<i64>,
    /// Why, in the operator's words.
    pub reason: Option<String>,
    /// Whether the operator said that it may be delivered twice; without it nothing is resent whose
    /// outcome is unknown.
    pub may_deliver_twice: bool,
    /// Who.
    pub actor: Actor,
}

/// A job that was put into a queue by an action on its claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requeued {
    /// The job.
    pub job: i64,
    /// Its new state.
    pub state: StateName,
    /// The new state row's id.
    pub state_id: i64,
}

/// What became of an action on a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// It happened.
    Done {
        /// The claim afterwards: its status and claim time; `None` where the row was deleted.
        claim: Option<(ClaimStatus, Option<ClaimTime>)>,
        /// The job that runs again.
        job: Option<Box<Requeued>>,
        /// What was changed, in sentences.
        notes: Vec<String>,
    },
    /// Somebody else was first, or it is not stale any more: nothing was done.
    Moved {
        /// The claim as it is now: status, claim time, provider id.
        now: Box<Option<crate::model::claim::Claim>>,
        /// The story in a sentence.
        why: String,
    },
    /// The claim is not there any more.
    Gone,
    /// Somebody holds the claim or its job at this moment: nothing was done, try again.
    Busy {
        /// Who or what, in a sentence.
        why: String,
    },
    /// It may not be done: nothing was done, unless `why` says that the claim changed and its job
    /// did not (two databases).
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

impl ClaimOutcome {
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
            Self::Done { notes, .. } => notes.join(" "),
            Self::Gone => {
                "The claim is not there any more: it was released or purged. Nothing was changed."
                    .to_owned()
            }
            Self::Moved { why, .. }
            | Self::Busy { why }
            | Self::Refused { why }
            | Self::Unknown { why } => why.clone(),
        }
    }
}
