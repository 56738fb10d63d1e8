//! Numbers of a claims table.

use crate::store::claim_facts::count_age;
use crate::store::postgres::conn::Conn;
use app::model::claim::table::Shape;
use app::model::claim::{Claim, ClaimStatus};
use app::model::state::Instant;
use app::ports::claims::{AGE_BUCKETS, ClaimAnchor, ClaimFigures, ClaimFilter};
use chrono::TimeDelta;
use futures::TryStreamExt as _;
use sqlx::{Error, Row as _};

use super::list;
use super::text::{self, Kind, Statement};

/// How many of the newest Sent claims are told.
const JUST_SENT: u32 = 5;
/// How many statuses that the description does not know are told, the most frequent ones.
const OTHERS: usize = 50;

/// Figures are made in the background, where they may take longer than a page.
const PATIENCE: &str = "SET LOCAL statement_timeout = 20000";

/// See [`app::ports::claims::ClaimStore::claim_figures`].
pub(super) async fn figures(conn: &mut Conn, shape: &Shape) -> Result<ClaimFigures, Error> {
    sqlx::raw_sql(PATIENCE).execute(&mut *conn).await?;
    let now: Instant = sqlx::query_scalar("SELECT clock_timestamp()")
        .fetch_one(&mut *conn)
        .await?;
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
    statuses(conn, shape, &mut figures).await?;
    let stale = now - TimeDelta::milliseconds(table.cutoff_ms);
    let mut sending = Statement::new(shape, "SELECT {claim} FROM {t} x WHERE ");
    sending.push_status(&table.sending);
    each(conn, sending, shape, |claim| {
        count_age(&mut figures, now, stale, claim);
    })
    .await?;
    if table.columns.claimed_at.is_some() {
        let before = now - TimeDelta::milliseconds(table.retention_ms);
        figures.purgeable = purgeable(conn, shape, before).await?;
    }
    let newest = (ClaimFilter::Sent, ClaimAnchor::Start);
    let newest = list::page(conn, shape, &newest.0, &newest.1, JUST_SENT).await?;
    figures.just_sent = newest.rows;
    Ok(figures)
}

async fn statuses(conn: &mut Conn, shape: &Shape, figures: &mut ClaimFigures) -> Result<(), Error> {
    let counts = Statement::new(
        shape,
        // Grouped as it is stored, so that an index alone serves.
        "SELECT COALESCE(g.status::text, '') AS status, g.n FROM \
         (SELECT {status} AS status, count(*) AS n FROM {t} x GROUP BY 1) g ORDER BY 2 DESC, 1",
    );
    for row in counts.query().fetch_all(conn).await? {
        let (stored, n): (String, i64) = (row.try_get("status")?, row.try_get("n")?);
        match shape.table.status(&stored) {
            ClaimStatus::Sending => figures.sending += n,
            ClaimStatus::Sent => figures.sent += n,
            ClaimStatus::Other(value) => figures.other.push((value, n)),
        }
    }
    figures.other.truncate(OTHERS);
    figures.other.sort();
    Ok(())
}

/// Sent claims that were made before an instant, and the oldest of them.
async fn purgeable(
    conn: &mut Conn,
    shape: &Shape,
    before: Instant,
) -> Result<(i64, Option<Instant>), Error> {
    let sent = |columns: &str| {
        let mut statement = Statement::new(shape, columns);
        statement.push(" FROM {t} x WHERE ");
        statement.push_status(&shape.table.sent);
        statement.push(" AND ");
        statement.push_older(before);
        statement
    };
    let kind = sent("SELECT 1").kind();
    if kind.is_exact() {
        let oldest = match kind {
            Kind::Plain => "min({at}) AT TIME ZONE 'UTC'",
            _ => "min({at})",
        };
        // An instant that no calendar holds (`-infinity`) is told by the count alone.
        let row = sent(&format!(
            "SELECT count(*) AS n, CASE WHEN isfinite(min({{at}})) THEN {oldest} END AS oldest"
        ))
        .query()
        .fetch_one(conn)
        .await?;
        return Ok((row.try_get("n")?, row.try_get("oldest")?));
    }
    let (mut rows, mut oldest) = (0, None);
    each(conn, sent("SELECT {claim}"), shape, |claim| {
        if let Some(at) = claim.at().filter(|at| *at < before) {
            rows += 1;
            oldest = Some(oldest.map_or(at, |oldest: Instant| oldest.min(at)));
        }
    })
    .await?;
    Ok((rows, oldest))
}

/// Looks at rows one by one without keeping them.
async fn each(
    conn: &mut Conn,
    statement: Statement<'_>,
    shape: &Shape,
    mut look: impl FnMut(&Claim) + Send,
) -> Result<(), Error> {
    let mut rows = statement.query().fetch(conn);
    while let Some(row) = rows.try_next().await? {
        look(&text::claim(shape, &row)?);
    }
    Ok(())
}
