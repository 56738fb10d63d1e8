//! A source as the program holds it: its stores, and the latest look at it.

use std::sync::Arc;

use app::figures::{COLLECTED, COUNTED, Facts, PLANNED};
use app::model::job::{Server, TypedDelay};
use app::model::state::Instant;
use app::ports::actions::ActionStore;
use app::ports::audit::AuditStore;
use app::ports::claims::ClaimStore;
use app::ports::collector::CollectorStore;
use app::ports::error::StoreError;
use app::ports::failures::FailureStore;
use app::ports::health::HealthStore;
use app::ports::histories::HistoryStore;
use app::ports::insights::InsightStore;
use app::ports::jobs::{JobStore, StateCounts};
use app::ports::recurring::RecurringStore;
use app::ports::source::{Source, SourceInfo};
use chrono::TimeDelta;
use tokio::sync::watch;

use crate::collector::Progress;
use crate::config::SourceConfig;

pub mod arrivals;
pub mod claims;
pub mod insights;
pub mod sampler;
pub mod totals;

use claims::SourceClaims;
use claims::look::{self, Watched};
use insights::Insights;
use totals::Totals;

use crate::store::read_times::Measured;

/// A server whose heartbeat is older than this is gone: Hangfire's own default.
pub const SERVER_GONE_MS: i64 = 5 * 60_000;

/// Everything a store does, behind one pointer.
pub trait Store:
    Source
    + JobStore
    + AuditStore
    + ActionStore
    + HistoryStore
    + ClaimStore
    + CollectorStore
    + InsightStore
    + HealthStore
    + Measured
    + FailureStore
    + RecurringStore
{
}

impl<T> Store for T where
    T: Source
        + JobStore
        + AuditStore
        + ActionStore
        + HistoryStore
        + ClaimStore
        + CollectorStore
        + InsightStore
        + HealthStore
        + Measured
        + FailureStore
        + RecurringStore
{
}

/// One source under watch.
#[derive(Clone)]
pub struct SourceHandle {
    /// How it is configured.
    pub config: Arc<SourceConfig>,
    /// Its database.
    pub store: Arc<dyn Store>,
    /// What to say where its data is not real; known once its file could be read.
    pub demo: watch::Receiver<Option<String>>,
    /// The latest background look at it.
    pub live: watch::Receiver<Snapshot>,
    /// Its claims.
    pub claims: Arc<SourceClaims>,
}

/// The latest background look at a source, shared by all viewers.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Jobs by state; `None` before the first count.
    pub counts: Option<Arc<StateCounts>>,
    /// What is known of the database; `None` before the first look, or while it is away.
    pub info: Option<Arc<SourceInfo>>,
    /// Its servers.
    pub servers: Arc<Vec<Server>>,
    /// Its queues, by name.
    pub queues: Arc<Vec<String>>,
    /// Delays that retry policies chose lately, oldest first.
    pub delays: Arc<Vec<TypedDelay>>,
    /// Its claims tables; `None` before the first look at them.
    pub claims: Option<Arc<Vec<Watched>>>,
    /// How far the collector has come.
    pub collecting: Progress,
    /// What it counted, what is planned, and faults that need somebody.
    pub insights: Insights,
    /// What it counted altogether; `None` until its numbers were read.
    pub totals: Option<Arc<Totals>>,
    /// Why the last look failed, in words.
    pub trouble: Option<String>,
}

impl Snapshot {
    /// Whether the database answered at the last look.
    pub fn answers(&self) -> bool {
        self.info.is_some() && self.trouble.is_none()
    }

    /// Stale claims of all tables together, where they were counted.
    pub fn stale_claims(&self) -> Option<i64> {
        let figures = self.claims.as_ref()?.iter();
        figures
            .filter_map(|seen| seen.figures.as_ref()?.as_ref().ok())
            .map(|figures| figures.stale)
            .reduce(|a, b| a + b)
    }

    /// The moments that pages show and their streams move on, by this host's clock.
    pub fn times(&self) -> [(&'static str, Option<Instant>); 3] {
        let skew = self.info.as_ref().map_or(0, |info| info.clock_skew_ms);
        let ours = |at: Option<Instant>| Some(at? - TimeDelta::milliseconds(skew));
        [
            (COUNTED, self.counts.as_ref().map(|counts| counts.as_of)),
            (COLLECTED, ours(self.insights.digest.at)),
            (PLANNED, ours(self.insights.forecast.at)),
        ]
    }

    /// What figures are made of.
    pub fn facts(&self) -> Facts<'_> {
        Facts {
            counts: self.counts.as_deref(),
            digest: self.insights.digest.value.as_deref(),
            collected_at: self.insights.digest.at,
            forecast: self.insights.forecast.value.as_deref(),
            servers: &self.servers,
            stale_claims: self.stale_claims(),
        }
    }
}

impl SourceHandle {
    /// The time by the database's clock, from ours.
    pub fn now(&self, ours: Instant) -> Instant {
        let live = self.live.borrow();
        let skew = live.info.as_ref().map_or(0, |info| info.clock_skew_ms);
        ours + TimeDelta::milliseconds(skew)
    }

    /// Its claims tables as they were last seen; before the first look they are looked at now,
    /// without their numbers.
    ///
    /// # Errors
    /// As the database's.
    pub async fn claims_tables(&self) -> Result<Arc<Vec<Watched>>, StoreError> {
        let seen = self.live.borrow().claims.clone();
        match seen {
            Some(seen) => Ok(seen),
            None => look::once(&self.claims, self.store.as_ref()).await,
        }
    }

    /// Stale claims of all its tables together, where they were counted.
    pub fn stale_claims(&self) -> Option<i64> {
        self.live.borrow().stale_claims()
    }
}
