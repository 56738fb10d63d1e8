//! Delete.

use super::*;

const REASON: &str = "Deleted by ada via Redrive: supplier is back";
const NOT_MET: &str = "Continuation condition was not met";
const TO_DEFAULT: &str =
    r#"{"$type":"Hangfire.States.EnqueuedState, Hangfire.Core","Queue":"default"}"#;

fn delete(found: &Found) -> Vec<Write> {
    act(Action::Delete, found).unwrap().writes
}

fn continuations(value: &str) -> Vec<(String, Option<String>)> {
    vec![("Continuations".to_owned(), Some(value.to_owned()))]
}

fn child(id: i64, parent: i64, next: &str) -> FoundJob {
    let data = serde_json::json!({ "ParentId": parent.to_string(), "NextState": next });
    FoundJob {
        id,
        ..job(StateName::Awaiting, &data.to_string())
    }
}

/// Job 42 failed, with children of every option, and one that has finished already.
fn family() -> Found {
    let mut found = found(job(StateName::Failed, "{}"));
    found.job.parameters = continuations(
        r#"[{"JobId":"6","Options":1},{"JobId":"7"},{"JobId":"8","Options":2},{"JobId":"9"},{"JobId":"10"}]"#,
    );
    for id in [6, 7, 8] {
        found.relatives.insert(id, Some(child(id, 42, TO_DEFAULT)));
    }
    let done = FoundJob {
        id: 9,
        ..job(StateName::Succeeded, "{}")
    };
    found.relatives.insert(9, Some(done));
    found.relatives.insert(10, None);
    found
}

#[test]
fn delete_writes_what_hangfire_writes() {
    let [day, hour] = deleted_by_day_and_hour();
    let leaving = [
        (StateName::Failed, Some(remove("retries", "42"))),
        (StateName::Succeeded, Some(total("stats:succeeded", -1))),
        (StateName::Awaiting, Some(remove("awaiting", "42"))),
        (StateName::Enqueued, None),
        (StateName::Processing, None),
    ];
    for (state, left) in leaving {
        let mut expected = vec![day.clone(), hour.clone()];
        expected.extend(left);
        expected.extend([
            to_deleted(42, REASON),
            total("stats:deleted", 1),
            for_a_day(42),
        ]);
        assert_eq!(
            delete(&found(job(state.clone(), "{}"))),
            expected,
            "{state}"
        );
    }
}

#[test]
fn the_queue_row_is_left_as_hangfire_leaves_it() {
    let mut found = found(job(StateName::Enqueued, "{}"));
    found.job.queue_rows = vec![waiting(7, "default"), taken(8, "default", 1)];
    let touched = delete(&found).iter().any(|write| {
        matches!(
            write,
            Write::DeleteQueueRow { .. } | Write::InsertQueueRow { .. }
        )
    });
    assert!(!touched);
}

#[test]
fn a_deleted_job_is_not_deleted_again() {
    assert_eq!(
        refusal(Action::Delete, &found(job(StateName::Deleted, "{}"))),
        "It is deleted already."
    );
}

#[test]
fn children_go_first_each_as_its_condition_says() {
    let found = family();
    let plan = act(Action::Delete, &found).unwrap();
    let [day, hour] = deleted_by_day_and_hour();
    let expected = [
        // 6 runs on success only
        day.clone(),
        hour.clone(),
        remove("awaiting", "6"),
        to_deleted(6, NOT_MET),
        total("stats:deleted", 1),
        for_a_day(6),
        // 7 and 8 are released
        remove("awaiting", "7"),
        to_enqueued(7, None, "default"),
        insert(7, "default"),
        for_ever(7),
        remove("awaiting", "8"),
        to_enqueued(8, None, "default"),
        insert(8, "default"),
        for_ever(8),
        // and the parent
        day,
        hour,
        remove("retries", "42"),
        to_deleted(42, REASON),
        total("stats:deleted", 1),
        for_a_day(42),
    ];
    assert_eq!(plan.writes, expected);
    assert_eq!(
        plan.notes,
        [
            "Released 2 children that waited for it: #7 and #8.",
            "Deleted 1 child whose condition was not met: #6."
        ]
    );
}

