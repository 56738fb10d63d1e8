//! What a source is, and what may be done with it.

use std::path::PathBuf;

use async_trait::async_trait;

use super::error::StoreError;

/// The database system a source lives in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `PostgreSQL`, tables of `Hangfire.PostgreSql`.
    Postgres,
    /// `SQLite`, tables of `Hangfire.Storage.SQLite`.
    Sqlite,
}

impl Dialect {
    /// Its name for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Sqlite => "SQLite",
        }
    }
}

/// Whether actions are possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Reads and guarded actions.
    ReadWrite,
    /// Reads only; the reason in words, and the SQL that somebody with the right could run to
    /// change it, where there is one.
    ReadOnly {
        /// Why.
        why: String,
        /// What to run.
        remedy: Option<String>,
    },
}

/// Where the collector's numbers of a source are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NumbersIn {
    /// In Redrive's own tables in the source's database.
    Database,
    /// There too, once `serve` has made those tables.
    ToBeMade,
    /// In this file, as the database cannot hold them.
    File(PathBuf),
    /// Nowhere: the database cannot hold them, and no folder for such a file is configured.
    Nowhere,
}

impl NumbersIn {
    /// The same in words that go on after "numbers".
    pub fn words(&self) -> String {
        match self {
            Self::Database => "are kept in the source's database".to_owned(),
            Self::ToBeMade => "are kept in the source's database, once `redrive serve` or \
                               `redrive migrate` has made Redrive's own tables there"
                .to_owned(),
            Self::File(path) => format!("are kept in {}", path.display()),
            Self::Nowhere => "are not collected: the source's database cannot hold them. With \
                              `state_dir`, they are kept in a file of Redrive's host"
                .to_owned(),
        }
    }
}

/// What is known of a source's database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceInfo {
    /// The database system.
    pub dialect: Dialect,
    /// The system's version, as it says, for example `15.18`.
    pub server_version: String,
    /// Hangfire's schema version; `None` on `SQLite`, which keeps none.
    pub schema_version: Option<i32>,
    /// What may be done.
    pub access: Access,
    /// Where its numbers are kept.
    pub numbers: NumbersIn,
    /// The database's clock minus ours, in milliseconds; 0 on `SQLite`.
    pub clock_skew_ms: i64,
}

/// Describes a source.
#[async_trait]
pub trait Source: Send + Sync {
    /// Looks at the database: version, rights, clock.
    ///
    /// # Errors
    /// [`StoreError::Away`] where it does not answer; [`StoreError::Unreadable`] where the tables
    /// are not Hangfire's, or too old to read.
    async fn info(&self) -> Result<SourceInfo, StoreError>;
}
