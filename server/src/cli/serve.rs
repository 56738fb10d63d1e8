//! `redrive serve`.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use app::links::Links;
use app::ports::collector::CollectorStore;
use app::ports::error::StoreError;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::bookstore;
use crate::clock::{SharedClock, SystemClock};
use crate::collector;
use crate::config::{Config, SourceConfig, environment, sqlite_path};
use crate::http::hosts::{self, Hosts};
use crate::http::router;
use crate::http::state::AppState;
use crate::lifecycle;
use crate::source::claims::SourceClaims;
use crate::source::{Snapshot, SourceHandle, Store, sampler};
use crate::store::postgres::PostgresStore;
use crate::store::sqlite::SqliteStore;

/// The pause between two looks at a file that is not there yet.
const AGAIN: Duration = Duration::from_secs(1);

/// Work that goes on beside serving, until the token is cancelled.
pub type Extra =
    Box<dyn FnOnce(CancellationToken) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// Serves until the process is told to stop.
///
/// # Errors
/// Where the address is taken, or the URL of a source is none.
pub async fn run(config: Config) -> anyhow::Result<()> {
    run_with(config, None).await
}

/// As [`run`], with other work beside it.
///
/// # Errors
/// As [`run`].
#[expect(
    clippy::print_stdout,
    reason = "where it is served is for the terminal"
)]
pub async fn run_with(config: Config, extra: Option<Extra>) -> anyhow::Result<()> {
    let stop = lifecycle::stop_on_signal()?;
    let clock: SharedClock = Arc::new(SystemClock);
    let listener = TcpListener::bind(config.bind)
        .await
        .with_context(|| format!("cannot listen on {}", config.bind))?;
    let address = listener.local_addr()?;

    if let Some(extra) = extra {
        tokio::spawn(extra(stop.clone()));
    }
    let mut sources = Vec::new();
    let state_dir = config.state_dir.as_deref();
    for source in config.sources {
        sources.push(watch_source(source, state_dir, &clock, &stop).await?);
    }
    let links = Links::new(&config.base_path);
    let root = links.root();
    let state = AppState::new(links, clock, config.operator, sources, stop.clone());
    let router = hosts::guard(router::router(state), Hosts::of(address, config.hosts));

    tracing::info!(%address, "serving at http://{address}{root}");
    println!("Redrive is at http://{address}{root}");
    let served = axum::serve(listener, router)
        .with_graceful_shutdown(stop.clone().cancelled_owned())
        .into_future();
    tokio::select! {
        result = served => result.context("serving failed"),
        () = cut_off(&stop) => Ok(()),
    }
}

/// Opens a source, brings its own tables up to date where it may, and starts looking at it.
async fn watch_source(
    config: SourceConfig,
    state_dir: Option<&Path>,
    clock: &SharedClock,
    stop: &CancellationToken,
) -> anyhow::Result<SourceHandle> {
    let claims = Arc::new(SourceClaims::of(&config)?);
    let (store, demo) = open(&config, state_dir, clock.clone(), stop).await?;
    let (sender, live) = watch::channel(Snapshot::default());
    if config.read_only && state_dir.is_none() {
        tracing::info!(
            source = config.name,
            "nothing is collected here, as the source is read-only: with state_dir, its numbers \
             are kept in a file of this host"
        );
    } else {
        let store: Arc<dyn CollectorStore> = store.clone();
        let collected = collector::run(store, clock.clone(), sender.clone(), stop.clone());
        tokio::spawn(collected);
    }
    tokio::spawn(sampler::run(
        store.clone(),
        claims.clone(),
        clock.clone(),
        sender,
        stop.clone(),
    ));
    Ok(SourceHandle {
        config: Arc::new(config),
        store,
        demo,
        live,
        claims,
    })
}

