//! The rows of a page of claims: see [`crate::store::claim_list`].

use app::model::claim::Claim;
use app::model::claim::table::Shape;
use app::model::state::Instant;
use app::ports::claims::{ClaimAnchor, ClaimFilter, ClaimPage, ClaimPlace};
use async_trait::async_trait;
use sqlx::{Error, QueryBuilder, Sqlite, SqliteConnection};

use super::names::{self, Names};
use crate::store::claim_list::{self, ClaimRows, From, Part, Walk, Which};

/// See [`app::ports::claims::ClaimStore::claims`].
pub(super) async fn page(
    connection: &mut SqliteConnection,
    shape: &Shape,
    filter: &ClaimFilter,
    anchor: &ClaimAnchor,
    limit: u32,
) -> Result<ClaimPage, Error> {
    claim_list::page(connection, shape, filter, anchor, limit).await
}

/// The oldest Sent claims that were made before an instant, after a place.
pub(super) async fn sent_before(
    connection: &mut SqliteConnection,
    shape: &Shape,
    before: Instant,
    after: Option<ClaimPlace>,
    limit: usize,
) -> Result<Vec<Claim>, Error> {
    let walk = Walk {
        shape,
        which: Which::Before(&shape.table.sent, before),
        rising: true,
    };
    let from = after.map(|place| From {
        place,
        included: false,
    });
    walk.rows(connection, from, limit).await
}

#[async_trait]
impl ClaimRows for SqliteConnection {
    async fn read(
        &mut self,
        walk: &Walk<'_>,
        part: Part,
        from: Option<&From>,
        limit: usize,
    ) -> Result<Vec<Claim>, Error> {
        let found = query(walk, part, from, limit)
            .build()
            .fetch_all(self)
            .await?;
        found
            .iter()
            .map(|row| names::claim(&walk.shape.table, row))
            .collect()
    }
}

fn query(walk: &Walk<'_>, part: Part, from: Option<&From>, limit: usize) -> QueryBuilder<Sqlite> {
    let names = &Names::of(walk.shape);
    let (order, beyond) = if walk.rising {
        ("ASC", " > ")
    } else {
        ("DESC", " < ")
    };
    let mut query = names.select();
    query.push(" WHERE ");
    push_which(walk, names, &mut query);
    let time = names.claimed_at.as_deref().unwrap_or("NULL");
    match (part, &names.claimed_at) {
        (Part::Timed, _) => query.push(" AND ").push(time).push(" IS NOT NULL"),
        (Part::Timeless, Some(_)) => query.push(" AND ").push(time).push(" IS NULL"),
        (Part::Timeless, None) => &mut query,
    };
    if let Some(From { place, included }) = from {
        query.push(" AND ");
        if part == Part::Timed {
            let at = place.claimed_at.clone();
            query
                .push(time)
                .push(beyond.trim_end())
                .push("= ")
                .push_bind(at.clone())
                .push(" AND (")
                .push(time)
                .push(beyond)
                .push_bind(at)
                .push(" OR ");
        } else {
            query.push("(");
        }
        query
            .push(&names.key)
            .push(beyond)
            .push_bind(place.key.clone());
        if *included {
            query
                .push(" OR ")
                .push(&names.key)
                .push(" = ")
                .push_bind(place.key.clone());
        }
        if !walk.rising {
            // A row without a key sorts below all others.
            query.push(" OR ").push(&names.key).push(" IS NULL");
        }
        query.push(")");
    }
    query.push(" ORDER BY ");
    if part == Part::Timed {
        query.push(time).push(" ").push(order).push(", ");
    }
    query
        .push(&names.key)
        .push(" ")
        .push(order)
        .push(" LIMIT ")
        .push_bind(i64::try_from(limit).unwrap_or(i64::MAX));
    query
}

fn push_which(walk: &Walk<'_>, names: &Names, query: &mut QueryBuilder<Sqlite>) {
    let table = &walk.shape.table;
    match walk.which {
        Which::Before(status, before) => {
            names.push_status(query, status);
            if let Some(at) = &names.claimed_at {
                query.push(" AND ");
                Names::push_older(query, at, before);
            }
        }
        Which::Status(status) => names.push_status(query, status),
        Which::Other => {
            query
                .push("(")
                .push(&names.status)
                .push(" IS NULL OR ")
                .push(&names.status)
                .push(" NOT IN (")
                .push_bind(table.sending.clone())
                .push(", ")
                .push_bind(table.sent.clone())
                .push("))");
        }
        Which::All => {
            query.push("true");
        }
    }
}
