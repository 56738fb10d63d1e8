//! Claims tables of the usual shape.

use app::model::claim::table::{ClaimsTable, Columns};
use sqlx::{AssertSqlSafe, SqliteConnection};

use super::names::quoted;
use super::shape::{self, Catalogued};
use crate::store::sqlite::rows;
use crate::store::usual;

/// Tables of others, in lower case.
const OTHERS: &[&str] = &[
    "aggregatedcounter",
    "counter",
    "distributedlock",
    "hash",
    "job",
    "jobparameter",
    "jobqueue",
    "list",
    "server",
    "set",
    "state",
    "__efmigrationshistory",
    "__efmigrationslock",
];

/// How many rows tell which words a text status uses.
const SAMPLE: u32 = 1_000;

/// Looks through the file's tables.
pub(super) async fn tables(
    connection: &mut SqliteConnection,
) -> Result<Vec<ClaimsTable>, sqlx::Error> {
    let mut detected = Vec::new();
    for name in shape::tables(connection).await? {
        let lower = name.to_ascii_lowercase();
        if OTHERS.contains(&lower.as_str())
            || lower.starts_with("redrive_")
            || lower.starts_with("qrtz_")
        {
            continue;
        }
        let Some(found) = shape::look_up(connection, &name).await? else {
            continue;
        };
        let Some(columns) = usual_columns(&found) else {
            continue;
        };
        let Some(statuses) = statuses(connection, &found, &columns.status).await? else {
            continue;
        };
        detected.push(usual::detected(
            String::new(),
            found.name,
            columns,
            statuses,
        ));
    }
    Ok(detected)
}

/// The columns, where the table has the usual ones and its key is a unique text.
fn usual_columns(found: &Catalogued) -> Option<Columns> {
    let columns = usual::columns(found.columns.iter().map(|column| column.name.as_str()))?;
    let declared = found.column(&columns.key)?.declared.to_ascii_uppercase();
    let is_text = ["CHAR", "TEXT", "CLOB", "STRING"]
        .iter()
        .any(|kind| declared.contains(kind));
    let time = found.column(columns.claimed_at.as_deref()?)?;
    let fits =
        is_text && found.is_unique(&columns.key) && !shape::cannot_hold_times(&time.declared);
    fits.then_some(columns)
}

/// The values that mean sending and sent: 0 and 1 where the status is a number, as EF Core stores
/// an enum; else the words `sending` and `sent` as they are spelled there. `None` where rows are
/// there and none uses them.
async fn statuses(
    connection: &mut SqliteConnection,
    found: &Catalogued,
    status: &str,
) -> Result<Option<(String, String)>, sqlx::Error> {
    let declared = found
        .column(status)
        .map_or("", |column| &column.declared)
        .to_ascii_uppercase();
    if declared.contains("INT") {
        return Ok(Some(("0".to_owned(), "1".to_owned())));
    }
    let sample = sqlx::query(AssertSqlSafe(format!(
        "SELECT DISTINCT CAST(status AS TEXT) AS status FROM \
         (SELECT c.{} AS status FROM main.{} AS c LIMIT {SAMPLE}) WHERE status IS NOT NULL",
        quoted(status),
        quoted(&found.name)
    )))
    .fetch_all(connection)
    .await?;
    let mut values = Vec::with_capacity(sample.len());
    for row in &sample {
        values.extend(rows::text(row, "status")?);
    }
    Ok(usual::statuses(&values, status))
}
