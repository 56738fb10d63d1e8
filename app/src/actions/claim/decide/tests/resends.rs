use super::*;

#[test]
fn what_reclaim_does_follows_from_how_the_jobs_claim() {
    for (way, write, hand_over, note) in [
        (
            ClaimWay::InsertFirst,
            ClaimWrite::Delete,
            false,
            "The claim was released: its row is deleted.",
        ),
        (
            ClaimWay::SelfReclaim,
            ClaimWrite::Keep,
            false,
            "The claim stays as it is: job #7 takes it when it runs.",
        ),
        (
            ClaimWay::HandOver,
            ClaimWrite::Renew,
            true,
            "The claim was taken back and handed to job #7.",
        ),
    ] {
        assert_eq!(
            act(ClaimAction::Reclaim, &stale().way(way)),
            Ok(ClaimPlan {
                write,
                requeue: Some(requeue(7)),
                hand_over,
                notes: vec![note.to_owned(), "Job #7 runs again.".to_owned()],
            })
        );
    }
}

#[test]
fn a_release_deletes_and_requeues() {
    for way in [ClaimWay::InsertFirst, ClaimWay::SelfReclaim] {
        let plan = act(ClaimAction::Release, &stale().way(way)).unwrap();
        assert_eq!(plan.write, ClaimWrite::Delete);
        assert_eq!(plan.requeue, Some(requeue(7)));
        assert!(!plan.hand_over);
    }
    assert_eq!(
        refusal(act(ClaimAction::Release, &stale().way(ClaimWay::HandOver))),
        "The jobs of this table go on only with a claim that they were handed: after a release \
         none would send. Reclaim it instead."
    );
}

#[test]
fn a_running_job_is_left_alone() {
    let case = Case::claimed(1_500)
        .window_h(24)
        .with(owner(2_300_001, &[enqueued(1_560), runs(1_500, LIVE)]));
    for action in [ClaimAction::Reclaim, ClaimAction::Release, mark(None)] {
        assert_eq!(
            refusal(act(action, &case)),
            "Job #2300001 is running: attempt 1 on server live-1:1:aaaa, which reported 3 s ago."
        );
    }
}

#[test]
fn an_unknown_outcome_is_resent_only_where_somebody_says_so_and_why() {
    let mut case = stale();
    case.table.window_ms = None;
    let shape = shape(case.table.clone());
    let found = found(&case, &shape);
    let mut request = request(ClaimAction::Reclaim, &case);
    assert_eq!(
        refusal(decide(&request, &found)),
        "Its outcome is unknown. The provider's window is not known: a repeat may be delivered \
         again. Redrive does not know how to ask the provider. To resend it nevertheless, confirm \
         that it may be delivered twice, and give a reason. Nothing was changed."
    );
    request.reason = Some("the customer has none".to_owned());
    assert!(refusal(decide(&request, &found)).contains("confirm that it may be delivered twice"));
    request.may_deliver_twice = true;
    let plan = decide(&request, &found).unwrap();
    assert_eq!(plan.write, ClaimWrite::Delete);
    assert_eq!(
        plan.notes,
        [
            "The claim was released: its row is deleted.",
            "Job #7 runs again.",
            "Its outcome was unknown: it may be delivered twice.",
        ]
    );
    for reason in [None, Some(" \n".to_owned())] {
        request.reason = reason;
        assert!(
            refusal(decide(&request, &found))
                .ends_with("To resend it nevertheless, give a reason. Nothing was changed.")
        );
    }
}

#[test]
fn what_was_seen_must_be_there_still() {
    let case = stale();
    let shape = shape(case.table.clone());
    let request = request(ClaimAction::Reclaim, &case);
    let with = |rows: Vec<Claim>| FoundClaim {
        rows,
        ..found(&case, &shape)
    };
    assert_eq!(decide(&request, &with(Vec::new())), Err(ClaimOutcome::Gone));
    let sent = Claim {
        status: ClaimStatus::Sent,
        provider_id: Some("msg-0102".to_owned()),
        ..case.claim.clone()
    };
    assert_eq!(
        decide(&request, &with(vec![sent.clone()])),
        Err(ClaimOutcome::Moved {
            now: Box::new(Some(sent.clone())),
            why: "It was sent meanwhile, as msg-0102. Nothing was changed.".to_owned(),
        })
    );
    let taken = Claim {
        claimed_at: Some(claimed(ago_s(5))),
        ..case.claim.clone()
    };
    assert_eq!(
        moved(decide(&request, &with(vec![taken]))),
        "Somebody else took it back at 2026-11-29 19:59:55 UTC: its claim time is 2026-11-29 \
         19:59:55 now, and it is not stale any more. Nothing was changed."
    );
    let why = refusal(decide(&request, &with(vec![case.claim.clone(), sent])));
    assert!(why.starts_with("2 rows or more have this key"), "{why}");
}
