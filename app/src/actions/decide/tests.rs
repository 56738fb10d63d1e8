//! Every rule of the decision, on jobs built by hand.

mod deletes;
mod enqueues;
mod property;
mod undos;

use std::collections::BTreeMap;

use super::super::found::{Found, FoundJob, FoundServer, Limits};
use super::super::plan::{Plan, StateValue, Write};
use super::super::{Action, Actor, Enqueue, Outcome, Request, Seen};
use super::*;
use crate::model::data::StateData;
use crate::model::job::QueueRow;
use crate::model::state::StateRow;

fn at(rfc3339: &str) -> Instant {
    chrono::DateTime::parse_from_rfc3339(rfc3339)
        .unwrap()
        .to_utc()
}

/// The time of every test.
fn now() -> Instant {
    at("2026-11-29T20:00:00.123456Z")
}

fn ago_s(seconds: i64) -> Instant {
    now() - chrono::Duration::seconds(seconds)
}

fn row(id: i64, name: StateName, data: &str) -> StateRow {
    StateRow {
        id,
        name,
        reason: None,
        created_at: ago_s(600),
        data: StateData::parse(data),
        details_chars: None,
    }
}

/// Job 42, ten minutes in its state, whose row is 977.
fn job(state: StateName, data: &str) -> FoundJob {
    FoundJob {
        state_id: Some(977),
        current: Some(row(977, state.clone(), data)),
        created_at: ago_s(3600),
        ..FoundJob::bare(42, Some(state))
    }
}

fn found(job: FoundJob) -> Found {
    Found {
        now: now(),
        limits: Limits::default(),
        job,
        seen_since: Some(ago_s(600)),
        relatives: BTreeMap::new(),
        servers: vec![server("web-1:400:aaaa", 5, &["default"])],
    }
}

fn server(id: &str, silent_s: i64, queues: &[&str]) -> FoundServer {
    FoundServer {
        id: id.to_owned(),
        heartbeat_age_ms: silent_s * 1000,
        queues: Some(queues.iter().map(|&q| q.to_owned()).collect()),
    }
}

fn waiting(id: i64, queue: &str) -> QueueRow {
    QueueRow {
        id,
        queue: queue.to_owned(),
        fetched_at: None,
    }
}

fn taken(id: i64, queue: &str, seconds: i64) -> QueueRow {
    QueueRow {
        fetched_at: Some(ago_s(seconds)),
        ..waiting(id, queue)
    }
}

/// A request of somebody who saw what is there.
fn request(action: Action, found: &Found) -> Request {
    Request {
        action,
        seen: Seen {
            job: found.job.id,
            state: found.job.state.clone().unwrap_or(StateName::Failed),
            state_id: found.job.state_id.unwrap_or(0),
        },
        reason: Some("supplier is back".to_owned()),
        actor: Actor {
            name: "ada".to_owned(),
            authenticated: false,
        },
    }
}

fn requeue() -> Action {
    Action::Requeue(Enqueue::default())
}

fn requeue_to(queue: &str) -> Action {
    Action::Requeue(Enqueue {
        queue: Some(queue.to_owned()),
        reset_retries: false,
    })
}

fn enqueue_now() -> Action {
    Action::EnqueueNow(Enqueue::default())
}

fn act(action: Action, found: &Found) -> Result<Plan, Outcome> {
    decide(&request(action, found), found)
}

fn refusal(action: Action, found: &Found) -> String {
    match act(action, found) {
        Err(Outcome::Refused { why }) => why,
        other => panic!("not refused: {other:?}"),
    }
}

fn busy(action: Action, found: &Found) -> Option<Instant> {
    match act(action, found) {
        Err(Outcome::Busy { since, .. }) => since,
        other => panic!("not busy: {other:?}"),
    }
}

fn remove(key: &'static str, value: &str) -> Write {
    Write::RemoveFromSet {
        key,
        value: value.to_owned(),
    }
}

fn add(key: &'static str, value: &str, score: i64) -> Write {
    Write::AddToSet {
        key,
        value: value.to_owned(),
        score,
    }
}

fn insert(job: i64, queue: &str) -> Write {
    Write::InsertQueueRow {
        job,
        queue: queue.to_owned(),
    }
}

fn for_ever(job: i64) -> Write {
    Write::Expire { job, at: None }
}

fn for_a_day(job: i64) -> Write {
    Write::Expire {
        job,
        at: Some(at("2026-11-30T20:00:00.123456Z")),
    }
}

