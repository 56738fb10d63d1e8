//! Whether a file may be written, and whether it is there.

use app::model::state::StateName;
use app::ports::source::{Access, Dialect, Source};

use super::*;

#[tokio::test]
async fn a_file_is_read_only_until_its_own_tables_are_there() {
    let (_dir, store) = recorded().await;
    let info = store.info().await.unwrap();
    assert_eq!((info.dialect, info.schema_version), (Dialect::Sqlite, None));
    assert!(
        matches!(&info.access, Access::ReadOnly { remedy: Some(sql), .. } if sql.contains("redrive_audit"))
    );
    store.migrate().await.unwrap();
    assert_eq!(store.info().await.unwrap().access, Access::ReadWrite);

    let writer = store.writer().await.unwrap();
    sqlx::query("INSERT INTO redrive_migrations VALUES ('redrive', 99, 'later', 0)")
        .execute(&writer)
        .await
        .unwrap();
    let access = store.info().await.unwrap().access;
    assert!(matches!(access, Access::ReadOnly { why, remedy: None } if why.contains("newer")));
}

#[tokio::test]
async fn a_file_that_must_not_be_written_is_read() {
    let (_dir, path) = fixture(FILE);
    let store = SqliteStore::lazy(&path, clock(), Some("set so in the configuration".into()));
    assert_eq!(listed(&store, state(ListState::Failed)).await, [3, 2]);
    assert!(matches!(
        store.writer().await,
        Err(StoreError::Forbidden(_))
    ));
    let access = store.info().await.unwrap().access;
    assert!(matches!(access, Access::ReadOnly { why, .. } if why == "set so in the configuration"));
}

#[tokio::test]
async fn a_file_that_goes_away_and_comes_back_is_noticed() {
    let (dir, store) = recorded().await;
    let aside = dir.path().join("aside.db");
    std::fs::rename(store.path(), &aside).unwrap();
    assert!(matches!(store.counts().await, Err(StoreError::Absent(_))));
    std::fs::rename(&aside, store.path()).unwrap();
    assert!(store.counts().await.is_ok());
    // Another file under the same name.
    let (_other, base) = fixture("transitions-sqlite/base.db");
    std::fs::remove_file(store.path()).unwrap();
    std::fs::rename(&base, store.path()).unwrap();
    assert_eq!(
        store.job(12, 10).await.unwrap().unwrap().state.name,
        Some(StateName::Processing)
    );
}
