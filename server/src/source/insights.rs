//! The background reading of what the collector counted, of the schedule, and of faults: once for
//! all viewers, however many there are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use app::model::health::{Check, Severity};
use app::model::insights::Coverage;
use app::model::insights::digest::{Digest, Raw, scopes};
use app::model::insights::findings::Findings;
use app::model::insights::forecast::Forecast;
use app::model::rates::slot;
use app::model::state::Instant as Moment;
use app::ports::error::StoreError;
use app::ports::failures::{FailureCauses, FailureStore, Indexed};
use app::ports::health::HealthStore;
use app::ports::insights::InsightStore;
use chrono::TimeDelta;
use tokio::sync::watch;
use tokio::time::Instant;

use super::Snapshot;
use crate::clock::SharedClock;

#[cfg(test)]
mod tests;

/// The pause between two looks at the numbers, and at the schedule.
const PAUSE: Duration = Duration::from_secs(10);
/// The pause while nothing was collected yet: the first numbers are wanted soon.
const FIRST: Duration = Duration::from_secs(1);
/// The pause between two rounds of health checks, and between two checks of a round.
const CHECKS: Duration = Duration::from_mins(1);
const CHECK: Duration = Duration::from_secs(1);
/// A pause is at least this many times what the reading before it took.
const REST: u32 = 20;
/// Causes of failures that are read at most.
const CAUSES: u32 = 20;
/// Planned retries that are read at most.
const RETRIES: u32 = 5_000;

/// What was read last.
#[derive(Debug, Clone, Default)]
pub struct Insights {
    /// The collector's numbers; nothing where nothing was collected yet.
    pub digest: Reading<Digest>,
    /// The retries of the next hour.
    pub forecast: Reading<Forecast>,
    /// Failed jobs by cause; nothing while the index of failures is not whole.
    pub causes: Reading<FailureCauses>,
    /// Faults that need somebody; `None` before the first round.
    pub findings: Option<Arc<Findings>>,
}

/// Something that is read again and again. What was read before is kept where that fails: old
/// numbers carry their age, and are better than none.
#[derive(Debug, Clone)]
pub struct Reading<T> {
    /// What was read; `None` before the first time.
    pub value: Option<Arc<T>>,
    /// When it was last known to be current, by the database's clock.
    pub at: Option<Moment>,
    /// Why it could not be read the last time, in words.
    pub trouble: Option<String>,
}

impl<T> Default for Reading<T> {
    fn default() -> Self {
        Self {
            value: None,
            at: None,
            trouble: None,
        }
    }
}

impl<T> Reading<T> {
    fn take(&mut self, read: Result<Option<Arc<T>>, StoreError>, now: Moment) {
        match read {
            Ok(value) => {
                *self = Self {
                    value,
                    at: Some(now),
                    trouble: None,
                };
            }
            Err(error) => {
                let trouble = error.to_string();
                if self.trouble.as_ref() != Some(&trouble) {
                    tracing::debug!(%error, "numbers could not be read");
                }
                self.trouble = Some(trouble);
            }
        }
    }
}

impl Insights {
    /// When what charts are drawn from was read last: another version, other charts.
    pub fn version(&self) -> Option<Moment> {
        let digest = self.digest.value.as_ref().map(|digest| digest.read_at);
        let forecast = self
            .forecast
            .value
            .as_ref()
            .map(|forecast| forecast.read_at);
        digest.max(forecast)
    }
}

/// Reads again and again, until dropped.
pub async fn run<S>(store: &S, clock: &SharedClock, live: &watch::Sender<Snapshot>)
where
    S: InsightStore + HealthStore + FailureStore + ?Sized,
{
    let reader = Reader { store, clock, live };
    tokio::join!(
        reader.numbers(),
        reader.schedule(),
        reader.causes(),
        reader.checks()
    );
}

struct Reader<'a, S: ?Sized> {
    store: &'a S,
    clock: &'a SharedClock,
    live: &'a watch::Sender<Snapshot>,
}

/// What the numbers that were read last depend on.
type Version = (Coverage, i64);

