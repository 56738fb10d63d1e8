//! `redrive demo`.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;

use super::Demo;
use super::serve::{self, Extra};
use crate::bookstore;
use crate::clock::{SharedClock, SystemClock};
use crate::config::SourceConfig;
use crate::store::sqlite::SqliteStore;

/// Makes the demo database where there is none, and serves it.
///
/// # Errors
/// Where another kind of file lies at its place, or serving fails.
#[expect(
    clippy::print_stdout,
    reason = "what the command did is for its terminal"
)]
pub async fn run(options: Demo) -> anyhow::Result<()> {
    let clock: SharedClock = Arc::new(SystemClock);
    let file = &options.file;
    let prepared = bookstore::prepare(
        file,
        options.seed,
        options.jobs,
        options.fresh,
        clock.clone(),
    )
    .await
    .with_context(|| format!("the demo database {}", file.display()))?;
    println!("{}", prepared.sentence(file));

    let source = source(file)?;
    let config = options
        .listening
        .config(vec![source])?
        .check(options.listening.insecure_allow_remote)?;
    let pool = SqliteStore::open(file, clock.clone())
        .await?
        .writer()
        .await?;
    let beats: Extra = Box::new(move |stop| Box::pin(bookstore::keep_alive(pool, clock, stop)));
    serve::run_with(config, Some(beats)).await
}

/// The demo as a source, with its claims table.
fn source(file: &Path) -> anyhow::Result<SourceConfig> {
    Ok(SourceConfig {
        label: Some("Bookstore demo".to_owned()),
        claims: vec![toml::from_str(bookstore::CLAIMS_TABLE)?],
        ..SourceConfig::main(file.display().to_string(), None)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use app::model::claim::verdict::Judgement;
    use app::ports::claims::{ClaimAnchor, ClaimFilter, ClaimStore};
    use tokio::sync::watch;

    use super::*;
    use crate::source::claims::SourceClaims;
    use crate::source::claims::judge::Judge;
    use crate::source::{Snapshot, SourceHandle};

    #[tokio::test]
    async fn the_demos_stale_claims_show_every_verdict() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("demo.db");
        let clock: SharedClock = Arc::new(SystemClock);
        bookstore::prepare(&file, 42, 200, false, clock.clone())
            .await
            .unwrap();
        let config = source(&file).unwrap();
        let store = Arc::new(SqliteStore::open(&file, clock.clone()).await.unwrap());
        let claims = Arc::new(SourceClaims::of(&config).unwrap());
        let handle = SourceHandle {
            config: Arc::new(config),
            store: store.clone(),
            demo: watch::channel(None).1,
            live: watch::channel(Snapshot::default()).1,
            claims,
        };
        let tables = handle.claims_tables().await.unwrap();
        while handle.claims.why_not_yet().is_some() {
            handle.claims.catch_up(store.as_ref()).await.unwrap();
        }
        let shape = tables[0].shape.clone().unwrap();
        let filter = ClaimFilter::Sending;
        let page = store
            .claims(&shape, &filter, &ClaimAnchor::Start, 200)
            .await
            .unwrap();
        let keys: Vec<String> = page.rows.iter().map(|claim| claim.key.clone()).collect();
        let judge = Judge::of(&handle, &shape.table, &keys, clock.now())
            .await
            .unwrap();
        let mut verdicts: BTreeMap<&str, u32> = BTreeMap::new();
        for claim in page.rows {
            let judged = judge.judge(claim, shape.table.cutoff_ms);
            assert_eq!(judged.owners.len(), 1, "{}", judged.claim.key);
            let verdict = judged.verdict.unwrap();
            *verdicts.entry(verdict.judgement.slug()).or_default() += 1;
        }
        for judgement in [Judgement::Running, Judgement::Safe, Judgement::Unknown] {
            assert!(verdicts.contains_key(judgement.slug()), "{verdicts:?}");
        }
    }
}
