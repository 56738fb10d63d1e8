//! What the official dashboard's actions make of a job's timeline.

use crate::model::attempt::{Outcome, Release};
use crate::model::state::{StateName, StateRow};
use crate::model::testing;
use crate::model::timeline::{Context, Event, Timeline};

/// The timeline of a job before and after a recorded action.
fn around(action: &str, job: i64) -> (Timeline, Timeline) {
    let jobs = testing::jobs("transitions/base.json");
    let job_before = &jobs[&job];
    let added = testing::json(&format!("transitions/{action}.json"))["added"]["state"].clone();
    let mut rows = job_before.rows.clone();
    rows.extend(
        added
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["jobid"].as_i64() == Some(job))
            .map(testing::state_row),
    );
    rows.sort_by_key(|row: &StateRow| row.id);
    assert_eq!(rows.len(), job_before.rows.len() + 1, "{action}");
    let state: Option<StateName> = rows.last().map(|row| row.name.clone());
    let after = Timeline::build(&rows, &Context::whole(job_before.created_at, state));
    (job_before.timeline(), after)
}

#[test]
fn a_requeue_opens_a_round() {
    for (action, job) in [
        ("requeue-failed", 1),
        ("requeue-failed-after-retries", 2),
        ("requeue-failed-own-queue", 3),
        ("requeue-failed-other-queue", 4),
        ("requeue-succeeded", 9),
        ("requeue-deleted", 10),
        ("requeue-processing", 14),
        ("requeue-processing-from-details", 14),
    ] {
        let (before, after) = around(action, job);
        assert_eq!(after.rounds, before.rounds + 1, "{action}");
        let Some(Event::Decision(decision)) = after.events.last() else {
            panic!("{action}: {:?}", after.events);
        };
        assert_eq!(decision.opens_round, Some(after.rounds), "{action}");
        assert_eq!(
            after.attempts().count(),
            before.attempts().count(),
            "{action}"
        );
    }
    let (_, after) = around("requeue-processing", 14);
    let put_back = after.attempts().next_back().unwrap();
    assert_eq!(put_back.outcome, Outcome::PutBack(StateName::Enqueued));
}

#[test]
fn enqueue_now_opens_none() {
    for (action, job) in [
        ("enqueue-now-scheduled", 11),
        ("enqueue-now-scheduled-own-queue", 12),
        ("enqueue-now-awaiting", 6),
        ("enqueue-now-retrying", 15),
        ("requeue-enqueued", 13),
    ] {
        let (before, after) = around(action, job);
        assert_eq!(after.rounds, before.rounds, "{action}");
        let decision = after.decisions().next_back().unwrap();
        assert_eq!(decision.opens_round, None, "{action}");
    }
    let (before, after) = around("enqueue-now-retrying", 15);
    assert!(before.pending_retry().is_some());
    assert!(matches!(
        after.retries().next_back().unwrap().release,
        Release::ByHand(_)
    ));
}

#[test]
fn a_delete_cancels_a_run_and_drops_a_retry() {
    let (_, after) = around("delete-processing", 14);
    assert_eq!(
        after.attempts().next_back().unwrap().outcome,
        Outcome::Cancelled
    );
    let (before, after) = around("delete-retrying", 15);
    assert!(before.pending_retry().is_some());
    assert_eq!(after.pending_retry(), None);
    assert!(matches!(
        after.retries().next_back().unwrap().release,
        Release::Dropped(_)
    ));
    for (action, job) in [
        ("delete-failed", 1),
        ("delete-succeeded", 9),
        ("delete-deleted", 10),
        ("delete-scheduled", 11),
        ("delete-enqueued", 13),
        ("delete-awaiting", 6),
        ("delete-failed-with-continuations", 5),
    ] {
        let (before, after) = around(action, job);
        assert!(
            matches!(after.events.last(), Some(Event::Deleted { .. })),
            "{action}"
        );
        assert_eq!(after.rounds, before.rounds, "{action}");
    }
}
