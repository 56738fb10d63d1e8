//! Every rule of the decision, on claims and jobs made by hand.

mod jobs;
mod marks;
mod property;
mod refusals;
mod resends;

use super::*;
use crate::actions::claim::SeenClaim;
use crate::actions::{Actor, Enqueue};
use crate::model::claim::ClaimStatus;
use crate::model::claim::testing::*;

/// What the operator saw is what is there.
fn request(action: ClaimAction, case: &Case) -> ClaimRequest {
    ClaimRequest {
        action,
        seen: SeenClaim {
            key: case.claim.key.clone(),
            claimed_at: case.claim.claimed_at.as_ref().map(|t| t.token.clone()),
        },
        owners: case.owners.iter().map(|owner| owner.job).collect(),
        job: None,
        reason: None,
        may_deliver_twice: false,
        actor: Actor {
            name: "ada".to_owned(),
            authenticated: false,
        },
    }
}

fn found<'a>(case: &Case, shape: &'a Shape) -> FoundClaim<'a> {
    FoundClaim {
        shape,
        rows: vec![case.claim.clone()],
        owners: case.owners.clone(),
        servers: case.servers.clone(),
        server_timeout_ms: 5 * 60_000,
        earlier: case.earlier.clone(),
        asked: case.asked.clone(),
        now: case.now,
    }
}

fn act(action: ClaimAction, case: &Case) -> Result<ClaimPlan, ClaimOutcome> {
    let shape = shape(case.table.clone());
    decide(&request(action, case), &found(case, &shape))
}

fn refusal(outcome: Result<ClaimPlan, ClaimOutcome>) -> String {
    match outcome {
        Err(ClaimOutcome::Refused { why }) => why,
        other => panic!("not refused: {other:?}"),
    }
}

fn moved(outcome: Result<ClaimPlan, ClaimOutcome>) -> String {
    match outcome {
        Err(ClaimOutcome::Moved { why, .. }) => why,
        other => panic!("not moved: {other:?}"),
    }
}

fn mark(id: Option<&str>) -> ClaimAction {
    ClaimAction::MarkAsSent {
        provider_id: id.map(str::to_owned),
    }
}

/// Job 7 claimed 25 minutes ago and failed; the provider's window is open.
fn stale() -> Case {
    Case::claimed(1_500).window_h(24).with(owner(
        7,
        &[enqueued(1_520), runs(1_500, DEAD), failed(1_440, "App.X")],
    ))
}

fn requeue(job: i64) -> (i64, Action) {
    (job, Action::Requeue(Enqueue::default()))
}
