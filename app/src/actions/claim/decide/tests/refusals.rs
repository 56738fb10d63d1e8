//! What is refused whatever is confirmed, on the page and when somebody acts.

use super::*;

/// The refusal of both, which must be the same.
fn both(action: &ClaimAction, case: &Case, shape: &Shape) -> String {
    let acted = refusal(decide(
        &ClaimRequest {
            reason: Some("why not".to_owned()),
            may_deliver_twice: true,
            ..request(action.clone(), case)
        },
        &found(case, shape),
    ));
    let (facts, evidence, verdict) = (case.facts(), case.evidence(), case.verdict());
    assert_eq!(
        may(action, shape, &evidence, &verdict, &facts),
        Err(acted.clone())
    );
    acted
}

fn resends(case: &Case, shape: &Shape) -> String {
    let why = both(&ClaimAction::Reclaim, case, shape);
    assert_eq!(both(&ClaimAction::Release, case, shape), why);
    why
}

#[test]
fn a_page_offers_what_may_be_done() {
    let case = stale();
    let shape = shape(case.table.clone());
    for action in [ClaimAction::Reclaim, ClaimAction::Release, mark(None)] {
        let (facts, evidence, verdict) = (case.facts(), case.evidence(), case.verdict());
        assert_eq!(may(&action, &shape, &evidence, &verdict, &facts), Ok(()));
    }
    // That it must be confirmed or chosen is asked when somebody acts.
    let mut case = case;
    case.table.window_ms = None;
    case.owners[0] = guessed(case.owners[0].clone());
    assert_eq!(case.verdict().judgement, Judgement::Unknown);
    let (facts, evidence, verdict) = (case.facts(), case.evidence(), case.verdict());
    let reclaim = ClaimAction::Reclaim;
    assert_eq!(may(&reclaim, &shape, &evidence, &verdict, &facts), Ok(()));
}

#[test]
fn a_table_that_cannot_be_written_takes_no_action() {
    let mut shape = shape(table());
    shape.read_only = Some("The role may not write it.".to_owned());
    for action in [ClaimAction::Reclaim, ClaimAction::Release, mark(None)] {
        assert_eq!(
            both(&action, &stale(), &shape),
            "The role may not write it."
        );
    }
}

#[test]
fn a_run_that_goes_on_is_left_alone() {
    let case = stale().with(owner(8, &[enqueued(20), runs(10, LIVE)]));
    let shape = shape(case.table.clone());
    let why = "Job #8 is running: attempt 1 on server live-1:1:aaaa, which reported 3 s ago.";
    assert_eq!(resends(&case, &shape), why);
    assert_eq!(both(&mark(None), &case, &shape), why);
}

#[test]
fn what_is_not_stale_by_the_tables_cut_off_is_not_taken() {
    let mut case = stale();
    case.claim.claimed_at = Some(claimed(ago_s(600)));
    let shape = shape(case.table.clone());
    let why = "It is not stale yet: it was claimed 10 min ago, and this table's cut-off is 10 min.";
    assert_eq!(resends(&case, &shape), why);
    // Whatever cut-off the reader of the page chose.
    let facts = Facts {
        cutoff_ms: 60_000,
        ..case.facts()
    };
    let evidence = Evidence::of(&facts);
    assert!(evidence.stale);
    let verdict = Verdict::of(&facts, &evidence);
    let refused = may(&ClaimAction::Reclaim, &shape, &evidence, &verdict, &facts);
    assert_eq!(refused, Err(why.to_owned()));
    case.claim.claimed_at = Some(claimed(ago_s(601)));
    assert!(act(ClaimAction::Reclaim, &case).is_ok());
}

#[test]
fn without_a_claim_time_nothing_is_stale() {
    let advice = ", so nobody can say whether it is stale. Find out whether it was delivered; then \
                  mark it as sent, or remove it by hand and requeue its job.";
    for (token, what) in [
        (None, "It has no claim time"),
        (Some("yesterday"), "Its claim time cannot be read"),
        (
            Some("2026-11-29 22:00:00"),
            "Its claim time lies 2 h in the future",
        ),
    ] {
        let mut case = stale();
        case.claim.claimed_at = token.map(ClaimTime::read);
        let mut shape = shape(case.table.clone());
        assert_eq!(resends(&case, &shape), format!("{what}{advice}"));
        if token.is_none() {
            shape.lacks = vec![Lack::ClaimTime];
            assert_eq!(resends(&case, &shape), format!("{what}{advice}"));
        }
    }
}

#[test]
fn without_a_unique_key_nothing_is_resent() {
    let case = stale();
    let mut shape = shape(case.table.clone());
    shape.lacks = vec![Lack::UniqueKey];
    assert_eq!(
        resends(&case, &shape),
        "Nothing makes the key unique in this table, so two runs could claim it at once, and both \
         would send. Give the key a unique index first."
    );
}

#[test]
fn what_is_not_sending_has_moved() {
    for (status, id, why) in [
        (
            ClaimStatus::Sent,
            Some("msg-0102"),
            "It was sent meanwhile, as msg-0102.",
        ),
        (ClaimStatus::Sent, None, "It was marked as sent meanwhile."),
        (
            ClaimStatus::Other("2".to_owned()),
            None,
            "Its status is unknown (2) now.",
        ),
    ] {
        let mut case = stale();
        case.claim.status = status;
        case.claim.provider_id = id.map(str::to_owned);
        for action in [ClaimAction::Reclaim, ClaimAction::Release, mark(None)] {
            let outcome = act(action, &case);
            assert_eq!(moved(outcome), format!("{why} Nothing was changed."));
        }
    }
}

#[test]
fn a_claim_time_that_changed_tells_its_story() {
    let case = stale();
    let shape = shape(case.table.clone());
    let story = |seen: Option<&str>, now: Option<&str>| {
        let mut request = request(ClaimAction::Reclaim, &case);
        request.seen.claimed_at = seen.map(str::to_owned);
        let row = Claim {
            claimed_at: now.map(ClaimTime::read),
            ..case.claim.clone()
        };
        let found = FoundClaim {
            rows: vec![row],
            ..found(&case, &shape)
        };
        moved(decide(&request, &found))
    };
    // Taken back so long ago that it is stale again.
    assert_eq!(
        story(Some("2026-11-29 19:00:00"), Some("2026-11-29 19:30:00.5")),
        "Somebody else took it back at 2026-11-29 19:30:00 UTC: its claim time is 2026-11-29 \
         19:30:00.5 now. Nothing was changed."
    );
    // The same instant written in another way is another value.
    let again = story(Some("2026-11-29 19:30:00"), Some("2026-11-29T19:30:00Z"));
    assert!(again.starts_with("Somebody else took it back"), "{again}");
    assert_eq!(
        story(Some("2026-11-29 19:30:00"), None),
        "Its claim time was taken away meanwhile, and it is not stale any more. Nothing was \
         changed."
    );
    assert_eq!(
        story(None, Some("soon")),
        "Somebody else took it back at soon: its claim time is soon now, and it is not stale any \
         more. Nothing was changed."
    );
}

#[test]
fn what_the_provider_knows_is_resent_only_against_its_word() {
    let case = stale().answered(
        30,
        crate::model::claim::evidence::Answer::Known(Some("msg-0102".to_owned())),
    );
    let why = refusal(act(ClaimAction::Reclaim, &case));
    assert!(
        why.starts_with(
            "Its outcome is unknown. The provider knows the key, as msg-0102: it was delivered. \
             Mark it as sent."
        ),
        "{why}"
    );
    assert!(act(mark(Some("msg-0102")), &case).is_ok());
}
