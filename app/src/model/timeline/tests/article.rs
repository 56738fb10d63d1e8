//! The worked example: two jobs of a bookstore, as their `State` table was printed.

use crate::model::attempt::{Outcome, Release};
use crate::model::state::{StateName, StateRow};
use crate::model::testing::{at, because, row};
use crate::model::timeline::{Context, Event, History, RetryBudget, Timeline};

const FAILED: &str = "An exception occurred during performance of the job.";

fn job_1() -> Vec<StateRow> {
    let retry = |n| format!("Retry attempt {n} of 3: Supplier API did not respond in 10 s");
    vec![
        row(1, "Enqueued", "2026-11-08T02:11:18.630", "{}"),
        row(2, "Processing", "2026-11-08T02:11:18.840", "{}"),
        because(3, "Failed", "2026-11-08T02:11:18.857", FAILED, "{}"),
        because(
            4,
            "Scheduled",
            "2026-11-08T02:11:18.857",
            &retry(1),
            r#"{"EnqueueAt":"2026-11-08T02:11:20.857Z","ScheduledAt":"2026-11-08T02:11:18.857Z"}"#,
        ),
        because(
            5,
            "Enqueued",
            "2026-11-08T02:11:20.753",
            "Triggered by DelayedJobScheduler",
            "{}",
        ),
        row(6, "Processing", "2026-11-08T02:11:20.773", "{}"),
        because(7, "Failed", "2026-11-08T02:11:20.780", FAILED, "{}"),
        because(
            8,
            "Scheduled",
            "2026-11-08T02:11:20.780",
            &retry(2),
            r#"{"EnqueueAt":"2026-11-08T02:11:25.780Z","ScheduledAt":"2026-11-08T02:11:20.780Z"}"#,
        ),
        because(
            9,
            "Enqueued",
            "2026-11-08T02:11:25.800",
            "Triggered by DelayedJobScheduler",
            "{}",
        ),
        row(10, "Processing", "2026-11-08T02:11:25.810", "{}"),
        row(11, "Succeeded", "2026-11-08T02:11:25.820", "{}"),
    ]
}

#[test]
fn job_1_fails_twice_and_then_succeeds() {
    let rows = job_1();
    assert_eq!(rows.len(), 11);
    let created = at("2026-11-08T02:11:18.630");
    let timeline = Timeline::build(&rows, &Context::whole(created, Some(StateName::Succeeded)));
    let seen: Vec<_> = timeline
        .attempts()
        .map(|attempt| {
            (
                attempt.number,
                attempt.outcome.clone(),
                attempt.waited.ms,
                attempt.ran.ms,
                attempt.retry().and_then(|retry| retry.backoff_ms),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (1, Outcome::Failed, Some(210), Some(17), Some(2000)),
            (2, Outcome::Failed, Some(20), Some(7), Some(5000)),
            (3, Outcome::Succeeded, Some(10), Some(10), None),
        ]
    );
    assert_eq!(timeline.rounds, 1);
    assert_eq!(timeline.events.len(), 3);
    assert_eq!(timeline.history, History::Whole);
    let numbers: Vec<_> = timeline.retries().map(|r| (r.number, r.of)).collect();
    assert_eq!(numbers, [(1, 3), (2, 3)]);
    assert_eq!(timeline.pending_retry(), None);
    assert_eq!(
        timeline.retry_budget(Some(2)),
        Some(RetryBudget { used: 2, of: 3 })
    );
    let releases: Vec<_> = timeline.retries().map(|retry| retry.release).collect();
    assert_eq!(
        releases,
        [
            Release::OnTime(at("2026-11-08T02:11:20.753")),
            Release::OnTime(at("2026-11-08T02:11:25.800")),
        ]
    );
    // The first one came 104 ms before it was due: whole seconds, not a fault of a clock.
    let late: Vec<_> = timeline
        .retries()
        .map(|retry| retry.late().unwrap())
        .map(|late| (late.ms, late.clocks_disagree_ms))
        .collect();
    assert_eq!(late, [(Some(0), 0), (Some(20), 0)]);
}

#[test]
fn job_2_has_a_permanent_error() {
    let rows = [
        row(1, "Enqueued", "2026-11-08T02:11:18.650", "{}"),
        row(2, "Processing", "2026-11-08T02:11:18.803", "{}"),
        because(3, "Failed", "2026-11-08T02:11:18.813", FAILED, "{}"),
    ];
    let created = at("2026-11-08T02:11:18.650");
    let timeline = Timeline::build(&rows, &Context::whole(created, Some(StateName::Failed)));
    let [Event::Attempt(attempt)] = &timeline.events[..] else {
        panic!("one attempt and nothing else: {:?}", timeline.events);
    };
    assert_eq!(attempt.outcome, Outcome::Failed);
    assert_eq!((attempt.waited.ms, attempt.ran.ms), (Some(153), Some(10)));
    assert_eq!(attempt.retry(), None);
    assert_eq!(timeline.retry_budget(None), None);
    assert_eq!(
        timeline
            .failures()
            .next_back()
            .and_then(|f| f.reason.as_deref()),
        Some(FAILED)
    );
}
