//! Deciding an action on a claim: from what the operator saw and what was found inside the
//! transaction, to what is written or why nothing is. Pure, so that both dialects share every rule.

mod job;
mod permit;
mod seen;
#[cfg(test)]
mod tests;

use super::{ClaimAction, ClaimOutcome, ClaimRequest};
use crate::actions::Action;
use crate::model::claim::evidence::{Asked, Evidence, Facts, Owner};
use crate::model::claim::table::{ClaimWay, Lack, Shape};
use crate::model::claim::verdict::{Judgement, Verdict};
use crate::model::claim::{Claim, ClaimTime};
use crate::model::job::Server;
use crate::model::state::{Instant, StateName};

pub use permit::may;

/// What was found inside the transaction.
#[derive(Debug, Clone)]
pub struct FoundClaim<'a> {
    /// The table.
    pub shape: &'a Shape,
    /// The rows of the key, locked; more than one where nothing makes it unique.
    pub rows: Vec<Claim>,
    /// The jobs behind it, as they are now, oldest first.
    pub owners: Vec<Owner>,
    /// Every server.
    pub servers: Vec<Server>,
    /// A server whose heartbeat is older than this is gone, in milliseconds.
    pub server_timeout_ms: i64,
    /// Earlier claim times of this key that the audit knows.
    pub earlier: Vec<ClaimTime>,
    /// The newest answer of the provider.
    pub asked: Option<Asked>,
    /// The time, by the database's clock.
    pub now: Instant,
}

/// What becomes of the claim's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimWrite {
    /// It stays as it is: its job takes it itself.
    Keep,
    /// It is deleted.
    Delete,
    /// Its claim time becomes now, in the column's own format.
    Renew,
    /// It becomes sent.
    MarkAsSent {
        /// The provider's message id, where there is one and a column for it.
        provider_id: Option<String>,
    },
}

/// What a decided action writes, in one transaction with its audit row. Every write of the claim
/// names key, status and claim time as seen; exactly one row must change.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimPlan {
    /// The claim's row.
    pub write: ClaimWrite,
    /// The job that runs again, and how; its guarded action is decided with what is found of it in
    /// the same transaction.
    pub requeue: Option<(i64, Action)>,
    /// Whether the job is handed the claim: the parameter `Redrive.Claim`.
    pub hand_over: bool,
    /// What is changed, in sentences.
    pub notes: Vec<String>,
}

impl FoundClaim<'_> {
    /// What the row is judged by, with the table's own cut-off.
    fn facts<'a>(&'a self, claim: &'a Claim) -> Facts<'a> {
        Facts {
            claim,
            table: &self.shape.table,
            cutoff_ms: self.shape.table.cutoff_ms,
            owners: &self.owners,
            servers: &self.servers,
            server_timeout_ms: self.server_timeout_ms,
            earlier: &self.earlier,
            asked: self.asked.as_ref(),
            now: self.now,
        }
    }
}

/// Decides. `Err` is every outcome in which nothing is written.
///
/// # Errors
/// [`ClaimOutcome::Gone`], [`ClaimOutcome::Moved`] or [`ClaimOutcome::Refused`].
pub fn decide(request: &ClaimRequest, found: &FoundClaim<'_>) -> Result<ClaimPlan, ClaimOutcome> {
    let claim = seen::unmoved(request, found)?;
    let facts = found.facts(claim);
    let evidence = Evidence::of(&facts);
    let verdict = Verdict::of(&facts, &evidence);
    may(&request.action, found.shape, &evidence, &verdict, &facts).map_err(refused)?;
    match &request.action {
        ClaimAction::MarkAsSent { provider_id } => Ok(mark_as_sent(provider_id.as_deref(), found)),
        ClaimAction::Reclaim => {
            let resent = resend(request, &facts, &verdict)?;
            Ok(reclaim(resent, found.shape.table.way))
        }
        ClaimAction::Release => {
            let resent = resend(request, &facts, &verdict)?;
            Ok(release(resent))
        }
    }
}

