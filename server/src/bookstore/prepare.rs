//! Making the demo database ready to be served.

use std::path::Path;

use chrono::TimeDelta;

use super::scenario::scenario;
use super::write::{DemoError, DemoLabel, label, write};
use crate::clock::SharedClock;
use crate::store::sqlite::SqliteStore;

/// What became of the demo database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prepared {
    /// It was made.
    Made(DemoLabel),
    /// One was there and is shown as it is; its data are this old.
    Reused(DemoLabel, TimeDelta),
}

impl Prepared {
    /// Its label.
    pub fn label(&self) -> &DemoLabel {
        match self {
            Self::Made(label) | Self::Reused(label, _) => label,
        }
    }

    /// One sentence for the terminal.
    pub fn sentence(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::Made(label) => format!(
                "Made the Bookstore demo in {path}: {} jobs of the last 14 days (seed {}).",
                label.jobs, label.seed
            ),
            Self::Reused(label, age) => format!(
                "Using the Bookstore demo in {path}: {} jobs, made {} ({}). --fresh makes it anew.",
                label.jobs,
                ago(*age),
                label.made_at.format("%Y-%m-%d %H:%M UTC")
            ),
        }
    }
}

fn ago(age: TimeDelta) -> String {
    let (number, unit) = if age < TimeDelta::hours(1) {
        (age.num_minutes().max(0), "minute")
    } else if age < TimeDelta::days(1) {
        (age.num_hours(), "hour")
    } else {
        (age.num_days(), "day")
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural} ago")
}

/// Makes a demo database at `path`, of `jobs` jobs up to the clock's now, or takes the one that is
/// there unless `fresh`. The folder must exist.
///
/// # Errors
/// [`DemoError::NoDemo`] where a file is there that is no demo: it is never touched, `fresh` or
/// not. Else as the store's or the file system's.
pub async fn prepare(
    path: &Path,
    seed: u64,
    jobs: usize,
    fresh: bool,
    clock: SharedClock,
) -> Result<Prepared, DemoError> {
    if tokio::fs::try_exists(path).await.unwrap_or(true) {
        let no_demo = || DemoError::NoDemo(path.display().to_string());
        let store = SqliteStore::open(path, SharedClock::clone(&clock)).await?;
        let pool = store.writer().await?;
        let label = label(&pool).await?.ok_or_else(no_demo)?;
        if !fresh {
            let age = clock.now() - label.made_at;
            return Ok(Prepared::Reused(label, age));
        }
        pool.close().await;
    }
    let scenario = scenario(seed, jobs, clock.now());
    write(path, seed, &scenario, clock).await?;
    Ok(Prepared::Made(DemoLabel {
        made_at: scenario.now,
        seed,
        jobs: scenario.jobs.len() as u64,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_one_unit() {
        assert_eq!(ago(TimeDelta::seconds(119)), "1 minute ago");
        assert_eq!(ago(TimeDelta::minutes(150)), "2 hours ago");
        assert_eq!(ago(TimeDelta::days(3)), "3 days ago");
        assert_eq!(ago(TimeDelta::seconds(-5)), "0 minutes ago");
    }
}
