//! What a source is, and what may be done with it.

use std::sync::Arc;

use app::ports::error::StoreError;
use app::ports::source::{Access, Dialect, Source, SourceInfo};
use async_trait::async_trait;
use sqlx::{Error, Row as _};

use super::PostgresStore;
use super::conn::Conn;
use super::layout::{Layout, NEWEST, quote};
use super::migrate::{self, Own};
use super::numbers::home;
use crate::store::kept::{Home, numbers_in};

/// Oldest schema version that actions know: from this one on instants have a zone.
const OLDEST_TO_ACT: i32 = 19;

/// What actions do with each of Hangfire's tables.
const RIGHTS: [(&str, &[&str]); 8] = [
    ("job", &["SELECT", "UPDATE"]),
    ("state", &["SELECT", "INSERT"]),
    ("jobparameter", &["SELECT", "INSERT", "UPDATE", "DELETE"]),
    ("jobqueue", &["SELECT", "INSERT", "UPDATE", "DELETE"]),
    ("server", &["SELECT"]),
    ("set", &["SELECT", "INSERT", "UPDATE", "DELETE"]),
    ("counter", &["SELECT", "INSERT"]),
    ("lock", &["SELECT", "INSERT", "UPDATE", "DELETE"]),
];

/// Tables whose ids come from a sequence that the role must be allowed to use.
const NUMBERED: [&str; 5] = ["state", "jobparameter", "jobqueue", "set", "counter"];

#[async_trait]
impl Source for PostgresStore {
    async fn info(&self) -> Result<SourceInfo, StoreError> {
        let layout = self.session().look_again().await?;
        let facts = self.facts().await?;
        let facts = if matches!(facts.own, Own::Behind(_)) && self.is_to_have_own_tables() {
            // The database may have been away when the program started.
            match self.migrate().await {
                Ok(()) => self.facts().await?,
                Err(_) => facts,
            }
        } else {
            facts
        };
        Ok(SourceInfo {
            dialect: Dialect::Postgres,
            server_version: facts.version.clone(),
            schema_version: Some(layout.version),
            access: access(&layout, &facts),
            numbers: numbers_in(self.kept().map(Arc::as_ref), facts.home),
            clock_skew_ms: facts.skew_ms,
        })
    }
}

/// What one look at the database tells.
struct Facts {
    version: String,
    role: String,
    skew_ms: i64,
    /// Why nothing can be written here, whoever asks.
    unwritable: Option<&'static str>,
    /// Rights that are missing: table (or sequence) and right.
    missing: Vec<(String, String)>,
    may_create: bool,
    own: Own,
    home: Home,
    /// Whether the role may write the own tables; only asked where they are there.
    own_writable: bool,
}

impl PostgresStore {
    async fn facts(&self) -> Result<Facts, StoreError> {
        let clock = self.clock().clone();
        self.session()
            .read(move |conn, layout| {
                let clock = clock.clone();
                Box::pin(async move {
                    let before = clock.now();
                    let row = sqlx::query(
                        "SELECT clock_timestamp() AS now, current_setting('server_version') \
                         AS version, current_user::text AS role, pg_is_in_recovery() AS standby, \
                         current_setting('default_transaction_read_only') = 'on' AS frozen, \
                         has_database_privilege(current_database(), 'CREATE') AS may_create",
                    )
                    .fetch_one(&mut *conn)
                    .await?;
                    let after = clock.now();
                    // The statement was planned and run somewhere between the two.
                    let middle = before + (after - before) / 2;
                    let now: chrono::DateTime<chrono::Utc> = row.try_get("now")?;
                    let version: String = row.try_get("version")?;
                    let unwritable = if row.try_get("standby")? {
                        Some("the database is a standby, which only reads")
                    } else if row.try_get("frozen")? {
                        Some("the database only allows reading (default_transaction_read_only)")
                    } else {
                        None
                    };
                    let own = migrate::own(conn).await?;
                    Ok(Facts {
                        version: version.split(' ').next().unwrap_or_default().to_owned(),
                        role: row.try_get("role")?,
                        skew_ms: (now - middle).num_milliseconds(),
                        unwritable,
                        missing: missing_rights(conn, &layout).await?,
                        may_create: row.try_get("may_create")?,
                        own_writable: own == Own::Current && own_writable(conn).await?,
                        own,
                        home: home(conn).await?,
                    })
                })
            })
            .await
    }
}

async fn own_writable(conn: &mut Conn) -> Result<bool, Error> {
    sqlx::query_scalar(
        "SELECT has_schema_privilege('redrive', 'USAGE') \
         AND has_table_privilege('redrive.audit', 'SELECT') \
         AND has_table_privilege('redrive.audit', 'INSERT') \
         AND has_table_privilege('redrive.source', 'SELECT') \
         AND has_table_privilege('redrive.source', 'INSERT')",
    )
    .fetch_one(conn)
    .await
}

