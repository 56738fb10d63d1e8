//! What the catalogue says of the tables, and the one place where statements get the schema's name
//! and the columns' types.
//!
//! Statements are constant texts with placeholders in braces. Between schema versions 10 and 23
//! columns changed their types; they are looked up, not concluded from the version:
//!
//! | placeholder | becomes |
//! |---|---|
//! | `{s}` | the quoted schema |
//! | `{utc j.createdat}` | the instant; `NULL` outside the years 1 to 9999 |
//! | `{at j.createdat}` | the instant as it is, for comparisons |
//! | `{key j.invocationdata Type}` | the text at a key of a JSON object |
//! | `{raw j.arguments}` | JSON as stored text |
//! | `{without j.invocationdata Arguments}` | the same without a key, where the column can do that |
//! | `{details c.data}` | `chars`, `data`: JSON with its long values cut, where the column can do that |
//!
//! Text columns hold whatever was written, so they are never cast to JSON: a key is found by a
//! regular expression, and its value is still escaped ([`Layout::plain`]).

use std::collections::HashMap;
use std::fmt::Write as _;

use app::ports::error::StoreError;
use sqlx::{AssertSqlSafe, Row as _};

use super::conn::Conn;

/// Oldest schema version that can be read: ids became 64 bit with the next one, queues' names
/// became text with this one.
pub const OLDEST: i32 = 10;
/// Newest schema version that is known.
pub const NEWEST: i32 = 23;

/// Tables that reading needs.
const NEEDED: [&str; 6] = ["job", "state", "jobparameter", "jobqueue", "server", "set"];

/// The tables as they were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    schema: String,
    /// `(table, column)` to the type's name in the catalogue.
    types: HashMap<(String, String), String>,
    /// Hangfire's schema version.
    pub version: i32,
    /// The server's version number, for example `150018`.
    pub server: i32,
}

impl Layout {
    /// Looks at the catalogue.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] where the tables are not Hangfire's or too old.
    pub async fn read(conn: &mut Conn, schema: &str) -> Result<Self, Failed> {
        let server: i32 = sqlx::query_scalar("SELECT current_setting('server_version_num')::int")
            .fetch_one(&mut *conn)
            .await?;
        let rows = sqlx::query(
            "SELECT c.relname::text AS relname, a.attname::text AS attname, \
                    format_type(a.atttypid, NULL) AS type \
             FROM pg_catalog.pg_attribute a \
             JOIN pg_catalog.pg_class c ON c.oid = a.attrelid \
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'f') \
               AND a.attnum > 0 AND NOT a.attisdropped",
        )
        .bind(schema)
        .fetch_all(&mut *conn)
        .await?;
        let mut types = HashMap::with_capacity(rows.len());
        for row in rows {
            types.insert(
                (row.try_get("relname")?, row.try_get("attname")?),
                row.try_get("type")?,
            );
        }
        let mut layout = Self {
            schema: schema.to_owned(),
            types,
            version: 0,
            server,
        };
        layout.require_tables(conn).await?;
        layout.version = layout.read_version(conn).await?;
        Ok(layout)
    }

    /// Whether a table is there.
    pub fn has_table(&self, table: &str) -> bool {
        self.types.keys().any(|(t, _)| t == table)
    }

    async fn require_tables(&self, conn: &mut Conn) -> Result<(), Failed> {
        let missing: Vec<&str> = NEEDED
            .into_iter()
            .chain(["schema"])
            .filter(|table| !self.has_table(table))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let schema = &self.schema;
        if missing.len() > NEEDED.len() {
            return Err(Failed::Known(StoreError::Unreadable(
                elsewhere(conn, schema).await?,
            )));
        }
        let list = missing.join(", ");
        let (noun, verb) = if missing.len() == 1 {
            ("table", "is")
        } else {
            ("tables", "are")
        };
        Err(Failed::Known(StoreError::Unreadable(format!(
            "schema \"{schema}\" is not a whole Hangfire schema: {noun} {list} {verb} missing"
        ))))
    }

    async fn read_version(&self, conn: &mut Conn) -> Result<i32, Failed> {
        let version: Option<i32> =
            sqlx::query_scalar(self.sql("SELECT max(version)::int FROM {s}.schema"))
                .fetch_one(conn)
                .await?;
        let schema = &self.schema;
        match version {
            None => Err(Failed::Known(StoreError::Unreadable(format!(
                "table schema of schema \"{schema}\" names no version: \
                 Hangfire has not finished setting it up"
            )))),
            Some(version) if version < OLDEST => {
                Err(Failed::Known(StoreError::Unreadable(format!(
                    "schema \"{schema}\" has version {version}, which is too old to read: \
                     {OLDEST} is the oldest (Hangfire.PostgreSql 1.6.1)"
                ))))
            }
            Some(version) => Ok(version),
        }
    }

