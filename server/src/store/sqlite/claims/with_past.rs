//! Claims with what they are judged by, in one transaction where the jobs live in the same file.

use app::model::claim::table::Shape;
use app::ports::claims::{ClaimPage, ClaimsWithPast, JobsBehind, Wanted};
use app::ports::error::StoreError;
use sqlx::{Error, SqliteConnection};

use super::{audit, list, rows_of};
use crate::store::sqlite::{SqliteStore, histories};

/// See [`app::ports::claims::ClaimStore::claims_with_past`].
pub(super) async fn read(
    store: &SqliteStore,
    shape: &Shape,
    wanted: &Wanted,
    jobs: JobsBehind,
    states: u32,
) -> Result<ClaimsWithPast, StoreError> {
    let (shape, wanted) = (shape.clone(), wanted.clone());
    if let Some(claims) = &store.claims {
        let table = shape.table.name.clone();
        let page = claims
            .read(move |c| Box::pin(async move { rows(c, &shape, &wanted).await }))
            .await?;
        return store
            .read(move |c| Box::pin(async move { behind(c, &table, page, &jobs, states).await }))
            .await;
    }
    store
        .read(move |c| {
            Box::pin(async move {
                let page = rows(c, &shape, &wanted).await?;
                behind(c, &shape.table.name, page, &jobs, states).await
            })
        })
        .await
}

async fn rows(
    connection: &mut SqliteConnection,
    shape: &Shape,
    wanted: &Wanted,
) -> Result<ClaimPage, Error> {
    match wanted {
        Wanted::Page {
            filter,
            anchor,
            limit,
        } => list::page(connection, shape, filter, anchor, (*limit).clamp(1, 200)).await,
        Wanted::Key(key) => Ok(ClaimPage {
            rows: rows_of(connection, shape, key).await?,
            has_before: false,
            has_after: false,
        }),
    }
}

async fn behind(
    connection: &mut SqliteConnection,
    table: &str,
    page: ClaimPage,
    jobs: &JobsBehind,
    states: u32,
) -> Result<ClaimsWithPast, Error> {
    let ids = histories::asked(&jobs(&page.rows));
    let histories = if ids.is_empty() {
        Vec::new()
    } else {
        histories::load(connection, &ids, states).await?
    };
    let keys: Vec<String> = page.rows.iter().map(|claim| claim.key.clone()).collect();
    let past = audit::past(connection, table, &keys).await?;
    Ok(ClaimsWithPast {
        page,
        past,
        histories,
    })
}
