//! Reading state rows once, and keeping the numbers made of them.

use std::time::Duration;

use async_trait::async_trait;
use uuid::Uuid;

use super::error::StoreError;
use crate::model::collect::batch::{Batch, Changes};
use crate::model::collect::position::{Around, Position};
use crate::model::collect::{Memory, Stray};
use crate::model::state::Instant;

/// What one look at the state rows gave, all from one snapshot but for the writers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Look {
    /// Rows in the position's gaps, and those next after its watermark, with what is known of
    /// their jobs.
    pub batch: Batch,
    /// The highest id in the table; 0 where it is empty.
    pub highest: i64,
    /// The highest id that was ever given to a row, where the database tells.
    pub given: Option<i64>,
    /// Who was writing before and after the snapshot; `None` where ids commit in order.
    pub around: Option<Around>,
    /// Whether the gaps hold more rows than were read; then nothing after the watermark was.
    pub is_cut: bool,
}

/// Where the index of failed jobs and the jobs themselves do not agree.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Astray {
    /// Jobs that the index lacks, or has with another row.
    pub strays: Vec<(i64, Stray)>,
    /// Jobs that the index has, and that are gone or in another state; with the time since when
    /// they should be as the index has them.
    pub stale: Vec<(i64, Instant)>,
    /// The last job that was looked at; `None` at the end.
    pub last: Option<i64>,
}

/// How much is read and written at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Rows of a batch, at most.
    pub rows: u32,
    /// No write shall take longer, where others wait for it: batches become smaller.
    pub longest_write: Option<Duration>,
}

/// Reads the state rows of one source by id, and keeps what is counted of them.
///
/// One process at a time has the lease. It only spares the others the work: what makes the numbers
/// right is that a write names the position that it starts from.
#[async_trait]
pub trait CollectorStore: Send + Sync {
    /// How much to read and write at once.
    fn pace(&self) -> Pace;

    /// Takes the lease, or keeps it, for a while; the position, or `None` while another process
    /// has it, or where it is for others to collect. Chooses anew where the numbers are kept: in the
    /// source's database, or in a file that stands in for it.
    ///
    /// # Errors
    /// [`StoreError::Forbidden`] where the own tables are missing, of another version, or not to
    /// be written, or the file cannot be.
    async fn lease(&self, holder: Uuid, lasts: Duration) -> Result<Option<Position>, StoreError>;

    /// Gives the lease back, so that another process need not wait for its end.
    ///
    /// # Errors
    /// As the database's; the lease then ends by itself.
    async fn release(&self, holder: Uuid) -> Result<(), StoreError>;

    /// Reads at most `limit` rows of the gaps of a position, and as many after it.
    ///
    /// # Errors
    /// As the database's.
    async fn look(&self, position: &Position, limit: u32) -> Result<Look, StoreError>;

    /// Writes what rows change, and the position after them, in one transaction. Where the epoch
    /// is a new one, what was remembered of jobs, indexed and counted at the moment is dropped
    /// first. Jobs that are forgotten leave the index.
    /// `false`, and nothing is written, where another process has taken over, or where the stored
    /// position is not `from`.
    ///
    /// # Errors
    /// As the database's; nothing is written then, unless the answer to COMMIT was lost.
    async fn write(
        &self,
        holder: Uuid,
        from: &Position,
        to: &Position,
        changes: &Changes,
    ) -> Result<bool, StoreError>;

    /// What is remembered of jobs that are not there any more, of at most `limit` jobs after the
    /// job `after`; and the last job that was looked at, `None` at the end.
    ///
    /// # Errors
    /// As the database's.
    async fn gone(
        &self,
        after: i64,
        limit: u32,
    ) -> Result<(Vec<(i64, Memory)>, Option<i64>), StoreError>;

    /// Compares the index of failed jobs with the jobs after the job `after`, some thousands of
    /// them. Rows of jobs are read up to the position.
    ///
    /// # Errors
    /// As the database's.
    async fn astray(&self, position: &Position, after: i64) -> Result<Astray, StoreError>;
}