/// Tables that are not there count as a missing right, named `exist`.
async fn missing_rights(conn: &mut Conn, layout: &Layout) -> Result<Vec<(String, String)>, Error> {
    let schema = layout.quoted();
    let mut names = Vec::new();
    let mut rights = Vec::new();
    let mut sequences = Vec::new();
    let mut missing = Vec::new();
    for (table, needed) in RIGHTS {
        if !layout.has_table(table) {
            missing.push((table.to_owned(), "exist".to_owned()));
            continue;
        }
        for right in needed {
            names.push(format!("{schema}.{}", quote(table)));
            rights.push((*right).to_owned());
            sequences.push(false);
        }
        if NUMBERED.contains(&table) {
            names.push(format!("{schema}.{}", quote(table)));
            rights.push("USAGE".to_owned());
            sequences.push(true);
        }
    }
    let rows = sqlx::query(
        "SELECT n.name, n.needed, n.numbered FROM \
         unnest($1::text[], $2::text[], $3::bool[]) AS n(name, needed, numbered) \
         WHERE NOT COALESCE(CASE WHEN n.numbered \
           THEN has_sequence_privilege(pg_get_serial_sequence(n.name, 'id'), n.needed) \
           ELSE has_table_privilege(n.name, n.needed) END, n.numbered)",
    )
    .bind(names)
    .bind(rights)
    .bind(sequences)
    .fetch_all(conn)
    .await?;
    for row in rows {
        let name: String = row.try_get("name")?;
        let right: String = row.try_get("needed")?;
        missing.push((name, right));
    }
    Ok(missing)
}

fn access(layout: &Layout, facts: &Facts) -> Access {
    let read_only = |why: String, remedy| Access::ReadOnly { why, remedy };
    if layout.version < OLDEST_TO_ACT {
        return read_only(
            format!(
                "Hangfire's schema has version {}: actions need at least {OLDEST_TO_ACT} \
                 (Hangfire.PostgreSql 1.9.10)",
                layout.version
            ),
            None,
        );
    }
    if layout.version > NEWEST {
        return read_only(
            format!(
                "Hangfire's schema has version {}, which is newer than {NEWEST}, the newest that \
                 this program knows how to write",
                layout.version
            ),
            None,
        );
    }
    if let Some(why) = facts.unwritable {
        return read_only(why.to_owned(), None);
    }
    if let Some((table, _)) = facts.missing.iter().find(|(_, right)| right == "exist") {
        return read_only(
            format!("table {table} is missing in schema \"{}\"", layout.schema()),
            None,
        );
    }
    if !facts.missing.is_empty() {
        return read_only(
            format!("role \"{}\" may not write Hangfire's tables", facts.role),
            Some(hangfire_grants(layout, facts)),
        );
    }
    match facts.own {
        Own::Newer(version) => read_only(
            format!("Redrive's own tables have version {version}, made by a newer Redrive"),
            None,
        ),
        Own::Hidden => read_only(
            format!("role \"{}\" may not read Redrive's own tables", facts.role),
            Some(migrate::grants(&facts.role)),
        ),
        Own::Behind(_) if facts.may_create => Access::ReadWrite,
        Own::Behind(applied) => read_only(
            format!(
                "Redrive's own tables are missing or old, and role \"{}\" may not create them",
                facts.role
            ),
            Some(migrate::sql_after(applied, &facts.role)),
        ),
        Own::Current if facts.own_writable => Access::ReadWrite,
        Own::Current => read_only(
            format!("role \"{}\" may not write Redrive's own tables", facts.role),
            Some(migrate::grants(&facts.role)),
        ),
    }
}

/// What the role lacks, as statements for somebody who may; the own tables too where they are
/// missing, so that one run is enough.
fn hangfire_grants(layout: &Layout, facts: &Facts) -> String {
    let role = quote(&facts.role);
    let schema = layout.quoted();
    let mut lines = vec![format!("GRANT USAGE ON SCHEMA {schema} TO {role};")];
    for (table, _) in RIGHTS {
        let name = format!("{schema}.{}", quote(table));
        let rights: Vec<&str> = facts
            .missing
            .iter()
            .filter(|(missing, right)| *missing == name && right != "USAGE")
            .map(|(_, right)| right.as_str())
            .collect();
        if !rights.is_empty() {
            lines.push(format!("GRANT {} ON {name} TO {role};", rights.join(", ")));
        }
    }
    if facts.missing.iter().any(|(_, right)| right == "USAGE") {
        lines.push(format!(
            "GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {role};"
        ));
    }
    let mut sql = lines.join("\n");
    sql.push('\n');
    match facts.own {
        Own::Behind(applied) if !facts.may_create => {
            sql.push('\n');
            sql.push_str(&migrate::sql_after(applied, &facts.role));
        }
        Own::Current if !facts.own_writable => sql.push_str(&migrate::grants(&facts.role)),
        Own::Hidden => sql.push_str(&migrate::grants(&facts.role)),
        _ => {}
    }
    sql
}
