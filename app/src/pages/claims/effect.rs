//! What an action on a claim will do, in sentences, by the table's way of claiming.

use super::{Deed, JudgedClaim};
use crate::components::text::{cut, shown};
use crate::model::claim::table::{ClaimWay, ClaimsTable, Shape};
use crate::model::state::StateName;

/// The effect of an action on a claim, in a sentence or two.
pub(super) fn effect(table: &ClaimsTable, shape: &Shape, row: &JudgedClaim, deed: Deed) -> String {
    let job = the_job(row);
    let name = shown(&table.name);
    let together = if shape.with_jobs {
        "Both in one transaction."
    } else {
        "The two lie in different databases: the claim changes first, and if its job then cannot be \
         requeued you are told what state the claim is in."
    };
    let released = format!(
        "The row of {name} is deleted, and {job} is put into its queue: its next run claims anew \
         and sends. {together}"
    );
    match (deed, table.way) {
        (Deed::Release, ClaimWay::InsertFirst) => "The same as Reclaim, for this table.".to_owned(),
        (Deed::Reclaim, ClaimWay::InsertFirst) | (Deed::Release, _) => released,
        (Deed::Reclaim, ClaimWay::SelfReclaim) => format!(
            "{} is put into its queue: its next run finds the stale claim, takes it over and sends \
             with the same key. The row of {name} is left as it is.",
            upper(&job)
        ),
        (Deed::Reclaim, ClaimWay::HandOver) => format!(
            "The claim time becomes now, and {job} is put into its queue with the parameter \
             Redrive.Claim: its next run goes on only while the claim still carries that time, and \
             sends with the same key. {together}"
        ),
        (Deed::MarkAsSent, _) => format!(
            "Only if you know that it was delivered: the status becomes Sent ({}), no job is \
             started, and a run that comes later finds it sent and skips.",
            shown(&table.sent)
        ),
        (Deed::AskProvider, _) => format!(
            "One request to {} about this key, of at most 5 s. The answer is kept in the audit and \
             shown here as evidence. Nothing is changed.",
            host(table)
        ),
    }
}

fn the_job(row: &JudgedClaim) -> String {
    match row.owners.as_slice() {
        [] => "its job".to_owned(),
        [owner] => {
            let name = cut(&owner.name, 80);
            let state = match &owner.state {
                Some(StateName::Succeeded) => " (which says Succeeded)",
                _ => "",
            };
            format!("job {} {}{state}", owner.job, shown(&name))
        }
        _ => "the job that you choose".to_owned(),
    }
}

fn upper(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// The provider's host. The rest of the URL may hold secrets.
fn host(table: &ClaimsTable) -> String {
    let Some(rule) = &table.provider else {
        return "the provider".to_owned();
    };
    let after = rule.url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = after.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rsplit('@').next() {
        Some(host) if !host.is_empty() && !host.contains('{') => shown(host).into_owned(),
        _ => "the provider".to_owned(),
    }
}
