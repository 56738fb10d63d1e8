//! Claims with what they are judged by, in one transaction where the jobs live in the same database.

use std::sync::Arc;

use app::model::claim::Claim;
use app::model::claim::table::Shape;
use app::ports::claims::{ClaimPage, ClaimStore as _, ClaimsWithPast, JobsBehind, Wanted};
use app::ports::error::StoreError;
use sqlx::Error;

use super::{audit, check_place, db, holds_nul, list, rows_of};
use crate::store::postgres::PostgresStore;
use crate::store::postgres::conn::Conn;
use crate::store::postgres::histories::histories;
use crate::store::postgres::layout::Layout;
use crate::store::postgres::session::{Kind, plan_once};

/// What is asked for beside the claims.
struct Behind {
    hangfire: String,
    table: String,
    jobs: JobsBehind,
    states: u32,
}

/// See [`app::ports::claims::ClaimStore::claims_with_past`].
pub(super) async fn read(
    store: &PostgresStore,
    shape: &Shape,
    wanted: &Wanted,
    jobs: JobsBehind,
    states: u32,
) -> Result<ClaimsWithPast, StoreError> {
    let behind = Arc::new(Behind {
        hangfire: store.session().schema().to_owned(),
        table: shape.table.name.clone(),
        jobs,
        states,
    });
    if store.claims.is_some() {
        let page = match wanted {
            Wanted::Page {
                filter,
                anchor,
                limit,
            } => store.claims(shape, filter, anchor, *limit).await?,
            Wanted::Key(key) => of_one_key(store.claim(shape, key).await?),
        };
        return store
            .session()
            .read(move |conn, layout| {
                let (behind, page) = (behind.clone(), page.clone());
                Box::pin(async move { behind.with(conn, &layout, page).await })
            })
            .await;
    }
    let (shape, wanted) = (shape.clone(), wanted.clone());
    match &wanted {
        Wanted::Page { anchor, .. } => check_place(anchor)?,
        // PostgreSQL has no such text, so nothing can be equal to it.
        Wanted::Key(key) if holds_nul(key) => return Ok(nothing_but(of_one_key(Vec::new()))),
        Wanted::Key(_) => {}
    }
    store
        .session()
        .read_as(Kind::Claims, db::map, move |conn, layout| {
            let (shape, wanted, behind) = (shape.clone(), wanted.clone(), behind.clone());
            Box::pin(async move {
                let page = match &wanted {
                    Wanted::Page {
                        filter,
                        anchor,
                        limit,
                    } => list::page(conn, &shape, filter, anchor, *limit).await?,
                    Wanted::Key(key) => of_one_key(rows_of(conn, &shape, key, "").await?),
                };
                if page.rows.is_empty() {
                    return Ok(nothing_but(page));
                }
                plan_once(conn, &layout).await?;
                behind.with(conn, &layout, page).await
            })
        })
        .await
}

fn of_one_key(rows: Vec<Claim>) -> ClaimPage {
    ClaimPage {
        rows,
        has_before: false,
        has_after: false,
    }
}

fn nothing_but(page: ClaimPage) -> ClaimsWithPast {
    ClaimsWithPast {
        page,
        past: Vec::new(),
        histories: Vec::new(),
    }
}

impl Behind {
    /// Nothing may follow in the transaction.
    async fn with(
        &self,
        conn: &mut Conn,
        layout: &Layout,
        page: ClaimPage,
    ) -> Result<ClaimsWithPast, Error> {
        if page.rows.is_empty() {
            return Ok(nothing_but(page));
        }
        let ids = (self.jobs)(&page.rows);
        let histories = if ids.is_empty() {
            Vec::new()
        } else {
            histories(conn, layout, ids, self.states).await?
        };
        let keys: Vec<String> = page.rows.iter().map(|claim| claim.key.clone()).collect();
        let past = audit::past_at_last(conn, &self.hangfire, &self.table, &keys).await?;
        Ok(ClaimsWithPast {
            page,
            past,
            histories,
        })
    }
}
