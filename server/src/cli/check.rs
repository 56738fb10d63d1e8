//! `redrive check`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use app::ports::source::NumbersIn;

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
    let state_dir = options.state_dir()?;
    let clock: SharedClock = Arc::new(SystemClock);
    let mut reports = Vec::new();
    for source in &sources {
        reports.push(report(source, state_dir.as_deref(), &clock).await?);
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

async fn report(
    source: &SourceConfig,
    state_dir: Option<&Path>,
    clock: &SharedClock,
) -> anyhow::Result<Report> {
    let mut report = if source.is_postgres() {
        let mut store =
            PostgresStore::connect(&source.database, &source.schema, SharedClock::clone(clock))?;
        if let Some(dir) = state_dir {
            store = store.with_numbers_in(dir, &source.name, source.read_only);
        }
        check(&source.name, &store, clock).await
    } else {
        let mut store = SqliteStore::lazy(
            &source.sqlite_path(),
            SharedClock::clone(clock),
            source.why_not_written(),
        );
        if let Some(dir) = state_dir {
            store = store.with_numbers_in(dir, &source.name);
        }
        check(&source.name, &store, clock).await
    };
    // Who may make tables does not, where that is switched off.
    if let Ok(info) = &mut report.info
        && source.read_only
        && info.numbers == NumbersIn::ToBeMade
    {
        info.numbers = NumbersIn::Nowhere;
    }
    Ok(report)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixture::fixtures;

    #[tokio::test]
    async fn where_numbers_are_kept_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("jobs.db");
        let recorded = std::fs::read(fixtures().join("hangfire-storage-sqlite/hangfire.db"));
        std::fs::write(&path, recorded.unwrap()).unwrap();
        let clock: SharedClock = Arc::new(SystemClock);
        let told = async |read_only, state_dir: Option<&Path>| {
            let source = SourceConfig {
                read_only,
                ..SourceConfig::main(path.display().to_string(), None)
            };
            report(&source, state_dir, &clock).await.unwrap().text()
        };
        for state_dir in [None, Some(dir.path())] {
            let open = told(false, state_dir).await;
            assert!(
                open.contains("numbers are kept in the source's database, once"),
                "{open}"
            );
        }
        let nowhere = told(true, None).await;
        assert!(
            nowhere.contains("numbers are not collected") && nowhere.contains("`state_dir`"),
            "{nowhere}"
        );
        let file = told(true, Some(dir.path())).await;
        let begin = format!("numbers are kept in {}/main-", dir.path().display());
        assert!(file.contains(&begin), "{file}");
    }
}
