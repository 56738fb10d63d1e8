//! Reading and acting on claims.

use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use super::error::StoreError;
use crate::actions::Actor;
use crate::actions::claim::{ClaimOutcome, ClaimRequest};
use crate::model::claim::table::{ClaimsTable, Shape};
use crate::model::claim::{Claim, ClaimTime};
use crate::model::job::JobHistory;
use crate::model::state::Instant;

/// Which claims a list shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimFilter {
    /// Sending, and claimed before this instant (now minus the cut-off). Oldest first.
    Stale {
        /// Claimed before.
        before: Instant,
    },
    /// Sending, of any age; also those without a claim time, which come first. Oldest first.
    Sending,
    /// Sent. Newest first.
    Sent,
    /// Statuses that the description does not know. Newest first.
    Other,
    /// All. Newest first.
    All,
}

/// A place in a list: the claim time's token (`None` for a row without one) and the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimPlace {
    /// The stored claim time.
    pub claimed_at: Option<String>,
    /// The key.
    pub key: String,
}

/// Where a page of a list lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimAnchor {
    /// The list's first rows.
    Start,
    /// Rows that come after this place in the list's order.
    After(ClaimPlace),
    /// Rows that come before it: the ones next to it.
    Before(ClaimPlace),
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimPage {
    /// In the list's order, at most as many as asked for.
    pub rows: Vec<Claim>,
    /// Whether rows lie before the first one.
    pub has_before: bool,
    /// Whether rows lie after the last one.
    pub has_after: bool,
}

/// Which claims are read with what they are judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// A page of a list.
    Page {
        /// Of which list.
        filter: ClaimFilter,
        /// Where it lies.
        anchor: ClaimAnchor,
        /// Rows at most, 1 to 200.
        limit: u32,
    },
    /// The rows of a key, as [`ClaimStore::claim`] gives them.
    Key(String),
}

/// Ids of the jobs that may stand behind some claims: at most 200. Asked in the middle of a
/// transaction, so it must not wait for anything.
pub type JobsBehind = Arc<dyn Fn(&[Claim]) -> Vec<i64> + Send + Sync>;

/// Claims with what they are judged by.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimsWithPast {
    /// The claims.
    pub page: ClaimPage,
    /// What the audit knows of their keys, as [`ClaimStore::claim_past`] gives it.
    pub past: Vec<ClaimPast>,
    /// The jobs that may stand behind them, by id.
    pub histories: Vec<JobHistory>,
}

/// Numbers of a table, from one look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimFigures {
    /// Sending.
    pub sending: i64,
    /// Sending, claimed before now minus the table's cut-off.
    pub stale: i64,
    /// Sent.
    pub sent: i64,
    /// Other statuses, by stored value.
    pub other: Vec<(String, i64)>,
    /// Sending claims by age: one count per bucket of [`AGE_BUCKETS`], in its order.
    pub ages: Vec<i64>,
    /// Sending claims whose claim time cannot be read, is missing, or lies in the future.
    pub ageless: i64,
    /// Sent claims past the retention, and the oldest of them.
    pub purgeable: (i64, Option<Instant>),
    /// The newest Sent claims, newest first, at most five.
    pub just_sent: Vec<Claim>,
    /// When it was looked, by the database's clock.
    pub as_of: Instant,
}

/// Upper bounds of the buckets of ages, in seconds; the last one has none. The first is below one
/// minute.
pub const AGE_BUCKETS: [i64; 10] = [60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 86_400];

/// What an audit row says of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimPast {
    /// When it was written.
    pub at: Instant,
    /// The key.
    pub key: String,
    /// The action's word: `reclaim`, `release`, `mark-sent`, `ask-provider`.
    pub action: String,
    /// The outcome's word.
    pub outcome: String,
    /// The claim time that the operator saw.
    pub seen: Option<ClaimTime>,
    /// What the provider answered, for `ask-provider`.
    pub answer: Option<crate::model::claim::evidence::Answer>,
}

