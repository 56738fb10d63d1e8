//! Recorded proof that nothing was sent.

use super::*;

const REFUSED: &str = "App.Smtp.RefusedException";

/// Job 7 claimed, and failed with an exception that comes before the send.
fn refused() -> Case {
    let mut case = failed_holder();
    case.table.nothing_sent_on = vec!["RefusedException".to_owned()];
    case
}

#[test]
fn a_failure_before_the_send_proves_it() {
    assert_eq!(
        safe(&refused()),
        "Attempt 1 of job #7 held the claim and failed with App.Smtp.RefusedException, which comes \
         before anything is sent; no other run can have sent it."
    );
    for (named, proves) in [
        ("App.Smtp.RefusedException", true),
        ("Smtp.RefusedException", true),
        ("FusedException", false),
        ("App.Smtp", false),
    ] {
        let mut case = refused();
        case.table.nothing_sent_on = vec!["Other".to_owned(), named.to_owned()];
        assert_eq!(
            case.verdict().judgement == Judgement::Safe,
            proves,
            "{named}"
        );
    }
}

#[test]
fn only_what_the_holder_did_counts() {
    // It ended before the claim was made: somebody else holds it.
    let mut case = refused();
    case.claim.claimed_at = Some(claimed(ago_s(1_400)));
    unknown(&case);
    // A guess is not sure to be the holder.
    let mut case = refused();
    case.owners[0] = guessed(case.owners[0].clone());
    unknown(&case);
    // Its history is not whole: an earlier run may have sent.
    let rows = [enqueued(1_520), runs(1_500, DEAD), failed(1_440, REFUSED)];
    let mut case = refused();
    case.owners[0] = owner_created(7, ago_s(9_000), &rows);
    unknown(&case);
}

#[test]
fn it_must_be_the_first_claim() {
    let mut case = refused();
    case.earlier = vec![claimed(ago_s(9_000))];
    unknown(&case);
    // The audit may name the claim as it is.
    case.earlier = case.claim.claimed_at.clone().into_iter().collect();
    safe(&case);
}

#[test]
fn no_other_run_may_have_sent() {
    let with = |rows: &[Row]| refused().with(owner(8, rows));
    // Skipped: fine.
    safe(&with(&[
        enqueued(1_010),
        runs(1_000, LIVE),
        state("Succeeded", 990),
    ]));
    // Failed before the send as well: fine.
    safe(&with(&[
        enqueued(1_010),
        runs(1_000, LIVE),
        failed(990, REFUSED),
    ]));
    // Failed otherwise, was lost, or was deleted while it ran.
    unknown(&with(&[
        enqueued(1_010),
        runs(1_000, LIVE),
        failed(990, "App.X"),
    ]));
    unknown(&with(&[enqueued(1_010), runs(1_000, DEAD)]));
    unknown(&with(&[
        enqueued(1_010),
        runs(1_000, DEAD),
        state("Deleted", 990),
    ]));
    // Ran at the same time, and says nothing of what it did.
    unknown(&with(&[
        enqueued(1_610),
        runs(1_600, DEAD),
        failed(1_450, "App.X"),
    ]));
    unknown(&with(&[
        enqueued(1_610),
        runs(1_600, LIVE),
        state("Succeeded", 1_450),
    ]));
}

#[test]
fn before_the_claim_only_an_insert_first_run_is_known_to_have_had_none() {
    let before = |name: &'static str| {
        let end = match name {
            "Failed" => failed(1_580, "App.DbException"),
            other => state(other, 1_580),
        };
        refused().with(owner(8, &[enqueued(1_610), runs(1_600, LIVE), end]))
    };
    safe(&before("Failed"));
    unknown(&before("Failed").way(ClaimWay::SelfReclaim));
    unknown(&before("Failed").way(ClaimWay::HandOver));
    // It may have sent under a claim that was purged since.
    unknown(&before("Succeeded"));
    for way in [ClaimWay::SelfReclaim, ClaimWay::HandOver] {
        safe(&refused().way(way));
    }
}