/// Opens a source's database; with it comes what to say where its data is not real.
///
/// # Errors
/// Where its URL cannot be used at all. A database that is away, or a file that is missing or
/// holds something else, is no error: its pages say so and recover by themselves.
async fn open(
    config: &SourceConfig,
    state_dir: Option<&Path>,
    clock: SharedClock,
    stop: &CancellationToken,
) -> anyhow::Result<(Arc<dyn Store>, watch::Receiver<Option<String>>)> {
    let (said, demo) = watch::channel(None);
    let tables = config.claims_tables(environment)?;
    let claims = config.claims_database(&tables);
    if config.is_postgres() {
        let mut store = PostgresStore::connect(&config.database, &config.schema, clock)
            .with_context(|| format!("source {}", config.name))?;
        if let Some(claims) = claims {
            store = store
                .with_claims_in(claims)
                .with_context(|| format!("source {}, the database of its claims", config.name))?;
        }
        if let Some(dir) = state_dir {
            store = store.with_numbers_in(dir, &config.name, config.read_only);
        }
        if !config.read_only {
            say_failed_migration(config, store.migrate().await);
        }
        return Ok((Arc::new(store), demo));
    }
    let mut store = SqliteStore::lazy(&config.sqlite_path(), clock, config.why_not_written());
    if let Some(claims) = claims {
        store = store.with_claims_in(&sqlite_path(claims));
    }
    if let Some(dir) = state_dir {
        store = store.with_numbers_in(dir, &config.name);
    }
    let reader = store.reader().await;
    if !config.read_only {
        let migrated = store.migrate().await;
        if reader.is_ok() {
            say_failed_migration(config, migrated);
        }
    }
    if let Err(error) = reader {
        let source = &config.name;
        tracing::warn!(source, %error, "nothing to show yet: pages say so until there is");
        let (store, stop) = (store.clone(), stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = async { while !say_demo(&store, &said).await { tokio::time::sleep(AGAIN).await; } } => {}
            }
        });
    } else {
        say_demo(&store, &said).await;
    }
    Ok((Arc::new(store), demo))
}

/// Says of a demo database that its data is not real; whether the file could be read.
async fn say_demo(store: &SqliteStore, said: &watch::Sender<Option<String>>) -> bool {
    let Ok(pool) = store.reader().await else {
        return false;
    };
    let Ok(label) = bookstore::label(&pool).await else {
        return false;
    };
    if let Some(label) = label {
        let made = label.made_at.format("%Y-%m-%d %H:%M UTC");
        said.send_replace(Some(format!(
            "Demo data: {} invented jobs of a bookstore, made {made}.",
            label.jobs
        )));
    }
    true
}

/// A source whose own tables cannot be brought up to date is read all the same, and says so.
fn say_failed_migration(config: &SourceConfig, result: Result<(), StoreError>) {
    if let Err(error) = result {
        tracing::warn!(source = config.name, %error, "own tables were not brought up to date");
    }
}

/// Open pages must not hold the process: after the signal they get a moment, then they are cut.
async fn cut_off(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(lifecycle::DRAIN).await;
    tracing::info!(after = ?lifecycle::DRAIN, "cutting open connections");
}

#[cfg(test)]
mod tests {
    use app::ports::source::{Access, SourceInfo};

    use super::*;
    use crate::testing::fixture::fixtures;

    fn source(path: &std::path::Path, read_only: bool) -> SourceConfig {
        SourceConfig {
            read_only,
            ..SourceConfig::main(path.display().to_string(), None)
        }
    }

    async fn opened(config: &SourceConfig) -> Arc<dyn Store> {
        let stop = CancellationToken::new();
        open(config, None, Arc::new(SystemClock), &stop)
            .await
            .unwrap()
            .0
    }

    fn recorded() -> Vec<u8> {
        std::fs::read(fixtures().join("hangfire-storage-sqlite/hangfire.db")).unwrap()
    }

    async fn access(store: &dyn Store) -> Access {
        let SourceInfo { access, .. } = store.info().await.unwrap();
        access
    }

