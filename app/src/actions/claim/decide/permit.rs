//! Whether an action may be done at all, whatever the operator chooses or confirms.

use super::job;
use crate::actions::claim::ClaimAction;
use crate::actions::words::span;
use crate::model::claim::ClaimStatus;
use crate::model::claim::evidence::{Evidence, Facts, is_stale};
use crate::model::claim::table::{ClaimWay, Lack, Shape};
use crate::model::claim::verdict::{Judgement, Verdict};

/// Whether an action may be done as far as a page can tell; the words of a refusal are the ones
/// that acting would answer. That the outcome is unknown refuses nothing here: it must be confirmed.
/// Staleness goes by the table's own cut-off, whatever the facts say.
///
/// # Errors
/// Why not, in a sentence that says what to do instead.
pub fn may(
    action: &ClaimAction,
    shape: &Shape,
    evidence: &Evidence,
    verdict: &Verdict,
    facts: &Facts<'_>,
) -> Result<(), String> {
    if let Some(why) = &shape.read_only {
        return Err(why.clone());
    }
    if facts.claim.status != ClaimStatus::Sending || verdict.judgement == Judgement::Running {
        return Err(verdict.why.clone());
    }
    match action {
        ClaimAction::MarkAsSent { .. } => return Ok(()),
        ClaimAction::Release if shape.table.way == ClaimWay::HandOver => {
            return Err(
                "The jobs of this table go on only with a claim that they were handed: after a \
                 release none would send. Reclaim it instead."
                    .to_owned(),
            );
        }
        ClaimAction::Reclaim | ClaimAction::Release => {}
    }
    if shape.lacks(Lack::UniqueKey) {
        return Err(
            "Nothing makes the key unique in this table, so two runs could claim it at once, and \
             both would send. Give the key a unique index first."
                .to_owned(),
        );
    }
    stale(shape, evidence, facts)?;
    job::any(facts)
}

fn stale(shape: &Shape, evidence: &Evidence, facts: &Facts<'_>) -> Result<(), String> {
    let cutoff_ms = shape.table.cutoff_ms;
    if !shape.lacks(Lack::ClaimTime) && is_stale(facts.claim, cutoff_ms, facts.now) {
        return Ok(());
    }
    let never = "so nobody can say whether it is stale. Find out whether it was delivered; then \
                 mark it as sent, or remove it by hand and requeue its job.";
    Err(match (evidence.age_ms, &facts.claim.claimed_at) {
        (Some(age), _) if age < 0 => format!(
            "Its claim time lies {} in the future, {never}",
            span(age.saturating_neg())
        ),
        (Some(age), _) => format!(
            "It is not stale yet: it was claimed {} ago, and this table's cut-off is {}.",
            span(age),
            span(cutoff_ms)
        ),
        (None, Some(_)) => format!("Its claim time cannot be read, {never}"),
        (None, None) => format!("It has no claim time, {never}"),
    })
}
