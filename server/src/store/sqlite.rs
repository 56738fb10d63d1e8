//! The store on `SQLite`, in the layout of `Hangfire.Storage.SQLite`.
//!
//! A file that a job server is using is opened as it is: no pragma that would change it, reads
//! on connections of their own, writes through one connection in short `BEGIN IMMEDIATE`
//! transactions. All work runs in spawned tasks, so that a dropped request cannot leave a
//! transaction open.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use app::actions::found::Limits;
use app::ports::error::StoreError;
use sqlx::SqlitePool;
use tokio::sync::Mutex;

use crate::clock::SharedClock;
use crate::store::kept::Kept;
use crate::store::read_times::{Measured, ReadTimes};

mod act;
mod audit;
mod claims;
mod collector;
mod connect;
mod counts;
mod delays;
mod errors;
mod failures;
mod filter;
mod health;
mod histories;
mod insights;
mod job;
mod jobs;
mod layout;
mod list;
mod migrate;
mod numbers;
pub(in crate::store) mod own;
mod recurring;
mod rows;
mod servers;
mod source;
mod sql;
pub(crate) mod ticks;
mod work;

use connect::Opened;

/// One `SQLite` file with Hangfire's tables. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct SqliteStore {
    inner: Arc<Inner>,
    limits: Limits,
    /// The file that holds the claims, where it is another one.
    claims: Option<Arc<SqliteStore>>,
    /// The file that holds the numbers, where this one cannot.
    kept: Option<Arc<Kept>>,
}

struct Inner {
    path: PathBuf,
    clock: SharedClock,
    /// Why the file must not be written, where the operator said so.
    read_only: Option<String>,
    /// Whether it must hold Hangfire's tables.
    of_hangfire: bool,
    opened: Mutex<Option<Arc<Opened>>>,
    /// Whether somebody asked for Redrive's own tables, so that they are made up for where the
    /// file was away or busy at that moment.
    own_tables: AtomicBool,
    times: ReadTimes,
}

impl SqliteStore {
    /// A store on the file at `path`, which is opened when it is first needed, and again when
    /// another file has taken its place. `read_only` says, in words, why it must not be written.
    pub fn lazy(path: &Path, clock: SharedClock, read_only: Option<String>) -> Self {
        Self::on(path, clock, read_only, true, ReadTimes::default())
    }

    fn on(
        path: &Path,
        clock: SharedClock,
        read_only: Option<String>,
        of_hangfire: bool,
        times: ReadTimes,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                path: path.to_owned(),
                clock,
                read_only,
                of_hangfire,
                opened: Mutex::new(None),
                own_tables: AtomicBool::new(false),
                times,
            }),
            limits: Limits::default(),
            claims: None,
            kept: None,
        }
    }

    /// A file that holds own tables alone, and stands in for those of a source.
    pub(super) fn beside(path: &Path, clock: SharedClock, times: ReadTimes) -> Self {
        Self::on(path, clock, None, false, times)
    }

    /// The same store, whose numbers lie in a file of the folder `dir` named after `source` where
    /// this one cannot hold them.
    #[must_use]
    pub fn with_numbers_in(self, dir: &Path, source: &str) -> Self {
        let only = self.inner.read_only.is_some();
        let path = whole(&self.inner.path);
        let file = path.to_string_lossy();
        let beside =
            |path: &Path| Self::beside(path, self.inner.clock.clone(), self.inner.times.clone());
        Self {
            kept: Some(Arc::new(Kept::new(dir, source, &[&file], only, beside))),
            ..self
        }
    }

    /// The file that stands in for the own tables, where one may.
    pub fn kept(&self) -> Option<&Arc<Kept>> {
        self.kept.as_ref()
    }

    /// The same store, whose claims lie in the file at `path`. A claim and its job then change in
    /// two transactions.
    #[must_use]
    pub fn with_claims_in(self, path: &Path) -> Self {
        let (clock, read_only) = (self.inner.clock.clone(), self.inner.read_only.clone());
        let times = self.inner.times.clone();
        Self {
            claims: Some(Arc::new(Self::on(path, clock, read_only, false, times))),
            ..self
        }
    }

    /// The same store where the job servers run with other time limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The time limits of the job servers.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Opens an existing file, which a job server may be using at this moment.
    ///
    /// # Errors
    /// [`StoreError::Absent`] where there is no such file, [`StoreError::Away`] where it cannot be
    /// opened, [`StoreError::Unreadable`] where it does not hold Hangfire's tables.
    pub async fn open(path: &Path, clock: SharedClock) -> Result<Self, StoreError> {
        let store = Self::lazy(path, clock, None);
        store.opened().await?;
        Ok(store)
    }

    /// Creates a file with the tables of Hangfire and of Redrive, in WAL mode, and opens it. An
    /// empty file may be there already.
    ///
    /// # Errors
    /// [`StoreError::Forbidden`] where the file holds tables already or cannot be written.
    pub async fn create(path: &Path, clock: SharedClock) -> Result<Self, StoreError> {
        connect::create(path, &clock).await?;
        Self::open(path, clock).await
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The connections that only read.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn reader(&self) -> Result<SqlitePool, StoreError> {
        Ok(self.opened().await?.readers.clone())
    }

    /// The one connection that writes, for filling a file of our own.
    ///
    /// # Errors
    /// [`StoreError::Forbidden`] where the file cannot be written.
    pub async fn writer(&self) -> Result<SqlitePool, StoreError> {
        let opened = self.opened().await?;
        opened.writer.clone().ok_or_else(|| {
            StoreError::Forbidden(
                opened
                    .cannot_write
                    .clone()
                    .unwrap_or_else(|| "the file cannot be written".to_owned()),
            )
        })
    }
}

/// A path that stays the same however the file is named, also of one that is not there yet.
fn whole(path: &Path) -> PathBuf {
    let there = || {
        let (dir, name) = (path.parent()?, path.file_name()?);
        let dir = if dir.as_os_str().is_empty() {
            Path::new(".")
        } else {
            dir
        };
        Some(dir.canonicalize().ok()?.join(name))
    };
    path.canonicalize()
        .ok()
        .or_else(there)
        .or_else(|| std::path::absolute(path).ok())
        .unwrap_or_else(|| path.to_owned())
}

impl Measured for SqliteStore {
    fn read_times(&self) -> &ReadTimes {
        &self.inner.times
    }
}

#[cfg(test)]
mod tests;
