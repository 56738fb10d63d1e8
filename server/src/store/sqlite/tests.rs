//! On the recorded file: ten jobs that a real server ran, among them one that failed twice and then
//! succeeded, and one that failed for good.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use app::model::job::JobRow;
use app::model::state::{Instant, ListState};
use app::ports::jobs::{Anchor, JobFilter, JobPage, JobStore};
use chrono::DateTime;
use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection};

use super::*;
use crate::clock::SystemClock;

mod access;
mod contract;
mod filters;
mod jobs;
mod lists;
mod migrations;
mod odd;
mod servers;

const FILE: &str = "hangfire-storage-sqlite/hangfire.db";

fn clock() -> SharedClock {
    Arc::new(SystemClock)
}

/// A recorded file, copied, since opening one in WAL mode makes files beside it.
fn fixture(name: &str) -> (tempfile::TempDir, PathBuf) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../app/tests/fixtures")
        .join(name);
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("hangfire.db");
    std::fs::write(&to, std::fs::read(from).unwrap()).unwrap();
    (dir, to)
}

async fn recorded() -> (tempfile::TempDir, SqliteStore) {
    let (dir, path) = fixture(FILE);
    let store = SqliteStore::open(&path, clock()).await.unwrap();
    (dir, store)
}

/// The recorded file after some statements of a test.
async fn changed(sql: &str) -> (tempfile::TempDir, SqliteStore) {
    let (dir, path) = fixture(FILE);
    let mut connection = SqliteConnection::connect(path.to_str().unwrap())
        .await
        .unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    let store = SqliteStore::open(&path, clock()).await.unwrap();
    (dir, store)
}

fn at(rfc3339: &str) -> Instant {
    DateTime::parse_from_rfc3339(rfc3339).unwrap().to_utc()
}

fn ids(page: &JobPage) -> Vec<i64> {
    page.rows.iter().map(|row| row.id).collect()
}

async fn listed(store: &SqliteStore, filter: JobFilter) -> Vec<i64> {
    ids(&store.list(&filter, Anchor::Start, 50).await.unwrap())
}

fn state(state: ListState) -> JobFilter {
    JobFilter {
        state: Some(state),
        ..JobFilter::default()
    }
}

async fn row(store: &SqliteStore, id: i64) -> JobRow {
    let page = store
        .list(&JobFilter::default(), Anchor::Start, 200)
        .await
        .unwrap();
    page.rows.into_iter().find(|row| row.id == id).unwrap()
}

