//! What the catalogue says of a table that holds claims.

use crate::store::postgres::conn::Conn;
use sqlx::{Error, Row as _};

/// A column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) number: i16,
    /// Its type as it is written in a cast, without length, and of a domain the type below it.
    pub(super) type_name: String,
    /// The type's category: `S` strings, `N` numbers, `E` enums, `U` others (`pg_type.typcategory`).
    pub(super) category: String,
}

impl Column {
    pub(super) fn is_text(&self) -> bool {
        self.category == "S"
    }
}

/// An index that is in use.
#[derive(Debug, Clone)]
pub(super) struct Index {
    pub(super) is_unique: bool,
    /// Numbers of its key columns in order; 0 for an expression.
    pub(super) columns: Vec<i16>,
    /// The condition of a partial index.
    pub(super) condition: Option<String>,
}

/// A table, or something that is read like one.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) schema: String,
    pub(super) name: String,
    /// `pg_class.relkind`: `r` and `p` for tables.
    pub(super) kind: String,
    pub(super) columns: Vec<Column>,
    pub(super) indexes: Vec<Index>,
    /// Whether the role may read rows, change each column that claims need, and delete rows.
    pub(super) may_select: bool,
    pub(super) may_delete: bool,
}

impl Table {
    pub(super) fn is_table(&self) -> bool {
        matches!(self.kind.as_str(), "r" | "p")
    }

    pub(super) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Whether an index makes this column unique by itself.
    pub(super) fn is_unique(&self, column: &Column) -> bool {
        self.indexes.iter().any(|index| {
            index.is_unique && index.condition.is_none() && index.columns == [column.number]
        })
    }
}

const RELATIONS: &str = "
SELECT c.oid::bigint AS oid, n.nspname::text AS schema, c.relname::text AS name,
  c.relkind::text AS kind,
  has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') AS may_select,
  has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'DELETE') AS may_delete
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE ";

const COLUMNS: &str = "
SELECT a.attrelid::bigint AS oid, a.attname::text AS name, a.attnum AS number,
  format_type(b.oid, CASE b.typname WHEN 'bpchar' THEN -1 END) AS type, b.typcategory::text AS category
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
JOIN pg_catalog.pg_type b ON b.oid = CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END
WHERE a.attrelid = ANY($1::bigint[]::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum";

const INDEXES: &str = "
SELECT i.indrelid::bigint AS oid, i.indisunique AS is_unique,
  pg_get_expr(i.indpred, i.indrelid) AS condition,
  (SELECT array_agg(k.number::smallint ORDER BY k.at)
    FROM unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(number, at)
    WHERE k.at <= i.indnkeyatts) AS columns
FROM pg_catalog.pg_index i
WHERE i.indrelid = ANY($1::bigint[]::oid[]) AND i.indisvalid AND i.indisready";

/// The one of this name; `None` where there is none.
pub(super) async fn table(
    conn: &mut Conn,
    schema: &str,
    name: &str,
) -> Result<Option<Table>, Error> {
    let query = sqlx::query(sqlx::AssertSqlSafe(format!(
        "{RELATIONS} n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"
    )))
    .bind(schema.to_owned())
    .bind(name.to_owned());
    Ok(read(conn, query).await?.pop())
}

/// Tables that may hold claims: those with a unique index, but for the system's, Hangfire's,
/// Quartz's and our own.
pub(super) async fn candidates(conn: &mut Conn) -> Result<Vec<Table>, Error> {
    let query = sqlx::query(sqlx::AssertSqlSafe(format!(
        "{RELATIONS} c.relkind IN ('r', 'p') AND NOT c.relispartition \
         AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'redrive') \
         AND n.nspname NOT LIKE 'pg\\_%' AND lower(c.relname) NOT LIKE 'qrtz\\_%' \
         AND EXISTS (SELECT 1 FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisunique) \
         AND (SELECT count(*) FROM pg_catalog.pg_class h WHERE h.relnamespace = n.oid \
           AND h.relname IN ('job', 'jobqueue', 'jobparameter')) < 3 \
         ORDER BY n.nspname, c.relname LIMIT 5000"
    )));
    read(conn, query).await
}

async fn read(
    conn: &mut Conn,
    query: sqlx::query::Query<'_, sqlx::Postgres, sqlx::postgres::PgArguments>,
) -> Result<Vec<Table>, Error> {
    let rows = query.fetch_all(&mut *conn).await?;
    let mut tables = Vec::with_capacity(rows.len());
    let mut ids: Vec<i64> = Vec::with_capacity(rows.len());
    for row in rows {
        ids.push(row.try_get("oid")?);
        tables.push(Table {
            schema: row.try_get("schema")?,
            name: row.try_get("name")?,
            kind: row.try_get("kind")?,
            columns: Vec::new(),
            indexes: Vec::new(),
            may_select: row.try_get("may_select")?,
            may_delete: row.try_get("may_delete")?,
        });
    }
    let columns = sqlx::query(COLUMNS)
        .bind(&ids)
        .fetch_all(&mut *conn)
        .await?;
    let indexes = sqlx::query(INDEXES).bind(&ids).fetch_all(conn).await?;
    let of = |id: i64| ids.iter().position(|one| *one == id);
    for row in columns {
        if let Some(table) = of(row.try_get("oid")?).and_then(|nr| tables.get_mut(nr)) {
            table.columns.push(Column {
                name: row.try_get("name")?,
                number: row.try_get("number")?,
                type_name: row.try_get("type")?,
                category: row.try_get("category")?,
            });
        }
    }
    for row in indexes {
        if let Some(table) = of(row.try_get("oid")?).and_then(|nr| tables.get_mut(nr)) {
            table.indexes.push(Index {
                is_unique: row.try_get("is_unique")?,
                columns: row
                    .try_get::<Option<Vec<i16>>, _>("columns")?
                    .unwrap_or_default(),
                condition: row.try_get("condition")?,
            });
        }
    }
    Ok(tables)
}
