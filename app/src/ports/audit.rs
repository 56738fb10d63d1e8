//! Reading what operators did.

use async_trait::async_trait;
use uuid::Uuid;

use super::error::StoreError;
use crate::model::state::Instant;

/// One line of the audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Id, made before the action (UUID v7, so it sorts by time).
    pub id: Uuid,
    /// When it was written, by the database's clock.
    pub at: Instant,
    /// Who.
    pub actor: String,
    /// Whether that name was proven; false until access control exists.
    pub authenticated: bool,
    /// The action's word: `requeue`, `delete`, `enqueue-now`, `undo-delete`; of claims `reclaim`,
    /// `release`, `mark-sent`, `ask-provider`, `purge`.
    pub action: String,
    /// The job; `None` for an action on a claim that touched none.
    pub job: Option<i64>,
    /// What the operator saw of the job: state name and state id. `None` for actions on claims,
    /// which are guarded by the claim.
    pub seen: Option<(String, i64)>,
    /// What the job was before, where it was found.
    pub before: Option<(String, i64)>,
    /// What it was after a `done` action.
    pub after: Option<(String, i64)>,
    /// The operator's reason, whole.
    pub reason: Option<String>,
    /// The outcome's word: `done moved gone busy refused unknown`.
    pub outcome: String,
    /// The outcome in a sentence, and what else was changed.
    pub note: String,
    /// The claim, for an action on one.
    pub claim: Option<AuditClaim>,
}

/// What a line says of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditClaim {
    /// The claims table's name in Redrive.
    pub table: String,
    /// The claim's key; `None` for a purge, which has none.
    pub key: Option<String>,
    /// The claim time that the operator saw, as it was stored.
    pub seen: Option<String>,
    /// What it was before, in words (`Sending since 2026-11-02 12:00:00+00`), where it was found.
    pub before: Option<String>,
    /// What it was after a `done` action, in words; `None` where nothing was changed.
    pub after: Option<String>,
}

/// Reads the audit of one source.
#[async_trait]
pub trait AuditStore: Send + Sync {
    /// The newest `limit` rows older than the row `before` (or the newest of all), newest first;
    /// only those of `job` where one is given. Empty where the source has no audit table.
    ///
    /// # Errors
    /// As the database's.
    async fn audit(
        &self,
        job: Option<i64>,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<AuditRow>, StoreError>;

    /// The rows of these ids that are there, oldest first, in one read.
    ///
    /// # Errors
    /// As the database's.
    async fn audit_rows(&self, ids: &[Uuid]) -> Result<Vec<AuditRow>, StoreError>;

    /// One row.
    ///
    /// # Errors
    /// As the database's.
    async fn audit_row(&self, id: Uuid) -> Result<Option<AuditRow>, StoreError> {
        Ok(self.audit_rows(&[id]).await?.pop())
    }
}
