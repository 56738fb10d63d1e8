//! What was counted since counting began, for the metrics: read in the background from the rollups.

mod counted;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use app::model::insights::Scope;
use app::model::state::Instant as Moment;
use app::ports::error::StoreError;
use app::ports::insights::InsightStore;
use tokio::sync::watch;
use tokio::time::Instant;

use super::Snapshot;
use crate::clock::SharedClock;
use crate::collector::Progress;

pub use counted::{Counted, Label, Sums, Totals};

/// The pause between two looks.
const PAUSE: Duration = Duration::from_secs(10);
/// A pause is at least this many times what the look before it took.
const REST: u32 = 20;
/// Hours that are read at each look. What was counted of older ones changes rarely.
const RECENT: i64 = 48;
/// Older hours are read again after this time, for rows that came late.
const AGAIN: Duration = Duration::from_hours(24);
/// Hours are read up to here: clocks may run ahead.
const LAST: i64 = 24 * 366 * 10_000;
/// A range of hours is halved where reading it takes too long, down to this length.
const SHORTEST: i64 = 24;

/// Reads again and again, until dropped.
pub async fn run<S: InsightStore + ?Sized>(
    store: &S,
    clock: &SharedClock,
    live: &watch::Sender<Snapshot>,
) {
    let mut reader = Reader::default();
    let mut pause = PAUSE;
    loop {
        // At first for the collector, which says then whether it collects here.
        tokio::time::sleep(pause).await;
        let began = Instant::now();
        let indexed = is_indexed(&live.borrow().collecting);
        if indexed || reader.has_read() {
            match reader.read(store, clock.now()).await {
                Ok(Some(totals)) => live.send_modify(|snapshot| snapshot.totals = Some(totals)),
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, "totals could not be read"),
            }
        }
        pause = PAUSE.max(began.elapsed() * REST);
    }
}

/// Whether what is counted is no longer the history that was there before: its attempts are not what
/// happens now. Of another process that collects nothing is known.
fn is_indexed(collecting: &Progress) -> bool {
    collecting.caught_up || collecting.position.is_none()
}

/// Reads totals, each time only what may have changed.
#[derive(Debug, Default)]
pub struct Reader {
    older: Option<Older>,
    /// The position and the time of the last write that was read.
    version: Option<(i64, Moment)>,
    totals: Arc<Totals>,
}

/// What was counted of the hours before an edge.
#[derive(Debug)]
struct Older {
    edge: i64,
    sums: Sums,
    read_at: Instant,
}

impl Reader {
    fn has_read(&self) -> bool {
        self.version.is_some()
    }

    /// The totals, where they are others than at the last time; nothing where nothing was ever
    /// collected.
    ///
    /// # Errors
    /// As the store's.
    pub async fn read<S: InsightStore + ?Sized>(
        &mut self,
        store: &S,
        now: Moment,
    ) -> Result<Option<Arc<Totals>>, StoreError> {
        let Some(coverage) = store.coverage().await? else {
            return Ok(None);
        };
        let version = Some((coverage.watermark, coverage.as_of));
        if self.version == version {
            return Ok(None);
        }
        // Whole days, because delays are counted by the day.
        let edge = whole_days(now.timestamp().div_euclid(3600) - RECENT);
        if let Some(since) = coverage.since {
            self.read_older(store, whole_days(since).min(edge), edge)
                .await?;
        }
        let mut sums = self
            .older
            .as_ref()
            .map_or_else(Sums::default, |older| older.sums.clone());
        let from = self.older.as_ref().map_or(edge, |older| older.edge);
        sums.add(&sums_of(store, from, LAST).await?);
        let mut totals = Totals::clone(&self.totals);
        totals.advance(&sums, coverage.as_of);
        self.totals = Arc::new(totals);
        self.version = version;
        Ok(Some(self.totals.clone()))
    }

    async fn read_older<S: InsightStore + ?Sized>(
        &mut self,
        store: &S,
        since: i64,
        edge: i64,
    ) -> Result<(), StoreError> {
        match &mut self.older {
            Some(older) if older.read_at.elapsed() < AGAIN => {
                if older.edge < edge {
                    older.sums.add(&sums_of(store, older.edge, edge).await?);
                    older.edge = edge;
                }
            }
            _ => {
                self.older = Some(Older {
                    edge,
                    sums: sums_of(store, since, edge).await?,
                    read_at: Instant::now(),
                });
            }
        }
        Ok(())
    }
}

fn whole_days(hour: i64) -> i64 {
    hour.div_euclid(24) * 24
}

/// What was counted in some hours, read in as many pieces as it takes.
async fn sums_of<S: InsightStore + ?Sized>(
    store: &S,
    from: i64,
    to: i64,
) -> Result<Sums, StoreError> {
    let mut sums = Sums::default();
    let mut pieces = vec![(from, to)];
    while let Some((from, to)) = pieces.pop() {
        if from >= to {
            continue;
        }
        match piece(store, from, to).await {
            Ok(piece) => sums.add(&piece),
            Err(StoreError::TimedOut(_)) if to - from > SHORTEST => {
                let middle = whole_days(from + (to - from) / 2).max(from + SHORTEST);
                pieces.extend([(from, middle), (middle, to)]);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(sums)
}

async fn piece<S: InsightStore + ?Sized>(
    store: &S,
    from: i64,
    to: i64,
) -> Result<Sums, StoreError> {
    let scope = Scope {
        from,
        to,
        job_type: None,
        method: None,
        queue: None,
    };
    let slots = (to - from).saturating_mul(6);
    let mut sums = Sums::default();
    sums.add_attempts(store.attempts(&scope).await?);
    sums.add_first_attempts(store.first_attempts(&scope, slots).await?);
    sums.add_delays(store.delays(&scope).await?);
    Ok(sums)
}
