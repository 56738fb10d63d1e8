//! Undo of a delete.

use super::*;

const REASON: &str = "Restored by ada via Redrive: supplier is back";

/// Job 42, deleted ten minutes ago; its row before that is 970.
fn deleted(former: StateName, data: &str) -> Found {
    let mut found = found(job(StateName::Deleted, "{}"));
    found.job.before = Some(row(970, former, data));
    found.job.expire_at = Some(now() + chrono::Duration::hours(20));
    found
}

fn undo(found: &Found) -> Vec<Write> {
    act(Action::UndoDelete, found).unwrap().writes
}

fn restored(name: StateName) -> Write {
    Write::State {
        job: 42,
        name,
        reason: Some(REASON.to_owned()),
        data: StateValue::CopyOf(970),
    }
}

#[test]
fn a_failed_job_fails_again_without_running() {
    assert_eq!(
        undo(&deleted(StateName::Failed, "{}")),
        [
            total("stats:deleted", -1),
            restored(StateName::Failed),
            for_ever(42)
        ]
    );
}

#[test]
fn a_succeeded_job_is_counted_again_and_expires_in_a_day() {
    assert_eq!(
        undo(&deleted(StateName::Succeeded, "{}")),
        [
            total("stats:deleted", -1),
            restored(StateName::Succeeded),
            total("stats:succeeded", 1),
            for_a_day(42)
        ]
    );
}

