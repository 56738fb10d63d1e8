//! Every job of every recorded database, against what a second implementation made of it.

use serde_json::Value;

use crate::model::attempt::{Attempt, Failure, Outcome, PlannedRetry, Release};
use crate::model::state::StateName;
use crate::model::testing;
use crate::model::timeline::{Event, History, Timeline};

#[test]
fn article() {
    check("article", "rows.json", 6, 8);
}

#[test]
fn policies() {
    check("policies", "rows.json", 9, 21);
}

#[test]
fn workers() {
    check("workers", "rows.json", 6, 10);
}

#[test]
fn workers_stopped() {
    check("workers/stopped", "rows.json", 3, 7);
}

#[test]
fn shapes_at_every_level() {
    check("shapes-110-full", "rows.json", 23, 25);
    check("shapes-170-full", "rows.json", 23, 25);
    check("shapes-180-simple", "rows.json", 23, 25);
}

#[test]
fn continuations() {
    check("continuations", "rows.json", 15, 11);
}

#[test]
fn recurring() {
    check("recurring", "rows.json", 3, 5);
}

#[test]
fn renamed() {
    check("renamed", "rows.json", 3, 0);
}

#[test]
fn operators() {
    check("operators", "rows.json", 10, 19);
}

#[test]
fn stuck() {
    check("stuck", "rows.json", 3, 3);
}

#[test]
fn claims() {
    check("claims/stale", "rows.json", 4, 7);
    check("claims/reclaimed", "rows.json", 6, 9);
}

#[test]
fn transitions() {
    check("transitions", "base.json", 15, 13);
}

#[test]
fn minutes_of_mixed_work_under_kills() {
    check("mixed", "rows.json", 2759, 3813);
}

/// Checks each job, and that the folder holds as many jobs and attempts as it should: an empty
/// file of expectations would pass otherwise.
fn check(folder: &str, rows: &str, job_count: usize, attempt_count: usize) {
    let jobs = testing::jobs(&format!("{folder}/{rows}"));
    let expected = testing::json(&format!("{folder}/expected.json"));
    let expected = expected.as_array().unwrap();
    assert_eq!(expected.len(), jobs.len(), "{folder}: jobs");
    let mut attempts = 0;
    for want in expected {
        let id = want["id"].as_i64().unwrap();
        let job = &jobs[&id];
        let name = format!("{folder} job {id}");
        assert_eq!(
            job.state.as_ref().map(StateName::as_str),
            want["state"].as_str(),
            "{name}"
        );
        let timeline = job.timeline();
        check_job(&name, &timeline, want);
        assert_eq!(timeline.history, History::Whole, "{name}");
        let covered: Vec<i64> = timeline.rows_by_event().concat();
        let ids: Vec<i64> = job.rows.iter().map(|row| row.id).collect();
        assert_eq!(covered, ids, "{name}: rows in events");
        attempts += timeline.attempts().count();
    }
    assert_eq!((expected.len(), attempts), (job_count, attempt_count));
}

fn check_job(name: &str, timeline: &Timeline, want: &Value) {
    assert_eq!(
        u64::from(timeline.rounds),
        want["rounds"].as_u64().unwrap(),
        "{name}: rounds"
    );
    let attempts: Vec<&Attempt> = timeline.attempts().collect();
    let wanted = want["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), wanted.len(), "{name}: attempts");
    for (attempt, want) in attempts.iter().zip(wanted) {
        check_attempt(&format!("{name} attempt {}", attempt.number), attempt, want);
    }
    let outside: Vec<&Failure> = timeline
        .events
        .iter()
        .filter_map(|event| match event {
            Event::FailureOutsideAttempt(failure) => Some(failure),
            _ => None,
        })
        .collect();
    let wanted = want["failures_outside_attempts"].as_array().unwrap();
    assert_eq!(outside.len(), wanted.len(), "{name}: failures outside");
    for (failure, want) in outside.iter().zip(wanted) {
        assert_eq!(Some(failure.state_id), want["state"].as_i64(), "{name}");
        assert_eq!(
            failure.exception_type.as_deref(),
            want["exception"].as_str(),
            "{name}"
        );
        check_retry(name, failure.retry.as_ref(), &want["retry"]);
    }
    assert!(
        !timeline
            .events
            .iter()
            .any(|event| matches!(event, Event::RunEnd(_))),
        "{name}: a whole history holds the beginning of each run"
    );
}

fn check_attempt(name: &str, attempt: &Attempt, want: &Value) {
    let outcome = match attempt.outcome {
        Outcome::PutBack(_) => "put_back",
        ref outcome => outcome.slug(),
    };
    assert_eq!(Some(outcome), want["outcome"].as_str(), "{name}: outcome");
    assert_eq!(Some(u64::from(attempt.number)), want["number"].as_u64());
    assert_eq!(
        Some(u64::from(attempt.round)),
        want["round"].as_u64(),
        "{name}: round"
    );
    assert_eq!(attempt.server.as_deref(), want["server"].as_str(), "{name}");
    assert_eq!(
        Some(attempt.processing_id),
        want["processing"].as_i64(),
        "{name}"
    );
    assert_eq!(attempt.ended_by, want["ended_by"].as_i64(), "{name}");
    close(name, "waited", attempt.waited.ms, &want["waited_ms"]);
    close(name, "ran", attempt.ran.ms, &want["ran_ms"]);
    close(name, "reported", attempt.reported_ms, &want["reported_ms"]);
    assert_eq!(attempt.waited.clocks_disagree_ms, 0, "{name}");
    assert_eq!(attempt.ran.clocks_disagree_ms, 0, "{name}");
    assert!(!attempt.row_missing, "{name}");
    assert_eq!(
        attempt
            .failure
            .as_ref()
            .and_then(|failure| failure.exception_type.as_deref()),
        want["exception"].as_str(),
        "{name}: exception"
    );
    check_retry(name, attempt.retry(), &want["retry"]);
}

fn check_retry(name: &str, retry: Option<&PlannedRetry>, want: &Value) {
    let Some(retry) = retry else {
        assert!(want.is_null(), "{name}: no retry was read, {want} is right");
        return;
    };
    assert_eq!(
        Some(u64::from(retry.number)),
        want["number"].as_u64(),
        "{name}"
    );
    assert_eq!(Some(u64::from(retry.of)), want["of"].as_u64(), "{name}");
    close(name, "backoff", retry.backoff_ms, &want["backoff_ms"]);
    assert_eq!(
        Some(matches!(retry.release, Release::ByHand(_))),
        want["by_hand"].as_bool(),
        "{name}: released by hand"
    );
    if let Some(late) = retry.late() {
        assert_eq!(late.clocks_disagree_ms, 0, "{name}: early by over a second");
    }
}

/// A difference of 1 ms is rounding.
fn close(name: &str, what: &str, got: Option<i64>, want: &Value) {
    match (got, want.as_i64()) {
        (Some(got), Some(want)) => {
            assert!((got - want).abs() <= 1, "{name}: {what} {got}, not {want}");
        }
        (got, want) => assert_eq!(got, want, "{name}: {what}"),
    }
}
