//! Numbers of a claims table.

use app::model::claim::table::{ClaimsTable, Shape};
use app::model::claim::{Claim, ClaimStatus};
use app::model::state::Instant;
use app::ports::claims::{AGE_BUCKETS, ClaimAnchor, ClaimFigures, ClaimFilter};
use chrono::TimeDelta;
use futures::TryStreamExt as _;
use sqlx::{AssertSqlSafe, QueryBuilder, Sqlite, SqliteConnection};

use super::list;
use super::names::{self, Names};
use crate::store::claim_facts::count_age;
use crate::store::sqlite::rows;

/// How many of the newest Sent claims are told.
const JUST_SENT: u32 = 5;
/// How many statuses that the description does not know are told, the most frequent ones.
const OTHERS: usize = 50;

/// Looks at the whole table. Claim times are read row by row, since only their parsed instants
/// tell ages, but never kept.
pub(super) async fn figures(
    connection: &mut SqliteConnection,
    shape: &Shape,
    now: Instant,
) -> Result<ClaimFigures, sqlx::Error> {
    let names = Names::of(shape);
    let table = &shape.table;
    let mut figures = ClaimFigures {
        sending: 0,
        stale: 0,
        sent: 0,
        other: Vec::new(),
        ages: vec![0; AGE_BUCKETS.len() + 1],
        ageless: 0,
        purgeable: (0, None),
        just_sent: Vec::new(),
        as_of: now,
    };
    statuses(connection, &names, table, &mut figures).await?;
    let stale = now - TimeDelta::milliseconds(table.cutoff_ms);
    let mut sending = by_status(&names, &table.sending);
    each(connection, &mut sending, table, |claim| {
        count_age(&mut figures, now, stale, claim);
    })
    .await?;
    if let Some(at) = &names.claimed_at {
        let before = now - TimeDelta::milliseconds(table.retention_ms);
        let mut old = by_status(&names, &table.sent);
        old.push(" AND ");
        Names::push_older(&mut old, at, before);
        each(connection, &mut old, table, |claim| {
            if let Some(at) = claim.at().filter(|at| *at < before) {
                let (rows, oldest) = &mut figures.purgeable;
                *rows += 1;
                *oldest = Some(oldest.map_or(at, |oldest| oldest.min(at)));
            }
        })
        .await?;
    }
    let newest = list::page(
        connection,
        shape,
        &ClaimFilter::Sent,
        &ClaimAnchor::Start,
        JUST_SENT,
    )
    .await?;
    figures.just_sent = newest.rows;
    Ok(figures)
}

async fn statuses(
    connection: &mut SqliteConnection,
    names: &Names,
    table: &ClaimsTable,
    figures: &mut ClaimFigures,
) -> Result<(), sqlx::Error> {
    let status = &names.status;
    let found = sqlx::query(AssertSqlSafe(format!(
        "SELECT CAST({status} AS TEXT) AS status, count(*) AS n FROM {} GROUP BY {status} \
         ORDER BY n DESC, 1",
        names.table
    )))
    .fetch_all(connection)
    .await?;
    for row in &found {
        let stored = rows::text(row, "status")?.unwrap_or_default();
        let n = rows::int(row, "n")?.unwrap_or_default();
        match table.status(&stored) {
            ClaimStatus::Sending => figures.sending += n,
            ClaimStatus::Sent => figures.sent += n,
            ClaimStatus::Other(value) => figures.other.push((value, n)),
        }
    }
    figures.other.truncate(OTHERS);
    figures.other.sort();
    Ok(())
}

fn by_status(names: &Names, status: &str) -> QueryBuilder<Sqlite> {
    let mut query = names.select();
    query.push(" WHERE ");
    names.push_status(&mut query, status);
    query
}

async fn each(
    connection: &mut SqliteConnection,
    query: &mut QueryBuilder<Sqlite>,
    table: &ClaimsTable,
    mut look: impl FnMut(&Claim) + Send,
) -> Result<(), sqlx::Error> {
    let mut found = query.build().fetch(connection);
    while let Some(row) = found.try_next().await? {
        look(&names::claim(table, &row)?);
    }
    Ok(())
}
