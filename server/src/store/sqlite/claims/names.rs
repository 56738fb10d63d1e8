//! Names of a claims table and its columns as they stand in statements: the one place where they
//! are quoted.

use app::model::claim::Claim;
use app::model::claim::table::{ClaimsTable, Shape};
use app::model::claim::time::ClaimTime;
use app::model::state::Instant;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Sqlite};

use crate::store::sqlite::{rows, ticks};

/// A name in double quotes.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// How the table and its columns are called in a statement. Columns always stand behind the
/// table's alias: `SQLite` takes a lone quoted name that is no column for a text.
pub(super) struct Names {
    /// The table with its alias: `main."OutgoingEmails" AS c`.
    pub(super) table: String,
    /// The key, comparable with a bound text.
    pub(super) key: String,
    /// The status, comparable with a bound text.
    pub(super) status: String,
    /// The claim time, comparable with a bound text.
    pub(super) claimed_at: Option<String>,
    /// The provider's message id.
    pub(super) provider_id: Option<String>,
}

impl Names {
    pub(super) fn of(shape: &Shape) -> Self {
        let columns = &shape.table.columns;
        let types = &shape.types;
        Self {
            table: format!("main.{} AS c", quoted(&shape.table.table)),
            key: comparable(&columns.key, &types.key),
            status: comparable(&columns.status, &types.status),
            claimed_at: columns
                .claimed_at
                .as_ref()
                .map(|name| comparable(name, types.claimed_at.as_deref().unwrap_or_default())),
            provider_id: columns.provider_id.as_deref().map(column),
        }
    }

    /// A SELECT of claims, as far as FROM.
    pub(super) fn select(&self) -> QueryBuilder<Sqlite> {
        let mut query = QueryBuilder::new("SELECT CAST(");
        query
            .push(&self.key)
            .push(" AS TEXT) AS key, CAST(")
            .push(&self.status)
            .push(" AS TEXT) AS status, ")
            .push(self.token())
            .push(" AS claimed_at, ")
            .push(self.provider_id.as_deref().unwrap_or("NULL"))
            .push(" AS provider_id FROM ")
            .push(&self.table);
        query
    }

    /// The stored claim time as text.
    pub(super) fn token(&self) -> String {
        self.claimed_at
            .as_ref()
            .map_or_else(|| "NULL".to_owned(), |at| format!("CAST({at} AS TEXT)"))
    }

    /// Rows of a status.
    pub(super) fn push_status(&self, query: &mut QueryBuilder<Sqlite>, status: &str) {
        query
            .push(&self.status)
            .push(" = ")
            .push_bind(status.to_owned());
    }

    /// Leaves out most rows that were not claimed before an instant, and none that was.
    ///
    /// A column may hold times in several formats at once, whose stored order is not the order of
    /// time, so that one bound in one format would lose some. Whole numbers are compared in the
    /// unit that their size tells. Texts that begin with a date are compared to the second, and to
    /// two days where they name an offset; whatever else is there is let through. Who reads the
    /// rows compares the parsed instant.
    pub(super) fn push_older(query: &mut QueryBuilder<Sqlite>, at: &str, before: Instant) {
        let micros = before.timestamp_micros();
        let later = before + chrono::TimeDelta::days(2);
        query
            .push("CASE typeof(")
            .push(at)
            .push(") WHEN 'integer' THEN ");
        let units = [
            (i64::MIN, micros.div_euclid(1_000_000)),
            (9_999_999_999, micros.div_euclid(1_000)),
            (9_999_999_999_999, micros),
            (9_999_999_999_999_999, ticks::ticks(before)),
        ];
        for (nr, (above, most)) in units.into_iter().enumerate() {
            query
                .push(if nr == 0 { "(" } else { " OR (" })
                .push(at)
                .push(" > ")
                .push_bind(above)
                .push(" AND ")
                .push(at)
                .push(" <= ")
                .push_bind(most)
                .push(")");
        }
        query
            .push(" WHEN 'text' THEN substr(")
            .push(at)
            .push(", 5, 1) <> '-' OR substr(")
            .push(at)
            .push(", 1, 10) || ' ' || substr(")
            .push(at)
            .push(", 12, 8) <= ")
            .push_bind(before.format("%Y-%m-%d %H:%M:%S").to_string())
            .push(" OR (substr(")
            .push(at)
            .push(", 20) GLOB '*[-+]*' AND ")
            .push(at)
            .push(" < ")
            .push_bind(later.format("%Y-%m-%d").to_string())
            .push(") ELSE 0 END");
    }
}

fn column(name: &str) -> String {
    format!("c.{}", quoted(name))
}

/// A column that keeps what is put into it as it is would not find a number by its text: it is
/// compared as text. In any other one `SQLite` turns the bound text into what the column holds, so
/// that an index serves it.
fn comparable(name: &str, declared: &str) -> String {
    let declared = declared.to_ascii_uppercase();
    if declared.is_empty() || declared.contains("BLOB") || declared == "ANY" {
        format!("CAST({} AS TEXT)", column(name))
    } else {
        column(name)
    }
}

/// Reads a row of [`Names::select`].
pub(super) fn claim(table: &ClaimsTable, row: &SqliteRow) -> Result<Claim, sqlx::Error> {
    Ok(Claim {
        key: rows::text(row, "key")?.unwrap_or_default(),
        status: table.status(&rows::text(row, "status")?.unwrap_or_default()),
        claimed_at: rows::text(row, "claimed_at")?.map(ClaimTime::read),
        provider_id: rows::text(row, "provider_id")?,
    })
}