impl<S: InsightStore + HealthStore + FailureStore + ?Sized> Reader<'_, S> {
    /// The time by the database's clock.
    fn now(&self) -> Moment {
        let skew = self
            .live
            .borrow()
            .info
            .as_ref()
            .map_or(0, |info| info.clock_skew_ms);
        self.clock.now() + TimeDelta::milliseconds(skew)
    }

    async fn numbers(&self) {
        let mut read: Option<Version> = None;
        loop {
            let began = Instant::now();
            match self.read_numbers(read.as_ref()).await {
                Ok(version) => read = version,
                Err(error) => {
                    let now = self.now();
                    self.publish(|insights| insights.digest.take(Err(error), now));
                }
            }
            let pause = if read.is_none() { FIRST } else { PAUSE };
            tokio::time::sleep(pause.max(began.elapsed() * REST)).await;
        }
    }

    /// Reads the numbers where they, or the ten minutes, are not those that were read last.
    async fn read_numbers(&self, read: Option<&Version>) -> Result<Option<Version>, StoreError> {
        let now = self.now();
        let Some(coverage) = self.store.coverage().await? else {
            self.publish(|insights| insights.digest.take(Ok(None), now));
            return Ok(None);
        };
        let version = (coverage.clone(), slot(now));
        if read == Some(&version) {
            self.publish(|insights| insights.digest.at = Some(now));
            return Ok(Some(version));
        }
        let scopes = scopes(now);
        let raw = Raw {
            coverage,
            first: self.store.first_attempts(&scopes.first, 1).await?,
            week: self
                .store
                .rounds(&scopes.week, scopes.week.to - scopes.week.from)
                .await?,
            day: self.store.rounds(&scopes.day, 1).await?,
            pending: self.store.pending().await?,
        };
        let digest = Arc::new(Digest::new(raw, now));
        self.publish(|insights| insights.digest.take(Ok(Some(digest)), now));
        Ok(Some(version))
    }

    async fn schedule(&self) {
        loop {
            let began = Instant::now();
            let now = self.now();
            let limit = usize::try_from(RETRIES).unwrap_or(usize::MAX);
            let due = self.store.due_retries(Forecast::until(now), RETRIES).await;
            let read = due.map(|due| Some(Arc::new(Forecast::new(&due, limit, now))));
            self.publish(|insights| insights.forecast.take(read, now));
            tokio::time::sleep(PAUSE.max(began.elapsed() * REST)).await;
        }
    }

    async fn causes(&self) {
        loop {
            let began = Instant::now();
            let read = self.store.causes(CAUSES).await.map(|read| match read {
                Indexed::Ready(causes) => Some(Arc::new(causes)),
                Indexed::NotReady(_) => None,
            });
            let now = self.now();
            self.publish(|insights| insights.causes.take(read, now));
            tokio::time::sleep(PAUSE.max(began.elapsed() * REST)).await;
        }
    }

    async fn checks(&self) {
        loop {
            let before = self.live.borrow().insights.findings.clone();
            let mut seen = BTreeMap::new();
            let mut unanswered = BTreeSet::new();
            for check in Check::ALL {
                if check.severity() != Severity::Action || !self.store.applies(check) {
                    continue;
                }
                let began = Instant::now();
                match self.store.look(check, self.now()).await {
                    Ok(sighting) => {
                        seen.insert(check, sighting);
                    }
                    Err(error) => {
                        tracing::debug!(%error, check = check.slug(), "not checked");
                        unanswered.insert(check);
                        let last = before.as_ref().and_then(|before| before.seen.get(&check));
                        seen.extend(last.map(|last| (check, last.clone())));
                    }
                }
                if began.elapsed() * REST > CHECK {
                    tokio::time::sleep(began.elapsed() * REST).await;
                }
            }
            let findings = Arc::new(Findings {
                seen,
                unanswered,
                read_at: self.clock.now(),
            });
            self.publish(|insights| insights.findings = Some(findings));
            tokio::time::sleep(CHECKS).await;
        }
    }

    fn publish(&self, change: impl FnOnce(&mut Insights)) {
        self.live
            .send_modify(|snapshot| change(&mut snapshot.insights));
    }
}
