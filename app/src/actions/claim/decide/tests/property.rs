//! Whatever is found: nothing runs twice, nothing is taken that was not seen, and no claim is left
//! in a state in which its effect never happens.

use proptest::prelude::*;

use super::*;
use crate::model::claim::keys::Match;
use crate::model::claim::testing::arbitrary::cases;

fn actions() -> impl Strategy<Value = ClaimAction> {
    prop::sample::select(vec![
        ClaimAction::Reclaim,
        ClaimAction::Reclaim,
        ClaimAction::Release,
        mark(Some("msg-1")),
    ])
}

fn statuses() -> impl Strategy<Value = ClaimStatus> {
    prop_oneof![
        6 => Just(ClaimStatus::Sending),
        1 => Just(ClaimStatus::Sent),
        1 => Just(ClaimStatus::Other("2".to_owned())),
    ]
}

/// A claim that a resend could be decided for more often than not.
fn likely(mut case: Case) -> Case {
    if let Some(ClaimTime { at: Some(at), .. }) = case.claim.claimed_at {
        case.claim.claimed_at = Some(claimed(at - chrono::Duration::seconds(600)));
    }
    case
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn a_plan_is_safe_whatever_is_found(
        case in cases().prop_map(likely),
        action in actions(),
        status in statuses(),
        other_time in prop::option::weighted(0.1, 0..4_000_i64),
        rows in prop::sample::select(vec![1, 1, 1, 1, 1, 1, 0, 2]),
        job in prop::option::of(1..4_i64),
        may_deliver_twice in any::<bool>(),
        reason in prop::sample::select(vec![None, Some(" "), Some("nobody got it")]),
        lacks in prop::sample::select(vec![
            vec![], vec![], vec![], vec![Lack::ClaimTime], vec![Lack::UniqueKey],
            vec![Lack::ProviderId],
        ]),
    ) {
        let mut shape = shape(case.table.clone());
        shape.lacks = lacks;
        let request = ClaimRequest {
            job,
            reason: reason.map(str::to_owned),
            may_deliver_twice,
            ..request(action.clone(), &case)
        };
        let mut claim = case.claim.clone();
        claim.status = status;
        if let Some(ago) = other_time {
            claim.claimed_at = Some(claimed(ago_s(ago)));
        }
        let found = FoundClaim {
            rows: vec![claim.clone(); rows],
            ..found(&case, &shape)
        };
        let plan = match decide(&request, &found) {
            Ok(plan) => plan,
            Err(outcome) => {
                let sentence = outcome.sentence();
                prop_assert!(sentence.ends_with('.'), "{}", sentence);
                prop_assert_ne!(outcome.slug(), "done");
                return Ok(());
            }
        };
        // Only what was seen is touched.
        prop_assert_eq!(rows, 1);
        prop_assert_eq!(&claim.status, &ClaimStatus::Sending);
        let token = claim.claimed_at.as_ref().map(|time| &time.token);
        prop_assert_eq!(token, request.seen.claimed_at.as_ref());
        // Nothing is touched while a live server runs a job behind it.
        let facts = case.facts();
        let verdict = case.verdict();
        prop_assert_ne!(verdict.judgement, Judgement::Running);
        prop_assert!(plan.notes.iter().all(|note| note.ends_with('.')));
        if let ClaimAction::MarkAsSent { .. } = action {
            let provider_id = (!shape.lacks(Lack::ProviderId)).then(|| "msg-1".to_owned());
            prop_assert_eq!(plan.write, ClaimWrite::MarkAsSent { provider_id });
            prop_assert!(plan.requeue.is_none() && !plan.hand_over);
            return Ok(());
        }
        // A resend: stale, of a table that can guard it, and confirmed where it is not safe.
        let age = (case.now - claim.at().unwrap()).num_milliseconds();
        prop_assert!(age > case.table.cutoff_ms);
        prop_assert!(!shape.lacks(Lack::UniqueKey) && !shape.lacks(Lack::ClaimTime));
        if verdict.judgement == Judgement::Unknown {
            prop_assert!(may_deliver_twice && reason == Some("nobody got it"));
        }
        // Its row goes the way that its jobs know, and something sends it afterwards.
        let way = case.table.way;
        let write = match (&action, way) {
            (ClaimAction::Reclaim, ClaimWay::SelfReclaim) => ClaimWrite::Keep,
            (ClaimAction::Reclaim, ClaimWay::HandOver) => ClaimWrite::Renew,
            _ => ClaimWrite::Delete,
        };
        prop_assert_eq!(&plan.write, &write);
        prop_assert!(action == ClaimAction::Reclaim || way != ClaimWay::HandOver);
        prop_assert_eq!(plan.hand_over, write == ClaimWrite::Renew);
        if let Some((id, action)) = &plan.requeue {
            let owner = facts.owners.iter().find(|owner| owner.job == *id).unwrap();
            prop_assert!(job.is_none_or(|job| job == *id));
            prop_assert!(job.is_some() || owner.by == Match::Rule, "a guess was not chosen");
            let expected = match owner.state.as_ref().unwrap() {
                StateName::Scheduled => Action::EnqueueNow(Enqueue::default()),
                StateName::Failed
                | StateName::Succeeded
                | StateName::Deleted
                | StateName::Processing => Action::Requeue(Enqueue::default()),
                other => panic!("from {other}"),
            };
            prop_assert_eq!(action, &expected);
        } else {
            prop_assert_eq!(way, ClaimWay::InsertFirst);
            let queued = |owner: &Owner| owner.state == Some(StateName::Enqueued);
            prop_assert!(facts.owners.iter().any(queued));
        }
    }
}
