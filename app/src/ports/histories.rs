//! Reading what many jobs call, and what happened to some of them.

use async_trait::async_trait;

use super::error::StoreError;
use crate::model::job::{JobCall, JobHistory};

/// Reads calls and histories of one source, many jobs at a time.
#[async_trait]
pub trait HistoryStore: Send + Sync {
    /// These jobs with their newest `states` state rows each (ordered by id, without exception
    /// details), in the order of their ids, in one read; those that do not exist are left out. At
    /// most 200 ids, at most 200 rows of each.
    ///
    /// # Errors
    /// As the database's.
    async fn histories(&self, ids: &[i64], states: u32) -> Result<Vec<JobHistory>, StoreError>;

    /// What the `limit` jobs after `id` call, by id. Arguments of more than 4 kB are
    /// [`Arguments::TooLarge`](crate::model::invocation::Arguments::TooLarge); of a call that is
    /// stored in more than 64 kB nothing else is read either. Jobs may become
    /// visible later than ones of higher ids.
    ///
    /// # Errors
    /// As the database's.
    async fn calls_after(&self, id: i64, limit: u32) -> Result<Vec<JobCall>, StoreError>;
}
