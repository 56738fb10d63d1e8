//! Reading recurring jobs.

use async_trait::async_trait;

use super::error::StoreError;
use crate::model::recurring::RecurringJob;

/// Reads the recurring jobs of one source.
#[async_trait]
pub trait RecurringStore: Send + Sync {
    /// Recurring jobs that have a next run, in the byte order of their names, at most `limit`. Left
    /// out are those whose call or cron is missing, cannot be understood or is larger than 64 kB.
    /// One read transaction with the limit of any read.
    ///
    /// # Errors
    /// As the database's.
    async fn recurring(&self, limit: u32) -> Result<Vec<RecurringJob>, StoreError>;
}
