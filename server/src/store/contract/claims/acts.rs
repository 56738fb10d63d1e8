//! Actions on claims.

use app::actions::Actor;
use app::actions::claim::{ClaimAction, ClaimOutcome, ClaimRequest, SeenClaim};
use app::model::claim::table::{ClaimWay, Shape};
use app::model::claim::{Claim, ClaimStatus};
use app::model::state::StateName;
use chrono::TimeDelta;
use uuid::Uuid;

use super::jobs::{FAILED, ORPHANED, RUNNING};
use super::{Bench, MINUTE, ago, described, email, make_emails};
use crate::clock::{Clock as _, SystemClock};

/// The table of the checks, whose jobs claim this way, with claims of 25 minutes for the jobs of
/// [`super::jobs::rows`], one of two minutes, and one that was sent.
pub async fn claimed(bench: &dyn Bench, way: ClaimWay) -> Shape {
    make_emails(bench).await;
    for order in [101, 102, 103] {
        let key = format!("invoice-email:{order}");
        email(bench, &key, 0, Some(ago(25 * MINUTE)), None).await;
    }
    email(bench, "invoice-email:104", 0, Some(ago(2 * MINUTE)), None).await;
    email(
        bench,
        "invoice-email:105",
        1,
        Some(ago(25 * MINUTE)),
        Some("msg-0105"),
    )
    .await;
    let mut table = described(bench);
    table.way = way;
    bench.store().shape(&table).await.unwrap()
}

/// The claim of an order.
pub async fn claim(bench: &dyn Bench, shape: &Shape, order: u32) -> Option<Claim> {
    let key = format!("invoice-email:{order}");
    let mut rows = bench.store().claim(shape, &key).await.unwrap();
    assert!(rows.len() <= 1);
    rows.pop()
}

/// What ada asks who sees the claim of an order as it is now, and knows that it may be delivered
/// twice.
pub async fn asked(
    bench: &dyn Bench,
    shape: &Shape,
    order: u32,
    action: ClaimAction,
) -> ClaimRequest {
    let seen = claim(bench, shape, order).await.unwrap();
    ClaimRequest {
        action,
        seen: SeenClaim {
            key: seen.key.clone(),
            claimed_at: seen.claimed_at.map(|time| time.token),
        },
        owners: vec![RUNNING, ORPHANED, FAILED],
        job: None,
        reason: Some("the customer waits".to_owned()),
        may_deliver_twice: true,
        actor: Actor {
            name: "ada".to_owned(),
            authenticated: false,
        },
    }
}

async fn act(bench: &dyn Bench, shape: &Shape, request: &ClaimRequest) -> (Uuid, ClaimOutcome) {
    let id = SystemClock.new_id();
    let outcome = bench.store().act_on_claim(id, shape, request).await;
    (id, outcome)
}

/// How many queue rows a job has, and in which state it is.
async fn job(bench: &dyn Bench, id: i64) -> (usize, StateName) {
    let record = bench.store().job(id, 10).await.unwrap().unwrap();
    (record.queue_rows.len(), record.state.name.unwrap())
}

/// The audit's words of an action: the action, the outcome, the claim before and after.
async fn audited(bench: &dyn Bench, id: Uuid) -> (String, String, Option<String>, Option<String>) {
    let row = bench.store().audit_row(id).await.unwrap().unwrap();
    let claim = row.claim.unwrap();
    assert_eq!(claim.table, "emails");
    (row.action, row.outcome, claim.before, claim.after)
}

fn why(outcome: &ClaimOutcome, slug: &str) -> String {
    assert_eq!(outcome.slug(), slug, "{outcome:?}");
    outcome.sentence()
}

/// Insert-first: the claim is deleted and its job runs again, with one audit row for both.
pub async fn a_reclaim_of_insert_first_releases(bench: &dyn Bench) {
    let shape = claimed(bench, ClaimWay::InsertFirst).await;
    let request = asked(bench, &shape, 103, ClaimAction::Reclaim).await;
    let (id, outcome) = act(bench, &shape, &request).await;
    let ClaimOutcome::Done {
        claim: None,
        job: Some(requeued),
        ..
    } = &outcome
    else {
        panic!("{outcome:?}");
    };
    assert_eq!(
        (requeued.job, &requeued.state),
        (FAILED, &StateName::Enqueued)
    );
    assert_eq!(claim(bench, &shape, 103).await, None);
    assert_eq!(job(bench, FAILED).await, (1, StateName::Enqueued));
    let row = bench.store().audit_row(id).await.unwrap().unwrap();
    assert_eq!((row.job, row.seen), (Some(FAILED), None));
    assert_eq!(row.before, Some(("Failed".to_owned(), FAILED * 10 + 3)));
    assert_eq!(row.after, Some(("Enqueued".to_owned(), requeued.state_id)));
    assert_eq!(row.reason.as_deref(), Some("the customer waits"));
    let told = row.claim.unwrap();
    assert_eq!(told.key.as_deref(), Some("invoice-email:103"));
    assert_eq!(told.seen, request.seen.claimed_at);
    assert_eq!(
        told.before,
        request
            .seen
            .claimed_at
            .as_ref()
            .map(|token| format!("Sending since {token}"))
    );
    assert_eq!(told.after.as_deref(), Some("Released: its row was deleted"));
    // The audit counts as an earlier claim.
    let keys = ["invoice-email:103".to_owned(), "other".to_owned()];
    let past = bench.store().claim_past("emails", &keys).await.unwrap();
    assert_eq!(past.len(), 1);
    assert_eq!(
        (past[0].action.as_str(), past[0].outcome.as_str()),
        ("reclaim", "done")
    );
    assert_eq!(
        past[0].seen.as_ref().map(|time| time.token.clone()),
        request.seen.claimed_at
    );
    assert_eq!(past[0].answer, None);
    assert_eq!(bench.store().claim_past("other", &keys).await.unwrap(), []);
    // Once more: it is gone.
    let (id, outcome) = act(bench, &shape, &request).await;
    assert_eq!(outcome, ClaimOutcome::Gone);
    assert_eq!(
        audited(bench, id).await,
        ("reclaim".into(), "gone".into(), None, None)
    );
    assert_eq!(job(bench, FAILED).await, (1, StateName::Enqueued));
}

