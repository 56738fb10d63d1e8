//! Purging Sent claims past their retention, in batches.
//!
//! Rows are locked before they go, and whoever holds one already is passed over: it is purged there,
//! or it is being changed. Twice or from two processes, each row goes once; one that is Sending
//! never.

use app::model::claim::ClaimTime;
use app::model::claim::table::{Lack, Shape};
use app::model::state::Instant;
use app::ports::claims::Purge;
use app::ports::error::StoreError;
use sqlx::{Error, Row as _};

use super::db;
use super::text::Statement;
use crate::store::postgres::conn::{Conn, begin};
use crate::store::postgres::pool::{Pool, Purpose};

const BEGIN: &str = begin!(
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    "SET LOCAL lock_timeout = 2000",
    "SET LOCAL statement_timeout = 20000",
    "SET LOCAL idle_in_transaction_session_timeout = 5000",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO, MDY'",
);
/// The most rows of a batch.
const MOST: u32 = 10_000;

/// A place in the order of claim times, and of rows within one.
struct Place {
    token: String,
    row: (i64, String),
}

/// Purges until nothing is left; `purged` counts what went, also where it ends with an error.
///
/// # Errors
/// As the database's; what was purged stays purged.
pub(super) async fn all(
    pool: &Pool,
    shape: &Shape,
    purge: &Purge,
    purged: &mut u64,
) -> Result<(), StoreError> {
    if shape.lacks(Lack::ClaimTime) {
        return Err(StoreError::Unreadable(
            "the table has no claim time, so nobody knows which claims are past the retention"
                .to_owned(),
        ));
    }
    let mut after = None;
    loop {
        let batch = batch(pool, shape, purge, after.as_ref()).await;
        let (gone, next) = batch.map_err(|error| db::map(&error))?;
        *purged += gone;
        match next {
            Some(place) => after = Some(place),
            None => return Ok(()),
        }
    }
}

/// One transaction: how many rows went, and where the next one begins, if there may be more.
async fn batch(
    pool: &Pool,
    shape: &Shape,
    purge: &Purge,
    after: Option<&Place>,
) -> Result<(u64, Option<Place>), Error> {
    let mut transaction = pool.begin(Purpose::Rare, BEGIN).await?;
    let result = inside(&mut transaction.conn, shape, purge, after).await;
    match result {
        Ok(done) => {
            transaction.commit().await?;
            Ok(done)
        }
        Err(error) => {
            transaction.rollback().await;
            Err(error)
        }
    }
}

async fn inside(
    conn: &mut Conn,
    shape: &Shape,
    purge: &Purge,
    after: Option<&Place>,
) -> Result<(u64, Option<Place>), Error> {
    let limit = purge.batch.clamp(1, MOST);
    let rows = locked(shape, purge.before, after, limit)
        .query()
        .fetch_all(&mut *conn)
        .await?;
    let (mut tables, mut places) = (Vec::new(), Vec::new());
    let mut last = None;
    for row in &rows {
        let token: String = row.try_get("claimed_at")?;
        let at: (i64, String) = (row.try_get("tableoid")?, row.try_get("ctid")?);
        // The database has compared what it can compare; the parsed instant decides.
        if ClaimTime::read(token.as_str())
            .at
            .is_some_and(|claimed_at| claimed_at < purge.before)
        {
            tables.push(at.0);
            places.push(at.1.clone());
        }
        last = Some(Place { token, row: at });
    }
    let gone = delete(conn, shape, tables, places).await?;
    let more = rows.len() >= usize::try_from(limit).unwrap_or(usize::MAX);
    Ok((gone, last.filter(|_| more)))
}

/// The next rows, oldest first, locked; rows that somebody holds are left out.
fn locked<'s>(
    shape: &'s Shape,
    before: Instant,
    after: Option<&Place>,
    limit: u32,
) -> Statement<'s> {
    let mut statement = Statement::new(
        shape,
        "SELECT x.tableoid::bigint AS tableoid, x.ctid::text AS ctid, {at}::text AS claimed_at \
         FROM {t} x WHERE ",
    );
    statement.push_status(&shape.table.sent);
    statement.push(" AND ");
    statement.push_older(before);
    if let Some(Place { token, row }) = after {
        let token = statement.text(token);
        let (table, ctid) = (statement.int(row.0), statement.text(&row.1));
        statement.push(&format!(
            " AND ({{at}}, x.tableoid::bigint, x.ctid) > \
             ({{as at {token}}}, {table}, {ctid}::text::tid)"
        ));
    }
    let limit = statement.int(i64::from(limit));
    statement.push(&format!(
        " ORDER BY {{at}}, x.tableoid::bigint, x.ctid LIMIT {limit} FOR UPDATE SKIP LOCKED"
    ));
    statement
}

/// Deletes locked rows, which nobody can have moved since.
async fn delete(
    conn: &mut Conn,
    shape: &Shape,
    tables: Vec<i64>,
    places: Vec<String>,
) -> Result<u64, Error> {
    if places.is_empty() {
        return Ok(0);
    }
    let mut statement = Statement::new(shape, "DELETE FROM {t} AS x WHERE ");
    statement.push_status(&shape.table.sent);
    let (tables, places) = (statement.ints(tables), statement.texts(places));
    statement.push(&format!(
        " AND x.ctid = ANY({places}::text[]::tid[]) AND (x.tableoid::bigint, x.ctid) IN \
         (SELECT * FROM unnest({tables}::bigint[], {places}::text[]::tid[]))"
    ));
    Ok(statement.query().execute(conn).await?.rows_affected())
}
