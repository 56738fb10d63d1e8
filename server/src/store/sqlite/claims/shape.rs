//! A claims table as the file has it.

use app::model::claim::table::{ClaimsTable, ColumnTypes, Lack, Shape};
use sqlx::SqliteConnection;

use super::names::quoted;
use crate::store::sqlite::rows;

/// A column of the catalogue.
pub(super) struct Column {
    pub(super) name: String,
    /// Its type as declared, often empty.
    pub(super) declared: String,
    /// Whether it alone is the primary key.
    pub(super) is_key: bool,
}

/// An index of the catalogue, whole (not partial).
pub(super) struct Index {
    pub(super) unique: bool,
    /// Its columns in order; an empty text for an expression.
    pub(super) columns: Vec<String>,
}

/// What the catalogue says of a table.
pub(super) struct Catalogued {
    /// Its name, spelled as it was made.
    pub(super) name: String,
    /// Whether it is a view.
    pub(super) is_view: bool,
    pub(super) columns: Vec<Column>,
    pub(super) indexes: Vec<Index>,
}

impl Catalogued {
    /// A column, by its name in any case.
    pub(super) fn column(&self, name: &str) -> Option<&Column> {
        self.columns
            .iter()
            .find(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Whether an index makes this column unique by itself.
    pub(super) fn is_unique(&self, name: &str) -> bool {
        self.column(name).is_some_and(|column| column.is_key)
            || self.indexes.iter().any(|index| {
                index.unique
                    && matches!(index.columns.as_slice(), [only] if only.eq_ignore_ascii_case(name))
            })
    }

    /// Whether an index begins with these columns.
    fn is_indexed(&self, names: [&str; 2]) -> bool {
        self.indexes.iter().any(|index| {
            index.columns.len() >= names.len()
                && index
                    .columns
                    .iter()
                    .zip(names)
                    .all(|(column, name)| column.eq_ignore_ascii_case(name))
        })
    }
}

/// Looks a table up, by its name in any case.
pub(super) async fn look_up(
    connection: &mut SqliteConnection,
    table: &str,
) -> Result<Option<Catalogued>, sqlx::Error> {
    let Some(row) = sqlx::query(
        "SELECT name, type FROM sqlite_master \
         WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE",
    )
    .bind(table)
    .fetch_optional(&mut *connection)
    .await?
    else {
        return Ok(None);
    };
    let name = rows::text(&row, "name")?.unwrap_or_default();
    let is_view = rows::text(&row, "type")?.as_deref() == Some("view");
    let found = sqlx::query(
        "SELECT name, type AS declared, pk = 1 AND (SELECT count(*) FROM pragma_table_info(?1) \
         WHERE pk > 0) = 1 AS is_key FROM pragma_table_info(?1) ORDER BY cid",
    )
    .bind(&name)
    .fetch_all(&mut *connection)
    .await?;
    let mut columns = Vec::with_capacity(found.len());
    for row in &found {
        columns.push(Column {
            name: rows::text(row, "name")?.unwrap_or_default(),
            declared: rows::text(row, "declared")?.unwrap_or_default(),
            is_key: rows::int(row, "is_key")? == Some(1),
        });
    }
    let found = sqlx::query(
        "SELECT l.seq AS nr, l.\"unique\" AS is_unique, c.name AS column_name \
         FROM pragma_index_list(?) l JOIN pragma_index_info(l.name) c \
         WHERE l.partial = 0 ORDER BY l.seq, c.seqno",
    )
    .bind(&name)
    .fetch_all(connection)
    .await?;
    let mut indexes: Vec<(i64, Index)> = Vec::new();
    for row in &found {
        let nr = rows::int(row, "nr")?.unwrap_or_default();
        let column = rows::text(row, "column_name")?.unwrap_or_default();
        match indexes.last_mut().filter(|(last, _)| *last == nr) {
            Some((_, index)) => index.columns.push(column),
            None => indexes.push((
                nr,
                Index {
                    unique: rows::int(row, "is_unique")? == Some(1),
                    columns: vec![column],
                },
            )),
        }
    }
    Ok(Some(Catalogued {
        name,
        is_view,
        columns,
        indexes: indexes.into_iter().map(|(_, index)| index).collect(),
    }))
}

/// The tables of a file, but for `SQLite`'s own.
pub(super) async fn tables(connection: &mut SqliteConnection) -> Result<Vec<String>, sqlx::Error> {
    let found = sqlx::query(
        "SELECT name FROM sqlite_master WHERE type = 'table' \
         AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name",
    )
    .fetch_all(connection)
    .await?;
    found
        .iter()
        .map(|row| Ok(rows::text(row, "name")?.unwrap_or_default()))
        .collect()
}

/// Holds a description against the catalogue. In words, why it does not fit.
pub(super) async fn shape(
    connection: &mut SqliteConnection,
    table: &ClaimsTable,
    read_only: Option<String>,
) -> Result<Result<Shape, String>, sqlx::Error> {
    let Some(found) = look_up(connection, &table.table).await? else {
        return Ok(Err(format!(
            "the file has no table {}; it has {}",
            table.table,
            listed(&tables(connection).await?)
        )));
    };
    Ok(fit(table, &found, read_only))
}

/// How many names a sentence lists.
const LISTED: usize = 20;

fn listed(names: &[String]) -> String {
    let mut text = names
        .iter()
        .take(LISTED)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > LISTED {
        text.push_str(", and more");
    }
    text
}

fn fit(
    table: &ClaimsTable,
    found: &Catalogued,
    read_only: Option<String>,
) -> Result<Shape, String> {
    let column = |name: &str| {
        found.column(name).ok_or_else(|| {
            let names: Vec<String> = found.columns.iter().map(|c| c.name.clone()).collect();
            format!(
                "the table {} has no column {name}; it has {}",
                found.name,
                listed(&names)
            )
        })
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
    if let Some(time) = claimed_at
        && cannot_hold_times(&time.declared)
    {
        return Err(format!(
            "the column {} of {} is declared as {}: claim times are read from texts and whole \
             numbers",
            time.name, found.name, time.declared
        ));
    }
    let (sending, sent) = (
        stored(&table.sending, &status.declared),
        stored(&table.sent, &status.declared),
    );
    if sending == sent {
        return Err(format!(
            "the status value {sending} is to mean both sending and sent"
        ));
    }
    let mut lacks = Vec::new();
    if claimed_at.is_none() {
        lacks.push(Lack::ClaimTime);
    }
    if provider_id.is_none() {
        lacks.push(Lack::ProviderId);
    }
    if !found.is_unique(&key.name) {
        lacks.push(Lack::UniqueKey);
    }
    let missing_index = claimed_at
        .filter(|time| !found.is_view && !found.is_indexed([&status.name, &time.name]))
        .map(|time| index(&found.name, &status.name, &time.name));
    let mut table = table.clone();
    (table.sending, table.sent) = (sending, sent);
    table.table.clone_from(&found.name);
    table.columns.key.clone_from(&key.name);
    table.columns.status.clone_from(&status.name);
    table.columns.claimed_at = claimed_at.map(|column| column.name.clone());
    table.columns.provider_id = provider_id.map(|column| column.name.clone());
    Ok(Shape {
        table,
        lacks,
        types: ColumnTypes {
            key: key.declared.clone(),
            status: status.declared.clone(),
            claimed_at: claimed_at.map(|column| column.declared.clone()),
        },
        missing_index,
        with_jobs: true,
        read_only: if found.is_view {
            Some(format!("{} is a view, which is only read.", found.name))
        } else {
            read_only
        },
    })
}

/// A status value as a column of this type keeps it: `00` in a number's column is `0`.
fn stored(value: &str, declared: &str) -> String {
    match value.trim().parse::<i64>() {
        Ok(number) if declared.to_ascii_uppercase().contains("INT") => number.to_string(),
        _ => value.to_owned(),
    }
}

fn index(table: &str, status: &str, claimed_at: &str) -> String {
    format!(
        "CREATE INDEX {} ON {} ({}, {});",
        quoted(&format!("IX_{table}_{status}_{claimed_at}")),
        quoted(table),
        quoted(status),
        quoted(claimed_at)
    )
}

/// Floats lose digits of a time, so that one as seen could not be told from its neighbours.
pub(super) fn cannot_hold_times(declared: &str) -> bool {
    let declared = declared.to_ascii_uppercase();
    ["BLOB", "REAL", "FLOA", "DOUB", "BOOL"]
        .iter()
        .any(|kind| declared.contains(kind))
        && !declared.contains("INT")
}
