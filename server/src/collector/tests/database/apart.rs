//! Read-only sources, whose numbers are kept in a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};
use tempfile::TempDir;

use super::{Database, Kind, rows_of};
use crate::clock::SystemClock;
use crate::source::Store;
use crate::store::postgres::PostgresStore;
use crate::store::sqlite::SqliteStore;
use crate::testing::fixture::Fixture;
use crate::testing::postgres::TestDatabase;
use crate::testing::sqlite::TestFile;

/// Numbers in a file apart from the jobs, because the source is read-only.
pub(in super::super) struct Apart {
    pub(in super::super) dir: Arc<TempDir>,
    pub(in super::super) file: PathBuf,
    /// The role that only reads; none where the source is configured so.
    pub(in super::super) role: Option<String>,
}

impl Database {
    /// Read-only ones without own tables, whose numbers are kept in a folder: a file that is
    /// configured so, a role that only reads, and a role that may do all, on a source that is
    /// configured so.
    pub(in super::super) async fn read_only(fixture: &Fixture) -> Vec<Self> {
        let file = TestFile::with(fixture).await;
        file.drop_own_tables().await;
        let mut all = vec![Self::apart(Kind::Sqlite(Box::new(file)), None)];
        if let Some(database) = TestDatabase::with(fixture).await {
            let role = database.reader("reader").await;
            all.push(Self::apart(Kind::Postgres(Box::new(database)), Some(role)));
        }
        if let Some(database) = TestDatabase::with(fixture).await {
            all.push(Self::apart(Kind::Postgres(Box::new(database)), None));
        }
        all
    }

    fn apart(kind: Kind, role: Option<String>) -> Self {
        let dir = Arc::new(tempfile::tempdir().unwrap());
        let (lists, file) = reading(&kind, role.as_deref(), dir.path());
        Self {
            store: lists.clone(),
            lists,
            kind,
            apart: Some(Apart { dir, file, role }),
        }
    }

    /// Both kinds, with own tables and without.
    pub(in super::super) async fn everywhere(fixture: &Fixture) -> Vec<Self> {
        let mut all = Self::both(fixture).await;
        all.extend(Self::read_only(fixture).await);
        all
    }

    /// A store on it as it would be opened anew, with numbers in another folder.
    pub(in super::super) fn reopened(&self, dir: &Path) -> (Arc<dyn Store>, PathBuf) {
        let role = self.apart.as_ref().and_then(|apart| apart.role.as_deref());
        reading(&self.kind, role, dir)
    }

    /// Runs statements on the own tables, wherever they are.
    pub(in super::super) async fn execute_own(&self, postgres: &str, sqlite: &str) {
        match &self.apart {
            None => self.execute(postgres, sqlite).await,
            Some(apart) => {
                let mut connection = connect(&apart.file).await;
                sqlx::raw_sql(AssertSqlSafe(sqlite.to_owned()))
                    .execute(&mut connection)
                    .await
                    .unwrap();
                connection.close().await.unwrap();
            }
        }
    }

    /// The own tables' rows, wherever they are.
    pub(super) async fn own_texts(&self, postgres: &str, sqlite: &str) -> Vec<Vec<Option<String>>> {
        match &self.apart {
            None => self.texts(postgres, sqlite).await,
            Some(apart) => rows_of(&mut connect(&apart.file).await, sqlite).await,
        }
    }

    /// What the source's database holds: tables, and jobs with their rows; of a file every byte.
    pub(in super::super) async fn content(&self) -> Vec<Vec<Option<String>>> {
        let mut content = self
            .texts(
                "SELECT format('%s.%s', n.nspname, c.relname) FROM pg_class c \
                 JOIN pg_namespace n ON n.oid = c.relnamespace \
                 WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY 1",
                "SELECT name || coalesce(sql, '') FROM sqlite_master ORDER BY name",
            )
            .await;
        match &self.kind {
            Kind::Postgres(_) => {
                for table in ["job", "state", "jobparameter", "lock"] {
                    let rows = format!("SELECT t::text FROM hangfire.{table} t ORDER BY 1");
                    content.extend(self.texts(&rows, "").await);
                }
            }
            Kind::Sqlite(file) => {
                let bytes = std::fs::read(&file.path).unwrap();
                content.push(vec![Some(format!("{bytes:?}"))]);
            }
        }
        content
    }
}

/// A store that only reads, and keeps its numbers in the folder; with the file that it would make.
fn reading(kind: &Kind, role: Option<&str>, dir: &Path) -> (Arc<dyn Store>, PathBuf) {
    let clock = Arc::new(SystemClock);
    match kind {
        Kind::Postgres(database) => {
            let url = role.map_or_else(|| database.url.clone(), |role| database.url_as(role));
            let store = PostgresStore::connect(&url, "hangfire", clock)
                .unwrap()
                .with_numbers_in(dir, "main", role.is_none());
            let file = store.kept().unwrap().file().path().to_owned();
            (Arc::new(store), file)
        }
        Kind::Sqlite(file) => {
            let store = SqliteStore::lazy(&file.path, clock, Some("configured".to_owned()))
                .with_numbers_in(dir, "main");
            let file = store.kept().unwrap().file().path().to_owned();
            (Arc::new(store), file)
        }
    }
}

async fn connect(file: &Path) -> SqliteConnection {
    SqliteConnection::connect(file.to_str().unwrap())
        .await
        .unwrap()
}
