//! Statements about a claims table: the one place where its names become SQL.
//!
//! Names and types are those of a [`Shape`], which come from the catalogue; names are quoted. Values
//! are bound. Templates have placeholders in braces:
//!
//! | placeholder | becomes |
//! |---|---|
//! | `{t}` | the table, quoted; statements give it the alias `x` |
//! | `{key}` `{status}` `{at}` `{provider}` | the column `x."…"`; a typed `NULL` where there is none |
//! | `{set status}` `{set at}` `{set provider}` | the column's name as the target of a `SET` |
//! | `{as key $1}` `{as status $1}` `{as at $1}` | a bound text as a value of the column's type |
//! | `{claim}` | the columns that [`claim`] reads |

use app::model::claim::table::Shape;
use app::model::claim::{Claim, ClaimTime};
use app::model::state::Instant;
use sqlx::postgres::{PgArguments, PgRow, Postgres};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Error, Row as _};

use crate::store::postgres::quote;

/// How claim times are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `timestamptz`.
    Zoned,
    /// `timestamp`, taken for UTC.
    Plain,
    /// A whole number, in a unit that its size tells.
    Number,
    /// A text.
    Text,
}

impl Kind {
    /// By the type's name in the catalogue.
    pub(super) fn of(type_name: &str) -> Self {
        match type_name {
            "timestamp with time zone" => Self::Zoned,
            "timestamp without time zone" => Self::Plain,
            "bigint" | "integer" | "numeric" => Self::Number,
            _ => Self::Text,
        }
    }

    /// Whether the database itself knows which of two times is the earlier one.
    pub(super) fn is_exact(self) -> bool {
        matches!(self, Self::Zoned | Self::Plain)
    }
}

/// A bound value.
#[derive(Debug, Clone)]
enum Value {
    Text(String),
    Int(i64),
    At(Instant),
    Texts(Vec<String>),
    Ints(Vec<i64>),
}

/// A statement that is being put together.
pub(super) struct Statement<'s> {
    shape: &'s Shape,
    sql: String,
    values: Vec<Value>,
}

impl<'s> Statement<'s> {
    pub(super) fn new(shape: &'s Shape, template: &str) -> Self {
        let mut statement = Self {
            shape,
            sql: String::new(),
            values: Vec::new(),
        };
        statement.push(template);
        statement
    }

    /// Adds text with placeholders.
    pub(super) fn push(&mut self, template: &str) -> &mut Self {
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            self.sql.push_str(before);
            let Some((placeholder, after)) = after.split_once('}') else {
                break;
            };
            self.sql.push_str(&expand(self.shape, placeholder));
            rest = after;
        }
        self.sql.push_str(rest);
        self
    }

    /// Binds a text; its placeholder, for [`Statement::push`].
    pub(super) fn text(&mut self, value: &str) -> String {
        self.bind(Value::Text(value.to_owned()))
    }

    pub(super) fn int(&mut self, value: i64) -> String {
        self.bind(Value::Int(value))
    }

    pub(super) fn texts(&mut self, values: Vec<String>) -> String {
        self.bind(Value::Texts(values))
    }

    pub(super) fn ints(&mut self, values: Vec<i64>) -> String {
        self.bind(Value::Ints(values))
    }

    fn bind(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("${}", self.values.len())
    }

    /// Adds a comparison of the status with a stored value.
    pub(super) fn push_status(&mut self, value: &str) {
        let value = self.text(value);
        self.push(&format!("{{status}} = {{as status {value}}}"));
    }

    /// Adds a comparison of the claim time with a token; `None` for a row without one.
    pub(super) fn push_claimed_at(&mut self, token: Option<&str>) {
        match token {
            Some(token) => {
                let token = self.text(token);
                self.push(&format!("{{at}} = {{as at {token}}}"));
            }
            None => {
                self.push("{at} IS NULL");
            }
        }
    }

    /// Adds the condition that a claim was made before an instant. Where the column holds texts or
    /// numbers, in whatever formats and units, it leaves out most rows that were not and none that
    /// was: who reads the rows compares the parsed instant.
    pub(super) fn push_older(&mut self, before: Instant) {
        let before = self.bind(Value::At(before));
        let kind = self.kind();
        self.push(&older(kind, &before));
    }

    pub(super) fn kind(&self) -> Kind {
        Kind::of(self.shape.types.claimed_at.as_deref().unwrap_or_default())
    }

    /// The statement, ready to be sent.
    pub(super) fn query(self) -> Query<'static, Postgres, PgArguments> {
        let mut query = sqlx::query(AssertSqlSafe(self.sql));
        for value in self.values {
            query = match value {
                Value::Text(text) => query.bind(text),
                Value::Int(number) => query.bind(number),
                Value::At(instant) => query.bind(instant),
                Value::Texts(texts) => query.bind(texts),
                Value::Ints(numbers) => query.bind(numbers),
            };
        }
        query
    }
}

