use super::*;
use crate::model::claim::testing::*;

fn warning(case: &Case) -> Option<String> {
    requeue_warning(&case.table, &case.claim, &case.evidence(), &case.verdict())
}

/// Job 7 claimed 25 minutes ago and failed.
fn stale() -> Case {
    Case::claimed(1_500).with(owner(
        7,
        &[enqueued(1_520), runs(1_500, DEAD), failed(1_440, "App.X")],
    ))
}

const WAYS: [ClaimWay; 3] = [
    ClaimWay::InsertFirst,
    ClaimWay::SelfReclaim,
    ClaimWay::HandOver,
];

#[test]
fn a_run_skips_what_was_sent() {
    for way in WAYS {
        let mut case = stale().way(way);
        case.claim.status = ClaimStatus::Sent;
        assert_eq!(
            warning(&case).as_deref(),
            Some("Its claim invoice-email:42 was sent: a requeued run would find it and skip.")
        );
        case.claim.provider_id = Some("msg-0102".to_owned());
        assert_eq!(
            warning(&case).as_deref(),
            Some(
                "Its claim invoice-email:42 was sent, as msg-0102: a requeued run would find it \
                 and skip."
            )
        );
        case.claim.status = ClaimStatus::Other("2".to_owned());
        assert_eq!(
            warning(&case).as_deref(),
            Some(
                "Its claim invoice-email:42 has the status unknown (2): a requeued run would find \
                 it and skip."
            )
        );
    }
}

#[test]
fn a_run_skips_a_claim_that_it_does_not_take() {
    let skips = "Its claim invoice-email:42 is Sending: a requeued run would find it and skip.";
    for way in [ClaimWay::InsertFirst, ClaimWay::HandOver] {
        assert_eq!(
            warning(&stale().way(way)),
            Some(format!(
                "{skips} Take the claim back instead: that runs the job too."
            ))
        );
    }
    for way in WAYS {
        let young = Case::claimed(60).way(way);
        assert_eq!(warning(&young).as_deref(), Some(skips));
    }
    let running = Case::claimed(1_500).with(owner(7, &[enqueued(1_520), runs(1_500, LIVE)]));
    assert_eq!(warning(&running).as_deref(), Some(skips));
}

#[test]
fn a_run_that_takes_a_stale_claim_itself_may_deliver_twice() {
    let case = stale().way(ClaimWay::SelfReclaim);
    assert_eq!(
        warning(&case).as_deref(),
        Some(
            "A requeued run would take its stale claim invoice-email:42, and may deliver it twice. \
             The provider's window is not known: a repeat may be delivered again. Redrive does not \
             know how to ask the provider."
        )
    );
    assert_eq!(warning(&case.window_h(24)), None);
    let running = Case::claimed(1_500)
        .way(ClaimWay::SelfReclaim)
        .with(owner(7, &[enqueued(1_520), runs(1_500, LIVE)]));
    assert_eq!(
        warning(&running).as_deref(),
        Some(
            "A requeued run would take its claim invoice-email:42 from one that goes on. Job #7 is \
             running: attempt 1 on server live-1:1:aaaa, which reported 3 s ago."
        )
    );
}
