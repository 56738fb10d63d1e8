use std::sync::Arc;

use app::ports::error::StoreError;
use app::ports::jobs::{Anchor, JobFilter, JobStore as _};

use super::ask;
use crate::clock::SystemClock;
use crate::store::postgres::PostgresStore;
use crate::testing::postgres::TestDatabase;

#[tokio::test]
async fn connections_are_encrypted_and_the_servers_certificate_is_checked() {
    let Some(database) = TestDatabase::with_layout(23).await else {
        return;
    };
    let Ok(authority) = std::env::var("REDRIVE_TEST_POSTGRES_CA") else {
        assert!(
            std::env::var_os("CI").is_none(),
            "REDRIVE_TEST_POSTGRES_CA is not set: encrypted connections cannot be tested"
        );
        eprintln!("SKIPPED: REDRIVE_TEST_POSTGRES_CA is not set, nothing was tested here");
        return;
    };
    let base = database.url.split('?').next().unwrap();
    let open = |query: &str| {
        let url = format!("{base}?{query}");
        PostgresStore::connect(&url, "hangfire", Arc::new(SystemClock)).unwrap()
    };
    let trusting = open(&format!("sslmode=verify-full&sslrootcert={authority}"));
    let page = trusting
        .list(&JobFilter::default(), Anchor::Start, 50)
        .await;
    assert!(page.unwrap().rows.is_empty());
    let encrypted: Vec<bool> = ask(
        &trusting,
        "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
    )
    .await;
    assert_eq!(encrypted, [true]);
    // The system's own authorities did not sign it.
    let strict = open("sslmode=verify-full");
    let refused = strict.list(&JobFilter::default(), Anchor::Start, 50).await;
    assert!(matches!(refused, Err(StoreError::Away(_))), "{refused:?}");
    // Encryption without a check is what `require` means.
    let careless = open("sslmode=require");
    let page = careless
        .list(&JobFilter::default(), Anchor::Start, 50)
        .await;
    assert!(page.is_ok(), "{page:?}");
}
