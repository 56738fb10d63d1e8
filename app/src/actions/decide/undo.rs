//! Undo of a delete: back into the state before it.

use super::super::found::{Found, FoundJob};
use super::super::plan::{Plan, StateValue, Write};
use super::super::reason::reason;
use super::super::words::{clock, jobs};
use super::super::{Outcome, Request};
use super::continuations::{children, ids};
use super::delete::day_after;
use super::queue::{no_row, one_row};
use super::{leave, refused, schedule_member, total, unknown_state};
use crate::model::continuation::retry_count;
use crate::model::reason::{is_restored, retry};
use crate::model::state::{StateName, StateRow};

/// Hangfire may clean up a job that expires sooner than this while it is being restored.
const MARGIN_MS: i64 = 60_000;

/// The jobs to read: a parent to wait for again, and children that may have been released.
pub(super) fn relatives(job: &FoundJob) -> Result<Vec<i64>, Outcome> {
    let mut wanted = ids(job)?;
    wanted.extend(job.before.as_ref().and_then(parent_of));
    Ok(wanted)
}

fn parent_of(row: &StateRow) -> Option<i64> {
    (row.name == StateName::Awaiting)
        .then(|| row.data.get("ParentId"))
        .flatten()
        .and_then(|id| id.trim().parse().ok())
}

pub(super) fn may(found: &Found, state: &StateName) -> Result<(), Outcome> {
    let job = &found.job;
    if *state != StateName::Deleted {
        return Err(refused(format!("It is not deleted; it is {state}.")));
    }
    if let Some(at) = job.expire_at
        && (at - found.now).num_milliseconds() < MARGIN_MS
    {
        return Err(refused(format!(
            "It expires at {}; a delete can be undone until a minute before that.",
            clock(at)
        )));
    }
    let former = former(job)?;
    match &former.name {
        StateName::Enqueued | StateName::Failed | StateName::Succeeded | StateName::Deleted => {}
        StateName::Scheduled => {
            due(former)?;
        }
        StateName::Awaiting => parent_still_open(found, former)?,
        StateName::Processing => {
            return Err(refused(
                "It was running when it was deleted, so its worker may have finished the work. \
                 Requeue it instead if it shall run again.",
            ));
        }
        other @ StateName::Other(_) => return Err(unknown_state(other)),
    }
    if former.name != StateName::Succeeded {
        children_still_wait(found)?;
    }
    Ok(())
}

fn former(job: &FoundJob) -> Result<&StateRow, Outcome> {
    job.before.as_ref().ok_or_else(|| {
        refused("What it was before the delete is not recorded any more. Requeue it instead.")
    })
}

/// The due time of the former Scheduled row, in unix seconds as the schedule counts them.
fn due(former: &StateRow) -> Result<i64, Outcome> {
    former
        .data
        .date("EnqueueAt")
        .map(|at| at.timestamp())
        .ok_or_else(|| refused("When it was due cannot be read any more. Requeue it instead."))
}

/// A job that waits for a parent which has already finished would wait for ever.
fn parent_still_open(found: &Found, former: &StateRow) -> Result<(), Outcome> {
    let Some(id) = parent_of(former) else {
        return Err(refused(
            "The job that it waited for is not recorded any more. Requeue it instead.",
        ));
    };
    let Some(parent) = found.relatives.get(&id) else {
        return Ok(());
    };
    let gone = "does not exist any more";
    let why = match parent {
        None => gone.to_owned(),
        Some(parent) => match &parent.state {
            Some(state) if state.is_final() => format!("is {state}"),
            None => "has no state".to_owned(),
            Some(_) if ids(parent)?.contains(&found.job.id) => return Ok(()),
            Some(_) => "does not name it as a continuation".to_owned(),
        },
    };
    Err(refused(format!(
        "It waited for #{id}, which {why}: it would wait for ever. Requeue it instead."
    )))
}

/// Children that were released by the delete cannot be called back.
fn children_still_wait(found: &Found) -> Result<(), Outcome> {
    let mut released = Vec::new();
    for child in children(&found.job)? {
        match found.relatives.get(&child.id) {
            None => {}
            Some(Some(job)) if job.state == Some(StateName::Awaiting) => {}
            Some(_) => released.push(child.id),
        }
    }
    if released.is_empty() {
        return Ok(());
    }
    Err(refused(format!(
        "Jobs that waited for it do not wait any more ({}): the delete released them. Requeue it \
         instead.",
        jobs(&released)
    )))
}

pub(super) fn plan(request: &Request, found: &Found) -> Result<Plan, Outcome> {
    let job = &found.job;
    let former = former(job)?;
    let mut writes = Vec::new();
    let mut notes = vec![format!("It is {} again.", former.name)];
    leave(job, &mut writes);
    writes.push(Write::State {
        job: job.id,
        name: former.name.clone(),
        reason: Some(reason(request)),
        data: StateValue::CopyOf(former.id),
    });
    let mut expire_at = None;
    match &former.name {
        StateName::Enqueued => {
            let elected = former.data.get("Queue").unwrap_or("default");
            let target = job.own_queue.as_deref().unwrap_or(elected);
            let rows = one_row(found, job, None, target, false)?;
            writes.extend(rows.writes);
            notes.extend(rows.notes);
        }
        StateName::Scheduled => reschedule(found, former, &mut writes, &mut notes)?,
        StateName::Awaiting => writes.push(Write::AddToSet {
            key: "awaiting",
            value: job.id.to_string(),
            score: found.now.timestamp(),
        }),
        StateName::Succeeded => {
            writes.push(total("stats:succeeded", 1));
            expire_at = Some(day_after(found.now));
        }
        _ => {}
    }
    writes.push(Write::Expire {
        job: job.id,
        at: expire_at,
    });
    Ok(Plan {
        job: job.id,
        state: former.name.clone(),
        at: found.now,
        writes,
        notes,
    })
}

/// A scheduled job is released by its member of `schedule`, or, with a queue of its own and once
/// it is due, by the queue row that the scheduler put in the member's place. Never by both.
fn reschedule(
    found: &Found,
    former: &StateRow,
    writes: &mut Vec<Write>,
    notes: &mut Vec<String>,
) -> Result<(), Outcome> {
    let job = &found.job;
    let due = due(former)?;
    let released = job.queue_rows.iter().any(|row| row.fetched_at.is_none());
    if released && due <= found.now.timestamp() {
        let target = job.own_queue.as_deref().unwrap_or("default");
        let rows = one_row(found, job, None, target, false)?;
        writes.extend(rows.writes);
        notes.extend(rows.notes);
    } else {
        writes.extend(no_row(found, job)?);
        writes.push(Write::AddToSet {
            key: "schedule",
            value: schedule_member(job),
            score: due,
        });
        if due <= found.now.timestamp() {
            notes.push("It was due meanwhile: the scheduler releases it at once.".to_owned());
        }
    }
    if plans_retry(job, former) {
        writes.push(Write::AddToSet {
            key: "retries",
            value: job.id.to_string(),
            score: 0,
        });
    }
    Ok(())
}

/// A row that an earlier undo wrote has that undo's reason; that the job was retried before tells
/// then what it plans.
fn plans_retry(job: &FoundJob, former: &StateRow) -> bool {
    let reason = former.reason.as_deref();
    let retried = || {
        job.parameter("RetryCount")
            .and_then(retry_count)
            .is_some_and(|n| n > 0)
    };
    retry(reason).is_some() || (is_restored(reason) && retried())
}
