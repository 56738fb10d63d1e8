//! Reading jobs.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::error::StoreError;
use crate::model::job::{JobRecord, JobRow, Server, TypedDelay};
use crate::model::state::{Instant, ListState, StateRow};

/// What narrows a list. Every field that is set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct JobFilter {
    /// The list; `None` for jobs in every state.
    pub state: Option<ListState>,
    /// The job's own queue, else its last `Enqueued` row's.
    pub queue: Option<String>,
    /// The type: its full name without assembly, or its last part (`InvoiceEmailJob`).
    pub job_type: Option<String>,
    /// The method's name.
    pub method: Option<String>,
    /// The server of the last `Processing` row.
    pub server: Option<String>,
    /// Exception type of the last `Failed` row: full, or its last part.
    pub exception: Option<String>,
    /// The current state began at this instant or later.
    pub from: Option<Instant>,
    /// The current state began before this instant.
    pub to: Option<Instant>,
    /// At least this many attempts (`Processing` rows).
    pub attempts_min: Option<u32>,
}

impl JobFilter {
    /// Whether nothing but the state narrows the list.
    pub fn is_plain(&self) -> bool {
        *self
            == Self {
                state: self.state,
                ..Self::default()
            }
    }
}

/// Where a page of a list lies. Lists go by job id, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The newest rows.
    Start,
    /// Rows older than this job.
    OlderThan(i64),
    /// Rows newer than this job: the ones next to it.
    NewerThan(i64),
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct JobPage {
    /// Newest first, at most as many as asked for.
    pub rows: Vec<JobRow>,
    /// Whether newer rows that fit lie before the first one.
    pub has_newer: bool,
    /// Whether older rows that fit lie after the last one.
    pub has_older: bool,
}

/// Jobs by state, from one look at the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateCounts {
    /// Jobs per listed state; every state is there, with 0 where there are none.
    pub by_state: BTreeMap<ListState, i64>,
    /// Jobs in states of other names.
    pub other: BTreeMap<String, i64>,
    /// Jobs without a state.
    pub no_state: i64,
    /// When they were counted.
    pub as_of: Instant,
    /// Whether each job was counted; otherwise the planner's estimate.
    pub exact: bool,
}

/// Reads jobs of one source. Every method is one read transaction with a time limit; none of them
/// takes a lock that a job server would wait for.
#[async_trait]
pub trait JobStore: Send + Sync {
    /// One page of a list, newest job first.
    ///
    /// `limit` is 1 to 200 rows. A job that appears or vanishes between two pages never makes
    /// another one appear twice or not at all.
    ///
    /// # Errors
    /// [`StoreError::TimedOut`] when the filter cannot be served within the limit.
    async fn list(
        &self,
        filter: &JobFilter,
        anchor: Anchor,
        limit: u32,
    ) -> Result<JobPage, StoreError>;

    /// One job whole, with its newest `states` state rows (ordered by id), or `None` where there
    /// is none of that id. Exception details longer than 64,000 characters are cut, and arguments
    /// of more than 1 MB are left out.
    ///
    /// # Errors
    /// As the database's.
    async fn job(&self, id: i64, states: u32) -> Result<Option<JobRecord>, StoreError>;

    /// State rows of a job older than the row `before`, newest `limit` of them, ordered by id.
    ///
    /// # Errors
    /// As the database's.
    async fn states_before(
        &self,
        job: i64,
        before: i64,
        limit: u32,
    ) -> Result<Vec<StateRow>, StoreError>;

    /// The details (stack trace) of a job's `Failed` row, whole, or `None` where there is no such
    /// row or it has none. Data of more than 64 MB are not read.
    ///
    /// # Errors
    /// As the database's.
    async fn failure_details(&self, job: i64, state: i64) -> Result<Option<String>, StoreError>;

    /// The ids that exist next to `id`: the nearest older and the nearest newer job.
    ///
    /// # Errors
    /// As the database's.
    async fn neighbours(&self, id: i64) -> Result<(Option<i64>, Option<i64>), StoreError>;

    /// Counts jobs by state. Cost grows with the table: run in the background, never per viewer.
    /// Where counting takes longer than the limit, the database's own estimate, marked so.
    ///
    /// # Errors
    /// As the database's.
    async fn counts(&self) -> Result<StateCounts, StoreError>;

    /// Every server, by id, with heartbeat ages by the database's clock.
    ///
    /// # Errors
    /// As the database's.
    async fn servers(&self) -> Result<Vec<Server>, StoreError>;

    /// The delays that the newest state rows of the source plan, oldest first; they tell which
    /// policy jobs of a type have. Reads at most the newest 5,000 state rows.
    ///
    /// # Errors
    /// As the database's.
    async fn recent_delays(&self) -> Result<Vec<TypedDelay>, StoreError>;

    /// The queues that are known from queue rows and servers, by name.
    ///
    /// # Errors
    /// As the database's.
    async fn queues(&self) -> Result<Vec<String>, StoreError>;
}
