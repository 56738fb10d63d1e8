//! The collector's task: one per source, which reads state rows by id and keeps the numbers.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use app::figures::Collecting;
use app::model::collect::batch::{Batch, Changes};
use app::model::collect::position::Position;
use app::ports::collector::{CollectorStore, Look};
use app::ports::error::StoreError;
use chrono::TimeDelta;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::clock::SharedClock;
use crate::source::Snapshot;
use crate::source::arrivals::Arrivals;

/// How long the lease lasts without being kept: after a crash another process waits this long.
const LEASE: Duration = Duration::from_mins(1);
/// It is kept this often.
const KEEP: Duration = Duration::from_secs(20);
/// The pause when there was nothing new.
const IDLE: Duration = Duration::from_secs(1);
/// The pause after a fault, and while another process has the lease.
const TROUBLE: Duration = Duration::from_secs(5);
/// Jobs that vanished are looked for this often, so many remembered ones at a time.
const SWEEP: Duration = Duration::from_secs(30);
const SWEPT: u32 = 2_000;
/// A job's newest row and its state may differ for a moment, while the job changes.
const CHANGING: TimeDelta = TimeDelta::minutes(1);
/// Batches become no smaller than this.
const FEWEST_ROWS: u32 = 100;

/// What the collector is doing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// How far it has read; `None` before the first look, and while another process collects.
    pub position: Option<Position>,
    /// The highest id in the table at the last look.
    pub highest: i64,
    /// Whether every row that could be seen at the last look is counted.
    pub caught_up: bool,
    /// Why it stands still, in words. It goes on by itself.
    pub trouble: Option<String>,
    /// Which jobs came into which list lately; `None` while nothing is read here.
    pub arrivals: Option<Arc<Arrivals>>,
}

impl From<&Progress> for Collecting {
    fn from(progress: &Progress) -> Self {
        Self {
            watermark: progress
                .position
                .as_ref()
                .map(|position| position.watermark),
            highest: progress.highest,
            caught_up: progress.caught_up,
            trouble: progress.trouble.clone(),
        }
    }
}

/// What a pass came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// Rows were read, and more may be there.
    More,
    /// There was nothing new.
    Idle,
    /// Another process collects.
    Elsewhere,
}

/// Collects until told to stop.
pub async fn run(
    store: Arc<dyn CollectorStore>,
    clock: SharedClock,
    live: watch::Sender<Snapshot>,
    stop: CancellationToken,
) {
    let mut collector = Collector::new(store, clock, live);
    let work = async {
        loop {
            let pause = match collector.pass().await {
                Ok(Passed::More) => continue,
                Ok(Passed::Idle) => IDLE,
                Ok(Passed::Elsewhere) => TROUBLE,
                Err(error) => collector.say(&error),
            };
            tokio::time::sleep(pause).await;
        }
    };
    tokio::select! {
        () = work => {}
        () = stop.cancelled() => {}
    }
    collector.leave().await;
}

/// Collects from one source.
pub struct Collector {
    store: Arc<dyn CollectorStore>,
    clock: SharedClock,
    live: watch::Sender<Snapshot>,
    holder: Uuid,
    /// The position as it is stored, while the lease is ours.
    position: Option<Position>,
    kept_at: Instant,
    rows: u32,
    swept_at: Instant,
    /// The last job that was looked at for whether it is still there.
    swept_to: i64,
    /// The last job that the index was compared with.
    mended_to: i64,
}

impl Collector {
    /// A collector that has not looked yet.
    pub fn new(
        store: Arc<dyn CollectorStore>,
        clock: SharedClock,
        live: watch::Sender<Snapshot>,
    ) -> Self {
        let now = Instant::now();
        Self {
            holder: clock.new_id(),
            rows: store.pace().rows,
            store,
            clock,
            live,
            position: None,
            kept_at: now,
            swept_at: now,
            swept_to: 0,
            mended_to: 0,
        }
    }

    /// One batch: reads, folds, writes.
    ///
    /// # Errors
    /// As the store's. What was not written is read again.
    pub async fn pass(&mut self) -> Result<Passed, StoreError> {
        // Where something fails in between, what is stored may not be what is remembered here.
        let Some(from) = self.leased().await? else {
            self.publish(|progress| *progress = Progress::default());
            return Ok(Passed::Elsewhere);
        };
        let look = self.store.look(&from, self.rows).await?;
        let (look, to) = match self.next(&from, look) {
            Ok(next) => next,
            Err(anew) => {
                tracing::warn!(
                    epoch = anew.epoch,
                    "the database was restored or rebuilt: reading its state rows from the start"
                );
                self.publish(|progress| progress.arrivals = None);
                self.mended_to = 0;
                return self.write(from, *anew, &Changes::default()).await;
            }
        };
        let changes = look.batch.fold(&from);
        let highest = look.highest;
        let seen_to = from.watermark;
        let caught_up = to.watermark >= highest && !look.is_cut;
        let is_indexed = to.indexed;
        if from == to && changes == Changes::default() {
            self.show(from);
        } else if self.write(from, to, &changes).await? == Passed::Elsewhere {
            return Ok(Passed::Elsewhere);
        }
        self.publish(|progress| {
            progress.highest = highest;
            progress.caught_up = caught_up;
            let arrivals = progress
                .arrivals
                .get_or_insert_with(|| Arc::new(Arrivals::after(seen_to)));
            if !look.batch.rows.is_empty() {
                Arc::make_mut(arrivals).take(&look.batch.rows);
            }
        });
        if !caught_up {
            return Ok(Passed::More);
        }
        if !is_indexed {
            return self.mend().await;
        }
        self.sweep().await
    }