/// How a purge is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purge {
    /// Sent claims that were claimed before this instant go.
    pub before: Instant,
    /// Rows per transaction.
    pub batch: u32,
    /// Who asked for it.
    pub actor: Actor,
    /// Why.
    pub reason: Option<String>,
}

/// Reads and changes the claims of one source. Names of tables and columns are those of a
/// [`Shape`], which were checked against the catalogue.
#[async_trait]
pub trait ClaimStore: Send + Sync {
    /// Tables of the usual shape: a unique text key, a status, a claim time, maybe a provider's
    /// message id. Hangfire's, Quartz's and our own tables are left out.
    ///
    /// # Errors
    /// As the database's.
    async fn detect(&self) -> Result<Vec<ClaimsTable>, StoreError>;

    /// The table as the catalogue has it now.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] where the table or a column does not exist, or has a type that
    /// cannot hold what the description says; in words, with what exists.
    async fn shape(&self, table: &ClaimsTable) -> Result<Shape, StoreError>;

    /// One page of a list; `limit` is 1 to 200.
    ///
    /// # Errors
    /// [`StoreError::TimedOut`] where no index serves it within the limit;
    /// [`StoreError::Unreadable`] where the table was dropped or changed meanwhile.
    async fn claims(
        &self,
        shape: &Shape,
        filter: &ClaimFilter,
        anchor: &ClaimAnchor,
        limit: u32,
    ) -> Result<ClaimPage, StoreError>;

    /// The rows of a key: none, one, or more where nothing makes the key unique (at most ten).
    ///
    /// # Errors
    /// As [`ClaimStore::claims`].
    async fn claim(&self, shape: &Shape, key: &str) -> Result<Vec<Claim>, StoreError>;

    /// Claims, what the audit knows of their keys, and `states` state rows of each job behind them:
    /// in one transaction where claims and jobs live in one database.
    ///
    /// # Errors
    /// As [`ClaimStore::claims`].
    async fn claims_with_past(
        &self,
        shape: &Shape,
        wanted: &Wanted,
        jobs: JobsBehind,
        states: u32,
    ) -> Result<ClaimsWithPast, StoreError>;

    /// Numbers for the page. Cost grows with the table: run in the background.
    ///
    /// # Errors
    /// As [`ClaimStore::claims`].
    async fn claim_figures(&self, shape: &Shape) -> Result<ClaimFigures, StoreError>;

    /// What the audit knows of these keys of a table, oldest first; at most the newest 1,000 rows.
    /// Empty where there is no audit.
    ///
    /// # Errors
    /// As the database's.
    async fn claim_past(&self, table: &str, keys: &[String]) -> Result<Vec<ClaimPast>, StoreError>;

    /// Does what is asked and writes the audit row `audit` in the same transaction as the job's
    /// change. Outcomes other than done change nothing but the audit.
    async fn act_on_claim(
        &self,
        audit: Uuid,
        shape: &Shape,
        request: &ClaimRequest,
    ) -> ClaimOutcome;

    /// Writes down what the provider answered.
    ///
    /// # Errors
    /// As the database's; the answer stands nevertheless.
    async fn record_answer(
        &self,
        audit: Uuid,
        table: &str,
        seen: &crate::actions::claim::SeenClaim,
        asked: &crate::model::claim::evidence::Asked,
        actor: &Actor,
    ) -> Result<(), StoreError>;

    /// Purges Sent claims in batches, each a transaction of its own, until none is left; the number
    /// of rows. Sending and unknown ones are never touched. Doing it twice, or from two processes
    /// at once, purges each row once. Writes one audit row when it is over, unless nothing was
    /// purged by a periodic run.
    ///
    /// # Errors
    /// As the database's; what was purged stays purged.
    async fn purge_claims(
        &self,
        audit: Uuid,
        shape: &Shape,
        purge: &Purge,
    ) -> Result<u64, StoreError>;
}
