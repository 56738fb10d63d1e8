//! Scratch databases with Hangfire's tables.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use server::clock::SystemClock;
use server::store::sqlite::SqliteStore;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, SqliteConnection};

/// A database of a test's own, gone with the value.
pub enum Scratch {
    /// On the server that `REDRIVE_TEST_POSTGRES` names.
    Postgres {
        /// The server.
        server: String,
        /// The database's name.
        name: String,
    },
    /// A file.
    Sqlite {
        /// Where it lies.
        folder: tempfile::TempDir,
    },
}

impl Scratch {
    /// A database in Hangfire's newest layout; `None`, said loudly, where there is no server.
    pub async fn postgres() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let Ok(server) = std::env::var("REDRIVE_TEST_POSTGRES") else {
            assert!(
                std::env::var_os("CI").is_none(),
                "REDRIVE_TEST_POSTGRES is not set: tests on PostgreSQL cannot run"
            );
            eprintln!("SKIPPED: REDRIVE_TEST_POSTGRES is not set, nothing was tested here");
            return None;
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("redrive_binary_{}_{number}", std::process::id());
        let mut conn = PgConnection::connect(&server).await.unwrap();
        for sql in [
            format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
            format!("CREATE DATABASE {name}"),
        ] {
            sqlx::raw_sql(AssertSqlSafe(sql))
                .execute(&mut conn)
                .await
                .unwrap();
        }
        let scratch = Self::Postgres { server, name };
        let layout = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../app/tests/fixtures/layout/v23.sql"
        );
        scratch.run(&std::fs::read_to_string(layout).unwrap()).await;
        Some(scratch)
    }

    /// A file as Redrive makes it.
    pub async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Self::Sqlite { folder };
        SqliteStore::create(&scratch.file(), Arc::new(SystemClock))
            .await
            .unwrap();
        scratch
    }

    /// Whether it is one of `PostgreSQL`.
    pub fn is_postgres(&self) -> bool {
        matches!(self, Self::Postgres { .. })
    }

    /// What `--database` takes.
    pub fn url(&self) -> String {
        match self {
            Self::Postgres { .. } => self.options().to_url_lossy().to_string(),
            Self::Sqlite { .. } => self.file().display().to_string(),
        }
    }

    /// Its URL by way of another port of this host.
    pub fn url_through(&self, port: u16) -> String {
        let options = self.options().host("127.0.0.1").port(port);
        options.to_url_lossy().to_string()
    }

    /// Host and port of its server.
    pub fn server(&self) -> (String, u16) {
        let options = self.options();
        (options.get_host().to_owned(), options.get_port())
    }

    /// Runs statements.
    pub async fn run(&self, sql: &str) {
        let sql = AssertSqlSafe(sql.to_owned());
        if self.is_postgres() {
            let mut conn = self.connect().await;
            sqlx::raw_sql(sql).execute(&mut conn).await.unwrap();
            conn.close().await.unwrap();
        } else {
            let mut conn = self.open().await;
            sqlx::raw_sql(sql).execute(&mut conn).await.unwrap();
            conn.close().await.unwrap();
        }
    }

    /// Rows of two numbers.
    pub async fn pairs(&self, sql: &'static str) -> Vec<(i64, i64)> {
        if self.is_postgres() {
            let mut conn = self.connect().await;
            sqlx::query_as(sql).fetch_all(&mut conn).await.unwrap()
        } else {
            let mut conn = self.open().await;
            sqlx::query_as(sql).fetch_all(&mut conn).await.unwrap()
        }
    }

    /// Waits until the server has ended the connections of a program that was killed.
    pub async fn settled(&self) {
        if !self.is_postgres() {
            return;
        }
        let mut conn = self.connect().await;
        let open = "SELECT count(*) FROM pg_stat_activity \
             WHERE datname = current_database() AND application_name = 'redrive'";
        while sqlx::query_scalar::<_, i64>(open)
            .fetch_one(&mut conn)
            .await
            .unwrap()
            > 0
        {
            tokio::task::yield_now().await;
        }
    }

    fn options(&self) -> PgConnectOptions {
        let Self::Postgres { server, name } = self else {
            panic!("a file has no server");
        };
        let options: PgConnectOptions = server.parse().unwrap();
        options
            .database(name)
            .ssl_mode(sqlx::postgres::PgSslMode::Disable)
    }

    fn file(&self) -> PathBuf {
        match self {
            Self::Sqlite { folder } => folder.path().join("hangfire.db"),
            Self::Postgres { .. } => panic!("not a file"),
        }
    }

    /// A connection.
    pub async fn connect(&self) -> PgConnection {
        PgConnection::connect_with(&self.options()).await.unwrap()
    }

    /// The file, opened once more.
    pub async fn open(&self) -> SqliteConnection {
        SqliteConnection::connect(self.file().to_str().unwrap())
            .await
            .unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let Self::Postgres { server, name } = self else {
            return;
        };
        let (server, name) = (server.clone(), name.clone());
        // A test's own runtime cannot be waited for from here.
        let dropped = std::thread::spawn(move || {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap()
                .block_on(async {
                    let mut conn = PgConnection::connect(&server).await.unwrap();
                    let sql = format!("DROP DATABASE {name} WITH (FORCE)");
                    sqlx::raw_sql(AssertSqlSafe(sql))
                        .execute(&mut conn)
                        .await
                        .unwrap();
                });
        });
        drop(dropped.join());
    }
}
