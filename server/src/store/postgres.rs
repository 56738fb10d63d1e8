//! The store on `PostgreSQL`, in the layout of `Hangfire.PostgreSql`.

mod act;
mod audit;
mod claims;
mod collector;
mod conn;
mod connect;
mod counts;
mod delays;
mod errors;
mod failures;
mod filter;
mod health;
mod histories;
mod insights;
mod job;
mod layout;
mod list;
mod migrate;
mod numbers;
mod pool;
mod recurring;
mod servers;
mod session;
mod source;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use app::actions::found::Limits;
use app::model::job::{JobRecord, Server, TypedDelay};
use app::model::state::StateRow;
use app::ports::error::StoreError;
use app::ports::jobs::{Anchor, JobFilter, JobPage, JobStore, StateCounts};
use async_trait::async_trait;

pub use connect::display;
pub use errors::{is_busy, map as map_error};
pub use layout::{Layout, quote};
use pool::Pool;
pub use session::{Session, Work, spawned};

use crate::clock::SharedClock;
use crate::store::kept::Kept;
use crate::store::read_times::{Measured, ReadTimes};
use crate::store::sqlite::SqliteStore;

/// One Hangfire schema of a `PostgreSQL` database.
#[derive(Clone)]
pub struct PostgresStore {
    session: Session,
    clock: SharedClock,
    /// Whether somebody asked for Redrive's own tables, so that they are made up for where the
    /// database was away at that moment.
    own_tables: Arc<AtomicBool>,
    limits: Limits,
    /// Connections to the database that holds the claims, where it is another one.
    claims: Option<Pool>,
    /// The file that holds the numbers, where the database cannot.
    kept: Option<Arc<Kept>>,
}

impl PostgresStore {
    /// A store that connects when it is first asked. `schema` is the name of Hangfire's schema as
    /// the catalogue has it (usually `hangfire`).
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] where the URL is not one of `PostgreSQL`. The message never
    /// holds the password.
    pub fn connect(url: &str, schema: &str, clock: SharedClock) -> Result<Self, StoreError> {
        if schema.is_empty() || schema.contains('\0') {
            return Err(StoreError::Unreadable(
                "the name of Hangfire's schema is missing".to_owned(),
            ));
        }
        Ok(Self {
            session: Session::new(connect::pool(url, ReadTimes::default())?, schema),
            clock,
            own_tables: Arc::default(),
            limits: Limits::default(),
            claims: None,
            kept: None,
        })
    }

    fn wants_own_tables(&self) {
        self.own_tables.store(true, Ordering::Relaxed);
    }

    fn is_to_have_own_tables(&self) -> bool {
        self.own_tables.load(Ordering::Relaxed)
    }

    /// The same store where the job servers run with other time limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The same store, whose claims lie in the database of this URL. A claim and its job then change
    /// in two transactions.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] where the URL is not one of `PostgreSQL`. The message never
    /// holds the password.
    pub fn with_claims_in(self, url: &str) -> Result<Self, StoreError> {
        Ok(Self {
            claims: Some(connect::pool(url, self.read_times().clone())?),
            ..self
        })
    }

    /// The same store, whose numbers lie in a file of the folder `dir` named after `source` where
    /// the database cannot hold them. `only`: the database must not be written, whatever it would
    /// allow.
    #[must_use]
    pub fn with_numbers_in(self, dir: &Path, source: &str, only: bool) -> Self {
        let (place, database) = self.session.pool().place();
        let parts = [place.as_str(), &database, self.session.schema()];
        let beside =
            |path: &Path| SqliteStore::beside(path, self.clock.clone(), self.read_times().clone());
        let kept = Kept::new(dir, source, &parts, only, beside);
        Self {
            kept: Some(Arc::new(kept)),
            ..self
        }
    }

    /// The file that stands in for the own tables, where one may.
    pub fn kept(&self) -> Option<&Arc<Kept>> {
        self.kept.as_ref()
    }

    /// The connections to the claims.
    fn claims_pool(&self) -> &Pool {
        self.claims.as_ref().unwrap_or(self.session.pool())
    }

    /// The time limits of the job servers.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Connections and catalogue, for the actions.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The clock.
    pub fn clock(&self) -> &SharedClock {
        &self.clock
    }

    /// Closes the connections; statements that run are waited for.
    pub async fn close(&self) {
        self.session.pool().close().await;
        if let Some(claims) = &self.claims {
            claims.close().await;
        }
    }
}

impl Measured for PostgresStore {
    fn read_times(&self) -> &ReadTimes {
        self.session.pool().times()
    }
}

#[async_trait]
impl JobStore for PostgresStore {
    async fn list(
        &self,
        filter: &JobFilter,
        anchor: Anchor,
        limit: u32,
    ) -> Result<JobPage, StoreError> {
        list::list(&self.session, filter, anchor, limit).await
    }

    async fn job(&self, id: i64, states: u32) -> Result<Option<JobRecord>, StoreError> {
        job::job(&self.session, id, states).await
    }

    async fn states_before(
        &self,
        job: i64,
        before: i64,
        limit: u32,
    ) -> Result<Vec<StateRow>, StoreError> {
        job::states_before(&self.session, job, before, limit).await
    }

    async fn failure_details(&self, job: i64, state: i64) -> Result<Option<String>, StoreError> {
        job::failure_details(&self.session, job, state).await
    }

    async fn neighbours(&self, id: i64) -> Result<(Option<i64>, Option<i64>), StoreError> {
        job::neighbours(&self.session, id).await
    }

    async fn counts(&self) -> Result<StateCounts, StoreError> {
        counts::counts(&self.session, &self.clock).await
    }

    async fn servers(&self) -> Result<Vec<Server>, StoreError> {
        servers::servers(&self.session).await
    }

    async fn recent_delays(&self) -> Result<Vec<TypedDelay>, StoreError> {
        delays::recent_delays(&self.session).await
    }

    async fn queues(&self) -> Result<Vec<String>, StoreError> {
        servers::queues(&self.session).await
    }
}

#[cfg(test)]
mod tests;
