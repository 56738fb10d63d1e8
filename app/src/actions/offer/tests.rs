use super::super::found::Limits;
use super::*;
use crate::model::data::StateData;
use crate::model::invocation::{Arguments, Invocation};
use crate::model::job::{Continuation, CurrentState, QueueRow, Server};
use crate::model::state::{Instant, StateRow};

fn at(rfc3339: &str) -> Instant {
    chrono::DateTime::parse_from_rfc3339(rfc3339)
        .unwrap()
        .to_utc()
}

fn now() -> Instant {
    at("2026-11-29T20:00:00Z")
}

fn row(id: i64, name: StateName, reason: Option<&str>, data: &str) -> StateRow {
    StateRow {
        id,
        name,
        reason: reason.map(str::to_owned),
        created_at: at("2026-11-29T19:50:00Z"),
        data: StateData::parse(data),
        details_chars: None,
    }
}

/// A job whose newest row is its state.
fn record(rows: Vec<StateRow>) -> JobRecord {
    let newest = rows.last().unwrap();
    JobRecord {
        id: 42,
        state: CurrentState {
            name: Some(newest.name.clone()),
            id: Some(newest.id),
            since: Some(newest.created_at),
            reason: newest.reason.clone(),
            unsettled: false,
        },
        invocation: Invocation {
            type_name: Some("Bookstore.Jobs.ImportJob, Bookstore.Jobs".to_owned()),
            method: Some("RunAsync".to_owned()),
            parameter_types: Vec::new(),
            arguments: Arguments::Values(Vec::new()),
            own_queue: None,
        },
        arguments_bytes: None,
        created_at: at("2026-11-29T19:00:00Z"),
        expire_at: None,
        parameters: Vec::new(),
        duplicate_parameters: Vec::new(),
        queue_rows: Vec::new(),
        states_total: 1,
        states: rows,
        attempts_before: 0,
        continuations: Vec::new(),
    }
}

fn server(age_ms: i64) -> Server {
    Server {
        id: "web-1:400:aaaa".to_owned(),
        workers: Some(4),
        queues: Some(vec!["default".to_owned()]),
        started_at: None,
        started_raw: None,
        heartbeat_at: now(),
        heartbeat_age_ms: age_ms,
        processing: 1,
    }
}

fn page(record: &JobRecord) -> Found {
    Found::from_page(record, &[server(5_000)], now(), Limits::default())
}

fn warned(action: &Action, record: &JobRecord) -> Vec<String> {
    warnings(action, &page(record), record)
}

fn requeue() -> Action {
    Action::Requeue(Enqueue::default())
}

#[test]
fn each_action_is_offered_or_says_why_not() {
    let failed = record(vec![row(3, StateName::Failed, None, "{}")]);
    let why_not = available(&page(&failed), None).map(|offer| offer.why_not);
    assert_eq!(why_not[0], None);
    assert_eq!(
        why_not[1].as_deref(),
        Some(
            "Only scheduled, retrying and awaiting jobs are enqueued ahead of time; this one is \
             Failed. Requeue it instead."
        )
    );
    assert_eq!(why_not[2], None);
    assert_eq!(
        why_not[3].as_deref(),
        Some("It is not deleted; it is Failed.")
    );

    let running = record(vec![row(
        3,
        StateName::Processing,
        None,
        r#"{"ServerId":"web-1:400:aaaa"}"#,
    )]);
    let [requeue, ..] = available(&page(&running), None);
    assert!(requeue.why_not.unwrap().contains("reported 5 s ago"));

    let read_only = available(&page(&failed), Some("This source is read-only."));
    assert!(
        read_only
            .iter()
            .all(|offer| offer.why_not.as_deref() == Some("This source is read-only."))
    );
}

