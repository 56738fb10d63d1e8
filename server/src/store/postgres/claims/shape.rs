//! A claims table as the catalogue has it.

use crate::store::postgres::conn::Conn;
use app::model::claim::table::{ClaimsTable, ColumnTypes, Lack, Shape};
use sqlx::{AssertSqlSafe, Error, Row as _};

use super::catalogue::{self, Column, Index, Table};
use super::db;
use super::text::Kind;
use crate::store::postgres::quote;

/// How many names a sentence lists.
const LISTED: usize = 20;

/// Types that claim times are read from. Floats lose digits of a time, so that one as seen could not
/// be told from its neighbours.
pub(super) fn can_hold_times(column: &Column) -> bool {
    column.is_text() || Kind::of(&column.type_name) != Kind::Text
}

/// Holds a description against the catalogue. In words, why it does not fit.
pub(super) async fn shape(
    conn: &mut Conn,
    table: &ClaimsTable,
    with_jobs: bool,
) -> Result<Result<Shape, String>, Error> {
    let Some(found) = catalogue::table(conn, &table.schema, &table.table).await? else {
        return Ok(Err(elsewhere(conn, table).await?));
    };
    let mut shape = match fit(table, &found, with_jobs) {
        Ok(shape) => shape,
        Err(why) => return Ok(Err(why)),
    };
    shape.read_only = read_only(conn, &shape, &found).await?;
    // Comes last, since a value that does not fit breaks the transaction.
    Ok(match stored(conn, &shape).await {
        Ok((sending, sent)) if sending == sent => Err(format!(
            "the status value {sending} is to mean both sending and sent"
        )),
        Ok((sending, sent)) => {
            (shape.table.sending, shape.table.sent) = (sending, sent);
            Ok(shape)
        }
        Err(error) if db::is_odd_value(&error) => Err(format!(
            "the column {} of {} is of the type {}, which cannot hold {} and {}",
            shape.table.columns.status,
            shape.table.table,
            shape.types.status,
            shape.table.sending,
            shape.table.sent
        )),
        Err(error) => return Err(error),
    })
}

/// The status values as the column's type writes them: `00` in a number's column is `0`.
async fn stored(conn: &mut Conn, shape: &Shape) -> Result<(String, String), Error> {
    let to = &shape.types.status;
    let row = sqlx::query(AssertSqlSafe(format!(
        "SELECT $1::text::{to}::text AS sending, $2::text::{to}::text AS sent"
    )))
    .bind(&shape.table.sending)
    .bind(&shape.table.sent)
    .fetch_one(conn)
    .await?;
    Ok((row.try_get("sending")?, row.try_get("sent")?))
}

fn fit(table: &ClaimsTable, found: &Table, with_jobs: bool) -> Result<Shape, String> {
    let column = |name: &str| {
        found.column(name).ok_or_else(|| {
            let names = found.columns.iter().map(|column| column.name.as_str());
            format!(
                "the table {} has no column {name}; it has {}",
                found.name,
                listed(names)
            )
        })
    };
    let wrong = |column: &Column, what: &str| {
        Err(format!(
            "the column {} of {} is of the type {}: {what}",
            column.name, found.name, column.type_name
        ))
    };
    let key = column(&table.columns.key)?;
    let status = column(&table.columns.status)?;
    let claimed_at = table
        .columns
        .claimed_at
        .as_deref()
        .map(column)
        .transpose()?;
    let provider_id = table
        .columns
        .provider_id
        .as_deref()
        .map(column)
        .transpose()?;
    if !key.is_text() && !matches!(key.type_name.as_str(), "uuid" | "integer" | "bigint") {
        return wrong(key, "keys are read from texts, uuids and whole numbers");
    }
    if !status.is_text() && !matches!(status.category.as_str(), "N" | "E" | "B") {
        return wrong(status, "a status is read from a text, a number or an enum");
    }
    if let Some(time) = claimed_at.filter(|time| !can_hold_times(time)) {
        return wrong(
            time,
            "claim times are read from timestamps, texts and whole numbers",
        );
    }
    if let Some(id) = provider_id.filter(|id| !id.is_text()) {
        return wrong(id, "the provider's message id is a text");
    }
    let mut lacks = Vec::new();
    if claimed_at.is_none() {
        lacks.push(Lack::ClaimTime);
    }
    if provider_id.is_none() {
        lacks.push(Lack::ProviderId);
    }
    if !found.is_unique(key) {
        lacks.push(Lack::UniqueKey);
    }
    let missing_index = claimed_at
        .filter(|time| found.is_table() && !is_served(&found.indexes, status, time))
        .map(|time| {
            format!(
                "CREATE INDEX CONCURRENTLY ON {}.{} ({}, {});",
                quote(&found.schema),
                quote(&found.name),
                quote(&status.name),
                quote(&time.name)
            )
        });
    Ok(Shape {
        table: table.clone(),
        lacks,
        types: ColumnTypes {
            key: key.type_name.clone(),
            status: status.type_name.clone(),
            claimed_at: claimed_at.map(|time| time.type_name.clone()),
        },
        missing_index,
        with_jobs,
        read_only: None,
    })
}

