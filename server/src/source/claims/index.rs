//! Finding the jobs behind a claim. Neither database has an index by argument, so one is kept in
//! memory: from the hash of a lookup value to job ids. It is filled in the background, follows new
//! jobs by id, and what it finds is checked by whoever reads the job.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use app::model::claim::ClaimsTable;
use app::model::invocation::Invocation;
use app::model::job::JobCall;
use app::ports::error::StoreError;
use app::ports::histories::HistoryStore;
use tokio::time::Instant;

#[cfg(test)]
mod tests;

/// Entries at most, of 16 bytes each.
const CAP: usize = 2_000_000;
/// Entries of new jobs that are kept aside before they are merged into the sorted ones.
const ASIDE: usize = 4_096;
/// Jobs per read.
const BATCH: u32 = 2_000;
/// The pause after a read is at least this many times what it took, so that filling never takes
/// more than a quarter of one connection.
const REST: u32 = 3;
/// The shortest pause between two reads while filling.
const BREATH: Duration = Duration::from_millis(10);
/// The pause between two looks for new jobs.
const FOLLOW: Duration = Duration::from_secs(3);
/// So many of the newest ids are read again at each look, because a job becomes visible when its
/// transaction commits, not when its id is drawn. A job that stays uncommitted while the thousand
/// ids after it are drawn, and for another look, is missed until the program starts anew: Hangfire
/// commits within milliseconds of drawing an id, and only an application's own long transaction
/// around it can take longer.
const OVERLAP: i64 = 1_000;

/// One lookup value of one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    hash: u64,
    job: i64,
}

/// What jobs can be looked up by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lookups {
    /// Every table with rules, and one of those without: they look up the same values.
    tables: Vec<ClaimsTable>,
}

impl Lookups {
    /// What these tables need.
    pub fn of<'a>(tables: impl IntoIterator<Item = &'a ClaimsTable>) -> Self {
        let mut lookups = Self::default();
        for table in tables {
            let same = |other: &ClaimsTable| room(other) == room(table);
            if !lookups.tables.iter().any(same) {
                lookups.tables.push(table.clone());
            }
        }
        lookups
    }

    /// Whether there is nothing to look up.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// The hashes under which a job is found.
    fn hashes(&self, call: &Invocation) -> Vec<u64> {
        let tables = self.tables.iter();
        tables
            .flat_map(|table| {
                let values = table.lookup_values(call);
                values.into_iter().map(|value| hash(room(table), &value))
            })
            .collect()
    }
}

/// The hashes under which the jobs of a key are found.
fn sought(table: &ClaimsTable, key: &str) -> Vec<u64> {
    let values = table.sought(key).into_iter();
    values.map(|value| hash(room(table), value)).collect()
}

/// Each table with rules has a room of its own; the ones without share one, where the jobs' first
/// arguments are.
fn room(table: &ClaimsTable) -> Option<&str> {
    (!table.keys.is_empty()).then_some(table.name.as_str())
}

fn hash(room: Option<&str>, value: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (room, value).hash(&mut hasher);
    hasher.finish()
}

/// How far the index has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Whether it has caught up with the newest job once.
    pub complete: bool,
    /// Jobs that were looked through.
    pub jobs: u64,
    /// The newest job that was looked at.
    pub looked_to: Option<i64>,
    /// Jobs older than this one are not in it any more, because it is full.
    pub from: Option<i64>,
}

/// The index of one source. What is in it may be out of date, or two values of one hash: every job
/// found has to be read and checked.
#[derive(Debug)]
pub struct KeyIndex {
    inner: RwLock<Inner>,
    cap: usize,
}

#[derive(Debug, Default)]
struct Inner {
    /// By hash, then job.
    sorted: Vec<Entry>,
    /// Not merged yet.
    aside: BTreeSet<Entry>,
    progress: Progress,
}

impl Default for KeyIndex {
    fn default() -> Self {
        Self::with_cap(CAP)
    }
}

impl KeyIndex {
    fn with_cap(cap: usize) -> Self {
        Self {
            inner: RwLock::default(),
            cap,
        }
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        self.read().progress
    }

