//! Faults that people met in other dashboards.

use crate::model::attempt::{Attempt, Outcome, Release};
use crate::model::continuation;
use crate::model::policy::{Delays, Policy};
use crate::model::state::{StateName, StateRow};
use crate::model::testing::{at, because, row};
use crate::model::timeline::{Context, Decision, Event, History, RetryBudget, Timeline};

fn whole(rows: &[StateRow], state: &str) -> Timeline {
    Timeline::build(
        rows,
        &Context::whole(rows[0].created_at, Some(StateName::parse(state))),
    )
}

fn one(timeline: &Timeline) -> &Attempt {
    let mut attempts = timeline.attempts();
    let attempt = attempts.next().unwrap();
    assert!(attempts.next().is_none());
    attempt
}

/// Two hosts whose clocks differ: the Processing row is older than its Enqueued row.
#[test]
fn a_host_whose_clock_is_behind_gives_no_negative_time() {
    let rows = [
        row(1, "Enqueued", "2026-11-02T10:00:00.730", "{}"),
        row(2, "Processing", "2026-11-02T10:00:00.000", "{}"),
        row(
            3,
            "Succeeded",
            "2026-11-02T10:00:01.250",
            r#"{"PerformanceDuration":"1245","Latency":"-730"}"#,
        ),
    ];
    let timeline = Timeline::build(
        &rows,
        &Context::whole(at("2026-11-02T10:00:00"), Some(StateName::Succeeded)),
    );
    let attempt = one(&timeline);
    assert_eq!(attempt.outcome, Outcome::Succeeded);
    assert_eq!(attempt.ran.ms, Some(1245));
    assert_eq!(attempt.ran.clocks_disagree_ms, 0);
    assert_eq!(attempt.reported_ms, None);
    assert_eq!(attempt.waited.ms, Some(0));
    assert_eq!(attempt.waited.clocks_disagree_ms, 730);
    assert_eq!(timeline.history, History::Whole);
}

/// A local date in `FailedAt`, and due times as unix milliseconds and as unix seconds.
#[test]
fn dates_of_every_format_give_the_same_plan() {
    for scheduled in [
        r#"{"EnqueueAt":"1774596640000","ScheduledAt":"1774596600000"}"#,
        r#"{"EnqueueAt":"1774596640","ScheduledAt":"1774596600"}"#,
    ] {
        let rows = [
            row(11, "Enqueued", "2026-03-27T07:29:50", "{}"),
            row(12, "Processing", "2026-03-27T07:29:55", "{}"),
            row(
                13,
                "Failed",
                "2026-03-27T07:30:00",
                r#"{"FailedAt":"27.03.2026 07:30:00"}"#,
            ),
            because(
                14,
                "Scheduled",
                "2026-03-27T07:30:00",
                "Retry attempt 1 of 10: Supplier did not answer",
                scheduled,
            ),
        ];
        let timeline = whole(&rows, "Scheduled");
        let attempt = one(&timeline);
        assert_eq!(attempt.outcome, Outcome::Failed);
        assert_eq!(attempt.ran.ms, Some(5_000));
        assert_eq!(
            attempt.failure.as_ref().unwrap().at,
            at("2026-03-27T07:30:00")
        );
        let retry = timeline.pending_retry().unwrap();
        assert_eq!(retry.due_at, Some(at("2026-03-27T07:30:40")));
        assert_eq!(retry.backoff_ms, Some(40_000));
        let policy = Policy::infer(&timeline.observed_delays(), &[]).unwrap();
        assert_eq!(policy.fits(1, 40_000), Some(true));
        let band = policy.band(1).unwrap();
        assert_eq!((band.min_ms, band.max_ms), (15_000, 44_000));
    }
}

