//! Deciding an action: from what the operator saw and what was found, to what is written or why
//! nothing is. Pure, so that both dialects share every rule.

mod continuations;
mod delete;
mod enqueue;
mod queue;
mod undo;

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use super::found::{Found, FoundJob, FoundServer};
use super::plan::{Plan, Write};
use super::words::{ago, clock, span};
use super::{Action, Outcome, Request};
use crate::model::state::{Instant, StateName};

pub use continuations::{Fate, fate_on_delete, ids as continuation_ids};
pub use enqueue::{elected_queue, unserved};

/// The schema versions of `Hangfire.PostgreSql` whose rows we know how to write.
pub const SCHEMAS: RangeInclusive<i32> = 19..=23;

/// A lock row older than this is left over from a crash: Hangfire itself clears it.
pub const STALE_LOCK_MS: i64 = 10 * 60_000;

/// Why the schema version forbids actions, if it does.
pub fn schema_forbids(version: Option<i32>) -> Option<String> {
    let (first, last) = (SCHEMAS.start(), SCHEMAS.end());
    match version {
        Some(v) if SCHEMAS.contains(&v) => None,
        Some(v) if v < *first => Some(format!(
            "Hangfire's schema has version {v}; actions need {first} to {last}. A newer \
             Hangfire.PostgreSql upgrades it when it starts."
        )),
        Some(v) => Some(format!(
            "Hangfire's schema has version {v}, which is newer than this Redrive knows \
             ({first} to {last})."
        )),
        None => {
            Some("Hangfire's schema version is not recorded, so nothing is written.".to_owned())
        }
    }
}

/// The job system, or another operator, holds the job's lock.
pub fn held(job: i64, since: Option<Instant>, now: Instant) -> Outcome {
    let age = since.map(|at| format!(" since {} ({})", clock(at), ago(at, now)));
    Outcome::Busy {
        since,
        why: format!(
            "The lock of job #{job} is held{}: somebody is changing it at this moment. Nothing \
             was changed; try again.",
            age.unwrap_or_default()
        ),
    }
}

/// Whether the scheduler could release the job at the same moment: one with a queue of its own goes
/// from the schedule into that queue without the job's lock, under the scheduler's alone.
pub fn races_scheduler(action: &Action, job: &FoundJob) -> bool {
    matches!(action, Action::Requeue(_) | Action::EnqueueNow(_))
        && job.state == Some(StateName::Scheduled)
        && job.own_queue.is_some()
}

/// The scheduler releases due jobs at this moment, and holds its lock.
pub fn scheduler_at_work(since: Option<Instant>) -> Outcome {
    Outcome::Busy {
        since,
        why:
            "Hangfire's scheduler is releasing due jobs at this moment, and may be releasing this \
              one. Nothing was changed; try again."
                .to_owned(),
    }
}

/// Says that a lock row left over from a crash was cleared.
pub fn stale_lock_note(job: i64, since: Instant) -> String {
    format!(
        "A lock of job #{job}, left behind since {}, was cleared.",
        clock(since)
    )
}

/// Decides. `Err` is every outcome in which nothing is written.
///
/// # Errors
/// [`Outcome::Moved`], [`Outcome::Busy`] or [`Outcome::Refused`].
pub fn decide(request: &Request, found: &Found) -> Result<Plan, Outcome> {
    let (state, _) = settled(&found.job)?;
    unmoved(request, found)?;
    no_batch(&found.job)?;
    match &request.action {
        Action::Requeue(how) => {
            enqueue::may_requeue(found, state)?;
            enqueue::plan(request, found, how)
        }
        Action::EnqueueNow(how) => {
            enqueue::may_enqueue_now(found, state)?;
            enqueue::plan(request, found, how)
        }
        Action::Delete => {
            delete::may(state)?;
            delete::plan(request, found)
        }
        Action::UndoDelete => {
            undo::may(found, state)?;
            undo::plan(request, found)
        }
    }
}

/// Whether an action may be done as far as a page can tell; the words of a refusal are the ones
/// that acting would answer.
///
/// # Errors
/// [`Outcome::Busy`] or [`Outcome::Refused`].
pub fn may(action: &Action, found: &Found) -> Result<(), Outcome> {
    let (state, _) = settled(&found.job)?;
    no_batch(&found.job)?;
    match action {
        Action::Requeue(_) => enqueue::may_requeue(found, state),
        Action::EnqueueNow(_) => enqueue::may_enqueue_now(found, state),
        Action::Delete => delete::may(state),
        Action::UndoDelete => undo::may(found, state),
    }
}

/// Which other jobs must be locked and read before [`decide`], in the order of their ids; asked
/// again after they were, until it names none.
///
/// # Errors
/// [`Outcome::Refused`] where a list of continuations cannot be read, or is too long.
pub fn wanted(action: &Action, found: &Found) -> Result<Vec<i64>, Outcome> {
    let mut ids = match action {
        Action::Requeue(_) | Action::EnqueueNow(_) => Vec::new(),
        Action::Delete => delete::relatives(found)?,
        Action::UndoDelete => undo::relatives(&found.job)?,
    };
    ids.sort_unstable();
    ids.dedup();
    let most = found.limits.relatives;
    if ids.len() > most {
        return Err(refused(format!(
            "{} jobs hang on it, more than the {most} that are changed in one transaction: it \
             would hold the job servers up.",
            ids.len()
        )));
    }
    ids.retain(|id| !found.relatives.contains_key(id));
    Ok(ids)
}

fn refused(why: impl Into<String>) -> Outcome {
    Outcome::Refused { why: why.into() }
}

