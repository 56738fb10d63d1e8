//! From the tables of an older Redrive to today's.

use app::ports::audit::AuditStore as _;
use uuid::Uuid;

use super::*;
use crate::testing::sqlite::TestFile;

/// The first version's tables, with an audit row.
const FIRST: &str = concat!(
    "CREATE TABLE redrive_migrations (\"set\" TEXT NOT NULL, version INTEGER NOT NULL, \
     name TEXT NOT NULL, applied_at INTEGER NOT NULL, PRIMARY KEY (\"set\", version));",
    include_str!("../../../../../migrations/sqlite/redrive/0001_audit.sql"),
    "INSERT INTO redrive_migrations VALUES ('redrive', 1, '0001_audit', 0); \
     INSERT INTO redrive_source VALUES ('s', 'main', 0); \
     INSERT INTO redrive_audit VALUES ('00000000-0000-0000-0000-000000000007', 's', 1000000, 'ada', \
     0, 'requeue', 2, 'Failed', 9, 'Failed', 9, 'Enqueued', 10, NULL, 'done', 'Queued.');",
);

#[tokio::test]
async fn an_older_audit_is_read_and_brought_up_to_date_whole() {
    let (_dir, store) = changed(FIRST).await;
    let id = Uuid::from_u128(7);
    let before = store.audit_row(id).await.unwrap().unwrap();
    assert_eq!(before.seen, Some(("Failed".to_owned(), 9)));
    assert_eq!(before.claim, None);
    // A view over a table that is gone must not stand in the way.
    let writer = store.writer().await.unwrap();
    sqlx::query("CREATE VIEW broken AS SELECT * FROM nowhere")
        .execute(&writer)
        .await
        .unwrap();
    store.migrate().await.unwrap();
    assert_eq!(store.audit_row(id).await.unwrap().unwrap(), before);
    assert_eq!(store.pending_sql().await.unwrap(), None);
    sqlx::query("INSERT INTO redrive_audit (id, source, at, actor, authenticated, action, outcome, note) VALUES ('x', 's', 0, 'ada', 0, 'purge', 'done', '')")
        .execute(&writer)
        .await
        .unwrap();
    let made = TestFile::new().await;
    let schema = "SELECT sql FROM sqlite_master WHERE name LIKE 'redrive%' AND sql NOT NULL \
         AND name <> 'redrive_migrations' ORDER BY name";
    let mut fresh = made.connect().await;
    let expected: Vec<String> = sqlx::query_scalar(schema)
        .fetch_all(&mut fresh)
        .await
        .unwrap();
    let migrated: Vec<String> = sqlx::query_scalar(schema).fetch_all(&writer).await.unwrap();
    assert_eq!(migrated, expected);
    assert_eq!(migrated.len(), 19);
}
