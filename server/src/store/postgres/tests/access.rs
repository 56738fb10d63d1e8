use std::sync::Arc;

use app::model::state::Instant;
use app::ports::audit::AuditStore as _;
use app::ports::error::StoreError;
use app::ports::failures::{FailureStore as _, Indexed, NotReady};
use app::ports::insights::InsightStore as _;
use app::ports::jobs::{Anchor, JobFilter, JobStore as _};
use app::ports::source::{Access, Dialect, Source as _};
use chrono::TimeDelta;

use crate::clock::{Clock, SystemClock};
use crate::store::contract::{self, Seeded};
use crate::store::postgres::PostgresStore;
use crate::testing::fixture::Fixture;
use crate::testing::postgres::TestDatabase;

/// Why a store is read-only, and what would change it.
async fn read_only(store: &PostgresStore) -> (String, Option<String>) {
    match store.info().await.unwrap().access {
        Access::ReadOnly { why, remedy } => (why, remedy),
        Access::ReadWrite => panic!("must be read-only"),
    }
}

async fn unreadable(store: &PostgresStore) -> String {
    let info = store.info().await;
    let Err(StoreError::Unreadable(why)) = info else {
        panic!("must be unreadable: {info:?}");
    };
    // The pages say the same.
    let list = store.list(&JobFilter::default(), Anchor::Start, 50).await;
    assert!(
        matches!(&list, Err(StoreError::Unreadable(same)) if *same == why),
        "{list:?}"
    );
    why
}

#[tokio::test]
async fn a_role_with_all_rights_may_act() {
    let Some(database) = TestDatabase::with_layout(23).await else {
        return;
    };
    let store = database.store();
    let info = store.info().await.unwrap();
    assert_eq!(info.access, Access::ReadWrite);
    assert_eq!(info.dialect, Dialect::Postgres);
    assert_eq!(info.schema_version, Some(23));
    let major: u32 = info
        .server_version
        .split('.')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(major >= 10, "{}", info.server_version);
    assert!(info.clock_skew_ms.abs() < 1_000, "{}", info.clock_skew_ms);
    store.migrate().await.unwrap();
    assert_eq!(store.info().await.unwrap().access, Access::ReadWrite);
}

#[tokio::test]
async fn a_role_that_may_only_read_reads_all_and_is_told_what_it_lacks() {
    let rows = Fixture::named("article");
    let Some(database) = TestDatabase::with(&rows).await else {
        return;
    };
    let role = database.reader("reader").await;
    let store =
        PostgresStore::connect(&database.url_as(&role), "hangfire", Arc::new(SystemClock)).unwrap();
    let (why, remedy) = read_only(&store).await;
    assert!(
        why.contains(&role) && why.contains("may not write"),
        "{why}"
    );
    let forbidden = store.migrate().await;
    assert!(
        matches!(forbidden, Err(StoreError::Forbidden(_))),
        "{forbidden:?}"
    );
    contract::reads(&Seeded {
        store: Arc::new(store.clone()),
        rows,
    })
    .await;
    // What is proposed is enough.
    database.execute(&remedy.unwrap()).await;
    assert_eq!(store.info().await.unwrap().access, Access::ReadWrite);
}

/// Another Redrive keeps tables there, which this role may not look at.
#[tokio::test]
async fn own_tables_that_may_not_be_read_cost_nothing_else() {
    let rows = Fixture::named("article");
    let Some(database) = TestDatabase::with(&rows).await else {
        return;
    };
    database.store().migrate().await.unwrap();
    let role = database.reader("guest").await;
    database
        .execute(&format!(
            "GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA hangfire TO \"{role}\"; \
             GRANT USAGE ON ALL SEQUENCES IN SCHEMA hangfire TO \"{role}\""
        ))
        .await;
    let store =
        PostgresStore::connect(&database.url_as(&role), "hangfire", Arc::new(SystemClock)).unwrap();
    let (why, remedy) = read_only(&store).await;
    assert!(
        why.contains(&role) && why.contains("may not read Redrive's own tables"),
        "{why}"
    );
    assert_eq!(store.pending_sql().await.unwrap(), remedy);
    let forbidden = store.migrate().await;
    assert!(
        matches!(forbidden, Err(StoreError::Forbidden(_))),
        "{forbidden:?}"
    );
    contract::reads(&Seeded {
        store: Arc::new(store.clone()),
        rows,
    })
    .await;
    assert_eq!(store.audit(None, None, 10).await.unwrap(), []);
    assert_eq!(
        store.causes(10).await.unwrap(),
        Indexed::NotReady(NotReady::NoTables)
    );
    let numbers = store.coverage().await;
    assert!(
        matches!(&numbers, Err(StoreError::Forbidden(why)) if why.contains("own tables")),
        "{numbers:?}"
    );
    database.execute(&remedy.unwrap()).await;
    assert_eq!(store.info().await.unwrap().access, Access::ReadWrite);
    assert_eq!(store.coverage().await.unwrap(), None);
}

