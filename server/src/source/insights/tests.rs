//! The background reading, over a store that counts what it is asked.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use app::model::health::Sighting;
use app::model::insights::{
    AttemptsRow, DelaysRow, DueRetry, FirstAttemptsRow, JobKind, Pending, RecoveryRow, RoundsRow,
    Scope,
};
use app::model::rates::Rate;
use app::ports::failures::{ChangedAnchor, ChangedPage};
use app::ports::jobs::JobFilter;
use async_trait::async_trait;

use super::*;
use crate::clock::SystemClock;

struct Fake {
    coverage: Mutex<Option<Coverage>>,
    reads: AtomicU32,
    schedule: bool,
}

fn kind() -> JobKind {
    JobKind {
        job_type: "Bookstore.Jobs.ImportJob".into(),
        method: "RunAsync".into(),
    }
}

fn coverage(watermark: i64) -> Coverage {
    Coverage {
        since: Some(0),
        watermark,
        epoch: 0,
        as_of: Moment::default(),
    }
}

impl Fake {
    fn with(coverage: Option<Coverage>) -> Self {
        Self {
            coverage: Mutex::new(coverage),
            reads: AtomicU32::new(0),
            schedule: true,
        }
    }

    fn reads(&self) -> u32 {
        self.reads.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl InsightStore for Fake {
    async fn coverage(&self) -> Result<Option<Coverage>, StoreError> {
        Ok(self.coverage.lock().unwrap().clone())
    }

    async fn first_attempts(
        &self,
        scope: &Scope,
        step: i64,
    ) -> Result<Vec<FirstAttemptsRow>, StoreError> {
        assert_eq!(step, 1);
        self.reads.fetch_add(1, Ordering::Relaxed);
        Ok(vec![FirstAttemptsRow {
            kind: kind(),
            slot: (scope.to - 1) * 6,
            rate: Rate::new(3, 4),
        }])
    }

    async fn rounds(&self, _: &Scope, _: i64) -> Result<Vec<RoundsRow>, StoreError> {
        Ok(Vec::new())
    }

    async fn attempts(&self, _: &Scope) -> Result<Vec<AttemptsRow>, StoreError> {
        Ok(Vec::new())
    }

    async fn recovery(&self, _: &Scope) -> Result<Vec<RecoveryRow>, StoreError> {
        Ok(Vec::new())
    }

    async fn delays(&self, _: &Scope) -> Result<Vec<DelaysRow>, StoreError> {
        Ok(Vec::new())
    }

    async fn pending(&self) -> Result<Pending, StoreError> {
        Ok(Pending::default())
    }

    async fn due_retries(&self, until: Moment, limit: u32) -> Result<Vec<DueRetry>, StoreError> {
        assert_eq!(limit, RETRIES);
        if !self.schedule {
            return Err(StoreError::Forbidden("no schedule for you".into()));
        }
        Ok(vec![DueRetry {
            job: 1,
            kind: kind(),
            due: until - TimeDelta::seconds(1),
            number: Some((10, 10)),
        }])
    }

    async fn counted_queues(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl FailureStore for Fake {
    async fn changed(
        &self,
        _: &JobFilter,
        _: ChangedAnchor,
        _: u32,
    ) -> Result<Indexed<ChangedPage>, StoreError> {
        unreachable!("no list is read in the background")
    }

    async fn causes(&self, limit: u32) -> Result<Indexed<FailureCauses>, StoreError> {
        assert_eq!(limit, CAUSES);
        Ok(Indexed::Ready(FailureCauses {
            jobs: 26,
            causes: 8,
            top: Vec::new(),
        }))
    }
}

#[async_trait]
impl HealthStore for Fake {
    fn applies(&self, check: Check) -> bool {
        check != Check::Unsettled
    }

    async fn look(&self, check: Check, _: Moment) -> Result<Sighting, StoreError> {
        assert_eq!(
            check.severity(),
            Severity::Action,
            "only what needs somebody"
        );
        match check {
            Check::OverdueSchedule => Ok(Sighting {
                count: 94,
                ..Sighting::default()
            }),
            Check::SeveralQueueRows => Err(StoreError::TimedOut(Duration::from_secs(5))),
            _ => Ok(Sighting::default()),
        }
    }
}

/// What is read until the condition holds.
async fn read(store: &Fake, until: impl FnMut(&Insights) -> bool) -> Insights {
    let clock: SharedClock = Arc::new(SystemClock);
    let (sender, mut live) = watch::channel(Snapshot::default());
    let mut until = until;
    tokio::select! {
        () = run(store, &clock, &sender) => unreachable!("it reads for ever"),
        seen = live.wait_for(|snapshot| until(&snapshot.insights)) => {
            seen.unwrap().insights.clone()
        }
    }
}

#[tokio::test]
async fn numbers_schedule_and_faults_are_read_side_by_side() {
    let store = Fake::with(Some(coverage(7)));
    let seen = read(&store, |insights| {
        insights.digest.value.is_some()
            && insights.forecast.value.is_some()
            && insights.causes.value.is_some()
            && insights.findings.is_some()
    })
    .await;
    assert_eq!(seen.digest.value.unwrap().first.day, Rate::new(3, 4));
    let forecast = seen.forecast.value.unwrap();
    assert_eq!((forecast.retries(), forecast.last_tries()), (1, 1));
    assert_eq!(seen.causes.value.unwrap().jobs, 26);
    let findings = seen.findings.unwrap();
    assert_eq!(findings.seen[&Check::OverdueSchedule].count, 94);
    assert!(!findings.seen.contains_key(&Check::SeveralQueueRows));
    assert_eq!(
        findings.unanswered.iter().collect::<Vec<_>>(),
        [&Check::SeveralQueueRows]
    );
    assert_eq!((seen.digest.trouble, seen.forecast.trouble), (None, None));
}

#[tokio::test]
async fn what_cannot_be_read_says_why_and_keeps_the_rest() {
    let mut store = Fake::with(Some(coverage(7)));
    store.schedule = false;
    let seen = read(&store, |insights| {
        insights.digest.value.is_some() && insights.forecast.trouble.is_some()
    })
    .await;
    assert!(seen.forecast.value.is_none());
    assert_eq!(seen.forecast.trouble.unwrap(), "no schedule for you");
    assert_eq!(seen.digest.trouble, None);
}

#[tokio::test]
async fn numbers_are_read_again_only_when_they_may_have_changed() {
    let store = Fake::with(Some(coverage(7)));
    let clock: SharedClock = Arc::new(SystemClock);
    let (live, _keep) = watch::channel(Snapshot::default());
    let reader = Reader {
        store: &store,
        clock: &clock,
        live: &live,
    };
    let read = reader.read_numbers(None).await.unwrap();
    assert_eq!(store.reads(), 1);
    // The ten minutes may just have ended; then a second reading is right.
    let again = reader.read_numbers(read.as_ref()).await.unwrap();
    assert_eq!(store.reads(), 1 + u32::from(again != read));

    let before = store.reads();
    *store.coverage.lock().unwrap() = Some(coverage(8));
    let moved = reader.read_numbers(again.as_ref()).await.unwrap();
    assert_eq!(store.reads(), before + 1);

    // Nothing is collected any more, as after a new epoch's tables: nothing is shown.
    *store.coverage.lock().unwrap() = None;
    assert_eq!(reader.read_numbers(moved.as_ref()).await.unwrap(), None);
    assert!(live.borrow().insights.digest.value.is_none());
}
