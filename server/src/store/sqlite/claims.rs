//! [`ClaimStore`] on `SQLite`: claims in the same file as Hangfire's tables.

mod act;
mod audit;
mod detect;
mod figures;
mod list;
mod names;
mod purge;
mod shape;
mod with_past;
mod write;

use std::time::Duration;

use app::actions::Actor;
use app::actions::claim::{ClaimOutcome, ClaimRequest, SeenClaim};
use app::model::claim::Claim;
use app::model::claim::evidence::Asked;
use app::model::claim::table::{ClaimsTable, Shape};
use app::ports::claims::{
    ClaimAnchor, ClaimFigures, ClaimFilter, ClaimPage, ClaimPast, ClaimStore, ClaimsWithPast,
    JobsBehind, Purge, Wanted,
};
use app::ports::error::StoreError;
use async_trait::async_trait;
use uuid::Uuid;

use super::{SqliteStore, migrate, source};
use names::Names;

/// Figures are made in the background, where they may take a little longer than a page.
const FIGURES_LIMIT: Duration = Duration::from_secs(20);

/// The most rows of one key that are looked at.
const ROWS_OF_A_KEY: i64 = 10;

#[async_trait]
impl ClaimStore for SqliteStore {
    async fn detect(&self) -> Result<Vec<ClaimsTable>, StoreError> {
        self.of_claims().read(|c| Box::pin(detect::tables(c))).await
    }

    async fn shape(&self, table: &ClaimsTable) -> Result<Shape, StoreError> {
        let opened = self.look_again().await?;
        let own = self.read(|c| Box::pin(migrate::state(c))).await?;
        let mut read_only = source::why_not_acted(&opened, own);
        if let Some(claims) = &self.claims {
            let opened = claims.opened().await?;
            read_only = read_only.or_else(|| opened.cannot_write.clone());
        }
        let table = table.clone();
        let mut shape = self
            .of_claims()
            .read(move |c| Box::pin(async move { shape::shape(c, &table, read_only).await }))
            .await?
            .map_err(StoreError::Unreadable)?;
        shape.with_jobs = self.claims.is_none();
        Ok(shape)
    }

    async fn claims(
        &self,
        shape: &Shape,
        filter: &ClaimFilter,
        anchor: &ClaimAnchor,
        limit: u32,
    ) -> Result<ClaimPage, StoreError> {
        let (shape, filter, anchor) = (shape.clone(), filter.clone(), anchor.clone());
        let limit = limit.clamp(1, 200);
        self.of_claims()
            .read(move |c| {
                Box::pin(async move { list::page(c, &shape, &filter, &anchor, limit).await })
            })
            .await
    }

    async fn claim(&self, shape: &Shape, key: &str) -> Result<Vec<Claim>, StoreError> {
        let (shape, key) = (shape.clone(), key.to_owned());
        self.of_claims()
            .read(move |c| Box::pin(async move { rows_of(c, &shape, &key).await }))
            .await
    }

    async fn claims_with_past(
        &self,
        shape: &Shape,
        wanted: &Wanted,
        jobs: JobsBehind,
        states: u32,
    ) -> Result<ClaimsWithPast, StoreError> {
        with_past::read(self, shape, wanted, jobs, states).await
    }

    async fn claim_figures(&self, shape: &Shape) -> Result<ClaimFigures, StoreError> {
        let shape = shape.clone();
        let now = self.inner.clock.now();
        self.of_claims()
            .read_for(FIGURES_LIMIT, move |c| {
                Box::pin(async move { figures::figures(c, &shape, now).await })
            })
            .await
    }

    async fn claim_past(&self, table: &str, keys: &[String]) -> Result<Vec<ClaimPast>, StoreError> {
        let (table, keys) = (table.to_owned(), keys.to_vec());
        self.read(move |c| Box::pin(async move { audit::past(c, &table, &keys).await }))
            .await
    }

    async fn act_on_claim(
        &self,
        audit: Uuid,
        shape: &Shape,
        request: &ClaimRequest,
    ) -> ClaimOutcome {
        act::run(self, audit, shape, request).await
    }

    async fn record_answer(
        &self,
        audit: Uuid,
        table: &str,
        seen: &SeenClaim,
        asked: &Asked,
        actor: &Actor,
    ) -> Result<(), StoreError> {
        audit::record_answer(self, audit, table, seen, asked, actor).await
    }

    async fn purge_claims(
        &self,
        audit: Uuid,
        shape: &Shape,
        purge: &Purge,
    ) -> Result<u64, StoreError> {
        purge::run(self, audit, shape, purge).await
    }
}

impl SqliteStore {
    /// The store on the file that holds the claims.
    fn of_claims(&self) -> &Self {
        self.claims.as_deref().unwrap_or(self)
    }
}

/// The rows of a key.
async fn rows_of(
    connection: &mut sqlx::SqliteConnection,
    shape: &Shape,
    key: &str,
) -> Result<Vec<Claim>, sqlx::Error> {
    let names = Names::of(shape);
    let mut query = names.select();
    query
        .push(" WHERE ")
        .push(&names.key)
        .push(" = ")
        .push_bind(key.to_owned())
        .push(" LIMIT ")
        .push_bind(ROWS_OF_A_KEY);
    let found = query.build().fetch_all(connection).await?;
    found
        .iter()
        .map(|row| names::claim(&shape.table, row))
        .collect()
}

#[cfg(test)]
mod tests;
