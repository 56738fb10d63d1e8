//! What a job's page says of its claim before a requeue.

use crate::model::claim::evidence::Evidence;
use crate::model::claim::table::{ClaimWay, ClaimsTable};
use crate::model::claim::verdict::{Judgement, Verdict};
use crate::model::claim::{Claim, ClaimStatus};

/// That a requeue of the job would only find its claim and skip, or may deliver twice; `None` where
/// neither is to be feared. The evidence goes by the table's own cut-off.
pub fn requeue_warning(
    table: &ClaimsTable,
    claim: &Claim,
    evidence: &Evidence,
    verdict: &Verdict,
) -> Option<String> {
    let skips = |what: &str, instead: &str| {
        Some(format!(
            "{what}: a requeued run would find it and skip. {instead}"
        ))
    };
    match (&claim.status, table.way) {
        (ClaimStatus::Sent, _) => {
            let id = claim.provider_id.as_deref();
            let id = id.map(|id| format!(", as {id}")).unwrap_or_default();
            skips(&format!("Its claim {} was sent{id}", claim.key), "")
        }
        (ClaimStatus::Other(_), _) => skips(
            &format!("Its claim {} has the status {}", claim.key, claim.status),
            "",
        ),
        (ClaimStatus::Sending, ClaimWay::SelfReclaim) if evidence.stale => {
            match verdict.judgement {
                Judgement::Safe => None,
                Judgement::Running => Some(format!(
                    "A requeued run would take its claim {} from one that goes on. {}",
                    claim.key, verdict.why
                )),
                Judgement::Unknown => Some(format!(
                    "A requeued run would take its stale claim {}, and may deliver it twice. {}",
                    claim.key, verdict.why
                )),
            }
        }
        (ClaimStatus::Sending, _) => {
            let what = format!("Its claim {} is Sending", claim.key);
            if evidence.stale && verdict.judgement != Judgement::Running {
                skips(&what, "Take the claim back instead: that runs the job too.")
            } else {
                skips(&what, "")
            }
        }
    }
    .map(|warning| warning.trim_end().to_owned())
}

#[cfg(test)]
mod tests;