    /// The schema's name as it is.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// The schema's name, quoted for SQL.
    pub fn quoted(&self) -> String {
        quote(&self.schema)
    }

    /// A statement from its text with placeholders. This is the one place where dynamic text
    /// becomes SQL: of what goes in, only the schema's name comes from outside, and it is quoted.
    pub fn sql(&self, template: &str) -> AssertSqlSafe<String> {
        AssertSqlSafe(self.render(template))
    }

    fn render(&self, template: &str) -> String {
        let mut out = String::with_capacity(template.len() + 256);
        let mut rest = template;
        while let Some(open) = rest.find('{') {
            let (before, after) = rest.split_at(open);
            out.push_str(before);
            let Some(close) = after.find('}') else {
                break;
            };
            self.expand(&after[1..close], &mut out);
            rest = &after[close + 1..];
        }
        out.push_str(rest);
        out
    }

    fn expand(&self, placeholder: &str, out: &mut String) {
        let mut words = placeholder.split(' ');
        let kind = words.next().unwrap_or_default();
        let column = words.next().unwrap_or_default();
        let is_jsonb = self.type_of(column) == Some("jsonb");
        let is_zoned = self.type_of(column) != Some("timestamp without time zone");
        let at = || {
            if is_zoned {
                column.to_owned()
            } else {
                format!("({column} AT TIME ZONE 'UTC')")
            }
        };
        // Writing to a String cannot fail; a placeholder that is not known stays visible as an
        // error of syntax.
        let written = match (kind, is_jsonb) {
            ("s", _) => write!(out, "{}", self.quoted()),
            ("at", _) => write!(out, "{}", at()),
            ("utc", _) => {
                let at = at();
                write!(
                    out,
                    "CASE WHEN {at} >= '0001-01-01Z' AND {at} < '9999-12-31Z' THEN {at} END"
                )
            }
            ("key", true) => write!(out, "{column}->>'{}'", words.next().unwrap_or_default()),
            ("key", false) => {
                let key = words.next().unwrap_or_default();
                // Invocation data hold huge arguments once more, at their end.
                let text = if column.ends_with(".invocationdata") {
                    format!("left({column}, 65536)")
                } else {
                    column.to_owned()
                };
                write!(
                    out,
                    r#"substring({text} from '"{key}"\s*:\s*"((?:[^"\\]|\\.)*)"')"#
                )
            }
            ("raw", true) => write!(out, "{column}::text"),
            ("raw", false) => write!(out, "{column}"),
            ("without", true) => write!(
                out,
                "(CASE WHEN jsonb_typeof({column}) = 'object' THEN {column} - '{}' END)::text",
                words.next().unwrap_or_default()
            ),
            ("without", false) => write!(out, "{}", bounded(column)),
            ("details", true) => write!(out, "{}", DETAILS.replace("DATA", column)),
            ("details", false) => write!(out, "NULL::bigint AS chars, {} AS data", bounded(column)),
            _ => Err(std::fmt::Error),
        };
        if written.is_err() {
            out.push('{');
        }
    }

    fn type_of(&self, column: &str) -> Option<&str> {
        let (alias, name) = column.split_once('.')?;
        let table = match alias {
            "j" => "job",
            "c" | "e" | "p" | "f" | "r" | "t" => "state",
            "q" => "jobqueue",
            "v" => "server",
            "l" => "lock",
            _ => return None,
        };
        self.types
            .get(&(table.to_owned(), name.to_owned()))
            .map(String::as_str)
    }

    /// Whether a column holds JSON as `jsonb` rather than as text.
    pub fn is_jsonb(&self, table: &str, column: &str) -> bool {
        self.types
            .get(&(table.to_owned(), column.to_owned()))
            .is_some_and(|kind| kind == "jsonb")
    }

    /// A text as a `{key …}` value has it, for comparisons: escaped in a text column.
    pub fn stored(&self, table: &str, column: &str, text: &str) -> String {
        let quoted = serde_json::Value::from(text).to_string();
        match quoted.get(1..quoted.len() - 1) {
            Some(escaped) if !self.is_jsonb(table, column) => escaped.to_owned(),
            _ => text.to_owned(),
        }
    }

