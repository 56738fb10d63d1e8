//! The rules of outcomes, spans, releases and rounds, one by one.

use crate::model::attempt::{Outcome, Release};
use crate::model::state::{StateName, StateRow};
use crate::model::testing::{at, because, row};
use crate::model::timeline::{Context, Event, History, Timeline};

const DASHBOARD: &str = "Triggered via Dashboard UI";
const SCHEDULER: &str = "Triggered by DelayedJobScheduler";

/// Rows a second apart, from `name` or `name: reason` or `name: reason | data`.
fn rows(lines: &[&str]) -> Vec<StateRow> {
    (0_i64..)
        .zip(lines)
        .map(|(index, line)| {
            let (line, data) = line.split_once(" | ").unwrap_or((line, "{}"));
            let at = format!("2026-11-02T10:00:{index:02}");
            match line.split_once(": ") {
                Some((name, reason)) => because(index + 1, name, &at, reason, data),
                None => row(index + 1, line, &at, data),
            }
        })
        .collect()
}

fn build(lines: &[&str]) -> Timeline {
    let rows = rows(lines);
    let state = rows.last().map(|row| row.name.clone());
    Timeline::build(&rows, &Context::whole(at("2026-11-02T10:00:00"), state))
}

fn outcomes(timeline: &Timeline) -> Vec<Outcome> {
    timeline
        .attempts()
        .map(|attempt| attempt.outcome.clone())
        .collect()
}

/// What each event is, in short.
fn kinds(timeline: &Timeline) -> Vec<String> {
    timeline
        .events
        .iter()
        .map(|event| match event {
            Event::Attempt(attempt) => format!("attempt {} {}", attempt.number, attempt.round),
            Event::FailureOutsideAttempt(_) => "failure".into(),
            Event::RunEnd(end) => format!("end {:?}", end.attempt),
            Event::Decision(decision) => format!("decision {:?}", decision.opens_round),
            Event::Deleted { .. } => "deleted".into(),
            Event::Restored { .. } => "restored".into(),
            Event::Waiting(waiting) => format!("waiting {}", waiting.name),
        })
        .collect()
}

#[test]
fn each_ending_has_its_outcome() {
    for (end, outcome) in [
        ("Succeeded", Outcome::Succeeded),
        ("Failed", Outcome::Failed),
        ("Deleted", Outcome::Cancelled),
        ("Enqueued", Outcome::PutBack(StateName::Enqueued)),
        (
            "Scheduled: Throttled: limit of 1 exceeded",
            Outcome::PutBack(StateName::Scheduled),
        ),
        ("Awaiting", Outcome::PutBack(StateName::Awaiting)),
        (
            "Parked",
            Outcome::PutBack(StateName::Other("Parked".into())),
        ),
    ] {
        let timeline = build(&["Enqueued", "Processing", end]);
        assert_eq!(outcomes(&timeline), [outcome], "{end}");
        let attempt = timeline.attempts().next().unwrap();
        assert_eq!(attempt.ran.ms, Some(1_000), "{end}");
        assert_eq!(attempt.ended_by, Some(3), "{end}");
        assert_eq!(timeline.rounds, 1, "{end}");
    }
}

#[test]
fn an_interrupted_attempt_is_lost_and_the_next_one_s_wait_unknown() {
    let timeline = build(&["Enqueued", "Processing", "Processing", "Succeeded"]);
    assert_eq!(outcomes(&timeline), [Outcome::Lost, Outcome::Succeeded]);
    let attempts: Vec<_> = timeline.attempts().collect();
    assert_eq!(attempts[0].ended_by, Some(3));
    assert_eq!(attempts[0].ran.ms, None);
    assert_eq!(attempts[1].waited.ms, None);
    assert_eq!(attempts[1].queued_at, None);
    assert_eq!(timeline.rounds, 1);
}

