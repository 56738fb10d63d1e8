//! Attempts from state rows to the page: through the collector, the store and the router, on both
//! databases.

mod answers;
mod numbers;
mod rows;

use std::collections::BTreeMap;
use std::sync::Arc;

use app::links::Links;
use app::ports::collector::CollectorStore;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::super::router::router;
use super::super::state::AppState;
use crate::clock::SystemClock;
use crate::collector::{Collector, Passed};
use crate::config::SourceConfig;
use crate::source::{Snapshot, SourceHandle, Store};
use crate::testing::fixture::Fixture;
use crate::testing::postgres::TestDatabase;
use crate::testing::sqlite::TestFile;

/// What keeps the database of a site.
enum Kept {
    Postgres(#[expect(dead_code, reason = "dropped at the end")] Box<TestDatabase>),
    Sqlite(#[expect(dead_code, reason = "dropped at the end")] Box<TestFile>),
}

/// A site over one database whose rows are collected.
struct Collected {
    state: AppState,
    _kept: Kept,
}

impl Collected {
    /// One over each kind of database; without a server to test on, over the other one only.
    async fn both(fixture: &Fixture) -> Vec<Self> {
        let file = TestFile::with(fixture).await;
        let store = Arc::new(file.store.clone());
        let mut both = vec![Self::over(store.clone(), store, Kept::Sqlite(Box::new(file))).await];
        if let Some(database) = TestDatabase::with(fixture).await {
            let store = database.store();
            store.migrate().await.unwrap();
            let store = Arc::new(store);
            let kept = Kept::Postgres(Box::new(database));
            both.push(Self::over(store.clone(), store, kept).await);
        }
        both
    }

    async fn over(store: Arc<dyn Store>, collected: Arc<dyn CollectorStore>, kept: Kept) -> Self {
        let (live, seen) = watch::channel(Snapshot::default());
        let mut collector = Collector::new(collected, Arc::new(SystemClock), live);
        let mut idle = 0;
        // A failure that rests is settled when nothing follows it.
        while idle < 3 {
            match collector.pass().await.unwrap() {
                Passed::More => idle = 0,
                Passed::Idle => idle += 1,
                Passed::Elsewhere => panic!("another process collects"),
            }
        }
        let source = SourceHandle {
            config: Arc::new(SourceConfig::main("test".into(), None)),
            store,
            demo: watch::channel(None).1,
            live: seen,
            claims: Arc::default(),
        };
        let state = AppState::new(
            Links::new(""),
            Arc::new(SystemClock),
            "ada".into(),
            vec![source],
            CancellationToken::new(),
        );
        Self { state, _kept: kept }
    }

    async fn get(&self, path: &str) -> (StatusCode, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = router(self.state.clone()).oneshot(request).await.unwrap();
        let status = response.status();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    /// A table, each row by the names of its columns.
    async fn sheet(&self, sheet: &str, query: &str) -> Vec<BTreeMap<String, String>> {
        let path = format!("/s/main/attempts/{sheet}.csv?{query}");
        let (status, body) = self.get(&path).await;
        assert_eq!(status, StatusCode::OK, "{path}: {body}");
        csv::Reader::from_reader(body.as_bytes())
            .deserialize()
            .collect::<Result<_, _>>()
            .unwrap()
    }
}
