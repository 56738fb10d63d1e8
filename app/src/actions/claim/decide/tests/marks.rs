//! Mark as sent.

use super::*;

fn notes(case: &Case, id: Option<&str>) -> Vec<String> {
    act(mark(id), case).unwrap().notes
}

#[test]
fn a_mark_changes_the_row_and_nothing_else() {
    assert_eq!(
        act(mark(Some(" msg-0102 ")), &stale()),
        Ok(ClaimPlan {
            write: ClaimWrite::MarkAsSent {
                provider_id: Some("msg-0102".to_owned())
            },
            requeue: None,
            hand_over: false,
            notes: vec!["Marked as sent, as msg-0102.".to_owned()],
        })
    );
    for id in [None, Some(" ")] {
        let plan = act(mark(id), &stale()).unwrap();
        assert_eq!(plan.write, ClaimWrite::MarkAsSent { provider_id: None });
        assert_eq!(plan.notes, ["Marked as sent."]);
    }
}

#[test]
fn it_needs_neither_age_nor_job_nor_way() {
    for way in [
        ClaimWay::InsertFirst,
        ClaimWay::SelfReclaim,
        ClaimWay::HandOver,
    ] {
        assert!(act(mark(None), &Case::claimed(5).way(way)).is_ok());
    }
    let mut timeless = Case::claimed(5);
    timeless.claim.claimed_at = None;
    let mut shape = shape(timeless.table.clone());
    shape.lacks = vec![Lack::ClaimTime, Lack::UniqueKey, Lack::ProviderId];
    let request = request(mark(Some("msg-1")), &timeless);
    let plan = decide(&request, &found(&timeless, &shape)).unwrap();
    assert_eq!(plan.write, ClaimWrite::MarkAsSent { provider_id: None });
    assert_eq!(
        plan.notes,
        [
            "Marked as sent.",
            "The table has no column for the provider's message id: msg-1 is not kept in it."
        ]
    );
}

#[test]
fn jobs_that_will_find_it_sent_are_named() {
    let rows = |last: &'static str| {
        [
            enqueued(1_520),
            runs(1_500, DEAD),
            failed(1_440, "App.X"),
            state(last, 1_440),
        ]
    };
    let case = Case::claimed(1_500)
        .with(owner_because(
            3,
            &rows("Scheduled"),
            "Retry attempt 1 of 3: no",
        ))
        .with(owner(4, &rows("Scheduled")))
        .with(owner(5, &rows("Enqueued")))
        .with(owner(6, &rows("Awaiting")))
        .with(owner(7, &rows("Failed")));
    assert_eq!(
        notes(&case, None),
        [
            "Marked as sent.",
            "Job #3's planned retry will find it sent, and skip.",
            "Job #4, which is scheduled, will find it sent, and skip.",
            "Job #5, which is queued, will find it sent, and skip.",
            "Job #6, which waits for another job, will find it sent, and skip.",
        ]
    );
}
