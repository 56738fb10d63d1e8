//! Databases on a scratch `PostgreSQL` server, named by `REDRIVE_TEST_POSTGRES`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::postgres::{PgConnectOptions, PgConnection, PgSslMode};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use super::fixture::{Fixture, fixtures};
use crate::clock::SystemClock;
use crate::store::postgres::PostgresStore;

/// A database of a test's own, dropped with it.
pub struct TestDatabase {
    server: String,
    name: String,
    /// Its URL.
    pub url: String,
}

/// Order in which tables can be loaded.
const TABLES: [&str; 11] = [
    "job",
    "state",
    "jobparameter",
    "jobqueue",
    "server",
    "set",
    "hash",
    "list",
    "counter",
    "aggregatedcounter",
    "lock",
];

impl TestDatabase {
    /// An empty database; `None`, said loudly, where there is no server to test on.
    pub async fn empty() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let Ok(server) = std::env::var("REDRIVE_TEST_POSTGRES") else {
            assert!(
                std::env::var_os("CI").is_none(),
                "REDRIVE_TEST_POSTGRES is not set: tests on PostgreSQL cannot run"
            );
            eprintln!("SKIPPED: REDRIVE_TEST_POSTGRES is not set, nothing was tested here");
            return None;
        };
        let name = format!(
            "redrive_test_{}_{}",
            std::process::id(),
            NUMBER.fetch_add(1, Ordering::Relaxed)
        );
        let mut conn = connect(&server).await;
        run(
            &mut conn,
            &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
        )
        .await;
        run(&mut conn, &format!("CREATE DATABASE {name}")).await;
        let url = with_database(&server, &name);
        Some(Self { server, name, url })
    }

    /// A database with Hangfire's tables of a schema version.
    pub async fn with_layout(version: u32) -> Option<Self> {
        let database = Self::empty().await?;
        let file = fixtures().join(format!("layout/v{version}.sql"));
        database
            .execute(&std::fs::read_to_string(file).unwrap())
            .await;
        Some(database)
    }

    /// A database of the newest schema version with a fixture's rows in it.
    pub async fn with(fixture: &Fixture) -> Option<Self> {
        let database = Self::with_layout(23).await?;
        database.load(fixture).await;
        Some(database)
    }

    /// Loads a fixture's rows into the schema `hangfire`; sequences go on after them.
    pub async fn load(&self, fixture: &Fixture) {
        let mut conn = connect(&self.url).await;
        for table in TABLES {
            let rows = fixture.tables.get(table).map_or(&[][..], Vec::as_slice);
            if rows.is_empty() || !exists(&mut conn, table).await {
                continue;
            }
            // One value holds at most 256 MB.
            for rows in rows.chunks(20_000) {
                sqlx::query(AssertSqlSafe(format!(
                    "INSERT INTO hangfire.{table} \
                     SELECT * FROM jsonb_populate_recordset(NULL::hangfire.{table}, $1)"
                )))
                .bind(serde_json::Value::Array(rows.to_vec()))
                .execute(&mut conn)
                .await
                .unwrap();
            }
        }
        for table in ["job", "state", "jobparameter", "jobqueue", "set", "counter"] {
            run(
                &mut conn,
                &format!(
                    "SELECT setval('hangfire.{table}_id_seq', \
                     (SELECT greatest(max(id), 1) FROM hangfire.{table}))"
                ),
            )
            .await;
        }
        conn.close().await.unwrap();
    }

    /// Takes the database away, whoever uses it, as a server that is down would be.
    pub async fn remove(&self) {
        let mut conn = connect(&self.server).await;
        run(
            &mut conn,
            &format!("DROP DATABASE {} WITH (FORCE)", self.name),
        )
        .await;
    }

    /// Creates it anew, empty, after [`TestDatabase::remove`].
    pub async fn create(&self) {
        let mut conn = connect(&self.server).await;
        run(&mut conn, &format!("CREATE DATABASE {}", self.name)).await;
    }

    /// Runs statements as superuser.
    pub async fn execute(&self, sql: &str) {
        let mut conn = connect(&self.url).await;
        run(&mut conn, sql).await;
        conn.close().await.unwrap();
    }

    /// A connection as superuser.
    pub async fn connection(&self) -> PgConnection {
        connect(&self.url).await
    }

    /// The URL of this database for another role, whose password is its name.
    pub fn url_as(&self, role: &str) -> String {
        let options: PgConnectOptions = self.url.parse().unwrap();
        options
            .username(role)
            .password(role)
            .to_url_lossy()
            .to_string()
    }

    /// A name for a role that no other test uses; roles belong to the whole server.
    pub fn role(&self, word: &str) -> String {
        format!("{}_{word}", self.name)
    }

    /// Makes a role that may read the schema `hangfire`, and nothing else.
    pub async fn reader(&self, word: &str) -> String {
        let role = self.role(word);
        self.execute(&format!(
            "CREATE ROLE \"{role}\" LOGIN PASSWORD '{role}'; \
             GRANT USAGE ON SCHEMA hangfire TO \"{role}\"; \
             GRANT SELECT ON ALL TABLES IN SCHEMA hangfire TO \"{role}\""
        ))
        .await;
        role
    }

    /// A store on its schema `hangfire`, by the system's clock.
    pub fn store(&self) -> PostgresStore {
        PostgresStore::connect(&self.url, "hangfire", Arc::new(SystemClock)).unwrap()
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        // A test's own runtime cannot be waited for from here.
        let dropped = std::thread::spawn(move || {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap()
                .block_on(async {
                    let mut conn = connect(&server).await;
                    run(&mut conn, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
                    let roles: Vec<String> = sqlx::query_scalar(
                        "SELECT rolname::text FROM pg_roles WHERE starts_with(rolname, $1 || '_')",
                    )
                    .bind(&name)
                    .fetch_all(&mut conn)
                    .await
                    .unwrap();
                    for role in roles {
                        run(&mut conn, &format!("DROP ROLE \"{role}\"")).await;
                    }
                });
        });
        drop(dropped.join());
    }
}

async fn connect(url: &str) -> PgConnection {
    PgConnection::connect(url).await.unwrap()
}

async fn run(conn: &mut PgConnection, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(conn)
        .await
        .unwrap_or_else(|error| panic!("{error}: {sql}"));
}

async fn exists(conn: &mut PgConnection, table: &str) -> bool {
    sqlx::query_scalar("SELECT to_regclass('hangfire.' || $1) IS NOT NULL")
        .bind(table)
        .fetch_one(conn)
        .await
        .unwrap()
}

/// Not encrypted, whatever the server offers: some tests look at what goes over the wire.
fn with_database(url: &str, name: &str) -> String {
    let options: PgConnectOptions = url.parse().unwrap();
    options
        .database(name)
        .ssl_mode(PgSslMode::Disable)
        .to_url_lossy()
        .to_string()
}
