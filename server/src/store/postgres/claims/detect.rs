//! Claims tables of the usual shape.

use std::collections::HashSet;

use crate::store::postgres::conn::Conn;
use app::model::claim::table::{ClaimsTable, Columns};
use sqlx::{AssertSqlSafe, Error};

use super::catalogue::{self, Column, Table};
use crate::store::postgres::quote;
use crate::store::usual;

/// How many rows tell which words a text status uses.
const SAMPLE: u32 = 1_000;

/// See [`app::ports::claims::ClaimStore::detect`].
pub(super) async fn tables(conn: &mut Conn) -> Result<Vec<ClaimsTable>, Error> {
    let mut detected = Vec::new();
    let mut names = HashSet::new();
    for found in catalogue::candidates(conn).await? {
        let Some(columns) = columns(&found) else {
            continue;
        };
        let Some(words) = statuses(conn, &found, &columns.status).await? else {
            continue;
        };
        let mut table = usual::detected(found.schema, found.name, columns, words);
        if !names.insert(table.name.clone()) {
            table.name = format!("{}.{}", table.schema, table.table);
            names.insert(table.name.clone());
        }
        detected.push(table);
    }
    Ok(detected)
}

/// The columns, where the table has the usual ones and an index makes the key unique.
fn columns(found: &Table) -> Option<Columns> {
    if !found.may_select {
        return None;
    }
    let mut columns = usual::columns(found.columns.iter().map(|column| column.name.as_str()))?;
    let key = found.column(&columns.key)?;
    let time = found.column(columns.claimed_at.as_deref()?)?;
    let is_time = super::shape::can_hold_times(time);
    if !key.is_text() || !found.is_unique(key) || !is_time {
        return None;
    }
    let is_id = |name: &String| found.column(name).is_some_and(Column::is_text);
    columns.provider_id = columns.provider_id.filter(is_id);
    Some(columns)
}

/// The values that mean sending and sent: 0 and 1 where the status is a number, as EF Core stores
/// an enum; else the words as they are spelled there. `None` where neither word is used.
async fn statuses(
    conn: &mut Conn,
    found: &Table,
    status: &str,
) -> Result<Option<(String, String)>, Error> {
    let Some(column) = found.column(status) else {
        return Ok(None);
    };
    let values: Vec<String> = match column.category.as_str() {
        "N" => return Ok(Some(("0".to_owned(), "1".to_owned()))),
        "S" => {
            sqlx::query_scalar(AssertSqlSafe(format!(
                "SELECT DISTINCT s.status::text FROM (SELECT x.{} AS status FROM {}.{} x \
                 LIMIT {SAMPLE}) s WHERE s.status IS NOT NULL LIMIT 100",
                quote(status),
                quote(&found.schema),
                quote(&found.name)
            )))
            .fetch_all(conn)
            .await?
        }
        "E" => {
            sqlx::query_scalar(
                "SELECT e.enumlabel::text FROM pg_catalog.pg_enum e \
                 WHERE e.enumtypid = $1::text::regtype ORDER BY e.enumsortorder LIMIT 100",
            )
            .bind(&column.type_name)
            .fetch_all(conn)
            .await?
        }
        _ => return Ok(None),
    };
    Ok(usual::statuses(&values, status))
}
