//! Which job runs again, and how.

use crate::actions::claim::ClaimRequest;
use crate::actions::words::jobs;
use crate::actions::{Action, Enqueue};
use crate::model::claim::evidence::{Facts, Owner, holder};
use crate::model::claim::keys::Match;
use crate::model::claim::table::ClaimWay;
use crate::model::state::StateName;

/// Whether there is a job behind the claim that can send.
pub(super) fn any(facts: &Facts<'_>) -> Result<(), String> {
    let mut refusals = Vec::new();
    for owner in facts.owners {
        match start(owner, facts.table.way) {
            Ok(_) => return Ok(()),
            Err(why) => refusals.push(why),
        }
    }
    if refusals.is_empty() {
        return Err(
            "No job behind it is known, so nothing would send it afterwards. Enqueue one from the \
             application, then come back; or mark it as sent."
                .to_owned(),
        );
    }
    Err(refusals.join(" "))
}

/// The job that runs again: the one that was chosen, or the one that is meant without doubt.
pub(super) fn chosen<'a>(request: &ClaimRequest, facts: &Facts<'a>) -> Result<&'a Owner, String> {
    let owners = facts.owners;
    let ids = |by: Option<Match>| -> Vec<i64> {
        let of = owners
            .iter()
            .filter(|owner| by.is_none_or(|by| by == owner.by));
        of.map(|owner| owner.job).collect()
    };
    if let Some(id) = request.job {
        let owner = owners.iter().find(|owner| owner.job == id);
        return owner.ok_or_else(|| {
            let what = if request.owners.contains(&id) {
                "does not exist any more"
            } else {
                "does not stand behind this claim"
            };
            match jobs(&ids(None)) {
                none if none.is_empty() => format!("Job #{id} {what}."),
                others => format!("Job #{id} {what}. Choose another one: {others}."),
            }
        });
    }
    let by_rule = ids(Some(Match::Rule));
    if by_rule.is_empty() {
        return Err(format!(
            "Only a guess by its first argument says which job stands behind it: {}. Choose the \
             job that is to run again.",
            jobs(&ids(None))
        ));
    }
    let is_meant =
        |owner: &Owner| owner.by == Match::Rule && owner.state != Some(StateName::Deleted);
    if let Some(run) = holder(facts)
        && is_meant(run.owner)
    {
        return Ok(run.owner);
    }
    let mut meant = owners.iter().filter(|owner| is_meant(owner));
    match (meant.next(), meant.next()) {
        (Some(owner), None) => Ok(owner),
        (None, _) => Err(format!(
            "Every job behind it was deleted: {}. Choose the one that is to run again.",
            jobs(&by_rule)
        )),
        (Some(_), Some(_)) => Err(format!(
            "Several jobs stand behind it: {}. Choose the one that is to run again.",
            jobs(&by_rule)
        )),
    }
}

/// How a job runs again.
pub(super) struct Start {
    /// `None` where it is queued already.
    pub(super) action: Option<Action>,
    pub(super) note: String,
}

/// How a job runs again from its present state.
pub(super) fn start(owner: &Owner, way: ClaimWay) -> Result<Start, String> {
    let job = owner.job;
    let requeue = |note: String| Start {
        action: Some(Action::Requeue(Enqueue::default())),
        note,
    };
    match &owner.state {
        Some(StateName::Failed | StateName::Succeeded | StateName::Deleted) => {
            Ok(requeue(format!("Job #{job} runs again.")))
        }
        Some(StateName::Scheduled) => Ok(Start {
            action: Some(Action::EnqueueNow(Enqueue::default())),
            note: if owner.timeline.pending_retry().is_some() {
                format!("The planned retry of job #{job} runs now.")
            } else {
                format!("Job #{job} was scheduled and runs now.")
            },
        }),
        Some(StateName::Processing) => {
            let newest = owner.timeline.attempts().next_back();
            let Some(server) = newest.and_then(|attempt| attempt.server.as_deref()) else {
                return Err(format!(
                    "Job #{job} is Processing, and its history does not say on which server, so \
                     nobody can tell whether it still runs."
                ));
            };
            Ok(requeue(format!(
                "Job #{job} runs again; server {server}, which ran it, is gone."
            )))
        }
        Some(StateName::Enqueued) => queued(job, way),
        Some(StateName::Awaiting) => Err(format!(
            "Job #{job} waits for another job that has not finished; running it before that is \
             decided on its own page."
        )),
        Some(StateName::Other(name)) => Err(format!(
            "Job #{job} is in the state {name}, which Hangfire itself does not define: only the \
             extension that put it there knows how to run it again."
        )),
        None => Err(format!(
            "Job #{job} has no state: it is still being created, or its creation was broken off."
        )),
    }
}

/// A job that is queued already is not queued twice. One that takes its claim itself needs nothing
/// else; one that must be handed its claim may begin before it is.
fn queued(job: i64, way: ClaimWay) -> Result<Start, String> {
    match way {
        ClaimWay::InsertFirst => Ok(Start {
            action: None,
            note: format!("Job #{job} is queued already and will run."),
        }),
        ClaimWay::SelfReclaim => Err(format!(
            "Job #{job} is queued already: it takes the claim itself when it runs."
        )),
        ClaimWay::HandOver => Err(format!(
            "Job #{job} is queued already and may begin at any moment without the claim. Come back \
             when it has run, or delete the job and reclaim then."
        )),
    }
}
