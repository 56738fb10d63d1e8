//! [`ClaimStore`] on `PostgreSQL`.

mod audit;
mod catalogue;
mod db;
mod detect;
mod figures;
mod list;
mod shape;
mod text;

#[cfg(test)]
mod tests;

use crate::store::postgres::conn::Conn;
use app::actions::Actor;
use app::actions::claim::{ClaimOutcome, ClaimRequest, SeenClaim};
use app::model::claim::Claim;
use app::model::claim::evidence::Asked;
use app::model::claim::table::{ClaimsTable, Shape};
use app::ports::claims::{
    ClaimAnchor, ClaimFigures, ClaimFilter, ClaimPage, ClaimPast, ClaimStore, Purge,
};
use app::ports::error::StoreError;
use async_trait::async_trait;
use sqlx::Error;
use uuid::Uuid;

use super::PostgresStore;
use text::Statement;

/// The most rows of one key that are looked at.
const ROWS_OF_A_KEY: i64 = 10;

#[async_trait]
impl ClaimStore for PostgresStore {
    async fn detect(&self) -> Result<Vec<ClaimsTable>, StoreError> {
        db::read(self.session().pool(), |conn| Box::pin(detect::tables(conn))).await
    }

    async fn shape(&self, table: &ClaimsTable) -> Result<Shape, StoreError> {
        let table = table.clone();
        db::read(self.session().pool(), move |conn| {
            Box::pin(async move { shape::shape(conn, &table, true).await })
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
        if let ClaimAnchor::After(place) | ClaimAnchor::Before(place) = &anchor
            && (holds_nul(&place.key) || place.claimed_at.as_deref().is_some_and(holds_nul))
        {
            return Err(StoreError::Unreadable(
                "the place in this list is not one of PostgreSQL: it holds a NUL".to_owned(),
            ));
        }
        db::read(self.session().pool(), move |conn| {
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
        db::read(self.session().pool(), move |conn| {
            Box::pin(async move { rows_of(conn, &shape, &key, "").await })
        })
        .await
    }

    async fn claim_figures(&self, shape: &Shape) -> Result<ClaimFigures, StoreError> {
        let shape = shape.clone();
        db::read(self.session().pool(), move |conn| {
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
        _audit: Uuid,
        _shape: &Shape,
        _request: &ClaimRequest,
    ) -> ClaimOutcome {
        ClaimOutcome::Refused {
            why: "Claims in PostgreSQL can only be read.".to_owned(),
        }
    }

    async fn record_answer(
        &self,
        _audit: Uuid,
        _table: &str,
        _seen: &SeenClaim,
        _asked: &Asked,
        _actor: &Actor,
    ) -> Result<(), StoreError> {
        Err(StoreError::Forbidden(
            "claims in PostgreSQL can only be read".to_owned(),
        ))
    }

    async fn purge_claims(
        &self,
        _audit: Uuid,
        _shape: &Shape,
        _purge: &Purge,
    ) -> Result<u64, StoreError> {
        Err(StoreError::Forbidden(
            "claims in PostgreSQL can only be read".to_owned(),
        ))
    }
}

fn holds_nul(text: &str) -> bool {
    text.contains('\0')
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
