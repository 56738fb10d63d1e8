//! Claims that real servers left behind.

use super::super::*;
use crate::model::attempt::Outcome;
use crate::model::claim::testing::{Case, HOUR_MS, table};
use crate::model::claim::verdict::{Judgement, Verdict};
use crate::model::claim::{Claim, ClaimStatus, ClaimTime};
use crate::model::invocation::Invocation;
use crate::model::testing::{at, jobs, json};

/// The claim with this key, as recorded, and the jobs behind it; no server lives.
fn recorded(folder: &str, key: &str, now: &str) -> Case {
    recorded_with(&table(), folder, key, now)
}

fn recorded_with(table: &ClaimsTable, folder: &str, key: &str, now: &str) -> Case {
    let rows = json(&format!("claims/{folder}/outgoing-emails.json"));
    let row = rows
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["IdempotencyKey"] == key)
        .unwrap();
    let claim = Claim {
        key: key.to_owned(),
        status: table.status(&row["Status"].to_string()),
        claimed_at: row["ClaimedAtUtc"].as_str().map(ClaimTime::read),
        provider_id: row["ProviderMessageId"].as_str().map(str::to_owned),
    };
    let owners = jobs(&format!("claims/{folder}/rows.json"))
        .into_iter()
        .filter_map(|(id, job)| {
            let invocation = Invocation::parse(&job.invocation, Some(&job.arguments));
            Some(Owner {
                job: id,
                by: table.owner(key, &invocation)?,
                name: invocation.display_name(),
                state: job.state.clone(),
                created_at: job.created_at,
                timeline: job.timeline(),
            })
        })
        .collect();
    Case {
        claim,
        table: table.clone(),
        owners,
        servers: Vec::new(),
        earlier: Vec::new(),
        asked: None,
        now: at(now),
    }
}

#[test]
fn a_claim_left_before_the_send_names_who_held_it_and_who_skipped() {
    let mut case = recorded("stale", "invoice-email:44", "2026-11-29T19:30:00Z");
    let evidence = case.evidence();
    assert_eq!(evidence.age_ms, Some(813_399));
    assert!(evidence.stale);
    let holder = evidence.holder.unwrap();
    assert_eq!((holder.job, holder.attempt), (2, 1));
    assert_eq!(
        holder.server.as_deref(),
        Some("bookstore-1:31660:53fb4d58-42c6-4c7a-b99b-b8ef86ce0f4f")
    );
    assert_eq!((holder.heartbeat_age_ms, holder.alive), (None, false));
    assert_eq!(holder.outcome, Outcome::Failed);
    assert_eq!(
        holder.failure,
        Some((
            Some("Bookstore.Jobs.SupplierUnavailableException".to_owned()),
            Some("invoice-email:44: worker stopped before the send".to_owned())
        ))
    );
    assert_eq!(
        evidence.skipped,
        [Skipped {
            job: 2,
            attempt: 2,
            at: at("2026-11-29T19:16:28.23427Z")
        }]
    );
    assert_eq!(
        evidence.first_send,
        Some(FirstSend {
            at: at("2026-11-29T19:16:26.529422Z"),
            from: "attempt 1 of job #2 began".to_owned()
        })
    );
    assert_eq!(evidence.window_closes, None);

    let verdict = case.verdict();
    assert_eq!(verdict.judgement, Judgement::Unknown);
    assert_eq!(
        verdict.why,
        "The provider's window is not known: a repeat may be delivered again. Redrive does not \
         know how to ask the provider."
    );
    // The exception says that it was before the send: where the application vouches for it, that
    // is proof, for the other run only skipped.
    case.table.nothing_sent_on = vec!["SupplierUnavailableException".to_owned()];
    let verdict = case.verdict();
    assert_eq!(verdict.judgement, Judgement::Safe);
    assert_eq!(
        verdict.why,
        "Attempt 1 of job #2 held the claim and failed with \
         Bookstore.Jobs.SupplierUnavailableException, which comes before anything is sent; no \
         other run can have sent it."
    );
    case.table.nothing_sent_on.clear();
    case.table.window_ms = Some(24 * HOUR_MS);
    let evidence = case.evidence();
    assert_eq!(
        evidence.window_closes,
        Some(at("2026-11-30T19:16:26.529422Z"))
    );
    assert_eq!(
        Verdict::of(&case.facts(), &evidence),
        Verdict {
            judgement: Judgement::Safe,
            why: "The provider replays a repeat of this key for 23 h more: its window of 24 h \
                  counts from 2026-11-29 19:16:26 UTC, when attempt 1 of job #2 began."
                .to_owned()
        }
    );
}

#[test]
fn a_claim_older_than_its_job_has_no_holder() {
    // Its time was set back by SQL: no run known fits it.
    let case = recorded("stale", "invoice-email:45", "2026-11-29T19:30:00Z");
    let evidence = case.evidence();
    assert_eq!(evidence.age_ms, Some(2_313_386));
    assert!(evidence.stale);
    assert_eq!(evidence.holder, None);
    assert_eq!(
        evidence.first_send,
        Some(FirstSend {
            at: at("2026-11-29T18:51:26.613628Z"),
            from: "the claim was made".to_owned()
        })
    );
    let skipped: Vec<(i64, u32)> = evidence
        .skipped
        .iter()
        .map(|s| (s.job, s.attempt))
        .collect();
    assert_eq!(skipped, [(3, 2)]);
}

#[test]
fn a_claim_that_was_sent_is_not_judged() {
    let case = recorded("stale", "invoice-email:43", "2026-11-29T19:30:00Z");
    assert_eq!(case.claim.status, ClaimStatus::Sent);
    let evidence = case.evidence();
    assert!(!evidence.stale);
    let holder = evidence.holder.unwrap();
    assert_eq!((holder.job, holder.attempt), (1, 1));
    assert_eq!(holder.outcome, Outcome::Succeeded);
    assert!(evidence.skipped.is_empty());
    let verdict = case.verdict();
    assert_eq!(verdict.judgement, Judgement::Unknown);
    assert_eq!(
        verdict.why,
        "It was sent, as msg-0001: there is nothing to resend."
    );
}

#[test]
fn of_two_runs_that_may_have_sent_it_none_is_named() {
    // Jobs 5 and 6 reclaimed order 46 at once; the rows do not tell which of them won.
    let mut table = table();
    table.keys[0].methods.clear();
    let case = recorded_with(
        &table,
        "reclaimed",
        "invoice-email:46",
        "2026-11-29T19:30:00Z",
    );
    assert_eq!(case.claim.status, ClaimStatus::Sent);
    let ids: Vec<i64> = case.owners.iter().map(|owner| owner.job).collect();
    assert_eq!(ids, [4, 5, 6]);
    assert_eq!(case.evidence().holder, None);
}