    /// The plain text of a `{key …}` value: from a text column it is still escaped, and may be cut
    /// in the middle of an escape.
    pub fn plain(&self, table: &str, column: &str, value: String) -> String {
        if self.is_jsonb(table, column) || !value.contains('\\') {
            return value;
        }
        // The longest escape, a surrogate pair, has twelve characters.
        (0..12)
            .filter_map(|cut| value.get(..value.len().checked_sub(cut)?))
            .find_map(|part| serde_json::from_str(&format!("\"{part}\"")).ok())
            .unwrap_or(value)
    }
}

/// JSON of a state row whose long values are cut to 64,000 characters.
const DETAILS: &str = "\
    CASE WHEN pg_column_size(DATA) > 65536 AND length(DATA->>'ExceptionDetails') > 64000 \
      THEN length(DATA->>'ExceptionDetails') END::bigint AS chars, \
    CASE WHEN pg_column_size(DATA) > 65536 AND jsonb_typeof(DATA) = 'object' THEN ( \
      SELECT jsonb_object_agg(x.key, CASE WHEN length(x.value) > 64000 \
        THEN left(x.value, 64000) || CASE x.key WHEN 'ExceptionDetails' THEN '' ELSE '…' END \
        ELSE x.value END) FROM jsonb_each_text(DATA) x)::text \
      ELSE DATA::text END AS data";

/// A text column, read where it is not absurdly large.
fn bounded(column: &str) -> String {
    format!("CASE WHEN pg_column_size({column}) <= 67108864 THEN {column} END")
}

/// Quotes an identifier.
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Says that there is no Hangfire in a schema, and where there is one.
async fn elsewhere(conn: &mut Conn, schema: &str) -> Result<String, sqlx::Error> {
    let others: Vec<String> = sqlx::query_scalar(
        "SELECT n.nspname::text FROM pg_catalog.pg_class c \
         JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relname IN ('job', 'jobqueue', 'jobparameter') AND c.relkind IN ('r', 'p') \
         GROUP BY n.nspname HAVING count(*) = 3 ORDER BY n.nspname LIMIT 10",
    )
    .fetch_all(conn)
    .await?;
    Ok(if others.is_empty() {
        format!("schema \"{schema}\" holds no Hangfire tables, and no other schema does")
    } else {
        let names: Vec<String> = others.iter().map(|name| format!("\"{name}\"")).collect();
        format!(
            "schema \"{schema}\" holds no Hangfire tables; there are some in {}",
            names.join(", ")
        )
    })
}

/// Why the catalogue could not be read: a driver's error, or a known fault of the schema.
#[derive(Debug)]
pub enum Failed {
    /// The driver's error.
    Driver(sqlx::Error),
    /// A fault in words.
    Known(StoreError),
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Self {
        Self::Driver(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(json: &str, time: &str) -> Layout {
        let types = [
            ("job", "invocationdata", json),
            ("job", "createdat", time),
            ("state", "data", json),
        ]
        .into_iter()
        .map(|(table, column, kind)| ((table.into(), column.into()), kind.into()))
        .collect();
        Layout {
            schema: "My \"Jobs\"".into(),
            types,
            version: 23,
            server: 150_000,
        }
    }

    #[test]
    fn placeholders_follow_the_column_types() {
        let new = layout("jsonb", "timestamp with time zone");
        let old = layout("text", "timestamp without time zone");
        let template = "SELECT {at j.createdat}, {key c.data Queue}, {raw c.data} FROM {s}.job j";
        assert_eq!(
            new.render(template),
            "SELECT j.createdat, c.data->>'Queue', c.data::text FROM \"My \"\"Jobs\"\"\".job j"
        );
        assert_eq!(
            old.render(template),
            "SELECT (j.createdat AT TIME ZONE 'UTC'), \
             substring(c.data from '\"Queue\"\\s*:\\s*\"((?:[^\"\\\\]|\\\\.)*)\"'), \
             c.data FROM \"My \"\"Jobs\"\"\".job j"
        );
    }

    #[test]
    fn escaped_values_of_text_columns_are_read_also_when_cut() {
        let old = layout("text", "timestamp without time zone");
        let plain = |value: &str| old.plain("state", "data", value.to_owned());
        assert_eq!(plain("default"), "default");
        assert_eq!(plain(r"a\nb \u00e9"), "a\nb é");
        assert_eq!(plain(r"a\nb\"), "a\nb");
        assert_eq!(plain(r"a\n\u00e"), "a\n");
        assert_eq!(plain(r"a\n\ud83d\ude0"), "a\n");
        let new = layout("jsonb", "timestamp with time zone");
        assert_eq!(new.plain("state", "data", r"a\n".into()), r"a\n");
    }
}