#[test]
fn an_enqueued_job_has_one_queue_row_again() {
    let mut found = deleted(StateName::Enqueued, r#"{"Queue":"reports"}"#);
    // A worker has dropped the row meanwhile.
    assert_eq!(
        undo(&found),
        [
            total("stats:deleted", -1),
            restored(StateName::Enqueued),
            insert(42, "reports"),
            for_ever(42)
        ]
    );
    found.job.own_queue = Some("critical".to_owned());
    assert!(undo(&found).contains(&insert(42, "critical")));
    // Nobody has.
    found.job.queue_rows = vec![waiting(7, "reports")];
    assert_eq!(
        undo(&found),
        [
            total("stats:deleted", -1),
            restored(StateName::Enqueued),
            for_ever(42)
        ]
    );
    // A worker is about to.
    found.job.queue_rows = vec![taken(7, "reports", 1)];
    busy(Action::UndoDelete, &found);
}

#[test]
fn a_scheduled_job_is_on_the_schedule_again() {
    let data = r#"{"EnqueueAt":"1796017050894"}"#;
    let mut found = deleted(StateName::Scheduled, data);
    assert_eq!(
        undo(&found),
        [
            total("stats:deleted", -1),
            restored(StateName::Scheduled),
            add("schedule", "42", 1_796_017_050),
            for_ever(42)
        ]
    );
    found.job.own_queue = Some("reports".to_owned());
    found.job.before.as_mut().unwrap().reason = Some("Retry attempt 1 of 3: no".to_owned());
    let writes = undo(&found);
    assert!(writes.contains(&add("schedule", "reports:42", 1_796_017_050)));
    assert!(writes.contains(&add("retries", "42", 0)));

    // Deleted and restored once before: the row says who restored it, the count that it was retried.
    found.job.before.as_mut().unwrap().reason = Some("Restored by ada via Redrive".to_owned());
    assert!(!undo(&found).contains(&add("retries", "42", 0)));
    found.job.parameters = vec![("RetryCount".to_owned(), Some("1".to_owned()))];
    assert!(undo(&found).contains(&add("retries", "42", 0)));

    // A row left from an earlier life must not run it ahead of time.
    found.job.queue_rows = vec![waiting(7, "reports")];
    let writes = undo(&found);
    assert!(writes.contains(&Write::DeleteQueueRow { id: 7 }));
    assert!(writes.contains(&add("schedule", "reports:42", 1_796_017_050)));

    // The scheduler had released it: the queue row stands for the schedule.
    found.job.before.as_mut().unwrap().data = StateData::parse(r#"{"EnqueueAt":"1795981000000"}"#);
    let writes = undo(&found);
    assert!(!writes.iter().any(|w| matches!(
        w,
        Write::AddToSet {
            key: "schedule",
            ..
        } | Write::DeleteQueueRow { .. }
    )));
    // Overdue without one: the scheduler releases it at once.
    found.job.queue_rows.clear();
    let plan = act(Action::UndoDelete, &found).unwrap();
    assert!(
        plan.writes
            .contains(&add("schedule", "reports:42", 1_795_981_000))
    );
    assert!(plan.notes[1].contains("due meanwhile"));

    found.job.before.as_mut().unwrap().data = StateData::parse(r#"{"EnqueueAt":"soon"}"#);
    assert!(refusal(Action::UndoDelete, &found).contains("due"));
}

#[test]
fn an_awaiting_job_waits_again_while_its_parent_may_finish() {
    let mut found = deleted(StateName::Awaiting, r#"{"ParentId":"5"}"#);
    assert_eq!(wanted(&Action::UndoDelete, &found).unwrap(), [5]);
    let mut parent = FoundJob::bare(5, Some(StateName::Failed));
    parent.parameters = vec![(
        "Continuations".to_owned(),
        Some(r#"[{"JobId":"42"}]"#.to_owned()),
    )];
    found.relatives.insert(5, Some(parent.clone()));
    assert!(wanted(&Action::UndoDelete, &found).unwrap().is_empty());
    assert_eq!(
        undo(&found),
        [
            total("stats:deleted", -1),
            restored(StateName::Awaiting),
            add("awaiting", "42", now().timestamp()),
            for_ever(42)
        ]
    );

    for state in [StateName::Succeeded, StateName::Deleted] {
        parent.state = Some(state);
        found.relatives.insert(5, Some(parent.clone()));
        assert!(refusal(Action::UndoDelete, &found).contains("#5, which is"));
    }
    parent.state = Some(StateName::Failed);
    parent.parameters.clear();
    found.relatives.insert(5, Some(parent));
    assert!(refusal(Action::UndoDelete, &found).contains("does not name it"));
    found.relatives.insert(5, None);
    assert!(refusal(Action::UndoDelete, &found).contains("does not exist"));
    found.job.before.as_mut().unwrap().data = StateData::default();
    refusal(Action::UndoDelete, &found);
}

#[test]
fn what_ran_or_is_not_known_is_refused_with_requeue_in_its_place() {
    let running = deleted(StateName::Processing, "{}");
    assert!(refusal(Action::UndoDelete, &running).contains("Requeue"));
    let custom = deleted(StateName::Other("Throttled".to_owned()), "{}");
    assert!(refusal(Action::UndoDelete, &custom).contains("Throttled"));
    let mut forgotten = deleted(StateName::Failed, "{}");
    forgotten.job.before = None;
    assert!(refusal(Action::UndoDelete, &forgotten).contains("not recorded"));
    assert_eq!(
        refusal(Action::UndoDelete, &found(job(StateName::Failed, "{}"))),
        "It is not deleted; it is Failed."
    );
}

#[test]
fn it_ends_a_minute_before_the_job_expires() {
    let mut found = deleted(StateName::Failed, "{}");
    found.job.expire_at = Some(now() + chrono::Duration::milliseconds(59_999));
    assert!(refusal(Action::UndoDelete, &found).contains("expires at 2026-11-29 20:01:00 UTC"));
    found.job.expire_at = Some(now() + chrono::Duration::seconds(60));
    assert!(act(Action::UndoDelete, &found).is_ok());
}

#[test]
fn released_children_cannot_be_called_back() {
    let mut found = deleted(StateName::Failed, "{}");
    found.job.parameters = vec![(
        "Continuations".to_owned(),
        Some(r#"[{"JobId":"6"},{"JobId":"7"}]"#.to_owned()),
    )];
    assert_eq!(wanted(&Action::UndoDelete, &found).unwrap(), [6, 7]);
    let awaiting = |id| Some(FoundJob::bare(id, Some(StateName::Awaiting)));
    found.relatives.insert(6, awaiting(6));
    found.relatives.insert(7, awaiting(7));
    assert!(act(Action::UndoDelete, &found).is_ok());
    for released in [None, Some(FoundJob::bare(7, Some(StateName::Enqueued)))] {
        found.relatives.insert(7, released);
        assert!(refusal(Action::UndoDelete, &found).contains("#7"));
    }
    // They had been released when it succeeded, not by the delete.
    found.job.before = Some(row(970, StateName::Succeeded, "{}"));
    assert!(act(Action::UndoDelete, &found).is_ok());
}