/// Hand-over: the claim time becomes now, and the job is told.
pub async fn a_reclaim_with_hand_over_tells_the_job(bench: &dyn Bench) {
    let shape = claimed(bench, ClaimWay::HandOver).await;
    let request = asked(bench, &shape, 103, ClaimAction::Reclaim).await;
    let (id, outcome) = act(bench, &shape, &request).await;
    let ClaimOutcome::Done {
        claim: Some((ClaimStatus::Sending, Some(time))),
        job: Some(_),
        ..
    } = &outcome
    else {
        panic!("{outcome:?}");
    };
    let now = claim(bench, &shape, 103).await.unwrap();
    assert_eq!(
        (now.claimed_at.as_ref(), &now.status),
        (Some(time), &ClaimStatus::Sending)
    );
    assert_ne!(Some(&time.token), request.seen.claimed_at.as_ref());
    assert!((now.at().unwrap() - super::now()).abs() < TimeDelta::minutes(1));
    let handed = async || {
        let record = bench.store().job(FAILED, 10).await.unwrap().unwrap();
        assert_eq!(record.duplicate_parameters, [""; 0]);
        let mut values = record.parameters.into_iter();
        let value = values.find(|(name, _)| name == "Redrive.Claim").unwrap().1;
        serde_json::from_str::<serde_json::Value>(&value.unwrap()).unwrap()
    };
    let expected = |token: &str| {
        serde_json::json!({"table": "OutgoingEmails", "key": "invoice-email:103",
            "claimed_at": token})
    };
    assert_eq!(handed().await, expected(&time.token));
    assert_eq!(job(bench, FAILED).await, (1, StateName::Enqueued));
    let (_, word, before, after) = audited(bench, id).await;
    assert_eq!(word, "done");
    assert_eq!(
        before,
        request
            .seen
            .claimed_at
            .as_ref()
            .map(|t| format!("Sending since {t}"))
    );
    assert_eq!(after, Some(format!("Sending since {}", time.token)));
    // Whoever saw the old claim lost.
    let (_, outcome) = act(bench, &shape, &request).await;
    let words = why(&outcome, "moved");
    assert!(words.contains("not stale any more"), "{words}");
    assert_eq!(handed().await, expected(&time.token));
}

/// Self-reclaim: the job alone is queued.
pub async fn a_reclaim_of_self_reclaim_queues_the_job(bench: &dyn Bench) {
    let shape = claimed(bench, ClaimWay::SelfReclaim).await;
    let before = claim(bench, &shape, 103).await;
    let request = asked(bench, &shape, 103, ClaimAction::Reclaim).await;
    let (_, outcome) = act(bench, &shape, &request).await;
    why(&outcome, "done");
    assert_eq!(claim(bench, &shape, 103).await, before);
    assert_eq!(job(bench, FAILED).await, (1, StateName::Enqueued));
}

/// A claim that was sent while the page stood there is left alone.
pub async fn one_that_was_sent_meanwhile_has_moved(bench: &dyn Bench) {
    let shape = claimed(bench, ClaimWay::InsertFirst).await;
    let request = asked(bench, &shape, 102, ClaimAction::Reclaim).await;
    bench
        .execute(
            "UPDATE \"OutgoingEmails\" SET \"Status\" = 1, \"ProviderMessageId\" = 'msg-0102' \
             WHERE \"IdempotencyKey\" = 'invoice-email:102'",
        )
        .await;
    let before = job(bench, ORPHANED).await;
    let (id, outcome) = act(bench, &shape, &request).await;
    let words = why(&outcome, "moved");
    assert!(words.contains("msg-0102"), "{words}");
    let sent = claim(bench, &shape, 102).await.unwrap();
    assert_eq!(
        (sent.status, sent.provider_id.as_deref()),
        (ClaimStatus::Sent, Some("msg-0102"))
    );
    assert_eq!(job(bench, ORPHANED).await, before);
    let told = (Some("Sent as msg-0102".to_owned()), None);
    let (_, word, before, after) = audited(bench, id).await;
    assert_eq!((word.as_str(), (before, after)), ("moved", told));
}

