//! Whether the claim is still what the operator saw.

use super::{FoundClaim, refused};
use crate::actions::claim::{ClaimOutcome, ClaimRequest};
use crate::actions::words::clock;
use crate::model::claim::evidence::is_stale;
use crate::model::claim::{Claim, ClaimStatus, ClaimTime};

/// The claim's row, where it is Sending with the claim time that was seen.
pub(super) fn unmoved<'a>(
    request: &ClaimRequest,
    found: &'a FoundClaim<'_>,
) -> Result<&'a Claim, ClaimOutcome> {
    let claim = match found.rows.as_slice() {
        [] => return Err(ClaimOutcome::Gone),
        [claim] => claim,
        rows => {
            return Err(refused(format!(
                "{} rows or more have this key, since nothing makes it unique: nobody can say which \
                 one is meant. Remove what is too many by hand, and give the key a unique index.",
                rows.len()
            )));
        }
    };
    let token = claim.claimed_at.as_ref().map(|time| time.token.as_str());
    if claim.status == ClaimStatus::Sending && token == request.seen.claimed_at.as_deref() {
        return Ok(claim);
    }
    Err(ClaimOutcome::Moved {
        why: format!("{} Nothing was changed.", story(claim, found)),
        now: Box::new(Some(claim.clone())),
    })
}

fn story(claim: &Claim, found: &FoundClaim<'_>) -> String {
    match &claim.status {
        ClaimStatus::Sent => match &claim.provider_id {
            Some(id) => format!("It was sent meanwhile, as {id}."),
            None => "It was marked as sent meanwhile.".to_owned(),
        },
        ClaimStatus::Other(_) => format!("Its status is {} now.", claim.status),
        ClaimStatus::Sending => {
            let cutoff_ms = found.shape.table.cutoff_ms;
            let stale = if is_stale(claim, cutoff_ms, found.now) {
                ""
            } else {
                ", and it is not stale any more"
            };
            match &claim.claimed_at {
                Some(time) => format!(
                    "Somebody else took it back at {}: its claim time is {} now{stale}.",
                    when(time),
                    time.token
                ),
                None => format!("Its claim time was taken away meanwhile{stale}."),
            }
        }
    }
}

fn when(time: &ClaimTime) -> String {
    time.at.map_or_else(|| time.token.clone(), clock)
}