#[test]
fn a_running_attempt_is_orphaned_when_its_server_is_gone() {
    let mut timeline = build(&[
        "Enqueued",
        r#"Processing | {"ServerId":"doomed-1","WorkerId":"w"}"#,
    ]);
    timeline.mark_orphaned(|server| server == "another");
    assert_eq!(outcomes(&timeline), [Outcome::Running]);
    timeline.mark_orphaned(|server| server == "doomed-1");
    assert_eq!(outcomes(&timeline), [Outcome::Orphaned]);
    let mut nameless = build(&["Enqueued", "Processing"]);
    nameless.mark_orphaned(|_| true);
    assert_eq!(outcomes(&nameless), [Outcome::Running]);
    let mut ended = build(&["Enqueued", r#"Processing | {"ServerId":"a"}"#, "Failed"]);
    ended.mark_orphaned(|_| true);
    assert_eq!(outcomes(&ended), [Outcome::Failed]);
}

#[test]
fn old_servers_and_workers_are_named() {
    let timeline = build(&[
        "Enqueued",
        r#"Processing | {"ServerName":"old-1","WorkerNumber":"7"}"#,
    ]);
    let attempt = timeline.attempts().next().unwrap();
    assert_eq!(attempt.server.as_deref(), Some("old-1"));
    assert_eq!(attempt.worker.as_deref(), Some("7"));
}

#[test]
fn a_report_longer_than_the_rows_belongs_to_another_run() {
    let ran = |reported: &str| {
        let timeline = build(&[
            "Enqueued",
            "Processing",
            &format!(r#"Succeeded | {{"PerformanceDuration":"{reported}"}}"#),
        ]);
        let attempt = timeline.attempts().next().unwrap();
        (attempt.ran.ms.unwrap(), attempt.reported_ms)
    };
    assert_eq!(ran("990"), (990, None));
    assert_eq!(ran("1010"), (1_010, None));
    assert_eq!(ran("1011"), (1_000, Some(1_011)));
    assert_eq!(ran("0"), (0, None));
    assert_eq!(ran("soon"), (1_000, None));
    assert_eq!(ran("-5"), (1_000, None));
}

#[test]
fn spans_are_rounded_half_up_to_whole_milliseconds() {
    let rows = [
        row(1, "Enqueued", "2026-11-02T10:00:00.000000", "{}"),
        row(2, "Processing", "2026-11-02T10:00:00.000500", "{}"),
        row(3, "Failed", "2026-11-02T10:00:00.001999", "{}"),
    ];
    let context = Context::whole(at("2026-11-02T10:00:00"), Some(StateName::Failed));
    let timeline = Timeline::build(&rows, &context);
    let attempt = timeline.attempts().next().unwrap();
    assert_eq!((attempt.waited.ms, attempt.ran.ms), (Some(1), Some(1)));
}

#[test]
fn a_run_may_begin_a_second_before_its_due_time() {
    let waited = |due: &str| {
        let timeline = build(&[
            &format!(r#"Scheduled | {{"EnqueueAt":"2026-11-02T10:00:{due}Z"}}"#),
            "Processing",
            "Succeeded",
        ]);
        let waited = timeline.attempts().next().unwrap().waited;
        (waited.ms, waited.clocks_disagree_ms)
    };
    assert_eq!(waited("00.400"), (Some(600), 0));
    assert_eq!(waited("02.000"), (Some(0), 0));
    assert_eq!(waited("02.001"), (Some(0), 1_001));
}

#[test]
fn a_retry_straight_into_its_queue_has_no_backoff() {
    let timeline = build(&[
        "Enqueued",
        "Processing",
        "Failed",
        "Enqueued: Retry attempt 1 of 2: no",
        "Processing",
        "Succeeded",
    ]);
    let retry = timeline.retries().next().unwrap();
    assert_eq!((retry.number, retry.of), (1, 2));
    assert_eq!(retry.backoff_ms, Some(0));
    assert_eq!(retry.release, Release::OnTime(at("2026-11-02T10:00:03")));
    assert_eq!(timeline.rounds, 1);
    assert_eq!(timeline.decisions().count(), 0);
}

#[test]
fn a_planned_retry_is_released_on_time_by_hand_or_never() {
    let release = |next: &[&str]| {
        let mut lines = vec![
            "Enqueued",
            "Processing",
            "Failed",
            r#"Scheduled: Retry attempt 1 of 2: no | {"EnqueueAt":"2026-11-02T10:00:04Z"}"#,
        ];
        lines.extend(next);
        let timeline = build(&lines);
        let retry = timeline.retries().next().unwrap().release;
        (retry, timeline.rounds, timeline.decisions().count())
    };
    let then = at("2026-11-02T10:00:04");
    assert_eq!(release(&[]), (Release::Pending, 1, 0));
    assert_eq!(
        release(&[&format!("Enqueued: {SCHEDULER}")]),
        (Release::OnTime(then), 1, 0)
    );
    assert_eq!(release(&["Processing"]), (Release::OnTime(then), 1, 0));
    assert_eq!(
        release(&[&format!("Enqueued: {DASHBOARD}")]),
        (Release::ByHand(then), 1, 1)
    );
    assert_eq!(release(&["Enqueued"]), (Release::ByHand(then), 1, 1));
    assert_eq!(release(&["Deleted"]), (Release::Dropped(then), 1, 0));
    assert_eq!(release(&["Parked"]), (Release::Dropped(then), 1, 0));
    // Deleted, and run again by an operator: a round of its own.
    assert_eq!(
        release(&["Deleted", &format!("Enqueued: {DASHBOARD}"), "Processing"]),
        (Release::Dropped(then), 2, 1)
    );
}

#[test]
fn a_retry_that_is_put_off_stays_planned() {
    let timeline = build(&[
        "Enqueued",
        "Processing",
        "Failed",
        r#"Scheduled: Retry attempt 1 of 2: no | {"EnqueueAt":"2026-11-02T10:00:04Z"}"#,
        r#"Scheduled | {"EnqueueAt":"2026-11-02T12:00:00Z"}"#,
    ]);
    let retry = timeline.pending_retry().unwrap();
    assert_eq!(retry.due_at, Some(at("2026-11-02T12:00:00")));
    assert_eq!(retry.backoff_ms, Some(1_000));
    assert_eq!(kinds(&timeline), ["attempt 1 1", "decision None"]);
}

#[test]
fn rounds_begin_where_the_rules_say() {
    for (lines, expected) in [
        (vec!["Enqueued"], vec!["waiting Enqueued"]),
        (
            vec!["Enqueued", "Processing", "Failed", "Enqueued", "Processing"],
            vec!["attempt 1 1", "decision Some(2)", "attempt 2 2"],
        ),
        (
            vec!["Enqueued", "Processing", "Succeeded", "Scheduled"],
            vec!["attempt 1 1", "decision Some(2)"],
        ),
        (
            vec![
                "Enqueued",
                "Processing",
                "Enqueued: Triggered via Dashboard UI",
                "Processing",
            ],
            vec!["attempt 1 1", "decision Some(2)", "attempt 2 2"],
        ),
        (
            vec![
                "Enqueued",
                "Processing",
                "Enqueued: Requeued by ada via Redrive: stuck",
                "Processing",
            ],
            vec!["attempt 1 1", "decision Some(2)", "attempt 2 2"],
        ),
        // Put back by the system, or by something without a name: the same round.
        (
            vec!["Enqueued", "Processing", "Enqueued", "Processing"],
            vec!["attempt 1 1", "attempt 2 1"],
        ),
        // A delayed job enqueued by hand.
        (
            vec!["Scheduled", "Enqueued: Triggered via Dashboard UI"],
            vec!["decision None"],
        ),
        (
            vec!["Scheduled", "Enqueued: Triggered by DelayedJobScheduler"],
            vec!["waiting Enqueued"],
        ),
        // A continuation, and one that an operator did not want to wait for.
        (
            vec!["Awaiting", "Enqueued", "Processing"],
            vec!["attempt 1 1"],
        ),
        (
            vec!["Awaiting", "Enqueued: Triggered via Dashboard UI"],
            vec!["decision None"],
        ),
        // Deleted before it ever ran, and run after all: the first round of attempts.
        (
            vec!["Enqueued", "Deleted", "Enqueued", "Processing"],
            vec!["deleted", "decision Some(1)", "attempt 1 1"],
        ),
    ] {
        let timeline = build(&lines);
        assert_eq!(kinds(&timeline), expected, "{lines:?}");
    }
}

#[test]
fn a_restored_row_is_transparent() {
    // A pending retry, deleted, taken back, released by the scheduler.
    let timeline = build(&[
        "Enqueued",
        "Processing",
        "Failed",
        r#"Scheduled: Retry attempt 2 of 5: no | {"EnqueueAt":"2026-11-02T10:00:09Z"}"#,
        "Deleted: Triggered via Dashboard UI",
        r#"Scheduled: Restored by ada via Redrive | {"EnqueueAt":"2026-11-02T10:00:09Z"}"#,
    ]);
    assert_eq!(kinds(&timeline), ["attempt 1 1", "deleted", "restored"]);
    let retry = timeline.pending_retry().unwrap();
    assert_eq!((retry.number, retry.of, retry.state_id), (2, 5, 4));

    let released = build(&[
        "Enqueued",
        "Processing",
        "Failed",
        r#"Scheduled: Retry attempt 2 of 5: no | {"EnqueueAt":"2026-11-02T10:00:06Z"}"#,
        "Deleted",
        r#"Scheduled: Restored by ada via Redrive | {"EnqueueAt":"2026-11-02T10:00:06Z"}"#,
        "Enqueued: Triggered by DelayedJobScheduler",
        "Processing",
        "Succeeded",
    ]);
    assert_eq!(
        kinds(&released),
        ["attempt 1 1", "deleted", "restored", "attempt 2 1"]
    );
    assert_eq!(
        released.retries().next().unwrap().release,
        Release::OnTime(at("2026-11-02T10:00:06"))
    );

    // An Enqueued job, deleted and taken back: it waits from then on.
    let queued = build(&[
        "Enqueued",
        "Deleted",
        "Enqueued: Restored by ada via Redrive",
        "Processing",
    ]);
    assert_eq!(kinds(&queued), ["deleted", "restored", "attempt 1 1"]);
    assert_eq!(queued.attempts().next().unwrap().waited.ms, Some(1_000));
}

#[test]
fn a_failed_row_that_repeats_an_earlier_one_is_no_failure() {
    let failed = r#"Failed | {"FailedAt":"1","ExceptionType":"E","ExceptionMessage":"m"}"#;
    let timeline = build(&[
        "Enqueued",
        "Processing",
        failed,
        "Deleted",
        failed,
        "Enqueued",
        "Processing",
    ]);
    assert_eq!(
        kinds(&timeline),
        [
            "attempt 1 1",
            "deleted",
            "restored",
            "decision Some(2)",
            "attempt 2 2"
        ]
    );
    assert_eq!(timeline.failures().count(), 1);
    let other = r#"Failed | {"FailedAt":"2","ExceptionType":"E","ExceptionMessage":"m"}"#;
    let timeline = build(&["Enqueued", "Processing", failed, "Deleted", other]);
    assert_eq!(kinds(&timeline), ["attempt 1 1", "deleted", "failure"]);
}

#[test]
fn rows_out_of_order_in_time_stay_in_order_of_id() {
    let rows = [
        row(1, "Enqueued", "2026-11-02T10:00:05", "{}"),
        row(2, "Processing", "2026-11-02T10:00:09", "{}"),
        row(3, "Failed", "2026-11-02T10:00:01", "{}"),
    ];
    let context = Context::whole(at("2026-11-02T10:00:05"), Some(StateName::Failed));
    let timeline = Timeline::build(&rows, &context);
    let attempt = timeline.attempts().next().unwrap();
    assert_eq!(attempt.outcome, Outcome::Failed);
    assert_eq!(
        (attempt.ran.ms, attempt.ran.clocks_disagree_ms),
        (Some(0), 8_000)
    );
}

#[test]
fn a_history_is_whole_trimmed_or_paged() {
    let rows = rows(&["Failed", "Enqueued", "Processing", "Failed"]);
    let history = |created: &str, older_rows| {
        let context = Context {
            older_rows,
            attempts_before: if older_rows { 7 } else { 0 },
            ..Context::whole(at(created), Some(StateName::Failed))
        };
        let timeline = Timeline::build(&rows, &context);
        (
            timeline.history,
            kinds(&timeline),
            timeline.attempts_so_far(),
        )
    };
    let kinds = |first: &str, second: &str, third: &str| {
        vec![first.to_owned(), second.to_owned(), third.to_owned()]
    };
    // With a whole history nothing ran before the first row; else it ended a run.
    assert_eq!(
        history("2026-11-02T10:01:00", false),
        (
            History::Whole,
            kinds("failure", "decision Some(1)", "attempt 1 1"),
            1
        )
    );
    assert_eq!(
        history("2026-11-02T09:58:59.999", false),
        (
            History::Trimmed,
            kinds("end None", "decision Some(2)", "attempt 1 2"),
            1
        )
    );
    assert_eq!(
        history("2026-10-02T10:00:00", true),
        (
            History::Paged,
            kinds("end Some(7)", "decision Some(2)", "attempt 8 2"),
            8
        )
    );
}

#[test]
fn newer_rows_finish_what_began_on_an_older_page() {
    let all = rows(&[
        "Enqueued",
        "Processing",
        "Failed",
        r#"Scheduled: Retry attempt 1 of 2: no | {"EnqueueAt":"2026-11-02T10:00:04Z"}"#,
        "Enqueued: Triggered by DelayedJobScheduler",
        "Processing",
        "Succeeded",
    ]);
    let page = |end: usize| {
        let context = Context {
            newer: all[end..].to_vec(),
            ..Context::whole(at("2026-11-02T10:00:00"), Some(StateName::Succeeded))
        };
        Timeline::build(&all[..end], &context)
    };
    let whole = page(all.len());
    for end in 2..=4 {
        let first = page(end);
        assert_eq!(first.events, whole.events[..1], "{end}");
        assert_eq!(first.rows_by_event().concat().len(), end);
    }
    assert_eq!(kinds(&page(5)), ["attempt 1 1", "waiting Enqueued"]);
    assert_eq!(kinds(&page(1)), ["waiting Enqueued"]);
    assert_eq!(page(6).events, whole.events);
}
