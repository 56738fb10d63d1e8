//! Requeue and enqueue now.

use super::*;

const REASON: Option<&str> = Some("Requeued by ada via Redrive: supplier is back");

#[test]
fn requeue_writes_what_hangfire_writes() {
    let failed = found(job(StateName::Failed, "{}"));
    let plan = act(requeue(), &failed).unwrap();
    assert_eq!(plan.state, StateName::Enqueued);
    assert_eq!(plan.at, now());
    assert_eq!(
        plan.writes,
        [
            remove("retries", "42"),
            to_enqueued(42, REASON, "default"),
            insert(42, "default"),
            for_ever(42),
        ]
    );
    assert_eq!(plan.notes, ["Queued on default."]);

    for (state, counter) in [
        (StateName::Succeeded, "stats:succeeded"),
        (StateName::Deleted, "stats:deleted"),
    ] {
        let plan = act(requeue(), &found(job(state, "{}"))).unwrap();
        assert_eq!(
            plan.writes,
            [
                total(counter, -1),
                to_enqueued(42, REASON, "default"),
                insert(42, "default"),
                for_ever(42),
            ]
        );
    }
}

#[test]
fn the_queue_is_the_operators_else_the_jobs_own_else_its_last() {
    let mut found = found(job(StateName::Failed, "{}"));
    found.job.last_queue = Some("reports".to_owned());
    let plan = act(requeue(), &found).unwrap();
    assert!(plan.writes.contains(&to_enqueued(42, REASON, "reports")));
    assert!(plan.writes.contains(&insert(42, "reports")));

    // With a queue of its own the state row still names the elected one, as Hangfire has it.
    found.job.own_queue = Some("critical".to_owned());
    let plan = act(requeue(), &found).unwrap();
    assert!(plan.writes.contains(&to_enqueued(42, REASON, "reports")));
    assert!(plan.writes.contains(&insert(42, "critical")));

    let plan = act(requeue_to("mail"), &found).unwrap();
    assert!(plan.writes.contains(&to_enqueued(42, REASON, "mail")));
    assert!(plan.writes.contains(&insert(42, "mail")));

    // Nothing was chosen in an empty field.
    let plan = act(requeue_to(" "), &found).unwrap();
    assert!(plan.writes.contains(&insert(42, "critical")));
    for bad in ["Mail", "a b", "ä", "a:b", &"q".repeat(51)] {
        assert!(
            refusal(requeue_to(bad), &found).contains("no queue name"),
            "{bad}"
        );
    }
}

#[test]
fn a_queue_that_nobody_serves_is_named() {
    let mut found = found(job(StateName::Failed, "{}"));
    let notes = act(requeue_to("reports"), &found).unwrap().notes;
    assert_eq!(
        notes,
        [
            "Queued on reports.",
            "No live server serves the queue reports: the job waits there until one does."
        ]
    );
    // A server that is gone serves nothing; one whose queues are not known may serve any.
    found.servers = vec![server("web-2:1:b", 301, &["reports"])];
    let notes = act(requeue_to("reports"), &found).unwrap().notes;
    assert!(notes[1].starts_with("No server is alive"), "{notes:?}");
    found.servers[0].heartbeat_age_ms = 300_000;
    assert_eq!(act(requeue_to("reports"), &found).unwrap().notes.len(), 1);
    found.servers[0].queues = None;
    assert_eq!(act(requeue_to("mail"), &found).unwrap().notes.len(), 1);
}

#[test]
fn a_waiting_queue_row_is_kept_and_moved_only_by_choice() {
    let mut found = found(job(StateName::Deleted, "{}"));
    found.job.queue_rows = vec![waiting(7, "nobody")];
    let plan = act(requeue(), &found).unwrap();
    assert_eq!(
        plan.writes,
        [
            total("stats:deleted", -1),
            to_enqueued(42, REASON, "default"),
            for_ever(42)
        ]
    );
    let plan = act(requeue_to("default"), &found).unwrap();
    assert!(plan.writes.contains(&Write::MoveQueueRow {
        id: 7,
        queue: "default".to_owned()
    }));

    // Of several the one that fits is kept.
    found.job.queue_rows = vec![waiting(7, "nobody"), waiting(8, "default"), waiting(9, "x")];
    let plan = act(requeue(), &found).unwrap();
    assert_eq!(
        plan.writes[2..4],
        [
            Write::DeleteQueueRow { id: 7 },
            Write::DeleteQueueRow { id: 9 }
        ]
    );
}