/// Retries used up, then an operator's requeue, which gives exactly one run.
#[test]
fn a_requeue_is_no_retry_and_promises_none() {
    const SCHEDULER: &str = "Triggered by DelayedJobScheduler";
    let rows = [
        row(1, "Enqueued", "2026-11-02T08:00:00.000", "{}"),
        row(2, "Processing", "2026-11-02T08:00:00.200", "{}"),
        row(3, "Failed", "2026-11-02T08:00:01.200", "{}"),
        because(
            4,
            "Scheduled",
            "2026-11-02T08:00:01.200",
            "Retry attempt 1 of 2: Supplier did not answer",
            r#"{"EnqueueAt":"2026-11-02T08:00:11.200000Z"}"#,
        ),
        because(5, "Enqueued", "2026-11-02T08:00:14.000", SCHEDULER, "{}"),
        row(6, "Processing", "2026-11-02T08:00:14.300", "{}"),
        row(7, "Failed", "2026-11-02T08:00:15.100", "{}"),
        because(
            8,
            "Scheduled",
            "2026-11-02T08:00:15.100",
            "Retry attempt 2 of 2: Supplier did not answer",
            r#"{"EnqueueAt":"2026-11-02T08:00:35.100000Z"}"#,
        ),
        because(9, "Enqueued", "2026-11-02T08:00:44.000", SCHEDULER, "{}"),
        row(10, "Processing", "2026-11-02T08:00:44.250", "{}"),
        row(11, "Failed", "2026-11-02T08:00:45.250", "{}"),
        because(
            12,
            "Enqueued",
            "2026-11-02T11:15:00.000",
            "Triggered via Dashboard UI",
            "{}",
        ),
        row(13, "Processing", "2026-11-02T11:15:00.500", "{}"),
        row(14, "Failed", "2026-11-02T11:15:00.900", "{}"),
    ];
    let timeline = whole(&rows, "Failed");
    let spans: Vec<_> = timeline
        .attempts()
        .map(|attempt| {
            (
                attempt.round,
                attempt.outcome.clone(),
                attempt.waited.ms.unwrap(),
                attempt.ran.ms.unwrap(),
            )
        })
        .collect();
    assert_eq!(
        spans,
        [
            (1, Outcome::Failed, 200, 1_000),
            (1, Outcome::Failed, 300, 800),
            (1, Outcome::Failed, 250, 1_000),
            (2, Outcome::Failed, 500, 400),
        ]
    );
    assert_eq!(timeline.rounds, 2);
    let retries: Vec<_> = timeline
        .retries()
        .map(|retry| (retry.backoff_ms.unwrap(), retry.late().unwrap().ms.unwrap()))
        .collect();
    assert_eq!(retries, [(10_000, 2_800), (20_000, 8_900)]);
    let decisions: Vec<_> = timeline.decisions().collect();
    assert_eq!(
        decisions,
        [&Decision {
            state_id: 12,
            at: at("2026-11-02T11:15:00"),
            reason: Some("Triggered via Dashboard UI".into()),
            opens_round: Some(2),
        }]
    );
    let policy = Policy::infer(&timeline.observed_delays(), &[]).unwrap();
    assert_eq!(policy.retries, 2);
    assert_ne!(policy.delays, Delays::HangfireDefault);
    assert_eq!(policy.delay_words(), "10 s, 20 s");
    let budget = timeline
        .retry_budget(continuation::retry_count("2"))
        .unwrap();
    assert_eq!(budget, RetryBudget { used: 2, of: 2 });
    assert!(budget.is_spent());
    assert_eq!(budget.runs_after_requeue(), 1);
    assert_eq!(timeline.pending_retry(), None);
}

