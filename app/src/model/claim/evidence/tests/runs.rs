//! Who held it, who skipped, and when it may first have been sent.

use super::super::*;
use crate::model::attempt::Outcome;
use crate::model::claim::testing::*;
use crate::model::claim::{ClaimStatus, ClaimTime};

fn holder(case: &Case) -> Option<(i64, u32)> {
    case.evidence().holder.map(|run| (run.job, run.attempt))
}

fn first(case: &Case) -> Option<(Instant, String)> {
    case.evidence()
        .first_send
        .map(|first| (first.at, first.from))
}

fn skipped(case: &Case) -> Vec<(i64, u32)> {
    let skipped = case.evidence().skipped;
    skipped.iter().map(|run| (run.job, run.attempt)).collect()
}

/// Ran from 1,000 s to 900 s ago.
fn failed_job(job: i64) -> Owner {
    owner(
        job,
        &[enqueued(1_010), runs(1_000, DEAD), failed(900, "App.X")],
    )
}

#[test]
fn the_holder_ran_at_the_claim_time() {
    for (claimed_ago, holds) in [
        // Clocks may differ by a second before the start, not after the end.
        (1_002, false),
        (1_001, true),
        (1_000, true),
        (950, true),
        (900, true),
        (899, false),
    ] {
        let case = Case::claimed(claimed_ago).with(failed_job(7));
        assert_eq!(holder(&case), holds.then_some((7, 1)), "{claimed_ago}");
    }
    // An open run holds what is claimed until now.
    let case = Case::claimed(700).with(owner(7, &[enqueued(1_010), runs(1_000, DEAD)]));
    assert_eq!(holder(&case), Some((7, 1)));
}

#[test]
fn of_several_attempts_the_one_that_fits_holds() {
    let rows = [
        enqueued(3_010),
        runs(3_000, DEAD),
        runs(2_000, DEAD),
        failed(1_500, "App.X"),
        enqueued(1_010),
        runs(1_000, DEAD),
        failed(900, "App.X"),
    ];
    for (claimed_ago, attempt, outcome) in [
        (2_900, 1, Outcome::Lost),
        (1_900, 2, Outcome::Failed),
        (950, 3, Outcome::Failed),
    ] {
        let case = Case::claimed(claimed_ago).with(owner(7, &rows));
        let holder = case.evidence().holder.unwrap();
        assert_eq!((holder.attempt, holder.outcome), (attempt, outcome));
    }
    assert_eq!(holder(&Case::claimed(1_200).with(owner(7, &rows))), None);
}

#[test]
fn of_several_jobs_the_one_that_fits_best_holds() {
    let succeeded = owner(
        8,
        &[enqueued(1_010), runs(990, LIVE), state("Succeeded", 880)],
    );
    let later = owner(9, &[enqueued(1_010), runs(980, DEAD), failed(800, "App.X")]);
    let elsewhere = owner(
        6,
        &[enqueued(5_000), runs(4_900, DEAD), failed(4_800, "App.X")],
    );
    // One that succeeded would have marked it.
    let case = Case::claimed(950)
        .with(elsewhere)
        .with(failed_job(7))
        .with(succeeded.clone());
    assert_eq!(holder(&case), Some((7, 1)));
    // One that a rule names comes before a guess.
    let case = Case::claimed(950)
        .with(failed_job(7))
        .with(guessed(later.clone()));
    assert_eq!(holder(&case), Some((7, 1)));
    // A claim is made when a run begins: the one that began last.
    let case = Case::claimed(950).with(failed_job(7)).with(later.clone());
    assert_eq!(holder(&case), Some((9, 1)));
    // But one that had begun by then, before one that fits only if clocks differ.
    let case = Case::claimed(981).with(failed_job(7)).with(later);
    assert_eq!(holder(&case), Some((7, 1)));
    let alone = Case::claimed(950).with(succeeded);
    assert_eq!(holder(&alone), Some((8, 1)));
}

#[test]
fn a_run_that_succeeds_without_marking_it_skipped() {
    let rows = [
        enqueued(1_010),
        runs(1_000, DEAD),
        failed(900, "App.X"),
        enqueued(800),
        runs(790, LIVE),
        failed(780, "App.X"),
        enqueued(700),
        runs(690, LIVE),
        state("Succeeded", 680),
    ];
    let other = owner(
        6,
        &[enqueued(760), runs(750, LIVE), state("Succeeded", 740)],
    );
    let before = owner(
        5,
        &[
            enqueued(2_000),
            runs(1_990, LIVE),
            state("Succeeded", 1_980),
        ],
    );
    let mut case = Case::claimed(950)
        .with(before)
        .with(other)
        .with(owner(7, &rows));
    assert_eq!(skipped(&case), [(6, 1), (7, 3)]);
    assert_eq!(case.evidence().skipped[1].at, ago_s(680));
    case.claim.status = ClaimStatus::Sent;
    assert_eq!(skipped(&case), []);
    case.claim.status = ClaimStatus::Sending;
    case.claim.claimed_at = None;
    assert_eq!(skipped(&case), []);
}