#[test]
fn a_taken_queue_row_is_busy_until_hangfire_would_hand_it_out_again() {
    let mut found = found(job(StateName::Failed, "{}"));
    found.job.queue_rows = vec![taken(7, "default", 2)];
    assert_eq!(busy(requeue(), &found), Some(ago_s(2)));
    found.job.queue_rows = vec![taken(7, "default", 1800)];
    assert_eq!(busy(requeue(), &found), Some(ago_s(1800)));
    found.job.queue_rows = vec![taken(7, "default", 1801)];
    let plan = act(requeue(), &found).unwrap();
    assert_eq!(
        plan.writes[2..4],
        [Write::DeleteQueueRow { id: 7 }, insert(42, "default")]
    );
    // A row that waits does not make up for one that is taken.
    found.job.queue_rows = vec![waiting(6, "default"), taken(7, "default", 2)];
    busy(requeue(), &found);
}

#[test]
fn a_running_job_is_requeued_only_when_its_server_is_gone() {
    let mut alive = found(job(
        StateName::Processing,
        r#"{"ServerId":"web-1:400:aaaa"}"#,
    ));
    alive.job.queue_rows = vec![taken(7, "mail", 600)];
    assert!(refusal(requeue(), &alive).contains("server web-1:400:aaaa reported 5 s ago"));
    alive.servers[0].heartbeat_age_ms = 300_000;
    refusal(requeue(), &alive);

    // Silent for too long, or no row at all.
    let mut gone = alive;
    gone.servers[0].heartbeat_age_ms = 300_001;
    gone.job.last_queue = Some("mail".to_owned());
    let expected = [
        to_enqueued(42, REASON, "mail"),
        Write::DeleteQueueRow { id: 7 },
        insert(42, "mail"),
        for_ever(42),
    ];
    assert_eq!(act(requeue(), &gone).unwrap().writes, expected);
    gone.servers.clear();
    assert_eq!(act(requeue(), &gone).unwrap().writes, expected);

    // Another worker took it just now: the server stopped in order, and its row went back.
    gone.job.queue_rows = vec![taken(7, "mail", 300)];
    let Err(Outcome::Busy { why, .. }) = act(requeue(), &gone) else {
        panic!("a row that was just taken is a worker's");
    };
    assert!(why.contains("queue row"), "{why}");

    // Stopped in order: the row waits already, and is kept.
    gone.job.queue_rows = vec![waiting(7, "mail")];
    assert_eq!(
        act(requeue(), &gone).unwrap().writes,
        [to_enqueued(42, REASON, "mail"), for_ever(42)]
    );
}

#[test]
fn an_expired_job_is_not_revived_under_the_clean_up() {
    let mut expired = found(job(StateName::Succeeded, "{}"));
    expired.job.expire_at = Some(now());
    assert!(refusal(requeue(), &expired).contains("clean-up"));
    expired.job.expire_at = Some(ago_s(-1));
    assert!(act(requeue(), &expired).is_ok());
}

#[test]
fn only_a_delayed_job_with_its_own_queue_is_released_without_its_lock() {
    let mut delayed = job(StateName::Scheduled, "{}");
    assert!(!races_scheduler(&requeue(), &delayed));
    delayed.own_queue = Some("mail".to_owned());
    assert!(races_scheduler(&requeue(), &delayed));
    assert!(!races_scheduler(&Action::Delete, &delayed));
}