#[test]
fn what_must_be_read_is_asked_for_until_nothing_is_missing() {
    let mut found = family();
    let family = std::mem::take(&mut found.relatives);
    assert_eq!(wanted(&Action::Delete, &found).unwrap(), [6, 7, 8, 9, 10]);
    found.relatives = family;
    assert!(wanted(&Action::Delete, &found).unwrap().is_empty());

    // A child that is deleted too has children of its own; one that is released keeps them.
    for id in [6, 7] {
        let job = found.relatives.get_mut(&id).unwrap().as_mut().unwrap();
        job.parameters = continuations(&format!(r#"[{{"JobId":"{}"}}]"#, id + 100));
    }
    assert_eq!(wanted(&Action::Delete, &found).unwrap(), [106]);
    assert!(wanted(&requeue(), &found).unwrap().is_empty());
}

#[test]
fn a_chain_is_followed_and_a_circle_ends() {
    let mut found = found(job(StateName::Failed, "{}"));
    found.job.parameters = continuations(r#"[{"JobId":"43","Options":1}]"#);
    let mut second = child(43, 42, TO_DEFAULT);
    second.parameters = continuations(r#"[{"JobId":"44","Options":1},{"JobId":"42"}]"#);
    found.relatives.insert(43, Some(second));
    found.relatives.insert(44, Some(child(44, 43, TO_DEFAULT)));
    assert!(wanted(&Action::Delete, &found).unwrap().is_empty());
    let deleted: Vec<i64> = delete(&found)
        .iter()
        .filter_map(|write| match write {
            Write::State { job, .. } => Some(*job),
            _ => None,
        })
        .collect();
    assert_eq!(deleted, [44, 43, 42]);
}

#[test]
fn a_child_that_cannot_be_released_stops_the_delete() {
    let mut found = family();
    found.relatives.insert(
        7,
        Some(child(7, 42, r#"{"$type":"Acme.ParkedState, Acme"}"#)),
    );
    let why = refusal(Action::Delete, &found);
    assert!(why.contains("#7") && why.contains("NextState"), "{why}");

    found.job.parameters = continuations("{");
    assert!(refusal(Action::Delete, &found).contains("Continuations"));
    assert!(matches!(
        wanted(&Action::Delete, &found),
        Err(Outcome::Refused { .. })
    ));

    let mut batch = family();
    let job = batch.relatives.get_mut(&8).unwrap().as_mut().unwrap();
    job.parameters = vec![("BatchId".to_owned(), None)];
    assert!(refusal(Action::Delete, &batch).contains("#8 belongs to a batch"));

    let mut unread = family();
    unread.relatives.remove(&7);
    refusal(Action::Delete, &unread);
}

#[test]
fn a_child_in_motion_is_busy() {
    let mut found = family();
    let job = found.relatives.get_mut(&7).unwrap().as_mut().unwrap();
    job.unsettled = true;
    busy(Action::Delete, &found);

    // Being created is waited for, for as long as Hangfire does.
    let job = found.relatives.get_mut(&7).unwrap().as_mut().unwrap();
    *job = FoundJob {
        created_at: ago_s(899),
        ..FoundJob::bare(7, None)
    };
    busy(Action::Delete, &found);
    let job = found.relatives.get_mut(&7).unwrap().as_mut().unwrap();
    job.created_at = ago_s(900);
    assert!(act(Action::Delete, &found).is_ok());

    let job = found.relatives.get_mut(&8).unwrap().as_mut().unwrap();
    job.queue_rows = vec![taken(3, "default", 1)];
    busy(Action::Delete, &found);
}

#[test]
fn a_child_is_released_where_its_next_state_says() {
    let mut found = family();
    let mut own = child(
        7,
        42,
        r#"{"$type":"Hangfire.States.EnqueuedState, Hangfire.Core","Queue":"reports","Reason":"after"}"#,
    );
    own.own_queue = Some("critical".to_owned());
    found.relatives.insert(7, Some(own));
    found.relatives.insert(
        8,
        Some(child(
            8,
            42,
            r#"{"$type":"Hangfire.States.ScheduledState, Hangfire.Core","EnqueueAt":"2026-11-29T21:00:00.5Z"}"#,
        )),
    );
    let writes = delete(&found);
    assert!(writes.contains(&to_enqueued(7, Some("after"), "reports")));
    assert!(writes.contains(&insert(7, "critical")));
    assert!(writes.contains(&add(
        "schedule",
        "8",
        at("2026-11-29T21:00:00Z").timestamp()
    )));
    assert!(writes.contains(&Write::State {
        job: 8,
        name: StateName::Scheduled,
        reason: None,
        data: StateValue::Object(vec![
            ("EnqueueAt", "2026-11-29T21:00:00.5000000Z".to_owned()),
            ("ScheduledAt", "2026-11-29T20:00:00.1234560Z".to_owned()),
        ]),
    }));
}

#[test]
fn too_large_a_family_is_refused() {
    let mut found = found(job(StateName::Failed, "{}"));
    let list: Vec<String> = (1000..2001)
        .map(|id| format!(r#"{{"JobId":"{id}"}}"#))
        .collect();
    found.job.parameters = continuations(&format!("[{}]", list.join(",")));
    assert!(matches!(
        wanted(&Action::Delete, &found),
        Err(Outcome::Refused { .. })
    ));
}