/// What may not be done is refused with the reason, and nothing changes: the job runs; the claim is
/// young; it was sent; its outcome is unknown and nobody said that it may be delivered twice.
pub async fn what_may_not_be_done_is_refused(bench: &dyn Bench) {
    let shape = claimed(bench, ClaimWay::InsertFirst).await;
    let all = async || {
        let mut all = Vec::new();
        for order in 101..=105 {
            all.push(claim(bench, &shape, order).await);
        }
        all
    };
    let before = all().await;
    let running = asked(bench, &shape, 101, ClaimAction::Reclaim).await;
    let (id, outcome) = act(bench, &shape, &running).await;
    let words = why(&outcome, "refused");
    assert!(words.contains("live-1"), "{words}");
    assert_eq!(audited(bench, id).await.1, "refused");
    let marked = ClaimAction::MarkAsSent { provider_id: None };
    let running = asked(bench, &shape, 101, marked.clone()).await;
    why(&act(bench, &shape, &running).await.1, "refused");
    let young = asked(bench, &shape, 104, ClaimAction::Release).await;
    let words = why(&act(bench, &shape, &young).await.1, "refused");
    assert!(words.contains("not stale yet"), "{words}");
    let sent = asked(bench, &shape, 105, marked).await;
    let words = why(&act(bench, &shape, &sent).await.1, "moved");
    assert!(words.contains("msg-0105"), "{words}");
    let mut unsaid = asked(bench, &shape, 103, ClaimAction::Reclaim).await;
    unsaid.may_deliver_twice = false;
    let words = why(&act(bench, &shape, &unsaid).await.1, "refused");
    assert!(words.contains("delivered twice"), "{words}");
    let mut unfound = asked(bench, &shape, 103, ClaimAction::Reclaim).await;
    unfound.owners = vec![RUNNING, 42];
    let words = why(&act(bench, &shape, &unfound).await.1, "refused");
    assert!(words.contains("No job behind it"), "{words}");
    assert_eq!(all().await, before);
    assert_eq!(job(bench, RUNNING).await, (1, StateName::Processing));
    assert_eq!(job(bench, FAILED).await, (0, StateName::Failed));
    for key in ["nobody's", "a\0b", ""] {
        let mut gone = unsaid.clone();
        key.clone_into(&mut gone.seen.key);
        assert_eq!(act(bench, &shape, &gone).await.1, ClaimOutcome::Gone);
    }
    for token in ["yesterday", "", "2026-11-02 12:00:00\0"] {
        let mut odd = unsaid.clone();
        odd.seen.claimed_at = Some(token.to_owned());
        why(&act(bench, &shape, &odd).await.1, "moved");
    }
}

/// Marking as sent keeps the provider's id; also of a claim without a claim time, and of any key.
pub async fn a_claim_is_marked_as_sent_once(bench: &dyn Bench) {
    let shape = claimed(bench, ClaimWay::InsertFirst).await;
    let marked = ClaimAction::MarkAsSent {
        provider_id: Some("msg-'7'".to_owned()),
    };
    let request = asked(bench, &shape, 103, marked.clone()).await;
    let (id, outcome) = act(bench, &shape, &request).await;
    why(&outcome, "done");
    let now = claim(bench, &shape, 103).await.unwrap();
    assert_eq!(
        (now.status, now.provider_id.as_deref()),
        (ClaimStatus::Sent, Some("msg-'7'"))
    );
    assert_eq!(
        now.claimed_at.map(|time| time.token),
        request.seen.claimed_at
    );
    assert_eq!(job(bench, FAILED).await, (0, StateName::Failed));
    let (_, word, _, after) = audited(bench, id).await;
    assert_eq!(
        (word.as_str(), after.as_deref()),
        ("done", Some("Sent as msg-'7'"))
    );
    let words = why(&act(bench, &shape, &request).await.1, "moved");
    assert!(words.contains("msg-'7'"), "{words}");
    let long = format!("it's \"odd\"\n</script>{}", "k".repeat(10_240));
    email(bench, &long, 0, None, None).await;
    let mut odd = request.clone();
    odd.seen = SeenClaim {
        key: long.clone(),
        claimed_at: Some("2026-11-02 12:00:00+00".to_owned()),
    };
    why(&act(bench, &shape, &odd).await.1, "moved");
    odd.seen.claimed_at = None;
    let (id, outcome) = act(bench, &shape, &odd).await;
    why(&outcome, "done");
    let rows = bench.store().claim(&shape, &long).await.unwrap();
    assert_eq!(
        (&rows[0].status, &rows[0].claimed_at),
        (&ClaimStatus::Sent, &None)
    );
    let row = bench.store().audit_row(id).await.unwrap().unwrap();
    assert_eq!(row.claim.unwrap().key.as_deref(), Some(long.as_str()));
    let past = bench.store().claim_past("emails", &[long]).await.unwrap();
    let words: Vec<&str> = past.iter().map(|past| past.outcome.as_str()).collect();
    assert_eq!(words, ["moved", "done"]);
}