fn refused(why: impl Into<String>) -> ClaimOutcome {
    ClaimOutcome::Refused { why: why.into() }
}

fn mark_as_sent(provider_id: Option<&str>, found: &FoundClaim<'_>) -> ClaimPlan {
    let id = provider_id.map(str::trim).filter(|id| !id.is_empty());
    let kept = id.filter(|_| !found.shape.lacks(Lack::ProviderId));
    let mut notes = vec![match kept {
        Some(id) => format!("Marked as sent, as {id}."),
        None => "Marked as sent.".to_owned(),
    }];
    if let (Some(id), None) = (id, kept) {
        notes.push(format!(
            "The table has no column for the provider's message id: {id} is not kept in it."
        ));
    }
    let waiting = found.owners.iter().filter_map(|owner| {
        let run = match owner.state {
            Some(StateName::Scheduled) if owner.timeline.pending_retry().is_some() => {
                "'s planned retry"
            }
            Some(StateName::Scheduled) => ", which is scheduled,",
            Some(StateName::Enqueued) => ", which is queued,",
            Some(StateName::Awaiting) => ", which waits for another job,",
            _ => return None,
        };
        Some(format!(
            "Job #{}{run} will find it sent, and skip.",
            owner.job
        ))
    });
    notes.extend(waiting);
    ClaimPlan {
        write: ClaimWrite::MarkAsSent {
            provider_id: kept.map(str::to_owned),
        },
        requeue: None,
        hand_over: false,
        notes,
    }
}

/// What a resend needs, whatever becomes of the row.
struct Resent {
    job: i64,
    requeue: Option<Action>,
    /// About the job and the outcome, in sentences.
    notes: Vec<String>,
}

fn resend(
    request: &ClaimRequest,
    facts: &Facts<'_>,
    verdict: &Verdict,
) -> Result<Resent, ClaimOutcome> {
    let way = facts.table.way;
    let owner = job::chosen(request, facts).map_err(refused)?;
    let start = job::start(owner, way).map_err(refused)?;
    let mut notes = vec![start.note];
    if verdict.judgement != Judgement::Safe {
        confirmed(request, verdict)?;
        notes.push("Its outcome was unknown: it may be delivered twice.".to_owned());
    }
    Ok(Resent {
        job: owner.job,
        requeue: start.action,
        notes,
    })
}

/// An outcome that is unknown is resent only where somebody says so, and why.
fn confirmed(request: &ClaimRequest, verdict: &Verdict) -> Result<(), ClaimOutcome> {
    let ask = if !request.may_deliver_twice {
        "confirm that it may be delivered twice, and give a reason"
    } else if request
        .reason
        .as_deref()
        .is_none_or(|r| r.trim().is_empty())
    {
        "give a reason"
    } else {
        return Ok(());
    };
    Err(refused(format!(
        "Its outcome is unknown. {} To resend it nevertheless, {ask}. Nothing was changed.",
        verdict.why
    )))
}

fn reclaim(resent: Resent, way: ClaimWay) -> ClaimPlan {
    let job = resent.job;
    match way {
        ClaimWay::InsertFirst => release(resent),
        ClaimWay::SelfReclaim => plan(
            ClaimWrite::Keep,
            format!("The claim stays as it is: job #{job} takes it when it runs."),
            resent,
        ),
        ClaimWay::HandOver => plan(
            ClaimWrite::Renew,
            format!("The claim was taken back and handed to job #{job}."),
            resent,
        ),
    }
}

fn release(resent: Resent) -> ClaimPlan {
    let note = "The claim was released: its row is deleted.".to_owned();
    plan(ClaimWrite::Delete, note, resent)
}

fn plan(write: ClaimWrite, note: String, resent: Resent) -> ClaimPlan {
    let mut notes = vec![note];
    notes.extend(resent.notes);
    ClaimPlan {
        hand_over: write == ClaimWrite::Renew,
        write,
        requeue: resent.requeue.map(|action| (resent.job, action)),
        notes,
    }
}
