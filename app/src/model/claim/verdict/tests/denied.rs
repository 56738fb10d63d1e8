//! The provider denies the key: when that proves something.

use super::*;

/// Failed 1,440 s ago; the window closes in so many seconds.
fn closes_in(seconds: i64) -> Case {
    let mut case = failed_holder();
    case.table.window_ms = Some((1_500 + seconds) * 1_000);
    case
}

fn doubt(case: &Case) -> String {
    let why = unknown(case);
    let (_, doubt) = why
        .split_once("The provider did not know the key ")
        .unwrap();
    doubt.to_owned()
}

#[test]
fn a_denial_while_the_window_is_open_is_proof() {
    // Asked 30 s ago, while the window was open for 5 s more: it stays proof when it has closed.
    let case = closes_in(-25).answered(30, Answer::Denied);
    assert_eq!(
        safe(&case),
        "The provider, asked 30 s ago, does not know the key, and nothing has run since: nothing \
         was sent."
    );
    safe(&closes_in(-30).answered(30, Answer::Denied));
    assert_eq!(
        doubt(&closes_in(-31).answered(30, Answer::Denied)),
        "30 s ago, but its window had closed by then, so it may have forgotten."
    );
}

#[test]
fn a_permanent_look_up_never_forgets() {
    let mut case = closes_in(-1_000).answered(30, Answer::Denied);
    assert!(doubt(&case).contains("may have forgotten"));
    case.table.provider = Some(provider(true));
    safe(&case);
    case.table.window_ms = None;
    safe(&case);
    case.table.provider = Some(provider(false));
    assert_eq!(
        unknown(&case),
        "The provider's window is not known: a repeat may be delivered again. The provider did not \
         know the key 30 s ago, but nobody knows how long it remembers a key, so it may have \
         forgotten."
    );
}

#[test]
fn a_denial_before_the_claim_proves_nothing() {
    let mut case = closes_in(0).answered(1_500, Answer::Denied);
    case.table.provider = Some(provider(true));
    assert_eq!(
        doubt(&case),
        "25 min ago, but that was before it was claimed: ask again."
    );
}

#[test]
fn a_denial_before_a_run_was_over_proves_nothing() {
    // The holder ended 1,440 s ago.
    for (asked, proves) in [(1_441, false), (1_440, false), (1_439, true)] {
        let mut case = closes_in(0).answered(asked, Answer::Denied);
        case.table.provider = Some(provider(true));
        if proves {
            safe(&case);
        } else {
            assert_eq!(
                doubt(&case),
                "24 min ago, but attempt 1 of job #7 may have gone on since: ask again."
            );
        }
    }
    // A run that began since, though it skipped.
    let case = closes_in(0).answered(30, Answer::Denied).with(owner(
        8,
        &[enqueued(20), runs(19, LIVE), state("Succeeded", 18)],
    ));
    assert_eq!(
        doubt(&case),
        "30 s ago, but attempt 1 of job #8 began since: ask again."
    );
}

#[test]
fn a_server_that_fell_silent_may_have_sent_until_it_was_gone() {
    // Silent for 400 s with a time-out of 300 s: gone for 100 s.
    let orphan = owner(7, &[enqueued(1_520), runs(1_500, DEAD)]);
    let mut case = Case::claimed(1_500).with(orphan);
    case.servers.push(server(DEAD, 400));
    case.table.window_ms = Some(1_500_000);
    safe(&case.clone().answered(99, Answer::Denied));
    assert_eq!(
        doubt(&case.clone().answered(101, Answer::Denied)),
        "101 s ago, but attempt 1 of job #7 may have gone on since: ask again."
    );
    // Once its row is gone too, nothing more will be known.
    case.servers.pop();
    safe(&case.answered(101, Answer::Denied));
}

#[test]
fn a_worker_that_was_only_passed_over_may_run_still() {
    for ends in ["Processing", "Deleted", "Enqueued"] {
        let cut_off = match ends {
            "Processing" => runs(1_400, DEAD),
            other => state(other, 1_400),
        };
        let rows = [
            enqueued(1_520),
            runs(1_500, LIVE),
            cut_off,
            state("Failed", 1_300),
        ];
        let mut case = Case::claimed(1_500).with(owner(7, &rows));
        case.table.window_ms = Some(1_500_000);
        let case = case.answered(30, Answer::Denied);
        assert_eq!(
            doubt(&case),
            "30 s ago, but attempt 1 of job #7 may be running still: nothing says when it stopped, \
             and its server live-1:1:aaaa reports.",
            "{ends}"
        );
        let mut gone = case.clone();
        gone.servers.clear();
        safe(&gone);
        // It is said too where nobody was asked; and a replay would be harmless nevertheless.
        let mut case = case;
        case.asked = None;
        assert_eq!(
            unknown(&case),
            "The provider's window closed 0 s ago: it counts from 2026-11-29 19:35:00 UTC, when \
             attempt 1 of job #7 began. Attempt 1 of job #7 may be running still: nothing says \
             when it stopped, and its server live-1:1:aaaa reports. The provider has not been \
             asked yet."
        );
        safe(&case.window_h(24));
    }
}

#[test]
fn a_run_that_names_no_server_may_run_still() {
    let row = ("Processing", 1_500, "{}".to_owned());
    let mut case = Case::claimed(1_500).with(owner(7, &[enqueued(1_520), row]));
    case.table.window_ms = Some(1_500_000);
    assert_eq!(
        doubt(&case.answered(30, Answer::Denied)),
        "30 s ago, but attempt 1 of job #7 may be running still: its row does not say on which \
         server."
    );
}

#[test]
fn a_denial_says_nothing_of_a_run_that_nobody_knows() {
    let mut case = Case::claimed(1_500).answered(30, Answer::Denied);
    case.table.provider = Some(provider(true));
    assert_eq!(
        unknown(&case),
        "No job behind it is known, so nobody can say when it was first sent. The provider did not \
         know the key 30 s ago, but a run that nobody knows of may have sent since."
    );
}
