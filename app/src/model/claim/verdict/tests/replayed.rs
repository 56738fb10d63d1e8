//! Safe because the provider replays a repeat.

use super::*;

/// A window in seconds; the first attempt began 1,500 s ago.
fn windowed(seconds: i64) -> Case {
    let mut case = failed_holder();
    case.table.window_ms = Some(seconds * 1_000);
    case
}

#[test]
fn the_window_must_stay_open_for_a_minute() {
    assert_eq!(
        safe(&windowed(1_560)),
        "The provider replays a repeat of this key for 60 s more: its window of 26 min counts from \
         2026-11-29 19:35:00 UTC, when attempt 1 of job #7 began."
    );
    let mut case = windowed(1_560);
    case.table.window_ms = Some(1_559_999);
    assert_eq!(
        unknown(&case),
        "The provider's window closes in 59 s, too soon for a resend to fall into it. Redrive \
         does not know how to ask the provider."
    );
    assert!(unknown(&windowed(1_501)).starts_with("The provider's window closes in 1 s,"));
    assert_eq!(
        unknown(&windowed(1_500)),
        "The provider's window closed 0 s ago: it counts from 2026-11-29 19:35:00 UTC, when \
         attempt 1 of job #7 began. Redrive does not know how to ask the provider."
    );
    assert!(unknown(&windowed(600)).starts_with("The provider's window closed 15 min ago:"));
}

#[test]
fn it_counts_from_the_first_send_and_not_from_the_claim() {
    // Claimed a minute ago, by a reclaim; sent for the first time 25 minutes ago.
    let mut case = windowed(1_440);
    case.claim.claimed_at = Some(claimed(ago_s(60)));
    assert!(unknown(&case).starts_with("The provider's window closed 60 s ago:"));
    // The audit knows that it was claimed even earlier.
    let mut case = windowed(3_600);
    safe(&case);
    case.earlier = vec![claimed(ago_s(3_600))];
    assert_eq!(
        unknown(&case),
        "The provider's window closed 0 s ago: it counts from 2026-11-29 19:00:00 UTC, when it had \
         been claimed before, as the audit says. Redrive does not know how to ask the provider."
    );
}

#[test]
fn nobody_replays_what_nobody_knows_the_beginning_of() {
    let case = Case::claimed(1_500).window_h(24);
    assert_eq!(
        unknown(&case),
        "No job behind it is known, so nobody can say when it was first sent. Redrive does not \
         know how to ask the provider."
    );
    let waits = Case::claimed(1_500)
        .window_h(24)
        .with(owner(7, &[enqueued(9)]));
    assert!(unknown(&waits).starts_with("No job behind it has run, so nobody can say"));
    let elsewhere = guessed(owner(7, &[enqueued(10), runs(9, DEAD), failed(8, "App.X")]));
    let case = Case::claimed(1_500).window_h(24).with(elsewhere);
    assert!(
        unknown(&case)
            .starts_with("The jobs that may stand behind it did not run when it was claimed, so")
    );
}