#[test]
fn a_page_sees_what_was_deleted() {
    let mut deleted = record(vec![
        row(3, StateName::Failed, None, "{}"),
        row(4, StateName::Deleted, None, "{}"),
    ]);
    let undo = |record: &JobRecord| available(&page(record), None)[3].why_not.clone();
    assert_eq!(undo(&deleted), None);
    let parameter = r#"[{"JobId":"7"}]"#.to_owned();
    deleted.parameters = vec![("Continuations".to_owned(), Some(parameter))];
    deleted.continuations = vec![Continuation {
        job: 7,
        options: 0,
        state: Some(StateName::Enqueued),
    }];
    assert!(undo(&deleted).unwrap().contains("#7"));

    // Its parent is not on the page: acting will tell.
    let awaiting = record(vec![
        row(3, StateName::Awaiting, None, r#"{"ParentId":"5"}"#),
        row(4, StateName::Deleted, None, "{}"),
    ]);
    assert_eq!(undo(&awaiting), None);
}

#[test]
fn a_delete_says_what_becomes_of_the_children() {
    let mut parent = record(vec![row(3, StateName::Failed, None, "{}")]);
    let child = |job, options, state| Continuation {
        job,
        options,
        state: Some(state),
    };
    parent.continuations = vec![
        child(5, 0, StateName::Awaiting),
        child(6, 1, StateName::Awaiting),
        child(7, 2, StateName::Awaiting),
        child(8, 0, StateName::Succeeded),
    ];
    assert_eq!(
        warned(&Action::Delete, &parent),
        ["2 children will run and 1 will be deleted."]
    );
    parent.continuations.truncate(1);
    assert_eq!(warned(&Action::Delete, &parent), ["1 child will run."]);
    parent.continuations.clear();
    assert!(warned(&Action::Delete, &parent).is_empty());
    parent.parameters = vec![("Continuations".to_owned(), Some("{".to_owned()))];
    assert!(warned(&Action::Delete, &parent)[0].contains("cannot be read"));
}

#[test]
fn deleting_what_runs_or_waits_is_warned_of() {
    let running = record(vec![row(3, StateName::Processing, None, "{}")]);
    assert!(warned(&Action::Delete, &running)[0].contains("may finish the work"));
    let awaiting = record(vec![row(
        3,
        StateName::Awaiting,
        None,
        r#"{"ParentId":"5"}"#,
    )]);
    assert_eq!(
        warned(&Action::Delete, &awaiting),
        ["It waits for job #5 and will not run after it."]
    );
    assert_eq!(
        warned(&Action::EnqueueNow(Enqueue::default()), &awaiting),
        ["Job #5, which it waits for, has not finished."]
    );
}

#[test]
fn a_queue_that_nobody_serves_is_warned_of() {
    let mut failed = record(vec![
        row(2, StateName::Enqueued, None, r#"{"Queue":"reports"}"#),
        row(3, StateName::Failed, None, "{}"),
    ]);
    let expected = "No live server serves the queue reports: the job waits there until one does.";
    assert_eq!(warned(&requeue(), &failed), [expected]);
    let elsewhere = Action::Requeue(Enqueue {
        queue: Some("default".to_owned()),
        reset_retries: false,
    });
    assert!(warned(&elsewhere, &failed).is_empty());
    failed.queue_rows = vec![QueueRow {
        id: 1,
        queue: "default".to_owned(),
        fetched_at: None,
    }];
    assert!(warned(&requeue(), &failed).is_empty());
}

#[test]
fn used_up_retries_are_named_before_a_requeue() {
    let mut failed = record(vec![
        row(
            1,
            StateName::Scheduled,
            Some("Retry attempt 1 of 2: no"),
            "{}",
        ),
        row(
            2,
            StateName::Scheduled,
            Some("Retry attempt 2 of 2: no"),
            "{}",
        ),
        row(3, StateName::Failed, None, "{}"),
    ]);
    let count = |n: &str| vec![("RetryCount".to_owned(), Some(n.to_owned()))];
    failed.parameters = count("2");
    assert_eq!(
        warned(&requeue(), &failed),
        [
            "Both retries are used: it gets exactly one run, unless the retry count is started again."
        ]
    );
    let again = Action::Requeue(Enqueue {
        queue: None,
        reset_retries: true,
    });
    assert!(warned(&again, &failed).is_empty());
    failed.parameters = count("1");
    assert!(warned(&requeue(), &failed).is_empty());
}