#[test]
fn old_rows_name_their_server_without_process_and_instance() {
    let mut old = found(job(StateName::Processing, r#"{"ServerName":"web-1"}"#));
    refusal(requeue(), &old);
    old.servers[0].id = "web-10:400:aaaa".to_owned();
    assert!(act(requeue(), &old).is_ok());
    let silent = found(job(StateName::Processing, "{}"));
    assert!(refusal(requeue(), &silent).contains("does not say on which server"));
}

#[test]
fn an_enqueued_job_is_put_back_only_when_its_row_has_been_missing_for_a_minute() {
    let mut found = found(job(StateName::Enqueued, r#"{"Queue":"reports"}"#));
    found.job.last_queue = Some("reports".to_owned());
    let plan = act(requeue(), &found).unwrap();
    assert_eq!(
        plan.writes,
        [
            to_enqueued(42, REASON, "reports"),
            insert(42, "reports"),
            for_ever(42)
        ]
    );

    found.job.current.as_mut().unwrap().created_at = ago_s(59);
    assert_eq!(busy(requeue(), &found), Some(ago_s(59)));
    found.job.current.as_mut().unwrap().created_at = ago_s(60);
    assert!(act(requeue(), &found).is_ok());

    found.job.queue_rows = vec![waiting(7, "nobody")];
    assert!(refusal(requeue(), &found).contains("queued already, on nobody"));
    assert!(refusal(enqueue_now(), &found).contains("queued already"));
    found.job.queue_rows = vec![taken(7, "nobody", 1)];
    assert_eq!(busy(requeue(), &found), Some(ago_s(1)));
    found.job.queue_rows = vec![taken(7, "nobody", 3600)];
    assert!(refusal(requeue(), &found).contains("handed out again"));
}

#[test]
fn scheduled_and_retrying_jobs_leave_their_schedule() {
    for action in [requeue(), enqueue_now()] {
        let mut found = found(job(StateName::Scheduled, "{}"));
        let reason = super::super::super::reason::reason(&request(action.clone(), &found));
        let plan = act(action.clone(), &found).unwrap();
        assert_eq!(
            plan.writes,
            [
                remove("retries", "42"),
                remove("schedule", "42"),
                to_enqueued(42, Some(&reason), "default"),
                insert(42, "default"),
                for_ever(42),
            ]
        );
        found.job.own_queue = Some("reports".to_owned());
        let plan = act(action.clone(), &found).unwrap();
        assert!(plan.writes.contains(&remove("schedule", "reports:42")));
        assert!(plan.writes.contains(&insert(42, "reports")));
        // Released by the scheduler already: its row is kept.
        found.job.queue_rows = vec![waiting(7, "reports")];
        let plan = act(action, &found).unwrap();
        assert!(!plan.writes.contains(&insert(42, "reports")));
        assert!(!plan.enqueues());
    }
    assert_eq!(
        super::super::super::reason::reason(&request(
            enqueue_now(),
            &found(job(StateName::Scheduled, "{}"))
        )),
        "Enqueued now by ada via Redrive: supplier is back"
    );
}

#[test]
fn an_awaiting_job_stops_waiting() {
    let found = found(job(StateName::Awaiting, r#"{"ParentId":"5"}"#));
    let plan = act(requeue(), &found).unwrap();
    assert_eq!(
        plan.writes,
        [
            remove("awaiting", "42"),
            to_enqueued(42, REASON, "default"),
            insert(42, "default"),
            for_ever(42),
        ]
    );
    assert!(act(enqueue_now(), &found).is_ok());
}

#[test]
fn enqueue_now_is_for_jobs_that_wait_for_a_time_or_a_parent() {
    for state in [
        StateName::Failed,
        StateName::Succeeded,
        StateName::Deleted,
        StateName::Processing,
    ] {
        refusal(enqueue_now(), &found(job(state, "{}")));
    }
}

#[test]
fn the_retry_count_stays_unless_it_is_started_again() {
    let mut found = found(job(StateName::Failed, "{}"));
    let again = Action::Requeue(Enqueue {
        queue: None,
        reset_retries: true,
    });
    let set = Write::SetParameter {
        job: 42,
        name: "RetryCount",
        value: "0".to_owned(),
    };
    assert!(!act(again.clone(), &found).unwrap().writes.contains(&set));
    found.job.parameters = vec![("RetryCount".to_owned(), Some("3".to_owned()))];
    assert!(act(again, &found).unwrap().writes.contains(&set));
    assert!(!act(requeue(), &found).unwrap().writes.contains(&set));
}
