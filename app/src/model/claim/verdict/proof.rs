//! Recorded proof that nothing was sent: the run that held the claim failed with an exception that
//! comes before the send, and no other run can have sent.

use crate::model::attempt::{Attempt, Outcome};
use crate::model::claim::ClaimsTable;
use crate::model::claim::evidence::{Facts, Run, holder};
use crate::model::claim::keys::{Match, is_named};
use crate::model::claim::table::ClaimWay;
use crate::model::timeline::History;

/// The proof in a sentence, where there is one.
pub(super) fn nothing_sent(facts: &Facts<'_>) -> Option<String> {
    let claimed = facts.claim.at()?;
    let holder = holder(facts).filter(|run| run.owner.by == Match::Rule)?;
    let exception = sent_nothing(holder.attempt, facts.table)?;
    let claimed_before = facts
        .earlier
        .iter()
        .any(|time| Some(time) != facts.claim.claimed_at.as_ref());
    let all_known = facts
        .owners
        .iter()
        .all(|owner| owner.timeline.history == History::Whole);
    if claimed_before || !all_known {
        return None;
    }
    let insert_first = facts.table.way == ClaimWay::InsertFirst;
    let others_sent_nothing = Run::all(facts)
        .filter(|run| {
            (run.owner.job, run.attempt.processing_id)
                != (holder.owner.job, holder.attempt.processing_id)
        })
        .all(|run| {
            let attempt = run.attempt;
            let skipped = attempt.outcome == Outcome::Succeeded && attempt.started_at > claimed;
            // An insert-first run that had failed by then had no claim, and so did not send. One
            // that had succeeded may have sent under a claim that is not there any more.
            let over_before = insert_first
                && attempt.outcome == Outcome::Failed
                && attempt.ended_at.is_some_and(|ended| ended < claimed);
            skipped || over_before || sent_nothing(attempt, facts.table).is_some()
        });
    others_sent_nothing.then(|| {
        format!(
            "Attempt {} of job #{} held the claim and failed with {exception}, which comes before \
             anything is sent; no other run can have sent it.",
            holder.attempt.number, holder.owner.job
        )
    })
}

/// The exception with which an attempt failed, where it proves that it sent nothing.
fn sent_nothing<'a>(attempt: &'a Attempt, table: &ClaimsTable) -> Option<&'a str> {
    if attempt.outcome != Outcome::Failed {
        return None;
    }
    let exception = attempt.failure.as_ref()?.exception_type.as_deref()?;
    table
        .nothing_sent_on
        .iter()
        .any(|name| is_named(exception, name))
        .then_some(exception)
}
