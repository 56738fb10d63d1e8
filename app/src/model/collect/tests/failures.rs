//! What the index keeps, and how it is mended.

use super::made;
use crate::model::collect::{FailureGroup, Increments, Job, Memory, Stray};
use crate::model::state::{ListState, StateRow};
use crate::model::testing::{at, because, row};

fn history() -> Vec<StateRow> {
    vec![
        row(1, "Enqueued", "2026-11-02T08:00:00", r#"{"Queue":"mail"}"#),
        row(
            2,
            "Processing",
            "2026-11-02T08:00:01",
            r#"{"ServerId":"a"}"#,
        ),
        row(
            3,
            "Failed",
            "2026-11-02T08:00:02",
            r#"{"ExceptionType":"E"}"#,
        ),
        because(
            4,
            "Scheduled",
            "2026-11-02T08:00:02",
            "Retry attempt 1 of 1: no",
            "{}",
        ),
        row(5, "Enqueued", "2026-11-02T08:01:00", r#"{"Queue":"mail"}"#),
        row(
            6,
            "Processing",
            "2026-11-02T08:01:01",
            r#"{"ServerId":"b"}"#,
        ),
        row(
            7,
            "Failed",
            "2026-11-02T08:01:02",
            r#"{"ExceptionType":"F"}"#,
        ),
    ]
}

fn group(list: ListState, exception: &str, attempts: u32) -> FailureGroup {
    FailureGroup {
        list,
        job_type: "A.B".to_owned(),
        method: Some("RunAsync".to_owned()),
        queue: Some("mail".to_owned()),
        exception: Some(exception.to_owned()),
        attempts,
    }
}

fn job(current_row: Option<i64>) -> Job {
    Job {
        current_row,
        ..made(history(), "A.B").job
    }
}

fn remembered(rows: &[StateRow]) -> Memory {
    let job = job(None);
    let mut memory = Memory::new(&job);
    for row in rows {
        memory.take(row, &job, &mut Increments::default());
    }
    memory
}

fn stray(current_row: Option<i64>, rows: Vec<StateRow>) -> Stray {
    Stray {
        job: job(current_row),
        is_failed: true,
        memory: None,
        rows,
    }
}

#[test]
fn a_job_is_indexed_while_it_is_failed_or_waits_for_a_retry() {
    let rows = history();
    let lists: Vec<Option<ListState>> = (1..=rows.len())
        .map(|seen| Some(remembered(&rows[..seen]).failure()?.group.list))
        .collect();
    let (failed, retrying) = (Some(ListState::Failed), Some(ListState::Retrying));
    assert_eq!(lists, [None, None, failed, retrying, None, None, failed]);
    let failure = remembered(&rows).failure().unwrap();
    assert_eq!(failure.group, group(ListState::Failed, "F", 2));
    assert_eq!(failure.changed_at, at("2026-11-02T08:01:02"));
    assert_eq!((failure.state_id, failure.attempts), (7, 2));
    assert_eq!(failure.server.as_deref(), Some("b"));
}

/// The ids are stored: what they are made of must not change its meaning.
#[test]
fn groups_are_told_apart_by_each_of_their_parts() {
    let one = group(ListState::Failed, "F", 2);
    let others = [
        group(ListState::Retrying, "F", 2),
        group(ListState::Failed, "G", 2),
        group(ListState::Failed, "F", 3),
        FailureGroup {
            queue: None,
            ..one.clone()
        },
        FailureGroup {
            method: None,
            queue: Some("RunAsync".to_owned()),
            ..one.clone()
        },
        FailureGroup {
            job_type: "A".to_owned(),
            ..one.clone()
        },
    ];
    for other in others {
        assert_ne!(one.id(), other.id(), "{other:?}");
    }
    // FNV-1a of 0xff 0xff "failed" 0xff 0xff "A" 0xff 0xfe 0xff 0xfe 0xff 0xfe 0xff 0xff "1",
    // computed by another program.
    let plain = FailureGroup {
        list: ListState::Failed,
        job_type: "A".to_owned(),
        method: None,
        queue: None,
        exception: None,
        attempts: 1,
    };
    assert_eq!(plain.id(), FNV_OF_PLAIN);
}

const FNV_OF_PLAIN: i64 = 4_252_771_359_313_412_223;

/// More than a hundred attempts are one group; the job's own number is kept.
#[test]
fn many_attempts_are_one_group() {
    let mut rows = vec![row(1, "Enqueued", "2026-11-02T08:00:00", "{}")];
    for attempt in 0..150 {
        rows.push(row(2 + attempt, "Processing", "2026-11-02T08:00:01", "{}"));
    }
    rows.push(row(200, "Failed", "2026-11-02T08:00:02", "{}"));
    let failure = remembered(&rows).failure().unwrap();
    assert_eq!((failure.group.attempts, failure.attempts), (100, 150));
}

#[test]
fn a_stray_is_indexed_from_its_rows() {
    let failure = stray(Some(7), history()).failure(7).unwrap();
    assert_eq!(Some(failure), remembered(&history()).failure());
    // Somebody set it back to an earlier failure.
    let failure = stray(Some(3), history()).failure(7).unwrap();
    assert_eq!(failure.group, group(ListState::Failed, "E", 1));
    assert_eq!(failure.changed_at, at("2026-11-02T08:00:02"));
    assert_eq!(failure.state_id, 3);
    // The collector will come to it.
    assert_eq!(stray(Some(8), history()).failure(7), None);
    let mut delayed = stray(Some(4), history());
    delayed.is_failed = false;
    let failure = delayed.failure(7).unwrap();
    assert_eq!(failure.group, group(ListState::Retrying, "E", 1));
    // A job that says Scheduled, and whose row is no retry.
    delayed.job.current_row = Some(5);
    assert_eq!(delayed.failure(7), None);
}

/// Its rows have expired, or somebody wrote its state without one.
#[test]
fn a_stray_without_its_row_is_indexed_as_far_as_it_is_known() {
    let nothing = stray(None, Vec::new()).failure(7).unwrap();
    assert_eq!((nothing.state_id, nothing.attempts), (0, 0));
    assert_eq!(nothing.changed_at, at("2026-11-02T08:00:00"));
    let mut forgotten = stray(None, Vec::new());
    forgotten.memory = Some(remembered(&history()));
    let failure = forgotten.failure(7).unwrap();
    assert_eq!(failure.group, group(ListState::Failed, "F", 2));
    assert_eq!(failure.changed_at, at("2026-11-02T08:01:02"));
    // Its pointer leads nowhere; its last row is of another state.
    let failure = stray(Some(6), history()[..5].to_vec()).failure(7).unwrap();
    assert_eq!(failure.group, group(ListState::Failed, "E", 1));
    assert_eq!(failure.state_id, 6);
}

/// Rows that are left tell of fewer attempts than are remembered.
#[test]
fn a_stray_keeps_what_is_remembered_of_it() {
    let mut trimmed = stray(Some(7), history()[4..].to_vec());
    assert_eq!(trimmed.failure(7).unwrap().attempts, 1);
    trimmed.memory = Some(remembered(&history()));
    assert_eq!(trimmed.failure(7).unwrap().attempts, 2);
}
