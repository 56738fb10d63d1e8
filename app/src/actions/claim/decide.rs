//! Deciding an action on a claim: from what the operator saw and what was found inside the
//! transaction, to what is written or why nothing is. Pure, so that both dialects share every rule.

use crate::actions::Action;
use crate::model::claim::evidence::{Asked, Owner};
use crate::model::claim::table::Shape;
use crate::model::claim::{Claim, ClaimTime};
use crate::model::job::Server;
use crate::model::state::Instant;

/// What was found inside the transaction.
#[derive(Debug, Clone)]
pub struct FoundClaim<'a> {
    /// The table.
    pub shape: &'a Shape,
    /// The rows of the key, locked; more than one where nothing makes it unique.
    pub rows: Vec<Claim>,
    /// The jobs behind it, as they are now, oldest first.
    pub owners: Vec<Owner>,
    /// Every server.
    pub servers: Vec<Server>,
    /// A server whose heartbeat is older than this is gone, in milliseconds.
    pub server_timeout_ms: i64,
    /// Earlier claim times of this key that the audit knows.
    pub earlier: Vec<ClaimTime>,
    /// The newest answer of the provider.
    pub asked: Option<Asked>,
    /// The time, by the database's clock.
    pub now: Instant,
}

/// What becomes of the claim's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimWrite {
    /// It stays as it is: its job takes it itself.
    Keep,
    /// It is deleted.
    Delete,
    /// Its claim time becomes now, in the column's own format.
    Renew,
    /// It becomes sent.
    MarkAsSent {
        /// The provider's message id, where there is one and a column for it.
        provider_id: Option<String>,
    },
}

/// What a decided action writes, in one transaction with its audit row. Every write of the claim
/// names key, status and claim time as seen; exactly one row must change.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimPlan {
    /// The claim's row.
    pub write: ClaimWrite,
    /// The job that runs again, and how; its guarded action is decided with what is found of it in
    /// the same transaction.
    pub requeue: Option<(i64, Action)>,
    /// Whether the job is handed the claim: the parameter `Redrive.Claim`.
    pub hand_over: bool,
    /// What is changed, in sentences.
    pub notes: Vec<String>,
}
