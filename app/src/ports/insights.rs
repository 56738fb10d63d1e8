//! Reading the numbers that the collector keeps.

use async_trait::async_trait;

use super::error::StoreError;
use crate::model::insights::{
    AttemptsRow, Coverage, DelaysRow, DueRetry, FirstAttemptsRow, Pending, RecoveryRow, RoundsRow,
    Scope,
};
use crate::model::state::Instant;

/// Sums of what was counted. Each method is one read transaction with the limit of any read, and
/// reads rollups alone, but for [`InsightStore::due_retries`]. Rows come in the order of what they are
/// of, field by field. Names of a scope longer than those that are counted are cut as these are.
///
/// # Errors
/// All methods: [`StoreError::Forbidden`] where the own tables are missing or not to be read;
/// [`StoreError::TimedOut`] beyond the limit; else as the database's.
#[async_trait]
pub trait InsightStore: Send + Sync {
    /// What the numbers are made of; `None` where nothing was ever collected.
    async fn coverage(&self) -> Result<Option<Coverage>, StoreError>;

    /// First attempts by kind, in steps of so many slots of ten minutes (at least 1), which are
    /// counted from the scope's first hour.
    async fn first_attempts(
        &self,
        scope: &Scope,
        step: i64,
    ) -> Result<Vec<FirstAttemptsRow>, StoreError>;

    /// Finished rounds, in steps of so many hours (at least 1), counted from the scope's first.
    async fn rounds(&self, scope: &Scope, step: i64) -> Result<Vec<RoundsRow>, StoreError>;

    /// Attempts that ended, with their histograms, over the whole scope.
    async fn attempts(&self, scope: &Scope) -> Result<Vec<AttemptsRow>, StoreError>;

    /// Finished rounds by exception, over the whole scope.
    async fn recovery(&self, scope: &Scope) -> Result<Vec<RecoveryRow>, StoreError>;

    /// Planned delays over every day that the scope touches.
    async fn delays(&self, scope: &Scope) -> Result<Vec<DelaysRow>, StoreError>;

    /// What has begun and not finished, of all kinds.
    async fn pending(&self) -> Result<Pending, StoreError>;

    /// Retries planned up to `until`, overdue ones among them, soonest first, at most `limit`.
    /// Read from Hangfire's own schedule.
    async fn due_retries(&self, until: Instant, limit: u32) -> Result<Vec<DueRetry>, StoreError>;

    /// Queues of which attempts were counted, by name.
    async fn counted_queues(&self) -> Result<Vec<String>, StoreError>;
}
