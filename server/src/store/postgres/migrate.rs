//! Migrations: Redrive's own tables, and on request Hangfire's in an empty schema.
//!
//! What was applied stands in `redrive.migrations`. Two processes that start at once take turns by
//! a lock on one of its rows, which works through `PgBouncer` too.

use std::fmt::Write as _;

use app::ports::error::StoreError;
use sqlx::{AssertSqlSafe, Error, Row as _};

use super::conn::{Conn, begin};
use super::layout::quote;
use super::pool::{Purpose, Transaction};
use super::session::{Session, spawned};
use super::{PostgresStore, errors};

/// One migration.
struct Migration {
    version: i32,
    name: &'static str,
    sql: &'static str,
}

const REDRIVE: &[Migration] = &[
    Migration {
        version: 1,
        name: "audit",
        sql: include_str!("../../../../migrations/postgres/redrive/0001_audit.sql"),
    },
    Migration {
        version: 2,
        name: "claims",
        sql: include_str!("../../../../migrations/postgres/redrive/0002_claims.sql"),
    },
    Migration {
        version: 3,
        name: "collector",
        sql: include_str!("../../../../migrations/postgres/redrive/0003_collector.sql"),
    },
    Migration {
        version: 4,
        name: "failures",
        sql: include_str!("../../../../migrations/postgres/redrive/0004_failures.sql"),
    },
    Migration {
        version: 5,
        name: "group_sizes",
        sql: include_str!("../../../../migrations/postgres/redrive/0005_group_sizes.sql"),
    },
];

const HANGFIRE: &[Migration] = &[Migration {
    version: 1,
    name: "layout",
    sql: include_str!("../../../../migrations/postgres/hangfire/0001_layout.sql"),
}];

/// The ledger, and the row that processes lock. `scope` is `redrive`, or `hangfire:` and the name
/// of a schema that Redrive created.
const LEDGER: &str = "\
CREATE SCHEMA IF NOT EXISTS redrive;
CREATE TABLE IF NOT EXISTS redrive.migrations (
    scope text NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (scope, version)
);
INSERT INTO redrive.migrations (scope, version, name) VALUES ('redrive', 0, 'ledger')
    ON CONFLICT DO NOTHING;
";

const BEGIN: &str = begin!(
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    "SET LOCAL lock_timeout = 10000",
    "SET LOCAL statement_timeout = 60000",
);

const BEGIN_READ: &str = begin!("BEGIN READ ONLY", "SET LOCAL statement_timeout = 5000");

/// How Redrive's own tables are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// As this program wants them.
    Current,
    /// Missing or old; applied up to this version, 0 for nothing.
    Behind(i32),
    /// Made by a newer program: they may be read, never written.
    Newer(i32),
    /// They are there, but the role may not look at them.
    Hidden,
}

/// Why nothing can be done with [`Own::Hidden`] tables.
pub const HIDDEN: &str = "the role may not read Redrive's own tables";