    /// Jobs that may stand behind each of these keys, oldest first: at most `most` of each, the
    /// oldest ones, which tell when the effect may first have been sent, and the newest ones, which
    /// may be running.
    pub fn candidates<'a>(
        &self,
        table: &ClaimsTable,
        keys: impl IntoIterator<Item = &'a str>,
        most: usize,
    ) -> HashMap<&'a str, Vec<i64>> {
        let inner = self.read();
        keys.into_iter()
            .map(|key| {
                let mut jobs: Vec<i64> = sought(table, key)
                    .into_iter()
                    .flat_map(|hash| inner.of(hash))
                    .collect();
                jobs.sort_unstable();
                jobs.dedup();
                if jobs.len() > most {
                    jobs.drain(most / 2..jobs.len() - most.div_ceil(2));
                }
                (key, jobs)
            })
            .collect()
    }

    /// Takes in a batch of jobs. One that is known already changes nothing.
    fn add(&self, lookups: &Lookups, calls: &[JobCall]) {
        // Hashing is the work; the lock is held for the rest.
        let entries: Vec<Entry> = calls
            .iter()
            .flat_map(|call| {
                let job = call.id;
                let hashes = lookups.hashes(&call.invocation);
                hashes.into_iter().map(move |hash| Entry { hash, job })
            })
            .collect();
        let mut inner = self.write();
        let from = inner.progress.from;
        for entry in entries {
            let dropped = from.is_some_and(|from| entry.job < from);
            if !dropped && inner.sorted.binary_search(&entry).is_err() {
                inner.aside.insert(entry);
            }
        }
        let known = inner.progress.looked_to.unwrap_or(i64::MIN);
        let fresh = calls.iter().filter(|call| call.id > known).count();
        inner.progress.jobs += u64::try_from(fresh).unwrap_or_default();
        let newest = calls.iter().map(|call| call.id).max();
        inner.progress.looked_to = inner.progress.looked_to.max(newest);
        if inner.aside.len() >= ASIDE || inner.len() > self.cap {
            inner.merge();
        }
        if inner.len() > self.cap {
            inner.drop_oldest(self.cap);
        }
    }

    fn clear(&self) {
        *self.write() = Inner::default();
    }

    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fills the index and follows new jobs, until dropped. A database that is away is tried again.
    pub async fn follow(&self, store: &(impl HistoryStore + ?Sized), lookups: &Lookups) {
        self.clear();
        loop {
            let pause = match self.step(store, lookups).await {
                Ok(pause) => pause,
                Err(error) => {
                    tracing::debug!(%error, "jobs could not be looked through for claims");
                    FOLLOW
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Looks for the jobs that came since the last look, at once: before somebody acts.
    ///
    /// # Errors
    /// As the database's.
    pub async fn catch_up(
        &self,
        store: &(impl HistoryStore + ?Sized),
        lookups: &Lookups,
    ) -> Result<(), StoreError> {
        self.step(store, lookups).await.map(drop)
    }

    /// One read; how long to pause after it.
    async fn step(
        &self,
        store: &(impl HistoryStore + ?Sized),
        lookups: &Lookups,
    ) -> Result<Duration, StoreError> {
        let progress = self.progress();
        let began = Instant::now();
        let mut position = progress.looked_to.unwrap_or(i64::MIN);
        // While it is filled the next rows are wanted; afterwards the overlap comes first.
        if progress.complete {
            position = position.saturating_sub(OVERLAP);
        }
        loop {
            let calls = store.calls_after(position, BATCH).await?;
            self.add(lookups, &calls);
            let last = calls.last().map(|call| call.id);
            let whole = calls.len() < BATCH as usize;
            match last {
                None if progress.complete && progress.jobs > 0 && position > i64::MIN => {
                    return self.after_nothing(store, position).await;
                }
                _ if whole => {
                    if !progress.complete {
                        tracing::info!(jobs = self.progress().jobs, "jobs are indexed for claims");
                        self.write().progress.complete = true;
                    }
                    return Ok(FOLLOW.max(began.elapsed() * REST));
                }
                // Filling goes on after a pause; a follower that lags behind catches up at once.
                Some(last) if progress.complete => position = last,
                _ => return Ok(BREATH.max(began.elapsed() * REST)),
            }
        }
    }

    /// Not even the overlap is there any more. Where other jobs are, the database was restored or
    /// made anew, and ids are drawn again that were drawn before: the index begins anew.
    async fn after_nothing(
        &self,
        store: &(impl HistoryStore + ?Sized),
        position: i64,
    ) -> Result<Duration, StoreError> {
        let first = store.calls_after(i64::MIN, 1).await?;
        if first.first().is_some_and(|call| call.id <= position) {
            self.clear();
        }
        Ok(FOLLOW)
    }
}

impl Inner {
    fn len(&self) -> usize {
        self.sorted.len() + self.aside.len()
    }

    fn of(&self, hash: u64) -> Vec<i64> {
        let (first, last) = (
            Entry {
                hash,
                job: i64::MIN,
            },
            Entry {
                hash,
                job: i64::MAX,
            },
        );
        let start = self.sorted.partition_point(|entry| *entry < first);
        let sorted = self.sorted[start..]
            .iter()
            .take_while(|entry| entry.hash == hash);
        sorted
            .chain(self.aside.range(first..=last))
            .map(|entry| entry.job)
            .collect()
    }

    /// Two sorted runs, one after the other: the stable sort takes them as they are.
    fn merge(&mut self) {
        self.sorted.extend(std::mem::take(&mut self.aside));
        self.sorted.sort();
    }

    /// Drops the entries of the oldest jobs, a tenth more than needed, so that it is not done for
    /// every new job.
    fn drop_oldest(&mut self, cap: usize) {
        let keep = cap - cap / 10;
        let mut jobs: Vec<i64> = self.sorted.iter().map(|entry| entry.job).collect();
        let index = jobs.len().saturating_sub(keep);
        if index >= jobs.len() {
            return;
        }
        let (_, from, _) = jobs.select_nth_unstable(index);
        let from = *from;
        self.sorted.retain(|entry| entry.job >= from);
        self.sorted.shrink_to(cap);
        self.progress.from = Some(from);
    }
}
