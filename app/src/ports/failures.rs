//! Reading the collector's index of jobs that are failed, or wait for a retry, at this moment.

use async_trait::async_trait;

use super::error::StoreError;
use super::jobs::{JobFilter, JobPage};
use crate::model::insights::JobKind;
use crate::model::state::Instant;

/// The place of a job in the order of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedKey {
    /// When its current state began.
    pub changed_at: Instant,
    /// The job; of two that changed at once, the one with the lower id counts as older.
    pub job: i64,
}

/// Where a page of a list in the order of change lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedAnchor {
    /// The newest rows.
    Start,
    /// Rows older than this one.
    OlderThan(ChangedKey),
    /// Rows newer than this one: the ones next to it.
    NewerThan(ChangedKey),
}

/// One page of a list in the order of change.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedPage {
    /// The rows, latest change first.
    pub page: JobPage,
    /// The places of the first and the last row; `None` where there is none.
    pub ends: Option<(ChangedKey, ChangedKey)>,
    /// How many jobs fit the filter, on all pages together and as far as they were collected. `None`
    /// without a filter, and where the index does not tell: by time, by server, by more than a
    /// hundred attempts, and by a name that may mean several types.
    pub matching: Option<i64>,
}

/// Why the index cannot be used at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotReady {
    /// Redrive's own tables are missing, old, made by a newer Redrive, or not to be read.
    NoTables,
    /// It lies in a file of Redrive's host, apart from the jobs of a read-only source, and cannot be
    /// read together with them.
    Apart,
    /// The collector has not looked yet.
    NotBegun,
    /// The rows are being read for the first time, or again: up to this id, of ids up to that one.
    Reading {
        /// The highest id that was read.
        watermark: i64,
        /// The highest id in the table.
        highest: i64,
    },
    /// The collector stands still, or does not keep up: a row has been waiting since then.
    Behind {
        /// The time of the oldest row that was not read.
        since: Instant,
    },
}

/// What the index answers, where it can.
#[derive(Debug, Clone, PartialEq)]
pub enum Indexed<T> {
    /// The answer.
    Ready(T),
    /// It cannot.
    NotReady(NotReady),
}

/// Failed jobs that call the same and failed with the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureCause {
    /// What they call, as it is counted.
    pub kind: JobKind,
    /// Exception type of their last failure, as it is counted; empty where none is stored.
    pub exception: String,
    /// How many there are.
    pub jobs: i64,
    /// When the last one of them came to rest in Failed.
    pub newest: Instant,
    /// When the first one of them did.
    pub oldest: Instant,
}

/// Failed jobs by cause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailureCauses {
    /// The causes with most jobs, most first.
    pub top: Vec<FailureCause>,
    /// How many causes there are in all.
    pub causes: i64,
    /// How many failed jobs there are in all.
    pub jobs: i64,
}

/// Reads the index of one source. Each method is one read transaction with the limit of any read.
#[async_trait]
pub trait FailureStore: Send + Sync {
    /// One page of the failed or of the retrying jobs, those first that changed last. The filter's
    /// state must be one of the two; what else it holds means the same as in
    /// [`super::jobs::JobStore::list`], but that attempts which were seen count even where their
    /// rows are gone. `limit` is 1 to 200 rows.
    ///
    /// Rows come from the index by key, at any size and with any filter, and are checked against
    /// the jobs themselves: a job that is in another state by now is not among them.
    ///
    /// # Errors
    /// As the database's.
    async fn changed(
        &self,
        filter: &JobFilter,
        anchor: ChangedAnchor,
        limit: u32,
    ) -> Result<Indexed<ChangedPage>, StoreError>;

    /// Failed jobs by one cause (type, method and exception type), the `limit` causes with most
    /// jobs. From the index alone: a job that changed within the last moments may still be counted
    /// as it was. Cost grows with the number of causes, whatever the number of jobs.
    ///
    /// # Errors
    /// As the database's.
    async fn causes(&self, limit: u32) -> Result<Indexed<FailureCauses>, StoreError>;
}
