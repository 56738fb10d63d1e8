//! Claims of a source: its tables, the index from keys to jobs, verdicts, and the provider.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use app::model::claim::ClaimsTable;
use app::model::claim::table::Shape;
use app::pages::claims::LastPurge;
use app::ports::claims::ClaimStore;
use app::ports::error::StoreError;
use app::ports::histories::HistoryStore;
use tokio::sync::watch;

use crate::config::claims::ConfiguredTable;
use crate::config::{ConfigError, SourceConfig, environment};

pub mod index;
pub mod judge;
pub mod look;
pub mod provider;
#[cfg(test)]
mod tests;

use index::{KeyIndex, Lookups};
use provider::Provider;

/// What is kept about the claims of one source.
#[derive(Debug, Default)]
pub struct SourceClaims {
    /// The tables that the configuration names.
    configured: Vec<ClaimsTable>,
    /// Names of those that live in another database than the jobs and cannot be reached there.
    elsewhere: HashSet<String>,
    /// Whether tables may be looked for where none is configured.
    detect: bool,
    /// Whether the source is configured as read-only.
    read_only: bool,
    /// From keys to jobs.
    pub index: KeyIndex,
    /// What the index has to know of the tables that are there.
    lookups: watch::Sender<Lookups>,
    /// Asks providers; `None` where no table says how.
    pub provider: Option<Provider>,
    /// The last periodic purge of each table, by name.
    purges: Mutex<HashMap<String, LastPurge>>,
}

impl SourceClaims {
    /// What the configuration says.
    ///
    /// # Errors
    /// [`ConfigError`] where a table is not described as it should be, or the system's certificates
    /// cannot be read and a provider is to be asked.
    pub fn of(config: &SourceConfig) -> Result<Self, ConfigError> {
        let tables = config.claims_tables(environment)?;
        let reached = config.claims_database(&tables).is_some();
        let apart = |table: &&ConfiguredTable| table.database.is_some() && !reached;
        let elsewhere = tables.iter().filter(apart);
        let elsewhere = elsewhere.map(|table| table.table.name.clone()).collect();
        let configured: Vec<ClaimsTable> = tables.into_iter().map(|table| table.table).collect();
        let provider = configured
            .iter()
            .any(|table| table.provider.is_some())
            .then(Provider::new)
            .transpose()
            .map_err(|error| {
                ConfigError::Wrong(format!(
                    "source {}: the provider cannot be asked: {error}",
                    config.name
                ))
            })?;
        Ok(Self {
            configured,
            elsewhere,
            detect: config.claims_detect,
            read_only: config.read_only,
            index: KeyIndex::default(),
            lookups: watch::Sender::default(),
            provider,
            purges: Mutex::default(),
        })
    }

    /// The last periodic purge of a table.
    pub fn last_purge(&self, table: &str) -> Option<LastPurge> {
        let purges = self.purges.lock().unwrap_or_else(PoisonError::into_inner);
        purges.get(table).cloned()
    }

    fn purged(&self, table: &str, last: LastPurge) {
        let mut purges = self.purges.lock().unwrap_or_else(PoisonError::into_inner);
        purges.insert(table.to_owned(), last);
    }

    /// Whether tables are looked for: where none is configured, and that is not switched off.
    fn detects(&self) -> bool {
        self.detect && self.configured.is_empty()
    }

    /// The table as the catalogue has it now.
    ///
    /// # Errors
    /// As the store's; and for a table of another database, whose claims are not read: a table of
    /// the same name in the jobs' database is never taken for it.
    pub async fn shape(
        &self,
        store: &(impl ClaimStore + ?Sized),
        table: &ClaimsTable,
    ) -> Result<Shape, StoreError> {
        if self.elsewhere.contains(&table.name) {
            return Err(StoreError::Unreadable(format!(
                "{} is configured to live in another database than the jobs. Claims are read there \
                 where all of a source's tables name the same one, and it is of the same kind as \
                 the jobs' (PostgreSQL or SQLite).",
                table.name
            )));
        }
        store.shape(table).await
    }

    /// Says for which tables the index is kept.
    fn index_for(&self, tables: &[ClaimsTable]) {
        let lookups = Lookups::of(tables);
        self.lookups.send_if_modified(|known| {
            let differs = *known != lookups;
            *known = lookups;
            differs
        });
    }

    /// Brings the index up to date before somebody acts. Until it has seen every job, the ones
    /// behind a claim are not known, and nobody can tell whether one of them is running.
    ///
    /// # Errors
    /// As the database's.
    pub async fn catch_up(&self, store: &(impl HistoryStore + ?Sized)) -> Result<(), StoreError> {
        let lookups = self.lookups.borrow().clone();
        if lookups.is_empty() {
            return Ok(());
        }
        self.index.catch_up(store, &lookups).await
    }

    /// How far jobs are looked for, in a sentence; `None` where all are.
    pub fn why_not_all(&self) -> Option<String> {
        self.why_not_yet().or_else(|| {
            let from = self.index.progress().from?;
            Some(format!(
                "Jobs behind claims are looked for from job {from} on: there are too many to keep \
                 older ones in mind."
            ))
        })
    }

    /// Why nothing can be done about claims yet, in words: until every job was looked through, one
    /// that is running could be overlooked.
    pub fn why_not_yet(&self) -> Option<String> {
        let progress = self.index.progress();
        (!progress.complete).then(|| {
            format!(
                "The jobs behind claims are still being looked for: {} jobs were looked through so \
                 far. Try again in a moment.",
                progress.jobs
            )
        })
    }
}