    #[tokio::test]
    async fn a_file_that_comes_later_is_served_by_the_same_store() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("later.db");
        let store = opened(&source(&path, false)).await;
        let absent = store.info().await.unwrap_err();
        assert!(
            matches!(&absent, StoreError::Absent(why)
                if *why == format!("there is no file {}", path.display())),
            "{absent:?}"
        );
        assert!(!path.exists());
        // First something else, then what a job server makes.
        std::fs::write(&path, "").unwrap();
        let empty = store.info().await.unwrap_err();
        assert!(matches!(empty, StoreError::Unreadable(_)), "{empty:?}");
        std::fs::write(&path, recorded()).unwrap();
        assert_eq!(access(&*store).await, Access::ReadWrite);
        assert!(store.job(1, 10).await.unwrap().is_some());
    }

    #[tokio::test]
    async fn a_file_of_a_read_only_source_is_never_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("jobs.db");
        std::fs::write(&path, recorded()).unwrap();
        let store = opened(&source(&path, true)).await;
        assert!(store.job(1, 10).await.unwrap().is_some());
        let access = access(&*store).await;
        assert!(
            matches!(&access, Access::ReadOnly { why, .. } if why.contains("configured")),
            "{access:?}"
        );
        drop(store);
        assert_eq!(std::fs::read(&path).unwrap(), recorded());
    }

    /// Not even where its numbers are collected.
    #[tokio::test]
    async fn numbers_of_a_read_only_source_lie_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let (path, state) = (dir.path().join("jobs.db"), dir.path().join("state"));
        std::fs::write(&path, recorded()).unwrap();
        let stop = CancellationToken::new();
        let clock: SharedClock = Arc::new(SystemClock);
        let watched = watch_source(source(&path, true), Some(&state), &clock, &stop);
        let mut source = watched.await.unwrap();
        let collected = |seen: &Snapshot| seen.collecting.caught_up && seen.totals.is_some();
        source.live.wait_for(collected).await.unwrap();
        let highest = source.live.borrow().collecting.highest;
        let coverage = source.store.coverage().await.unwrap().unwrap();
        assert!(coverage.watermark == highest && highest > 0, "{coverage:?}");
        let files: Vec<_> = std::fs::read_dir(&state).unwrap().collect();
        assert!(!files.is_empty());
        stop.cancel();
        assert_eq!(std::fs::read(&path).unwrap(), recorded());
        // Without the folder nothing is collected, and it is said how that would change.
        let stop = CancellationToken::new();
        let alone = watch_source(source.config.as_ref().clone(), None, &clock, &stop);
        let alone = alone.await.unwrap();
        let missing = alone.store.coverage().await.unwrap_err();
        assert!(missing.to_string().contains("state_dir"), "{missing}");
        stop.cancel();
    }

    #[tokio::test]
    async fn a_demo_is_labelled_also_where_it_is_only_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("demo.db");
        let clock: SharedClock = Arc::new(SystemClock);
        let made = bookstore::scenario(1, 200, clock.now());
        bookstore::write(&path, 1, &made, SharedClock::clone(&clock))
            .await
            .unwrap();
        let stop = CancellationToken::new();
        for read_only in [false, true] {
            let config = source(&path, read_only);
            let (_, demo) = open(&config, None, SharedClock::clone(&clock), &stop)
                .await
                .unwrap();
            let demo = demo.borrow().clone().unwrap();
            assert!(demo.starts_with("Demo data: "), "{demo}");
        }
    }

    #[tokio::test]
    async fn a_demo_that_comes_later_is_labelled_then() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("demo.db");
        let clock: SharedClock = Arc::new(SystemClock);
        let (config, stop) = (source(&path, false), CancellationToken::new());
        let (_store, mut demo) = open(&config, None, SharedClock::clone(&clock), &stop)
            .await
            .unwrap();
        assert_eq!(*demo.borrow(), None);
        let made = bookstore::scenario(1, 200, clock.now());
        bookstore::write(&path, 1, &made, clock).await.unwrap();
        let said = demo.wait_for(Option::is_some).await.unwrap().clone();
        assert!(said.unwrap().starts_with("Demo data: 200 "));
    }
}
