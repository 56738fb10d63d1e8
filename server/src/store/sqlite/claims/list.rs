//! A page of claims.
//!
//! The order is that of the stored claim times, then of the keys. Rows without a claim time come
//! first where the oldest are first, last where the newest are: the two parts are read one after
//! the other, so that an index on status and claim time serves each.

use app::model::claim::Claim;
use app::model::claim::table::Shape;
use app::model::state::Instant;
use app::ports::claims::{ClaimAnchor, ClaimFilter, ClaimPage, ClaimPlace};
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use super::names::{self, Names};

/// Which rows.
#[derive(Clone, Copy)]
enum Which<'a> {
    /// Of this status, and claimed before an instant.
    Before(&'a str, Instant),
    /// Of this status.
    Status(&'a str),
    /// Of a status that the description does not know.
    Other,
    /// All.
    All,
}

/// Which rows, and in what order they are read.
struct Walk<'a> {
    shape: &'a Shape,
    names: Names,
    which: Which<'a>,
    /// Whether claim times and keys rise from row to row.
    rising: bool,
}

/// Where a walk begins: after this place, or at it.
#[derive(Clone)]
struct From {
    place: ClaimPlace,
    included: bool,
}

/// The rows that have a claim time, or those that have none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Timed,
    Timeless,
}

/// Loads one page.
pub(super) async fn page(
    connection: &mut SqliteConnection,
    shape: &Shape,
    filter: &ClaimFilter,
    anchor: &ClaimAnchor,
    limit: u32,
) -> Result<ClaimPage, sqlx::Error> {
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let oldest_first = matches!(filter, ClaimFilter::Stale { .. } | ClaimFilter::Sending);
    let table = &shape.table;
    let which = match filter {
        ClaimFilter::Stale { before } => Which::Before(&table.sending, *before),
        ClaimFilter::Sending => Which::Status(&table.sending),
        ClaimFilter::Sent => Which::Status(&table.sent),
        ClaimFilter::Other => Which::Other,
        ClaimFilter::All => Which::All,
    };
    let walk = |rising| Walk {
        shape,
        names: Names::of(shape),
        which,
        rising,
    };
    let (forward, backward) = (walk(oldest_first), walk(!oldest_first));
    let after = |place: &ClaimPlace| From {
        place: place.clone(),
        included: false,
    };
    let (there, back, from) = match anchor {
        ClaimAnchor::Start => (&forward, &backward, None),
        ClaimAnchor::After(place) => (&forward, &backward, Some(after(place))),
        ClaimAnchor::Before(place) => (&backward, &forward, Some(after(place))),
    };
    let mut rows = there.rows(connection, from.clone(), wanted + 1).await?;
    let more = rows.len() > wanted;
    rows.truncate(wanted);
    // Whether rows lie on the other side of where the page begins.
    let behind = match (from, rows.first()) {
        (None, _) => false,
        (Some(_), Some(first)) => back.any(connection, after(&place(first))).await?,
        (Some(from), None) => {
            let from = From {
                included: true,
                ..from
            };
            back.any(connection, from).await?
        }
    };
    Ok(if matches!(anchor, ClaimAnchor::Before(_)) {
        rows.reverse();
        ClaimPage {
            rows,
            has_before: more,
            has_after: behind,
        }
    } else {
        ClaimPage {
            rows,
            has_before: behind,
            has_after: more,
        }
    })
}

/// The oldest Sent claims that were made before an instant, after a place.
pub(super) async fn sent_before(
    connection: &mut SqliteConnection,
    shape: &Shape,
    before: Instant,
    after: Option<ClaimPlace>,
    limit: usize,
) -> Result<Vec<Claim>, sqlx::Error> {
    let walk = Walk {
        shape,
        names: Names::of(shape),
        which: Which::Before(&shape.table.sent, before),
        rising: true,
    };
    let from = after.map(|place| From {
        place,
        included: false,
    });
    walk.rows(connection, from, limit).await
}

/// Where a claim stands in a list.
pub(super) fn place(claim: &Claim) -> ClaimPlace {
    ClaimPlace {
        claimed_at: claim.claimed_at.as_ref().map(|time| time.token.clone()),
        key: claim.key.clone(),
    }
}

impl Walk<'_> {
    async fn any(
        &self,
        connection: &mut SqliteConnection,
        from: From,
    ) -> Result<bool, sqlx::Error> {
        Ok(!self.rows(connection, Some(from), 1).await?.is_empty())
    }

    /// The next `wanted` rows, fewer where there are no more.
    async fn rows(
        &self,
        connection: &mut SqliteConnection,
        from: Option<From>,
        wanted: usize,
    ) -> Result<Vec<Claim>, sqlx::Error> {
        let mut rows = Vec::new();
        let mut from = from;
        for part in self.parts(from.as_ref()) {
            self.part(connection, part, from.take(), wanted, &mut rows)
                .await?;
        }
        Ok(rows)
    }

    /// The parts that lie ahead, in their order.
    fn parts(&self, from: Option<&From>) -> Vec<Part> {
        let (first, second) = if self.rising {
            (Part::Timeless, Part::Timed)
        } else {
            (Part::Timed, Part::Timeless)
        };
        let at = from.map(|from| match from.place.claimed_at {
            Some(_) => Part::Timed,
            None => Part::Timeless,
        });
        let mut parts = if at == Some(second) {
            vec![second]
        } else {
            vec![first, second]
        };
        if self.names.claimed_at.is_none() {
            parts.retain(|part| *part == Part::Timeless);
        }
        if matches!(self.which, Which::Before(..)) {
            parts.retain(|part| *part == Part::Timed);
        }
        parts
    }

    /// Adds the rows of one part until there are `wanted`.
    async fn part(
        &self,
        connection: &mut SqliteConnection,
        part: Part,
        from: Option<From>,
        wanted: usize,
        rows: &mut Vec<Claim>,
    ) -> Result<(), sqlx::Error> {
        let mut from = from;
        let mut chunk = wanted.saturating_sub(rows.len());
        // Only stale ones are judged by the parsed instant, so only they may need another look.
        while chunk > 0 && rows.len() < wanted {
            let found = self
                .query(part, from.as_ref(), chunk)
                .build()
                .fetch_all(&mut *connection)
                .await?;
            let full = found.len() == chunk;
            for row in &found {
                let claim = names::claim(&self.shape.table, row)?;
                from = Some(From {
                    place: place(&claim),
                    included: false,
                });
                if rows.len() < wanted && self.fits(&claim) {
                    rows.push(claim);
                }
            }
            if !full {
                break;
            }
            chunk = (chunk * 2).min(2_000);
        }
        Ok(())
    }

    fn fits(&self, claim: &Claim) -> bool {
        match self.which {
            Which::Before(_, before) => claim.at().is_some_and(|at| at < before),
            Which::Status(_) | Which::Other | Which::All => true,
        }
    }

    fn query(&self, part: Part, from: Option<&From>, limit: usize) -> QueryBuilder<Sqlite> {
        let names = &self.names;
        let (order, beyond) = if self.rising {
            ("ASC", " > ")
        } else {
            ("DESC", " < ")
        };
        let mut query = names.select();
        query.push(" WHERE ");
        self.push_which(&mut query);
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
            if !self.rising {
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

    fn push_which(&self, query: &mut QueryBuilder<Sqlite>) {
        let (table, names) = (&self.shape.table, &self.names);
        match self.which {
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
}
