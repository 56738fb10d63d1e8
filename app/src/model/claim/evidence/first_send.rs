//! The first time that the effect may have been sent: a provider's window counts from it, and not
//! from the claim, which every reclaim renews.

use super::{Facts, FirstSend, Owner, runs};
use crate::model::claim::keys::Match;
use crate::model::timeline::History;

/// `None` where no job behind the claim is known: somebody else may have claimed, and sent, before.
/// A job that is only guessed counts where it ran when the claim was made.
pub(super) fn of(facts: &Facts<'_>) -> Option<FirstSend> {
    let sure = facts.owners.iter().any(|owner| owner.by == Match::Rule);
    if !sure && runs::holder(facts).is_none() {
        return None;
    }
    let begun: Vec<FirstSend> = facts.owners.iter().filter_map(begun).collect();
    if begun.is_empty() {
        return None;
    }
    let earlier = facts.earlier.iter().filter_map(|time| {
        Some(FirstSend {
            at: time.at?,
            from: "it had been claimed before, as the audit says".to_owned(),
        })
    });
    let claim = facts.claim.at().map(|at| FirstSend {
        at,
        from: "the claim was made".to_owned(),
    });
    begun
        .into_iter()
        .chain(earlier)
        .chain(claim)
        .min_by_key(|first| first.at)
}

/// When a job may first have sent: when its first attempt began, or, where older rows are not known,
/// when it was created.
fn begun(owner: &Owner) -> Option<FirstSend> {
    if owner.timeline.history != History::Whole {
        return Some(FirstSend {
            at: owner.created_at,
            from: format!(
                "job #{} was created, whose first attempts are not known",
                owner.job
            ),
        });
    }
    let starts = owner.timeline.attempts();
    let first = starts.min_by_key(|attempt| attempt.started_at)?;
    Some(FirstSend {
        at: first.started_at,
        from: format!("attempt {} of job #{} began", first.number, owner.job),
    })
}