/// A renamed class: the job failed before it could begin.
#[test]
fn a_failure_before_the_run_is_no_attempt() {
    let rows = [
        because(
            1,
            "Enqueued",
            "2026-11-02T07:00:00.000",
            "Triggered by recurring job scheduler",
            r#"{"Queue":"reports"}"#,
        ),
        because(
            2,
            "Failed",
            "2026-11-02T07:00:03.400",
            "Can not change the state to 'Processing': target method was not found.",
            r#"{"ExceptionType":"System.TypeLoadException","ExceptionMessage":"Could not load type"}"#,
        ),
        because(
            3,
            "Scheduled",
            "2026-11-02T07:00:03.400",
            "Retry attempt 1 of 10: Could not load type 'Bookstore.Jobs.OldReport' fr\u{2026}",
            r#"{"EnqueueAt":"2026-11-02T07:00:29.4000000Z"}"#,
        ),
    ];
    let timeline = whole(&rows, "Scheduled");
    assert_eq!(timeline.attempts().count(), 0);
    assert_eq!(timeline.rounds, 0);
    let [Event::FailureOutsideAttempt(failure)] = &timeline.events[..] else {
        panic!("{:?}", timeline.events);
    };
    assert!(failure.reason.as_ref().unwrap().contains("not found"));
    assert_eq!(
        failure.exception_type.as_deref(),
        Some("System.TypeLoadException")
    );
    let retry = failure.retry.as_ref().unwrap();
    assert_eq!((retry.number, retry.of), (1, 10));
    assert_eq!(retry.due_at, Some(at("2026-11-02T07:00:29.400")));
    assert_eq!(retry.backoff_ms, Some(26_000));
    assert_eq!(retry.release, Release::Pending);
    assert_eq!(timeline.pending_retry(), Some(retry));
}

/// The row of the job's own state is gone.
#[test]
fn an_attempt_whose_end_is_missing_ended_all_the_same() {
    let rows = [
        row(21, "Enqueued", "2026-11-02T11:57:00", "{}"),
        row(22, "Processing", "2026-11-02T11:58:00", "{}"),
    ];
    let created = at("2026-11-02T12:00:00");
    for (state, outcome) in [
        ("Failed", Outcome::Failed),
        ("Succeeded", Outcome::Succeeded),
        ("Deleted", Outcome::Cancelled),
        ("Enqueued", Outcome::Unknown),
        ("Parked", Outcome::Unknown),
    ] {
        let context = Context::whole(created, Some(StateName::parse(state)));
        let timeline = Timeline::build(&rows, &context);
        let attempt = one(&timeline);
        assert_eq!(attempt.outcome, outcome, "{state}");
        assert!(attempt.row_missing);
        assert_eq!((attempt.ran.ms, attempt.ended_by), (None, None));
        assert_eq!(attempt.failure, None);
        // The first row is three minutes from the job's creation.
        assert_eq!(timeline.history, History::Trimmed);
        assert_eq!(timeline.count_label(1), "1+");
    }
    let none = Timeline::build(&rows, &Context::whole(created, None));
    assert_eq!(one(&none).outcome, Outcome::Unknown);
}

/// A Failed row without data, and a job without any row.
#[test]
fn rows_without_data_are_still_rows() {
    let rows = [
        row(41, "Enqueued", "2026-11-02T11:57:00", "{}"),
        row(42, "Processing", "2026-11-02T11:58:00", "{}"),
        row(43, "Failed", "2026-11-02T11:59:00", "null"),
    ];
    let timeline = whole(&rows, "Failed");
    let failure = one(&timeline).failure.as_ref().unwrap();
    assert_eq!((&failure.exception_type, &failure.message), (&None, &None));
    assert_eq!(failure.details, None);

    let created = at("2026-11-02T12:00:00");
    let new = Timeline::build(&[], &Context::whole(created, None));
    assert!(new.events.is_empty());
    assert_eq!((new.rounds, new.history), (0, History::Whole));
    let lost = Timeline::build(&[], &Context::whole(created, Some(StateName::Failed)));
    assert_eq!(lost.history, History::Trimmed);
    // The newest of a doubled parameter counts.
    assert_eq!(continuation::retry_count("3"), Some(3));
    assert_eq!(lost.retry_budget(Some(3)), None);
}
