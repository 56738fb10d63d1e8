//! `redrive demo`.

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

    let source = SourceConfig {
        label: Some("Bookstore demo".to_owned()),
        ..SourceConfig::main(file.display().to_string(), None)
    };
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