/// Whether an index finds stale claims: one on status and claim time, or one on the claim time of
/// the rows of a status.
fn is_served(indexes: &[Index], status: &Column, time: &Column) -> bool {
    indexes.iter().any(|index| {
        let by_both = index.columns.starts_with(&[status.number, time.number]);
        let by_time = index.columns.first() == Some(&time.number);
        match &index.condition {
            None => by_both,
            Some(condition) => (by_both || by_time) && condition.contains(&status.name),
        }
    })
}

/// Why nothing can be written, in words.
async fn read_only(conn: &mut Conn, shape: &Shape, found: &Table) -> Result<Option<String>, Error> {
    let name = format!("{}.{}", quote(&found.schema), quote(&found.name));
    if !found.is_table() {
        return Ok(Some(format!("{name} is not a table, so it is only read.")));
    }
    let columns = &shape.table.columns;
    let changed: Vec<String> = [
        Some(&columns.status),
        columns.claimed_at.as_ref(),
        columns.provider_id.as_ref(),
    ]
    .into_iter()
    .flatten()
    .cloned()
    .collect();
    let row = sqlx::query(
        "SELECT current_user::text AS role, pg_is_in_recovery() AS replica, \
           bool_and(has_column_privilege($1::text::regclass, c.name, 'UPDATE')) AS may_update \
         FROM unnest($2::text[]) AS c(name)",
    )
    .bind(&name)
    .bind(changed)
    .fetch_one(conn)
    .await?;
    let role: String = row.try_get("role")?;
    if row.try_get("replica")? {
        return Ok(Some(
            "The database is a replica, which only allows reading.".to_owned(),
        ));
    }
    let may_update: bool = row.try_get("may_update")?;
    let what = match (may_update, found.may_delete) {
        (true, true) => return Ok(None),
        (true, false) => "delete",
        (false, true) => "change",
        (false, false) => "change or delete",
    };
    Ok(Some(format!(
        "The database role {role} may not {what} rows of {name}."
    )))
}

/// Says that a table is not there, and what is.
async fn elsewhere(conn: &mut Conn, table: &ClaimsTable) -> Result<String, Error> {
    let rows = sqlx::query(
        "SELECT n.nspname::text AS schema, c.relname::text AS name \
         FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition \
           AND (n.nspname = $1 OR lower(c.relname) = lower($2)) \
           AND n.nspname NOT IN ('pg_catalog', 'information_schema') \
         ORDER BY lower(c.relname) = lower($2) DESC, n.nspname, c.relname LIMIT 21",
    )
    .bind(&table.schema)
    .bind(&table.table)
    .fetch_all(conn)
    .await?;
    let mut names = Vec::with_capacity(rows.len());
    for row in rows {
        let (schema, name): (String, String) = (row.try_get("schema")?, row.try_get("name")?);
        names.push(format!("{schema}.{name}"));
    }
    Ok(format!(
        "the database has no table {} in the schema {}; it has {}",
        table.table,
        table.schema,
        listed(names.iter().map(String::as_str))
    ))
}

fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.take(LISTED + 1).collect();
    match names.split_at_checked(LISTED) {
        _ if names.is_empty() => "none there".to_owned(),
        Some((first, [_, ..])) => format!("{}, and more", first.join(", ")),
        _ => names.join(", "),
    }
}
