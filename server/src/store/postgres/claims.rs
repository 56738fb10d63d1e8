//! [`ClaimStore`] on `PostgreSQL`.

mod act;
mod audit;
mod catalogue;
mod db;
mod detect;
mod figures;
mod list;
mod purge;
mod shape;
mod text;
mod with_past;
mod write;

#[cfg(test)]
mod tests;

use crate::store::postgres::conn::Conn;
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
use sqlx::Error;
use uuid::Uuid;

use super::act::audit::{Line, write_down};
use super::act::run::{Halt, Run};
use super::{PostgresStore, errors, spawned};
use crate::store::task::whole;
use act::ClaimDeed;
use text::Statement;

/// The most rows of one key that are looked at.
const ROWS_OF_A_KEY: i64 = 10;

#[async_trait]
impl ClaimStore for PostgresStore {
    async fn detect(&self) -> Result<Vec<ClaimsTable>, StoreError> {
        db::read(self.claims_pool(), |conn| Box::pin(detect::tables(conn))).await
    }

    async fn shape(&self, table: &ClaimsTable) -> Result<Shape, StoreError> {
        let (table, with_jobs) = (table.clone(), self.claims.is_none());
        db::read(self.claims_pool(), move |conn| {
            Box::pin(async move { shape::shape(conn, &table, with_jobs).await })
        })
        .await?
        .map_err(StoreError::Unreadable)
    }

    async fn claims(
        &self,
        shape: &Shape,
        filter: &ClaimFilter,
        anchor: &ClaimAnchor,
        limit: u32,
    ) -> Result<ClaimPage, StoreError> {
        let (shape, filter, anchor) = (shape.clone(), filter.clone(), anchor.clone());
        check_place(&anchor)?;
        db::read(self.claims_pool(), move |conn| {
            Box::pin(async move { list::page(conn, &shape, &filter, &anchor, limit).await })
        })
        .await
    }

    async fn claim(&self, shape: &Shape, key: &str) -> Result<Vec<Claim>, StoreError> {
        // PostgreSQL has no such text, so nothing can be equal to it.
        if holds_nul(key) {
            return Ok(Vec::new());
        }
        let (shape, key) = (shape.clone(), key.to_owned());
        db::read(self.claims_pool(), move |conn| {
            Box::pin(async move { rows_of(conn, &shape, &key, "").await })
        })
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
        db::read(self.claims_pool(), move |conn| {
            Box::pin(async move { figures::figures(conn, &shape).await })
        })
        .await
    }

    async fn claim_past(&self, table: &str, keys: &[String]) -> Result<Vec<ClaimPast>, StoreError> {
        let (table, keys) = (table.to_owned(), keys.to_vec());
        let hangfire = self.session().schema().to_owned();
        db::read(self.session().pool(), move |conn| {
            Box::pin(async move { audit::past(conn, &hangfire, &table, &keys).await })
        })
        .await
    }

    async fn act_on_claim(
        &self,
        audit: Uuid,
        shape: &Shape,
        request: &ClaimRequest,
    ) -> ClaimOutcome {
        let deed = ClaimDeed {
            shape: shape.clone(),
            request: request.clone(),
            elsewhere: self.claims.clone(),
        };
        let run = Run::new(self, audit, deed);
        let action = async move {
            let outcome = run.run().await;
            outcome.unwrap_or_else(|error| act::not_done(&error))
        };
        whole(audit, |why| ClaimOutcome::Unknown { why }, action).await
    }

    async fn record_answer(
        &self,
        audit: Uuid,
        table: &str,
        seen: &SeenClaim,
        asked: &Asked,
        actor: &Actor,
    ) -> Result<(), StoreError> {
        let line = audit::answer(table, seen, asked, actor);
        self.write_line(audit, line).await
    }

    async fn purge_claims(
        &self,
        audit: Uuid,
        shape: &Shape,
        purge: &Purge,
    ) -> Result<u64, StoreError> {
        if let Some(why) = &shape.read_only {
            return Err(StoreError::Forbidden(why.clone()));
        }
        let (store, shape, purge) = (self.clone(), shape.clone(), purge.clone());
        spawned(async move {
            let mut purged = 0;
            let over = purge::all(store.claims_pool(), &shape, &purge, &mut purged).await;
            let error = over.as_ref().err();
            if purged > 0 || error.is_some() || purge.reason.is_some() {
                let line = audit::purged(&shape.table.name, &purge, purged, error);
                // The purge stands whether or not it can be written down.
                if let Err(error) = store.write_line(audit, line).await {
                    tracing::warn!(
                        %audit, purged, %error,
                        "a purge of claims could not be written to the audit"
                    );
                }
            }
            over.map(|()| purged)
        })
        .await
    }
}

impl PostgresStore {
    /// Writes an audit row of its own.
    async fn write_line(&self, audit: Uuid, line: Line) -> Result<(), StoreError> {
        let (session, clock) = (self.session().clone(), self.clock().clone());
        spawned(async move {
            match write_down(&session, &clock, audit, &line).await {
                Ok(_) => Ok(()),
                Err(Halt::Driver(error)) => Err(errors::map(&error)),
                Err(Halt::Outcome(outcome)) => Err(StoreError::Forbidden(outcome.sentence())),
                Err(Halt::Upgraded(version)) => Err(StoreError::Unreadable(format!(
                    "Hangfire's schema has version {version} now"
                ))),
            }
        })
        .await
    }
}

fn holds_nul(text: &str) -> bool {
    text.contains('\0')
}

/// A place of a list that this database can have.
fn check_place(anchor: &ClaimAnchor) -> Result<(), StoreError> {
    match anchor {
        ClaimAnchor::After(place) | ClaimAnchor::Before(place)
            if holds_nul(&place.key) || place.claimed_at.as_deref().is_some_and(holds_nul) =>
        {
            Err(StoreError::Unreadable(
                "the place in this list is not one of PostgreSQL: it holds a NUL".to_owned(),
            ))
        }
        _ => Ok(()),
    }
}

/// The rows of a key, locked where `lock` says so. A key that the column's type cannot hold has none.
async fn rows_of(
    conn: &mut Conn,
    shape: &Shape,
    key: &str,
    lock: &str,
) -> Result<Vec<Claim>, Error> {
    let mut statement = Statement::new(shape, "SELECT {claim} FROM {t} x WHERE ");
    let key = statement.text(key);
    let limit = statement.int(ROWS_OF_A_KEY);
    statement.push(&format!("{{key}} = {{as key {key}}} LIMIT {limit} {lock}"));
    let rows = match statement.query().fetch_all(conn).await {
        Err(error) if db::is_odd_value(&error) => return Ok(Vec::new()),
        rows => rows?,
    };
    rows.iter().map(|row| text::claim(shape, row)).collect()
}
