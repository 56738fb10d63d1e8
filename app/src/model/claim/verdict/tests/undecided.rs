//! Unknown, and why.

use super::*;
use crate::model::claim::{ClaimStatus, ClaimTime};

#[test]
fn a_claim_time_that_says_nothing_leaves_everything_open() {
    let with = |token: Option<&str>| {
        let mut case = failed_holder().window_h(24);
        case.claim.claimed_at = token.map(ClaimTime::read);
        case
    };
    assert_eq!(
        unknown(&with(None)),
        "It has no claim time, so nobody can say when it was first sent."
    );
    let mut case = with(None);
    case.table.columns.claimed_at = None;
    assert_eq!(
        unknown(&case),
        "The table has no column for the claim time, so nobody can say when it was first sent."
    );
    assert_eq!(
        unknown(&with(Some("yesterday"))),
        "Its claim time, \"yesterday\", cannot be read, so nobody can say when it was first sent."
    );
    let long = unknown(&with(Some(&"9".repeat(10_000))));
    assert!(long.contains(&format!("\"{}\"", "9".repeat(40))), "{long}");
    assert_eq!(
        unknown(&with(Some("2026-11-29 22:00:00"))),
        "Its claim time lies 2 h in the future, so nobody can say when it was first sent."
    );
    // Clocks differ by a second.
    let with_job = |token: &str| {
        with(Some(token)).with(owner(8, &[enqueued(9), runs(8, DEAD), failed(7, "App.X")]))
    };
    safe(&with_job("2026-11-29 20:00:01"));
    unknown(&with_job("2026-11-29 20:00:01.1"));
    // A run that goes on is seen nevertheless.
    let case = with(None).with(owner(8, &[enqueued(9), runs(8, LIVE)]));
    running(&case);
}

#[test]
fn what_the_provider_knows_was_delivered() {
    let known = |id: Option<&str>| Answer::Known(id.map(str::to_owned));
    let case = failed_holder().answered(30, known(Some("msg-0102")));
    assert_eq!(
        unknown(&case),
        "The provider knows the key, as msg-0102: it was delivered. Mark it as sent. Resending may \
         deliver it a second time: it is not known until when the provider replays a key."
    );
    assert_eq!(
        unknown(&case.clone().window_h(24)),
        "The provider knows the key, as msg-0102: it was delivered. Mark it as sent. Resending \
         would only replay it, while the provider's window is open: for 23 h more."
    );
    let mut case = failed_holder().answered(30, known(None));
    case.table.window_ms = Some(1_200_000);
    assert_eq!(
        unknown(&case),
        "The provider knows the key: it was delivered. Mark it as sent. Resending may deliver it a \
         second time: the provider's window closed 5 min ago."
    );
    // Whatever the claim time says.
    case.claim.claimed_at = None;
    assert!(unknown(&case).starts_with("The provider knows the key: it was delivered."));
}

#[test]
fn what_the_provider_did_not_tell_is_said() {
    let down = Answer::NotKnown("it did not answer within 5 s".to_owned());
    assert_eq!(
        unknown(&failed_holder().answered(180, down)),
        "The provider's window is not known: a repeat may be delivered again. The provider, asked \
         3 min ago, did not tell: it did not answer within 5 s."
    );
    let mut case = failed_holder();
    case.table.provider = Some(provider(false));
    assert!(unknown(&case).ends_with("The provider has not been asked yet."));
}

#[test]
fn what_is_not_sending_is_not_judged() {
    let with = |status: ClaimStatus| {
        let mut case = failed_holder().window_h(24);
        case.claim.status = status;
        case
    };
    assert_eq!(
        unknown(&with(ClaimStatus::Sent)),
        "It was sent: there is nothing to resend."
    );
    assert_eq!(
        unknown(&with(ClaimStatus::Other("2".to_owned()))),
        "Its status is unknown (2): the table's description does not say what that means."
    );
    assert_eq!(
        unknown(&with(ClaimStatus::Other(String::new()))),
        "Its status is unknown (NULL): the table's description does not say what that means."
    );
}
