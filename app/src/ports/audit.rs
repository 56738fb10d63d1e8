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
    /// The action's word: `requeue`, `delete`, `enqueue-now`, `undo-delete`.
    pub action: String,
    /// The job.
    pub job: i64,
    /// What the operator saw: state name and state id.
    pub seen: (String, i64),
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

    /// One row.
    ///
    /// # Errors
    /// As the database's.
    async fn audit_row(&self, id: Uuid) -> Result<Option<AuditRow>, StoreError>;
}