#[test]
fn a_run_that_begins_just_after_the_claim_and_succeeds_is_no_holder() {
    let case = Case::claimed(950).with(owner(
        7,
        &[enqueued(960), runs(949, LIVE), state("Succeeded", 948)],
    ));
    assert_eq!(holder(&case), None);
    assert_eq!(skipped(&case), [(7, 1)]);
}

#[test]
fn the_first_send_is_the_earliest_that_can_be() {
    // The first attempt, though a later one holds it.
    let rows = [
        enqueued(3_010),
        runs(3_000, DEAD),
        failed(2_900, "App.X"),
        enqueued(1_010),
        runs(1_000, DEAD),
        failed(900, "App.X"),
    ];
    let case = Case::claimed(950).with(owner(7, &rows)).window_h(1);
    assert_eq!(
        first(&case),
        Some((ago_s(3_000), "attempt 1 of job #7 began".to_owned()))
    );
    assert_eq!(case.evidence().window_closes, Some(ago_s(3_000 - 3_600)));
    // Another job may have been first.
    let case = case.with(owner(
        6,
        &[enqueued(4_010), runs(4_000, DEAD), failed(3_900, "App.X")],
    ));
    assert_eq!(
        first(&case),
        Some((ago_s(4_000), "attempt 1 of job #6 began".to_owned()))
    );
    // So may a claim that somebody took back.
    let mut case = case;
    case.earlier = vec![
        claimed(ago_s(2_000)),
        claimed(ago_s(5_000)),
        ClaimTime::read("unreadable"),
    ];
    assert_eq!(
        first(&case),
        Some((
            ago_s(5_000),
            "it had been claimed before, as the audit says".to_owned()
        ))
    );
    // Never later than the claim.
    let case = Case::claimed(9_000).with(failed_job(7));
    assert_eq!(
        first(&case),
        Some((ago_s(9_000), "the claim was made".to_owned()))
    );
}

#[test]
fn of_a_trimmed_history_the_creation_counts() {
    let rows = [enqueued(1_010), runs(1_000, DEAD), failed(900, "App.X")];
    let case = Case::claimed(950).with(owner_created(7, ago_s(90_000), &rows));
    assert_eq!(
        first(&case),
        Some((
            ago_s(90_000),
            "job #7 was created, whose first attempts are not known".to_owned()
        ))
    );
    // Even where no attempt is left.
    let case = Case::claimed(950).with(owner_created(7, ago_s(90_000), &[enqueued(10)]));
    assert_eq!(first(&case).map(|first| first.0), Some(ago_s(90_000)));
}

#[test]
fn without_a_run_that_is_known_nobody_can_say() {
    assert_eq!(first(&Case::claimed(950)), None);
    // A job that has not run cannot have made the claim.
    let waiting = owner(7, &[enqueued(1_010)]);
    let case = Case::claimed(950).with(waiting).window_h(24);
    assert_eq!(first(&case), None);
    assert_eq!(case.evidence().window_closes, None);
    // Nor does a guess say anything that did not run when it was claimed.
    let elsewhere = guessed(owner(
        7,
        &[enqueued(5_000), runs(4_900, DEAD), failed(4_800, "App.X")],
    ));
    assert_eq!(first(&Case::claimed(950).with(elsewhere)), None);
    let case = Case::claimed(950).with(guessed(failed_job(7)));
    assert_eq!(first(&case).map(|first| first.0), Some(ago_s(1_000)));
}

#[test]
fn stale_is_older_than_the_cut_off() {
    let stale = |micros: i64| {
        let mut case = Case::claimed(0);
        case.claim.claimed_at = Some(claimed(now() - chrono::Duration::microseconds(micros)));
        case.evidence().stale
    };
    assert!(!stale(600_000_000));
    assert!(stale(600_000_001));
    assert!(!stale(-1), "a future time is never stale");
    let mut case = Case::claimed(3_600);
    assert!(case.evidence().stale);
    case.claim.status = ClaimStatus::Other("2".to_owned());
    assert!(!case.evidence().stale);
    case.claim.status = ClaimStatus::Sending;
    case.claim.claimed_at = Some(ClaimTime::read("yesterday"));
    let evidence = case.evidence();
    assert_eq!((evidence.stale, evidence.age_ms), (false, None));
    // Whatever cut-off a reader chooses.
    for cutoff_ms in [0, -1, i64::MIN] {
        let case = Case::claimed(-5);
        let facts = Facts {
            cutoff_ms,
            ..case.facts()
        };
        let evidence = Evidence::of(&facts);
        assert_eq!((evidence.stale, evidence.age_ms), (false, Some(-5_000)));
    }
    let case = Case::claimed(3_600);
    let facts = Facts {
        cutoff_ms: i64::MAX,
        ..case.facts()
    };
    assert!(!Evidence::of(&facts).stale);
}

#[test]
fn a_window_beyond_all_time_does_not_overflow() {
    let mut case = Case::claimed(950).with(failed_job(7));
    case.table.window_ms = Some(i64::MAX);
    assert_eq!(case.evidence().window_closes, Some(Instant::MAX_UTC));
}