#[tokio::test]
async fn a_role_that_may_not_even_read_is_told_so() {
    let Some(database) = TestDatabase::with_layout(23).await else {
        return;
    };
    let role = database.role("stranger");
    database
        .execute(&format!("CREATE ROLE \"{role}\" LOGIN"))
        .await;
    let store =
        PostgresStore::connect(&database.url_as(&role), "hangfire", Arc::new(SystemClock)).unwrap();
    let list = store.list(&JobFilter::default(), Anchor::Start, 50).await;
    assert!(matches!(list, Err(StoreError::Forbidden(_))), "{list:?}");
}

#[tokio::test]
async fn schema_versions_that_are_not_known_are_not_written() {
    let Some(database) = TestDatabase::with_layout(18).await else {
        return;
    };
    let store = database.store();
    let (why, _) = read_only(&store).await;
    assert!(why.contains("version 18") && why.contains("19"), "{why}");

    let newer = TestDatabase::with_layout(23).await.unwrap();
    newer
        .execute("UPDATE hangfire.schema SET version = 24")
        .await;
    let store = newer.store();
    let (why, _) = read_only(&store).await;
    assert!(why.contains("version 24") && why.contains("newer"), "{why}");
    assert!(
        store
            .list(&JobFilter::default(), Anchor::Start, 50)
            .await
            .is_ok()
    );

    newer
        .execute("UPDATE hangfire.schema SET version = 9")
        .await;
    let why = unreadable(&newer.store()).await;
    assert!(
        why.contains("version 9") && why.contains("too old"),
        "{why}"
    );
    newer.execute("DELETE FROM hangfire.schema").await;
    let why = unreadable(&newer.store()).await;
    assert!(why.contains("no version"), "{why}");
}

#[tokio::test]
async fn a_schema_that_is_not_hangfires_is_named_and_the_right_one_too() {
    let Some(database) = TestDatabase::with_layout(23).await else {
        return;
    };
    let store = PostgresStore::connect(&database.url, "jobs", Arc::new(SystemClock)).unwrap();
    let why = unreadable(&store).await;
    assert_eq!(
        why,
        "schema \"jobs\" holds no Hangfire tables; there are some in \"hangfire\""
    );
    let empty = TestDatabase::empty().await.unwrap();
    let why = unreadable(&empty.store()).await;
    assert_eq!(
        why,
        "schema \"hangfire\" holds no Hangfire tables, and no other schema does"
    );
}

#[tokio::test]
async fn missing_tables_are_named() {
    let Some(database) = TestDatabase::with_layout(23).await else {
        return;
    };
    let store = database.store();
    assert!(
        store
            .list(&JobFilter::default(), Anchor::Start, 50)
            .await
            .is_ok()
    );
    database.execute("DROP TABLE hangfire.lock").await;
    let (why, _) = read_only(&store).await;
    assert_eq!(why, "table lock is missing in schema \"hangfire\"");
    // One that reading needs goes away under a running program.
    database
        .execute("DROP TABLE hangfire.state, hangfire.server")
        .await;
    let why = unreadable(&store).await;
    assert!(why.contains("state, server are missing"), "{why}");
}

#[tokio::test]
async fn a_database_that_only_reads_is_said_to() {
    let Some(database) = TestDatabase::with_layout(23).await else {
        return;
    };
    database
        .execute(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', \
             current_database()); END $$",
        )
        .await;
    let (why, _) = read_only(&database.store()).await;
    assert!(why.contains("only allows reading"), "{why}");
}

/// The system's clock, wrong by a fixed span.
struct Wrong(TimeDelta);

impl Clock for Wrong {
    fn now(&self) -> Instant {
        SystemClock.now() + self.0
    }
}

#[tokio::test]
async fn the_databases_clock_is_compared_with_ours() {
    let Some(database) = TestDatabase::with_layout(23).await else {
        return;
    };
    let clock = Arc::new(Wrong(TimeDelta::minutes(7)));
    let store = PostgresStore::connect(&database.url, "hangfire", clock).unwrap();
    let skew = store.info().await.unwrap().clock_skew_ms;
    assert!((-421_000..=-419_000).contains(&skew), "{skew}");
    // Heartbeats are judged by the database's clock, whatever ours says.
    database
        .execute(
            "INSERT INTO hangfire.server (id, data, lastheartbeat) \
             VALUES ('a', '{}', now() - interval '5 s')",
        )
        .await;
    let age = store.servers().await.unwrap()[0].heartbeat_age_ms;
    assert!((5_000..15_000).contains(&age), "{age}");
}
