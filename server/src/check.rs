//! `redrive check`: looks at one source and says what is wrong with it.

mod report;
pub mod servers;

use app::model::health::{Check, Sighting};
use app::ports::error::StoreError;
use app::ports::health::HealthStore;
use app::ports::source::{Source, SourceInfo};
use chrono::TimeDelta;

use crate::clock::SharedClock;

pub use report::Verdict;

/// What was seen of one source.
#[derive(Debug)]
pub struct Report {
    /// The source's name.
    pub source: String,
    /// Version, rights and clock; or why the database could not be looked at.
    pub info: Result<SourceInfo, StoreError>,
    /// Each check that applies, with what it saw; empty where the database does not answer.
    pub checks: Vec<(Check, Result<Sighting, StoreError>)>,
}

/// Looks at a source: connection, version, rights, clock, and every health check. A check that
/// fails does not keep the others from being made.
pub async fn check<S: Source + HealthStore + ?Sized>(
    name: &str,
    store: &S,
    clock: &SharedClock,
) -> Report {
    let info = store.info().await;
    let mut checks = Vec::new();
    if let Ok(info) = &info {
        let now = clock.now() + TimeDelta::milliseconds(info.clock_skew_ms);
        for check in Check::ALL {
            if store.applies(check) {
                checks.push((check, store.look(check, now).await));
            }
        }
    }
    Report {
        source: name.to_owned(),
        info,
        checks,
    }
}

#[cfg(test)]
mod tests;
