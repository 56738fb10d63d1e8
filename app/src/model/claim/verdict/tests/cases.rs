//! Age is no proof of death: three claims of one age, of a live holder, a dead one and a failed one.

use super::*;

#[test]
fn a_live_holder_is_running() {
    let case = Case::claimed(1_500).with(owner(2_300_001, &[enqueued(1_560), runs(1_500, LIVE)]));
    assert!(case.evidence().stale);
    assert_eq!(
        running(&case),
        "Job #2300001 is running: attempt 1 on server live-1:1:aaaa, which reported 3 s ago."
    );
    // Nothing speaks louder than a run that goes on.
    let case = case.window_h(24).answered(1, Answer::Denied);
    running(&case);
}

#[test]
fn a_dead_holder_is_not() {
    let case = Case::claimed(1_500).with(owner(2_300_002, &[enqueued(1_560), runs(1_500, DEAD)]));
    let evidence = case.evidence();
    let holder = evidence.holder.unwrap();
    assert_eq!((holder.job, holder.attempt), (2_300_002, 1));
    assert_eq!((holder.alive, holder.heartbeat_age_ms), (false, None));
    assert_eq!(evidence.running, None);
    assert_eq!(
        unknown(&case),
        "The provider's window is not known: a repeat may be delivered again. Redrive does not \
         know how to ask the provider."
    );
    assert_eq!(
        safe(&case.window_h(24)),
        "The provider replays a repeat of this key for 23 h more: its window of 24 h counts from \
         2026-11-29 19:35:00 UTC, when attempt 1 of job #2300002 began."
    );
}

#[test]
fn a_server_is_gone_when_it_is_silent_for_longer_than_the_time_out() {
    let mut case = Case::claimed(1_500).with(owner(9, &[enqueued(1_560), runs(1_500, DEAD)]));
    case.servers.push(server(DEAD, 300));
    running(&case);
    case.servers[1].heartbeat_age_ms += 1;
    unknown(&case);
    let holder = case.evidence().holder.unwrap();
    assert_eq!(
        (holder.alive, holder.heartbeat_age_ms),
        (false, Some(300_001))
    );
}

#[test]
fn a_failed_holder_is_not_running_though_its_server_lives() {
    let case = Case::claimed(1_500).with(owner(
        2_300_003,
        &[enqueued(1_560), runs(1_500, LIVE), failed(1_440, "App.X")],
    ));
    let holder = case.evidence().holder.unwrap();
    assert!(holder.alive);
    unknown(&case);
}

#[test]
fn a_young_claim_is_not_stale() {
    let case = Case::claimed(120);
    assert!(!case.evidence().stale);
    assert_eq!(
        unknown(&case),
        "No job behind it is known, so nobody can say when it was first sent. Redrive does not \
         know how to ask the provider."
    );
}

#[test]
fn a_later_run_or_another_job_may_be_what_runs() {
    let retry = owner(
        7,
        &[
            enqueued(1_520),
            runs(1_500, DEAD),
            failed(1_440, "App.X"),
            enqueued(20),
            runs(10, LIVE),
        ],
    );
    let case = Case::claimed(1_500).with(retry);
    assert_eq!(
        running(&case),
        "Job #7 is running: attempt 2 on server live-1:1:aaaa, which reported 3 s ago."
    );
    let case = failed_holder().with(owner(8, &[enqueued(20), runs(10, LIVE)]));
    let evidence = case.evidence();
    assert_eq!(evidence.holder.as_ref().map(|h| h.job), Some(7));
    assert_eq!(evidence.running.map(|h| h.job), Some(8));
    running(&case);
    // Before Hangfire 1.5 rows named the server without process and instance.
    let case = failed_holder().with(owner(
        8,
        &[
            enqueued(20),
            ("Processing", 10, r#"{"ServerName":"live-1"}"#.to_owned()),
        ],
    ));
    running(&case);
}
