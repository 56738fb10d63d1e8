//! Looking for faults in a job database.

use async_trait::async_trait;

use super::error::StoreError;
use crate::model::health::{Check, Sighting};
use crate::model::state::Instant;

/// Answers health checks. Each one is a read transaction of its own, with the limit of any read.
#[async_trait]
pub trait HealthStore: Send + Sync {
    /// Whether the question makes sense in this dialect.
    fn applies(&self, check: Check) -> bool;

    /// Looks. `now` is the time by the database's clock (ours, plus the skew that
    /// [`SourceInfo`](super::source::SourceInfo) tells): ages of heartbeats, locks and states are
    /// counted from it.
    ///
    /// # Errors
    /// [`StoreError::TimedOut`] where the table is too large for it, [`StoreError::Forbidden`]
    /// where the role may not read a table.
    async fn look(&self, check: Check, now: Instant) -> Result<Sighting, StoreError>;
}