fn expand(shape: &Shape, placeholder: &str) -> String {
    let (columns, types) = (&shape.table.columns, &shape.types);
    let name = |part: &str| match part {
        "key" => Some(columns.key.as_str()),
        "status" => Some(columns.status.as_str()),
        "at" => columns.claimed_at.as_deref(),
        "provider" => columns.provider_id.as_deref(),
        _ => None,
    };
    let mut words = placeholder.split(' ');
    let (kind, part, value) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    match kind {
        "t" => format!(
            "{}.{}",
            quote(&shape.table.schema),
            quote(&shape.table.table)
        ),
        "key" | "status" | "at" | "provider" => name(kind).map_or_else(
            || "NULL::text".to_owned(),
            |column| format!("x.{}", quote(column)),
        ),
        "set" => name(part).map(quote).unwrap_or_default(),
        "as" => {
            let to = match part {
                "key" => Some(types.key.as_str()),
                "status" => Some(types.status.as_str()),
                "at" => types.claimed_at.as_deref(),
                _ => None,
            };
            format!("{value}::text::{}", to.unwrap_or("text"))
        }
        "claim" => [
            "COALESCE({key}::text, '') AS key",
            "COALESCE({status}::text, '') AS status",
            "{at}::text AS claimed_at",
            "left({provider}::text, 1000) AS provider_id",
        ]
        .map(|column| {
            let (before, after) = column.split_once('{').unwrap_or((column, "}"));
            let (part, after) = after.split_once('}').unwrap_or(("", after));
            format!("{before}{}{after}", expand(shape, part))
        })
        .join(", "),
        // What is not known stays visible as an error of syntax.
        _ => format!("{{{placeholder}}}"),
    }
}

/// Numbers are compared in the unit that their size tells, texts that begin with a date to the
/// second, and to two days where they name an offset; other texts are let through.
fn older(kind: Kind, before: &str) -> String {
    match kind {
        Kind::Zoned => format!("{{at}} < {before}"),
        Kind::Plain => format!("{{at}} < ({before}::timestamptz AT TIME ZONE 'UTC')"),
        Kind::Number => {
            let seconds = format!("(ceil(extract(epoch FROM {before}::timestamptz)) + 1)");
            format!(
                "{{at}} <= CASE WHEN {{at}} <= 9999999999 THEN {seconds} \
                 WHEN {{at}} <= 9999999999999 THEN {seconds} * 1000 \
                 WHEN {{at}} <= 9999999999999999 THEN {seconds} * 1000000 \
                 ELSE {seconds} * 10000000 + 621355968000000000 END"
            )
        }
        Kind::Text => {
            let utc = format!("{before}::timestamptz AT TIME ZONE 'UTC'");
            format!(
                "(substr({{at}}, 5, 1) <> '-' \
                 OR (substr({{at}}, 1, 10) || ' ' || substr({{at}}, 12, 8)) COLLATE \"C\" \
                   <= to_char({utc}, 'YYYY-MM-DD HH24:MI:SS') \
                 OR (substr({{at}}, 20) ~ '[-+]' AND {{at}} COLLATE \"C\" \
                   < to_char({utc} + interval '2 days', 'YYYY-MM-DD')))"
            )
        }
    }
}

/// Reads `{claim}`.
pub(super) fn claim(shape: &Shape, row: &PgRow) -> Result<Claim, Error> {
    let status: String = row.try_get("status")?;
    Ok(Claim {
        key: row.try_get("key")?,
        status: shape.table.status(&status),
        claimed_at: row
            .try_get::<Option<String>, _>("claimed_at")?
            .map(ClaimTime::read),
        provider_id: row.try_get("provider_id")?,
    })
}

#[cfg(test)]
mod tests {
    use app::model::claim::table::ColumnTypes;
    use chrono::DateTime;

    use super::*;
    use crate::store::usual;

    fn shape() -> Shape {
        let names = ["Key\" OR 1=1 --", "Status", "ClaimedAt"];
        let mut columns = usual::columns(["key", "status", "claimed_at"].into_iter()).unwrap();
        columns.key = names[0].to_owned();
        columns.status = names[1].to_owned();
        columns.claimed_at = Some(names[2].to_owned());
        let words = ("0".to_owned(), "1".to_owned());
        Shape {
            table: usual::detected("my {t}".to_owned(), "Out\"box".to_owned(), columns, words),
            lacks: Vec::new(),
            types: ColumnTypes {
                key: "text".to_owned(),
                status: "integer".to_owned(),
                claimed_at: Some("timestamp without time zone".to_owned()),
            },
            missing_index: None,
            with_jobs: true,
            read_only: None,
        }
    }

    #[test]
    fn names_are_quoted_and_values_are_bound() {
        let shape = shape();
        let mut statement = Statement::new(&shape, "SELECT {key}, {provider} FROM {t} x WHERE ");
        statement.push_status("0; DROP TABLE x");
        statement.push(" AND ");
        statement.push_claimed_at(Some("2026-11-02 12:00:00"));
        statement.push(" AND ");
        statement.push_older(DateTime::UNIX_EPOCH);
        let limit = statement.int(7);
        statement.push(&format!(" LIMIT {limit}"));
        assert_eq!(
            statement.sql,
            "SELECT x.\"Key\"\" OR 1=1 --\", NULL::text FROM \"my {t}\".\"Out\"\"box\" x WHERE \
             x.\"Status\" = $1::text::integer AND \
             x.\"ClaimedAt\" = $2::text::timestamp without time zone AND \
             x.\"ClaimedAt\" < ($3::timestamptz AT TIME ZONE 'UTC') LIMIT $4"
        );
        assert_eq!(statement.values.len(), 4);
    }
}