fn to_enqueued(job: i64, reason: Option<&str>, queue: &str) -> Write {
    Write::State {
        job,
        name: StateName::Enqueued,
        reason: reason.map(str::to_owned),
        data: StateValue::Object(vec![
            ("EnqueuedAt", "2026-11-29T20:00:00.1234560Z".to_owned()),
            ("Queue", queue.to_owned()),
        ]),
    }
}

fn to_deleted(job: i64, reason: &str) -> Write {
    Write::State {
        job,
        name: StateName::Deleted,
        reason: Some(reason.to_owned()),
        data: StateValue::Object(vec![(
            "DeletedAt",
            "2026-11-29T20:00:00.1234560Z".to_owned(),
        )]),
    }
}

fn deleted_by_day_and_hour() -> [Write; 2] {
    [
        Write::Count {
            key: "stats:deleted:2026-11-29".to_owned(),
            delta: 1,
            expire_at: Some(at("2026-12-29T20:00:00.123456Z")),
        },
        Write::Count {
            key: "stats:deleted:2026-11-29-20".to_owned(),
            delta: 1,
            expire_at: Some(at("2026-11-30T20:00:00.123456Z")),
        },
    ]
}

#[test]
fn the_guard_compares_the_name_and_the_id() {
    let mut found = found(job(StateName::Failed, "{}"));
    let mut asked = request(requeue(), &found);
    found.job.state_id = Some(980);
    found.job.current = Some(StateRow {
        created_at: ago_s(1),
        ..row(980, StateName::Failed, "{}")
    });
    let outcome = decide(&asked, &found).unwrap_err();
    assert_eq!(
        outcome,
        Outcome::Moved {
            from: StateName::Failed,
            to: Some(StateName::Failed),
            at: Some(ago_s(1)),
            why: "You saw it Failed since 2026-11-29 19:50:00 UTC (10 min ago); now it is Failed \
                  again since 2026-11-29 19:59:59 UTC (1 s ago). Nothing was changed."
                .to_owned(),
        }
    );

    // The same id under another name is no less a move.
    asked.seen.state_id = 980;
    asked.seen.state = StateName::Succeeded;
    assert!(matches!(decide(&asked, &found), Err(Outcome::Moved { .. })));
}

#[test]
fn a_job_whose_state_row_is_missing_is_guarded_by_its_id() {
    let mut found = found(job(StateName::Failed, "{}"));
    found.job.current = None;
    assert_eq!(act(requeue(), &found).unwrap().state, StateName::Enqueued);
}

#[test]
fn what_cannot_be_guarded_or_understood_is_refused() {
    let all = [requeue(), enqueue_now(), Action::Delete, Action::UndoDelete];
    for action in all {
        let mut no_state = found(job(StateName::Failed, "{}"));
        no_state.job.state = None;
        assert!(refusal(action.clone(), &no_state).contains("no state"));

        let mut no_row = found(job(StateName::Failed, "{}"));
        no_row.job.state_id = None;
        assert!(refusal(action.clone(), &no_row).contains("names no state row"));

        let mut unsettled = found(job(StateName::Failed, "{}"));
        unsettled.job.unsettled = true;
        assert_eq!(busy(action.clone(), &unsettled), Some(ago_s(600)));

        let mut batch = found(job(StateName::Failed, "{}"));
        batch.job.parameters = vec![("BatchId".to_owned(), Some("\"b1\"".to_owned()))];
        assert!(refusal(action.clone(), &batch).contains("batch"));

        let in_data = found(job(StateName::Awaiting, r#"{"BatchId":"b1"}"#));
        assert!(refusal(action.clone(), &in_data).contains("batch"));
    }
    let throttled = found(job(StateName::Other("Throttled".to_owned()), "{}"));
    for action in [requeue(), enqueue_now(), Action::Delete] {
        assert!(refusal(action, &throttled).contains("Throttled"));
    }
    assert_eq!(
        refusal(Action::UndoDelete, &throttled),
        "It is not deleted; it is Throttled."
    );
}

#[test]
fn schema_versions_from_19_to_23_are_written() {
    assert!((19..=23).all(|version| schema_forbids(Some(version)).is_none()));
    for version in [Some(18), Some(24), None] {
        assert!(schema_forbids(version).is_some(), "{version:?}");
    }
}

#[test]
fn a_held_lock_says_since_when() {
    let Outcome::Busy { since, why } = held(42, Some(ago_s(3)), now()) else {
        panic!("not busy");
    };
    assert_eq!(since, Some(ago_s(3)));
    assert!(
        why.contains("#42") && why.contains("19:59:57") && why.contains("3 s ago"),
        "{why}"
    );
}
