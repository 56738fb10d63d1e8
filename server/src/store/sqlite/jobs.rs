//! [`JobStore`] on `SQLite`.

use std::time::Duration;

use app::model::job::{JobRecord, Server, TypedDelay};
use app::model::state::StateRow;
use app::ports::error::StoreError;
use app::ports::jobs::{Anchor, JobFilter, JobPage, JobStore, StateCounts};
use async_trait::async_trait;

use super::counts::Retries;
use super::{SqliteStore, counts, delays, job, list, rows, servers};

/// Counting runs in the background, where it may take a little longer than a page.
const COUNT_LIMIT: Duration = Duration::from_secs(20);

#[async_trait]
impl JobStore for SqliteStore {
    async fn list(
        &self,
        filter: &JobFilter,
        anchor: Anchor,
        limit: u32,
    ) -> Result<JobPage, StoreError> {
        let filter = filter.clone();
        let limit = limit.clamp(1, 200);
        self.read(move |c| Box::pin(async move { list::page(c, &filter, anchor, limit).await }))
            .await
    }

    async fn job(&self, id: i64, states: u32) -> Result<Option<JobRecord>, StoreError> {
        self.read(move |c| Box::pin(job::load(c, id, states))).await
    }

    async fn states_before(
        &self,
        job: i64,
        before: i64,
        limit: u32,
    ) -> Result<Vec<StateRow>, StoreError> {
        self.read(move |c| Box::pin(job::history(c, job, before, limit)))
            .await
    }

    async fn failure_details(&self, job: i64, state: i64) -> Result<Option<String>, StoreError> {
        self.read(move |c| Box::pin(job::failure_details(c, job, state)))
            .await
    }

    async fn neighbours(&self, id: i64) -> Result<(Option<i64>, Option<i64>), StoreError> {
        self.read(move |c| {
            Box::pin(async move {
                let row = sqlx::query(
                    "SELECT (SELECT max(Id) FROM Job WHERE Id < ?1) AS older, \
                     (SELECT min(Id) FROM Job WHERE Id > ?1) AS newer",
                )
                .bind(id)
                .fetch_one(c)
                .await?;
                Ok((rows::int(&row, "older")?, rows::int(&row, "newer")?))
            })
        })
        .await
    }

    async fn counts(&self) -> Result<StateCounts, StoreError> {
        let as_of = self.inner.clock.now();
        let exact = self
            .read_for(COUNT_LIMIT, move |c| {
                Box::pin(counts::count(c, Retries::Exact, as_of))
            })
            .await;
        match exact {
            Err(StoreError::TimedOut(_)) => {
                let as_of = self.inner.clock.now();
                self.read_for(COUNT_LIMIT, move |c| {
                    Box::pin(counts::count(c, Retries::Estimate, as_of))
                })
                .await
            }
            answer => answer,
        }
    }

    async fn servers(&self) -> Result<Vec<Server>, StoreError> {
        let now = self.inner.clock.now();
        self.read(move |c| Box::pin(servers::servers(c, now))).await
    }

    async fn recent_delays(&self) -> Result<Vec<TypedDelay>, StoreError> {
        self.read(|c| Box::pin(delays::recent(c))).await
    }

    async fn queues(&self) -> Result<Vec<String>, StoreError> {
        self.read(|c| Box::pin(servers::queues(c))).await
    }
}
