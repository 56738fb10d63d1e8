//! Claims on real tables.

use app::model::state::Instant;
use async_trait::async_trait;

use crate::store::contract::claims::{self as contract, Bench, Stores};
use crate::store::postgres::PostgresStore;
use crate::testing::postgres::TestDatabase;

/// A database with the contract's jobs and our own tables.
struct Postgres {
    database: TestDatabase,
    store: PostgresStore,
}

impl Postgres {
    async fn new() -> Option<Self> {
        let database = TestDatabase::with(&contract::jobs::rows()).await?;
        let store = database.store();
        store.migrate().await.unwrap();
        Some(Self { database, store })
    }
}

#[async_trait]
impl Bench for Postgres {
    fn store(&self) -> &dyn Stores {
        &self.store
    }

    async fn execute(&self, sql: &str) {
        self.database.execute(sql).await;
    }

    fn schema(&self) -> &'static str {
        "public"
    }

    fn time_type(&self) -> &'static str {
        "timestamptz"
    }

    fn at(&self, instant: Instant) -> String {
        format!("'{}'", instant.to_rfc3339())
    }
}

/// Each check of the contract on a database of its own.
macro_rules! holds {
    ($($name:ident: $check:path;)+) => {$(
        #[tokio::test]
        async fn $name() {
            if let Some(bench) = Postgres::new().await {
                $check(&bench).await;
            }
        }
    )+};
}

holds! {
    a_usual_table_fits: contract::shapes::a_usual_table_fits;
    missing_parts_are_told: contract::shapes::missing_parts_are_told;
    what_does_not_fit_is_told: contract::shapes::what_does_not_fit_is_told;
    a_table_that_goes_away_is_told: contract::shapes::a_table_that_goes_away_is_told;
    usual_tables_are_found: contract::detection::usual_tables_are_found;
    any_key_is_found: contract::keys::any_key_is_found;
    every_row_of_a_key_is_told: contract::keys::every_row_of_a_key_is_told;
    pages_lose_nothing: contract::lists::pages_lose_nothing;
    a_table_without_claim_times_is_listed_by_key:
        contract::lists::a_table_without_claim_times_is_listed_by_key;
    counts_are_right: contract::numbers::counts_are_right;
    what_cannot_be_told_is_left_out: contract::numbers::what_cannot_be_told_is_left_out;
}