    /// The position after a look; as an error the one to begin with anew, where the ids are not
    /// those that were read before.
    fn next(&self, from: &Position, look: Look) -> Result<(Look, Position), Box<Position>> {
        let mut to = from.clone();
        if from.is_of_another(look.highest, look.given) {
            to.restart(self.clock.now());
            return Err(Box::new(to));
        }
        let Batch { rows, .. } = &look.batch;
        let ids: Vec<i64> = rows.iter().map(|row| row.row.id).collect();
        if look.is_cut {
            to.advance_within(&ids);
        } else {
            to.advance(&ids, look.highest, look.given, look.around.as_ref());
        }
        let newest_job = rows.iter().map(|row| row.job).max();
        to.newest_job = to.newest_job.max(newest_job.unwrap_or_default());
        to.newest_at = to
            .newest_at
            .max(rows.iter().map(|row| row.row.created_at).max());
        Ok((look, to))
    }

    /// The stored position, while the lease is ours.
    async fn leased(&mut self) -> Result<Option<Position>, StoreError> {
        if let Some(position) = self.position.take()
            && self.kept_at.elapsed() < KEEP
        {
            return Ok(Some(position));
        }
        let leased = self.store.lease(self.holder, LEASE).await?;
        self.kept_at = Instant::now();
        Ok(leased)
    }

    /// Writes, and remembers the new position.
    async fn write(
        &mut self,
        from: Position,
        to: Position,
        changes: &Changes,
    ) -> Result<Passed, StoreError> {
        let began = Instant::now();
        let written = self.store.write(self.holder, &from, &to, changes).await?;
        self.adapt(began.elapsed());
        if !written {
            return Ok(Passed::Elsewhere);
        }
        self.show(to);
        Ok(Passed::More)
    }

    /// Batches that keep others waiting become smaller; short ones grow again.
    fn adapt(&mut self, took: Duration) {
        let pace = self.store.pace();
        let Some(longest) = pace.longest_write else {
            return;
        };
        if took > longest / 2 {
            self.rows = (self.rows / 2).max(FEWEST_ROWS);
        } else if took < longest / 8 {
            self.rows = self.rows.saturating_mul(2).min(pace.rows);
        }
    }

    /// Forgets jobs that vanished with all their rows, and mends the index.
    async fn sweep(&mut self) -> Result<Passed, StoreError> {
        if self.swept_at.elapsed() < SWEEP {
            return Ok(Passed::Idle);
        }
        self.swept_at = Instant::now();
        if self.sweep_now().await? == Passed::Elsewhere || self.mend().await? == Passed::Elsewhere {
            return Ok(Passed::Elsewhere);
        }
        Ok(Passed::Idle)
    }

    /// Forgets some of the jobs that vanished, as the pass does now and then.
    ///
    /// # Errors
    /// As the store's.
    pub async fn sweep_now(&mut self) -> Result<Passed, StoreError> {
        let Some(from) = self.leased().await? else {
            return Ok(Passed::Elsewhere);
        };
        let (gone, last) = self.store.gone(self.swept_to, SWEPT).await?;
        self.swept_to = last.unwrap_or(0);
        if gone.is_empty() {
            self.show(from);
            return Ok(Passed::Idle);
        }
        let mut changes = Changes::default();
        for (job, memory) in gone {
            for gauge in memory.gauges() {
                changes.increments.gauge(gauge, -1);
            }
            changes.forgotten.push(job);
        }
        let to = from.clone();
        self.write(from, to, &changes).await
    }

    /// Compares the index with some of the jobs, and makes up for what differs: rows that were
    /// written before there was an index, jobs that somebody changed without a row. The index is
    /// whole when all were looked at once.
    ///
    /// # Errors
    /// As the store's.
    pub async fn mend(&mut self) -> Result<Passed, StoreError> {
        let Some(from) = self.leased().await? else {
            return Ok(Passed::Elsewhere);
        };
        let astray = self.store.astray(&from, self.mended_to).await?;
        self.mended_to = astray.last.unwrap_or(0);
        let mut changes = Changes {
            prune: astray.last.is_none(),
            ..Changes::default()
        };
        for (job, stray) in &astray.strays {
            if let Some(failure) = stray.failure(from.watermark) {
                changes.failures.insert(*job, failure);
            }
        }
        // A job may be about to come into the state that its newest row names.
        let before = self.clock.now() - CHANGING;
        for (job, since) in astray.stale {
            if since < before && !changes.failures.contains_key(&job) {
                changes.left.push(job);
            }
        }
        let mut to = from.clone();
        to.indexed |= astray.last.is_none();
        if from == to && changes == Changes::default() {
            self.show(from);
            return Ok(Passed::More);
        }
        self.write(from, to, &changes).await
    }

    fn show(&mut self, position: Position) {
        self.publish(|progress| {
            progress.position = Some(position.clone());
            progress.trouble = None;
        });
        self.position = Some(position);
    }

    fn publish(&self, change: impl FnOnce(&mut Progress)) {
        self.live
            .send_modify(|snapshot| change(&mut snapshot.collecting));
    }

    /// Says once what is wrong; the pause after it.
    fn say(&mut self, error: &StoreError) -> Duration {
        self.position = None;
        let trouble = error.to_string();
        self.live.send_if_modified(|snapshot| {
            let progress = &mut snapshot.collecting;
            let is_new = progress.trouble.as_ref() != Some(&trouble);
            if is_new {
                tracing::warn!(%error, "nothing is collected for now");
                progress.trouble = Some(trouble);
            }
            is_new
        });
        TROUBLE
    }

    /// Lets another process have the lease.
    pub async fn leave(&self) {
        if let Err(error) = self.store.release(self.holder).await {
            tracing::debug!(%error, "the collector's lease ends by itself");
        }
    }
}