/// The job's state and its row's id, where it has both.
fn settled(job: &FoundJob) -> Result<(&StateName, i64), Outcome> {
    let Some(state) = &job.state else {
        return Err(refused(
            "It has no state: it is still being created, or its creation was broken off. Hangfire \
             does not change the state of such a job either.",
        ));
    };
    if job.unsettled {
        return Err(Outcome::Busy {
            since: job.since(),
            why: "Hangfire is changing its state at this moment. Nothing was changed; try again."
                .to_owned(),
        });
    }
    let Some(id) = job.state_id else {
        return Err(refused(format!(
            "It says that it is {state}, but names no state row, so nothing could guard the change."
        )));
    };
    Ok((state, id))
}

fn unmoved(request: &Request, found: &Found) -> Result<(), Outcome> {
    let (seen, job) = (&request.seen, &found.job);
    if job.state.as_ref() == Some(&seen.state) && job.state_id == Some(seen.state_id) {
        return Ok(());
    }
    let since = |at: Option<Instant>| {
        at.map(|at| format!(" since {} ({})", clock(at), ago(at, found.now)))
            .unwrap_or_default()
    };
    let to = job
        .state
        .as_ref()
        .map_or("without a state", StateName::as_str);
    let again = if job.state.as_ref() == Some(&seen.state) {
        " again"
    } else {
        ""
    };
    let reason = job
        .current
        .as_ref()
        .and_then(|row| row.reason.as_deref())
        .map(|reason| format!(", with the reason \"{reason}\""));
    Err(Outcome::Moved {
        from: seen.state.clone(),
        to: job.state.clone(),
        at: job.since(),
        why: format!(
            "You saw it {}{}; now it is {to}{again}{}{}. Nothing was changed.",
            seen.state,
            since(found.seen_since),
            since(job.since()),
            reason.unwrap_or_default(),
        ),
    })
}

/// Batches are closed source: what else would have to change is not known.
fn no_batch(job: &FoundJob) -> Result<(), Outcome> {
    let names_batch = |text: &str| text.eq_ignore_ascii_case("BatchId");
    let in_parameters = job.parameters.iter().any(|(name, value)| {
        names_batch(name)
            || value
                .as_deref()
                .is_some_and(|v| v.contains("Hangfire.Batches"))
    });
    let in_data = job.current.iter().chain(&job.before).any(|row| {
        row.data
            .pairs()
            .filter(|(key, _)| !key.starts_with("Exception"))
            .any(|(key, value)| names_batch(key) || value.contains("Hangfire.Batches"))
    });
    if in_parameters || in_data {
        return Err(refused(format!(
            "Job #{} belongs to a batch (Hangfire.Pro): changing it from outside would leave the \
             batch's own counts wrong. Use Hangfire's dashboard.",
            job.id
        )));
    }
    Ok(())
}

fn unknown_state(state: &StateName) -> Outcome {
    refused(format!(
        "It is in the state {state}, which Hangfire itself does not define: only the extension \
         that put it there knows how to leave it."
    ))
}

/// Whether the server that ran a Processing job is gone, and what is known of it.
pub(super) enum Holder<'a> {
    /// It reports.
    Alive(&'a FoundServer),
    /// It does not report any more: the name that the row gives it.
    Gone(String),
    /// The row does not say who it is.
    Unknown,
}

pub(super) fn holder<'a>(found: &'a Found, job: &FoundJob) -> Holder<'a> {
    let alive = |server: &&FoundServer| server.heartbeat_age_ms <= found.limits.server_timeout_ms;
    if let Some(id) = job.datum("ServerId") {
        let server = found.servers.iter().filter(alive).find(|s| s.id == id);
        return server.map_or_else(|| Holder::Gone(id.to_owned()), Holder::Alive);
    }
    // Before 1.5 a row named the server without process and instance.
    let Some(name) = job.datum("ServerName") else {
        return Holder::Unknown;
    };
    found
        .servers
        .iter()
        .filter(alive)
        .find(|s| s.id == name || s.id.strip_prefix(name).is_some_and(|r| r.starts_with(':')))
        .map_or_else(|| Holder::Gone(name.to_owned()), Holder::Alive)
}

fn reported(server: &FoundServer) -> String {
    format!(
        "server {} reported {} ago",
        server.id,
        span(server.heartbeat_age_ms)
    )
}

/// What leaving its present state needs beside the new state row.
fn leave(job: &FoundJob, writes: &mut Vec<Write>) {
    let id = job.id.to_string();
    let remove = |key| Write::RemoveFromSet {
        key,
        value: id.clone(),
    };
    match &job.state {
        Some(StateName::Scheduled) => {
            writes.push(remove("retries"));
            writes.push(remove("schedule"));
            if let Some(queue) = &job.own_queue {
                writes.push(Write::RemoveFromSet {
                    key: "schedule",
                    value: format!("{queue}:{id}"),
                });
            }
        }
        Some(StateName::Failed) => writes.push(remove("retries")),
        Some(StateName::Awaiting) => writes.push(remove("awaiting")),
        Some(StateName::Succeeded) => writes.push(total("stats:succeeded", -1)),
        Some(StateName::Deleted) => writes.push(total("stats:deleted", -1)),
        _ => {}
    }
}

fn total(key: &str, delta: i64) -> Write {
    Write::Count {
        key: key.to_owned(),
        delta,
        expire_at: None,
    }
}

/// A date inside state data. Every version of Hangfire reads this form.
fn iso(at: Instant) -> String {
    at.format("%Y-%m-%dT%H:%M:%S%.6f0Z").to_string()
}

/// The member of `schedule` that releases a job.
fn schedule_member(job: &FoundJob) -> String {
    match &job.own_queue {
        Some(queue) => format!("{queue}:{}", job.id),
        None => job.id.to_string(),
    }
}