/// Whether each of these own tables is there, and whether the role may read them. Asks the catalogue
/// alone: names in a schema that the role may not use are an error anywhere else.
const FOUND: &str = "
SELECT count(*) = cardinality($1::text[]) AS are_there,
  COALESCE(bool_and(has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')), true)
    AS are_readable
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'redrive' AND c.relname = ANY($1) AND c.relkind = 'r'";

/// Whether own tables are there and may be read.
pub async fn are_readable(conn: &mut Conn, tables: &[&str]) -> Result<bool, Error> {
    let row = sqlx::query(FOUND).bind(tables).fetch_one(conn).await?;
    Ok(row.try_get("are_there")? && row.try_get("are_readable")?)
}

/// Looks at the ledger.
pub async fn own(conn: &mut Conn) -> Result<Own, Error> {
    let found = sqlx::query(FOUND)
        .bind(&["migrations"][..])
        .fetch_one(&mut *conn)
        .await?;
    if !found.try_get::<bool, _>("are_readable")? {
        return Ok(Own::Hidden);
    }
    let applied: i32 = if found.try_get("are_there")? {
        sqlx::query_scalar(
            "SELECT COALESCE(max(version), 0) FROM redrive.migrations WHERE scope = 'redrive'",
        )
        .fetch_one(conn)
        .await?
    } else {
        0
    };
    let newest = newest(REDRIVE);
    Ok(match applied {
        applied if applied == newest => Own::Current,
        applied if applied < newest => Own::Behind(applied),
        applied => Own::Newer(applied),
    })
}

/// The version of the own tables that this program knows.
pub fn newest_own() -> i32 {
    newest(REDRIVE)
}

fn newest(set: &[Migration]) -> i32 {
    set.iter()
        .map(|migration| migration.version)
        .max()
        .unwrap_or(0)
}

/// The SQL that somebody with the right may run: what is pending after `applied`, and the grants
/// that the role needs.
pub fn sql_after(applied: i32, role: &str) -> String {
    let mut sql = String::from("BEGIN;\n\n");
    sql.push_str(LEDGER);
    for migration in REDRIVE.iter().filter(|one| one.version > applied) {
        // Writing to a String cannot fail.
        let _ = write!(
            sql,
            "\n{}\n{}\n",
            migration.sql,
            entry("redrive", migration)
        );
    }
    sql.push('\n');
    sql.push_str(&grants(role));
    sql.push_str("\nCOMMIT;\n");
    sql
}

/// What the role needs on the own tables.
pub fn grants(role: &str) -> String {
    let role = quote(role);
    format!(
        "GRANT USAGE ON SCHEMA redrive TO {role};\n\
         GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA redrive TO {role};\n\
         GRANT UPDATE, DELETE ON redrive.collector, redrive.collector_job, redrive.attempts, \
         redrive.first_attempts, redrive.rounds, redrive.recovery, redrive.delays, redrive.gauges, \
         redrive.failure_groups, redrive.failures TO {role};\n"
    )
}

fn entry(scope: &str, migration: &Migration) -> String {
    format!(
        "INSERT INTO redrive.migrations (scope, version, name) VALUES ('{}', {}, '{}');",
        scope.replace('\'', "''"),
        migration.version,
        migration.name
    )
}

impl PostgresStore {
    /// Brings Redrive's own tables up to date. Where they are, or are of a newer program, nothing
    /// is written.
    ///
    /// # Errors
    /// [`StoreError::Forbidden`] where the role may not; else as the database's.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        self.wants_own_tables();
        let session = self.session().clone();
        spawned(async move { migrate(&session).await }).await
    }

    /// The SQL that [`PostgresStore::migrate`] would run, for somebody who may; `None` where
    /// nothing is pending.
    ///
    /// # Errors
    /// As the database's.
    pub async fn pending_sql(&self) -> Result<Option<String>, StoreError> {
        let session = self.session().clone();
        spawned(async move {
            let mut transaction = begin_read(&session).await?;
            let found = own_and_role(&mut transaction.conn).await;
            transaction.leave();
            let (own, role) = found.map_err(|error| errors::map(&error))?;
            Ok(match own {
                Own::Behind(applied) => Some(sql_after(applied, &role)),
                Own::Hidden => Some(grants(&role)),
                Own::Current | Own::Newer(_) => None,
            })
        })
        .await
    }

    /// The SQL that [`PostgresStore::migrate_hangfire`] would run, for somebody who may.
    ///
    /// # Errors
    /// [`StoreError::Forbidden`] where the schema holds anything; else as the database's.
    pub async fn hangfire_sql(&self) -> Result<String, StoreError> {
        let session = self.session().clone();
        spawned(async move {
            let mut transaction = begin_read(&session).await?;
            let found = refuse_unless_empty(&mut transaction.conn, session.schema()).await;
            transaction.leave();
            match found {
                Ok(()) => Ok(hangfire_script(session.schema())),
                Err(Halt::Driver(error)) => Err(errors::map(&error)),
                Err(Halt::Known(error)) => Err(error),
            }
        })
        .await
    }

    /// Creates Hangfire's tables, schema version 23, in a schema that is not there or empty.
    ///
    /// # Errors
    /// [`StoreError::Forbidden`] where the schema holds anything, or the role may not create it.
    pub async fn migrate_hangfire(&self) -> Result<(), StoreError> {
        let session = self.session().clone();
        spawned(async move { migrate_hangfire(&session).await }).await?;
        self.session().look_again().await.map(drop)
    }
}

async fn begin_read(session: &Session) -> Result<Transaction, StoreError> {
    session
        .pool()
        .begin(Purpose::Rare, BEGIN_READ)
        .await
        .map_err(|error| errors::map(&error))
}

async fn own_and_role(conn: &mut Conn) -> Result<(Own, String), Error> {
    let role: String = sqlx::query_scalar("SELECT current_user::text")
        .fetch_one(&mut *conn)
        .await?;
    Ok((own(conn).await?, role))
}

async fn migrate(session: &Session) -> Result<(), StoreError> {
    let mut transaction = begin_read(session).await?;
    let found = own(&mut transaction.conn).await;
    transaction.leave();
    match found.map_err(|error| errors::map(&error))? {
        Own::Current | Own::Newer(_) => Ok(()),
        Own::Hidden => Err(StoreError::Forbidden(HIDDEN.to_owned())),
        Own::Behind(_) => in_turn(session, Job::Redrive).await,
    }
}

async fn migrate_hangfire(session: &Session) -> Result<(), StoreError> {
    in_turn(session, Job::Hangfire).await
}

#[derive(Clone, Copy)]
enum Job {
    Redrive,
    Hangfire,
}

/// Runs a set under the ledger's lock. Two processes that create the ledger at the same moment
/// meet in the catalogue's unique index: the later one tries again.
async fn in_turn(session: &Session, job: Job) -> Result<(), StoreError> {
    let mut tries = 0;
    loop {
        match once(session, job).await {
            Err(Halt::Driver(error)) if tries < 5 && is_created_meanwhile(&error) => tries += 1,
            Err(Halt::Driver(error)) => return Err(refusal(&error)),
            Err(Halt::Known(error)) => return Err(error),
            Ok(()) => return Ok(()),
        }
    }
}

enum Halt {
    Driver(Error),
    Known(StoreError),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

fn refusal(error: &Error) -> StoreError {
    match errors::map(error) {
        StoreError::Forbidden(_) => StoreError::Forbidden(
            "the database role may not create tables here: somebody who may should run what \
             \"redrive migrate --print\" prints"
                .to_owned(),
        ),
        other => other,
    }
}

fn is_created_meanwhile(error: &Error) -> bool {
    let Error::Database(database) = error else {
        return false;
    };
    // unique violation, duplicate schema, duplicate table
    matches!(
        database.code().as_deref(),
        Some("23505" | "42P06" | "42P07")
    )
}

async fn once(session: &Session, job: Job) -> Result<(), Halt> {
    let mut transaction = session.pool().begin(Purpose::Rare, BEGIN).await?;
    let conn = &mut transaction.conn;
    sqlx::raw_sql(LEDGER).execute(&mut *conn).await?;
    sqlx::query(
        "SELECT 1 FROM redrive.migrations WHERE scope = 'redrive' AND version = 0 FOR UPDATE",
    )
    .fetch_one(&mut *conn)
    .await?;
    match job {
        Job::Redrive => {
            let Own::Behind(applied) = own(&mut *conn).await? else {
                return Ok(());
            };
            for migration in REDRIVE.iter().filter(|one| one.version > applied) {
                sqlx::raw_sql(migration.sql).execute(&mut *conn).await?;
                run(conn, entry("redrive", migration)).await?;
            }
        }
        Job::Hangfire => hangfire(conn, session.schema()).await?,
    }
    transaction.commit().await?;
    Ok(())
}

async fn refuse_unless_empty(conn: &mut Conn, schema: &str) -> Result<(), Halt> {
    let holds: i64 = sqlx::query(
        "SELECT count(*) AS relations FROM pg_catalog.pg_class c \
         JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1",
    )
    .bind(schema)
    .fetch_one(&mut *conn)
    .await?
    .try_get("relations")?;
    if holds > 0 {
        return Err(Halt::Known(StoreError::Forbidden(format!(
            "schema \"{schema}\" is not empty: Hangfire's tables are only created in an empty one"
        ))));
    }
    Ok(())
}

/// Makes the schema, and the one that statements without a schema's name mean.
fn into_schema(schema: &str) -> String {
    let quoted = quote(schema);
    format!("CREATE SCHEMA IF NOT EXISTS {quoted}; SET LOCAL search_path = {quoted};")
}

fn hangfire_script(schema: &str) -> String {
    let mut sql = format!("BEGIN;\n\n{LEDGER}\n{}\n", into_schema(schema));
    for migration in HANGFIRE {
        let note = entry(&format!("hangfire:{schema}"), migration);
        // Writing to a String cannot fail.
        let _ = write!(sql, "\n{}\n{note}\n", migration.sql);
    }
    sql.push_str("\nCOMMIT;\n");
    sql
}

async fn hangfire(conn: &mut Conn, schema: &str) -> Result<(), Halt> {
    refuse_unless_empty(&mut *conn, schema).await?;
    run(conn, into_schema(schema)).await?;
    for migration in HANGFIRE {
        sqlx::raw_sql(migration.sql).execute(&mut *conn).await?;
        run(conn, entry(&format!("hangfire:{schema}"), migration)).await?;
    }
    Ok(())
}

/// Runs statements of ours in which a schema's name stands, quoted.
async fn run(conn: &mut Conn, sql: String) -> Result<(), Error> {
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(conn)
        .await
        .map(drop)
}
