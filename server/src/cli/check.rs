//! `redrive check`.

use std::process::ExitCode;
use std::sync::Arc;

use super::CheckOptions;
use super::output::say;
use crate::check::{Report, Verdict, check};
use crate::clock::{SharedClock, SystemClock};
use crate::config::SourceConfig;
use crate::store::postgres::PostgresStore;
use crate::store::sqlite::SqliteStore;

/// Checks every configured source and prints what was found. Exit code 0: nothing needs action;
/// 1: something does; 2: something could not be checked.
///
/// # Errors
/// Where the configuration is wrong.
pub async fn run(options: CheckOptions) -> anyhow::Result<ExitCode> {
    let sources = options.database.sources()?;
    anyhow::ensure!(
        !sources.is_empty(),
        "no source is configured: give --database, or a [[source]] in redrive.toml"
    );
    let clock: SharedClock = Arc::new(SystemClock);
    let mut reports = Vec::new();
    for source in &sources {
        reports.push(report(source, &clock).await?);
    }
    if options.json {
        let all: Vec<_> = reports.iter().map(Report::json).collect();
        say(&format!("{}\n", serde_json::to_string_pretty(&all)?))?;
    } else {
        let all: Vec<_> = reports.iter().map(Report::text).collect();
        say(&all.join("\n"))?;
    }
    Ok(ExitCode::from(worst(&reports).exit_code()))
}

async fn report(source: &SourceConfig, clock: &SharedClock) -> anyhow::Result<Report> {
    Ok(if source.is_postgres() {
        let store =
            PostgresStore::connect(&source.database, &source.schema, SharedClock::clone(clock))?;
        check(&source.name, &store, clock).await
    } else {
        let store = SqliteStore::lazy(
            &source.sqlite_path(),
            SharedClock::clone(clock),
            source.why_not_written(),
        );
        check(&source.name, &store, clock).await
    })
}

/// A finding in one source matters more than another source that could not be checked, whose line
/// stands in the report all the same.
fn worst(reports: &[Report]) -> Verdict {
    let verdicts = || reports.iter().map(Report::verdict);
    [Verdict::Findings, Verdict::CannotCheck]
        .into_iter()
        .find(|wanted| verdicts().any(|verdict| verdict == *wanted))
        .unwrap_or(Verdict::Well)
}
