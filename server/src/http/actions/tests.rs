//! What the forms may say, and what becomes of several jobs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use app::actions::Actor;
use async_trait::async_trait;
use tokio::sync::watch;
use uuid::Uuid;

use super::*;
use crate::clock::SystemClock;
use crate::config::SourceConfig;
use crate::source::Snapshot;
use crate::store::sqlite::SqliteStore;

#[test]
fn one_job_is_named_by_three_fields() {
    let form = ActionForm {
        job: "42".into(),
        state: "failed".into(),
        state_id: "977".into(),
        ..ActionForm::default()
    };
    let expected = Seen {
        job: 42,
        state: StateName::Failed,
        state_id: 977,
    };
    assert_eq!(form.seen(), Ok(vec![expected]));
}

#[test]
fn a_job_without_a_state_is_named_by_empty_fields() {
    let form = ActionForm {
        job: "42".into(),
        ..ActionForm::default()
    };
    let expected = Seen {
        job: 42,
        state: StateName::Other(String::new()),
        state_id: 0,
    };
    assert_eq!(form.seen(), Ok(vec![expected]));
}

#[test]
fn several_jobs_are_named_by_items_and_counted_once() {
    let item = vec![
        "1:10:Failed".into(),
        "2:20:My:State".into(),
        "1:10:Failed".into(),
    ];
    let seen = ActionForm {
        item,
        ..ActionForm::default()
    }
    .seen()
    .unwrap();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[1].state, StateName::Other("My:State".into()));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for item in ["", "1", "1:2", "x:2:Failed", "1:y:Failed", "1::Failed"] {
        let form = ActionForm {
            item: vec![item.into()],
            ..ActionForm::default()
        };
        assert!(form.seen().is_err(), "{item:?}");
    }
    let many = (0..=MOST_ITEMS).map(|n| format!("{n}:1:Failed")).collect();
    assert!(
        ActionForm {
            item: many,
            ..ActionForm::default()
        }
        .seen()
        .is_err()
    );
    assert!(ActionForm::default().seen().is_err());
}

#[test]
fn queue_names_are_hangfires() {
    assert!(is_queue_name("critical_2-b"));
    for name in ["", "Critical", "a b", "a:b", "é"] {
        assert!(!is_queue_name(name), "{name:?}");
    }
}

/// Acts twice and is away then; answers one job with an error of its own.
struct Fading {
    asked: AtomicU32,
}

#[async_trait]
impl ActionStore for Fading {
    async fn act(&self, _: Uuid, request: &Request) -> Result<Outcome, StoreError> {
        match self.asked.fetch_add(1, Ordering::SeqCst) {
            0 => Err(StoreError::Internal("odd row".into())),
            1 => Ok(Outcome::Done {
                state: StateName::Enqueued,
                state_id: 10 * request.seen.job,
                notes: Vec::new(),
            }),
            _ => Err(StoreError::Away("cut".into())),
        }
    }
}

fn source(read_only: bool) -> SourceHandle {
    let clock: SharedClock = Arc::new(SystemClock);
    SourceHandle {
        config: Arc::new(SourceConfig {
            read_only,
            ..SourceConfig::main("nowhere.db".into(), None)
        }),
        store: Arc::new(SqliteStore::lazy("nowhere.db".as_ref(), clock, None)),
        demo: watch::channel(None).1,
        live: watch::channel(Snapshot::default()).1,
        claims: Arc::default(),
    }
}

fn requests(jobs: std::ops::RangeInclusive<i64>) -> Vec<Request> {
    jobs.map(|job| Request {
        action: Action::Delete,
        seen: Seen {
            job,
            state: StateName::Failed,
            state_id: job,
        },
        reason: None,
        actor: Actor {
            name: "ada".into(),
            authenticated: false,
        },
    })
    .collect()
}

#[tokio::test]
async fn a_database_that_goes_away_is_not_asked_again_and_nothing_done_is_forgotten() {
    let clock: SharedClock = Arc::new(SystemClock);
    let fading = Fading {
        asked: AtomicU32::new(0),
    };
    let acted = act_on_all(&clock, &source(false), &fading, requests(1..=5)).await;
    let outcomes: Vec<_> = acted.iter().map(|one| one.outcome.clone()).collect();
    let away = Err(StoreError::Away("cut".into()));
    assert_eq!(
        outcomes,
        [
            Err(StoreError::Internal("odd row".into())),
            Ok(Outcome::Done {
                state: StateName::Enqueued,
                state_id: 20,
                notes: Vec::new(),
            }),
            away.clone(),
            away.clone(),
            away,
        ]
    );
    assert_eq!(fading.asked.load(Ordering::SeqCst), 3);
    let jobs: Vec<_> = acted.iter().map(|one| one.seen.job).collect();
    assert_eq!(jobs, [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn a_source_that_is_configured_as_read_only_is_never_asked() {
    let clock: SharedClock = Arc::new(SystemClock);
    let fading = Fading {
        asked: AtomicU32::new(0),
    };
    let acted = act_on_all(&clock, &source(true), &fading, requests(1..=1)).await;
    assert!(matches!(&acted[0].outcome, Ok(Outcome::Refused { why }) if why.contains("read-only")));
    assert_eq!(fading.asked.load(Ordering::SeqCst), 0);
}