async fn tables(path: &Path) -> Vec<(String, String, String)> {
    let mut connection = SqliteConnection::connect(path.to_str().unwrap())
        .await
        .unwrap();
    let rows = sqlx::query(
        "SELECT m.name, c.name || ' ' || c.type || ' ' || c.\"notnull\" || c.pk, '' \
         FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c \
         WHERE m.type = 'table' AND m.name NOT LIKE 'redrive%' \
         UNION ALL SELECT m.tbl_name, m.name || l.\"unique\", x.name \
         FROM sqlite_master m JOIN pragma_index_list(m.tbl_name) l ON l.name = m.name \
         JOIN pragma_index_xinfo(m.name) x ON x.key WHERE m.type = 'index' AND m.name NOT LIKE 'redrive%' \
         UNION ALL SELECT m.name, 'autoincrement', m.sql LIKE '%autoincrement%' FROM sqlite_master m \
         WHERE m.type = 'table' AND m.name NOT LIKE 'redrive%' ORDER BY 1, 2, 3",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    rows.iter()
        .map(|row| (row.get(0), row.get(1), row.get_unchecked(2)))
        .filter(|(table, _, _): &(String, String, String)| !table.contains("redrive"))
        .collect()
}

#[tokio::test]
async fn a_created_file_has_hangfires_own_layout() {
    let dir = tempfile::tempdir().unwrap();
    let ours = dir.path().join("ours.db");
    SqliteStore::create(&ours, clock()).await.unwrap();
    let theirs = dir.path().join("theirs.db");
    let mut connection =
        SqliteConnection::connect(&format!("sqlite://{}?mode=rwc", theirs.display()))
            .await
            .unwrap();
    sqlx::raw_sql(include_str!(
        "../../../../app/tests/fixtures/layout/sqlite-0.4.3.sql"
    ))
    .execute(&mut connection)
    .await
    .unwrap();
    let (ours, theirs) = (tables(&ours).await, tables(&theirs).await);
    assert!(theirs.len() > 60, "{theirs:?}");
    assert_eq!(ours, theirs);
}

#[tokio::test]
async fn a_file_with_tables_is_never_created_over() {
    let (_dir, path) = fixture("hangfire-storage-sqlite/hangfire.db");
    let before = std::fs::read(&path).unwrap();
    let refused = SqliteStore::create(&path, clock()).await.err().unwrap();
    assert!(matches!(refused, StoreError::Forbidden(why) if why.contains("holds tables already")));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn opening_a_recorded_file_changes_nothing_in_it() {
    let (_dir, path) = fixture("hangfire-storage-sqlite/hangfire.db");
    let before = std::fs::read(&path).unwrap();
    let store = SqliteStore::open(&path, clock()).await.unwrap();
    assert!(store.pending_sql().await.unwrap().is_some());
    drop(store);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn own_tables_are_made_once_and_beside_hangfires() {
    let (_dir, path) = fixture("hangfire-storage-sqlite/hangfire.db");
    let store = SqliteStore::open(&path, clock()).await.unwrap();
    let hangfires = tables(&path).await;
    store.migrate().await.unwrap();
    store.migrate().await.unwrap();
    assert_eq!(store.pending_sql().await.unwrap(), None);
    assert_eq!(tables(&path).await, hangfires);
    let mut connection = SqliteConnection::connect(path.to_str().unwrap())
        .await
        .unwrap();
    let rows = sqlx::query("SELECT \"set\", version FROM redrive_migrations UNION ALL SELECT 'source', count(*) FROM redrive_source")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    let rows: Vec<(String, i64)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let expected = [
        ("redrive", 1),
        ("redrive", 2),
        ("redrive", 3),
        ("redrive", 4),
        ("redrive", 5),
        ("source", 1),
    ];
    assert_eq!(rows, expected.map(|(name, n)| (name.to_owned(), n)));
}

#[tokio::test]
async fn the_printed_sql_does_what_migrating_does() {
    let (_dir, path) = fixture("hangfire-storage-sqlite/hangfire.db");
    let store = SqliteStore::open(&path, clock()).await.unwrap();
    let sql = store.pending_sql().await.unwrap().unwrap();
    let mut connection = SqliteConnection::connect(path.to_str().unwrap())
        .await
        .unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(&mut connection)
        .await
        .unwrap();
    assert_eq!(store.pending_sql().await.unwrap(), None);
}

#[tokio::test]
async fn what_is_no_hangfire_file_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("none.db");
    let away = SqliteStore::open(&missing, clock()).await.err().unwrap();
    assert!(matches!(away, StoreError::Absent(why) if why.contains("none.db")));
    assert!(!missing.exists());

    let text = dir.path().join("text.db");
    std::fs::write(
        &text,
        "not a database at all, but long enough to have a header of one".repeat(20),
    )
    .unwrap();
    let odd = SqliteStore::open(&text, clock()).await.err().unwrap();
    assert!(matches!(odd, StoreError::Unreadable(_)), "{odd:?}");

    let other = dir.path().join("other.db");
    let mut connection =
        SqliteConnection::connect(&format!("sqlite://{}?mode=rwc", other.display()))
            .await
            .unwrap();
    sqlx::raw_sql("CREATE TABLE Job (Id INTEGER, StateName TEXT)")
        .execute(&mut connection)
        .await
        .unwrap();
    let odd = SqliteStore::open(&other, clock()).await.err().unwrap();
    assert!(
        matches!(&odd, StoreError::Unreadable(why) if why.contains("Job.InvocationData") && why.contains("State,")),
        "{odd:?}"
    );
}

#[tokio::test]
async fn a_read_that_takes_too_long_is_stopped() {
    let (_dir, path) = fixture("hangfire-storage-sqlite/hangfire.db");
    let store = SqliteStore::open(&path, clock()).await.unwrap();
    let limit = std::time::Duration::from_millis(100);
    let endless = store
        .read_for(limit, |c| {
            Box::pin(async move {
                sqlx::query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
                    .fetch_one(c)
                    .await
            })
        })
        .await
        .err()
        .unwrap();
    assert!(
        matches!(endless, StoreError::TimedOut(after) if after == limit),
        "{endless:?}"
    );
    // The connection is as good as new.
    assert!(store.pending_sql().await.is_ok());
}
