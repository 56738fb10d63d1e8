use super::*;
use crate::actions::Enqueue;
use crate::components::job_rows::testing::now;
use crate::model::state::StateName;
use crate::pages::document::testing::{attr, chip, rendered, texts};

#[test]
fn an_unknown_source_leads_to_the_known_ones() {
    let html = rendered(|| no_such_source("x<b>", &[chip("prod"), chip("p q")]));
    assert_eq!(texts(&html, "main h1"), ["There is no such source"]);
    assert_eq!(texts(&html, ".msg bdi"), ["x<b>"]);
    assert_eq!(
        attr(&html, ".msg-a a", "href"),
        ["/ops/s/prod", "/ops/s/p%20q"]
    );
}

#[test]
fn a_malformed_request_is_told_what_was_wrong() {
    let html = rendered(|| malformed("“limit” may be 1 to 100"));
    assert_eq!(texts(&html, "main h1"), ["This request was not understood"]);
    assert_eq!(
        texts(&html, ".msg p")[0],
        "What was wrong: “limit” may be 1 to 100."
    );
    assert_eq!(attr(&html, ".msg-a a", "href"), ["/ops/"]);
}

#[test]
fn a_stopped_query_says_its_limit() {
    let cause = StoreError::TimedOut(Duration::from_secs(5));
    let html = rendered(store_error("prod", &cause, None));
    assert_eq!(
        texts(&html, "main h1"),
        ["This was stopped to protect the database"]
    );
    assert_eq!(
        texts(&html, ".msg p")[0],
        "It took longer than 5 s and was stopped on purpose."
    );
}

#[test]
fn each_of_several_jobs_has_its_own_outcome() {
    let seen = |job| Seen {
        job,
        state: StateName::Failed,
        state_id: 10 * job,
    };
    let all = [
        (
            seen(1),
            Ok(Outcome::Done {
                state: StateName::Enqueued,
                state_id: 977,
                notes: vec!["A stale lock was cleared.".into()],
            }),
        ),
        (
            seen(2),
            Ok(Outcome::Moved {
                from: StateName::Failed,
                to: Some(StateName::Processing),
                at: Some(now()),
                why: "Somebody requeued it first.".into(),
            }),
        ),
        (seen(3), Ok(Outcome::Gone)),
        (
            seen(4),
            Ok(Outcome::Busy {
                since: None,
                why: "Hangfire holds its lock.".into(),
            }),
        ),
        (
            seen(5),
            Ok(Outcome::Refused {
                why: "It is queued already.".into(),
            }),
        ),
        (
            seen(6),
            Ok(Outcome::Unknown {
                why: "The connection broke.".into(),
            }),
        ),
        (seen(7), Err(StoreError::Away("connection refused".into()))),
    ];
    let action = Action::Requeue(Enqueue::default());
    let html = rendered(|| outcomes("prod", &action, &all));
    assert_eq!(texts(&html, ".page-h p"), ["1 of 7 done."]);
    assert_eq!(
        attr(&html, "tr[data-job]", "data-outcome"),
        [
            "done", "moved", "gone", "busy", "refused", "unknown", "error"
        ]
    );
    assert_eq!(
        texts(&html, "tr[data-outcome=done] td:last-child"),
        ["Done: now Enqueued A stale lock was cleared."]
    );
    assert_eq!(
        texts(&html, "tr[data-outcome=moved] td:last-child"),
        ["Not done, the job has changed (now) Somebody requeued it first."]
    );
    assert_eq!(
        texts(&html, "tr[data-outcome=error] td:last-child"),
        ["Not done, nothing was changed the database does not answer: connection refused"]
    );
}

#[test]
fn an_action_that_never_began_is_said_and_leads_back() {
    let cause = StoreError::Away("connection refused".into());
    let action = Action::Requeue(Enqueue::default());
    let html = rendered(not_acted("prod", &action, &[42], &cause));
    assert_eq!(texts(&html, "main h1"), ["The database does not answer"]);
    assert_eq!(
        texts(&html, ".msg p"),
        [
            "Requeue job 42: not done. Nothing was changed. Ask again when the database answers.",
            "the database does not answer: connection refused",
            "Back to job 42",
        ]
    );
    assert_eq!(attr(&html, ".msg-a a", "href"), ["/ops/s/prod/jobs/42"]);
    let html = rendered(not_acted("prod", &Action::Delete, &[42, 43], &cause));
    assert!(texts(&html, ".msg p")[0].starts_with("Delete 2 jobs: not done."));
    assert_eq!(
        attr(&html, ".msg-a a", "href"),
        ["/ops/s/prod/jobs?state=failed"]
    );
}
