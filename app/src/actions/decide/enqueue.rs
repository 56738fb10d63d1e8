//! Requeue and enqueue now.

use super::super::found::{Found, FoundJob};
use super::super::plan::{Plan, StateValue, Write};
use super::super::reason::reason;
use super::super::words::{ago, clock, span};
use super::super::{Enqueue, Outcome, Request};
use super::queue::{busy, lapsed, one_row};
use super::{Holder, holder, iso, leave, refused, reported, unknown_state};
use crate::model::state::StateName;

/// A queue row that is missing for less than this may be a moment in flight.
const MISSING_MS: i64 = 60_000;

pub(super) fn may_requeue(found: &Found, state: &StateName) -> Result<(), Outcome> {
    match state {
        StateName::Succeeded | StateName::Deleted => not_expired(found),
        StateName::Failed | StateName::Scheduled | StateName::Awaiting => Ok(()),
        StateName::Processing => holder_is_gone(found),
        StateName::Enqueued => row_is_missing(found),
        StateName::Other(_) => Err(unknown_state(state)),
    }
}

pub(super) fn may_enqueue_now(found: &Found, state: &StateName) -> Result<(), Outcome> {
    match state {
        StateName::Scheduled | StateName::Awaiting => Ok(()),
        StateName::Failed | StateName::Succeeded | StateName::Deleted => Err(refused(format!(
            "Only scheduled, retrying and awaiting jobs are enqueued ahead of time; this one is \
             {state}. Requeue it instead."
        ))),
        StateName::Processing => Err(refused("It is running already.")),
        StateName::Enqueued => row_is_missing(found).and(Err(refused(
            "It is Enqueued, but its queue row is missing. Requeue it to put the row back.",
        ))),
        StateName::Other(_) => Err(unknown_state(state)),
    }
}

/// A clean-up that has begun takes an expired job even if it is revived meanwhile.
fn not_expired(found: &Found) -> Result<(), Outcome> {
    match found.job.expire_at {
        Some(at) if at <= found.now => Err(refused(format!(
            "It expired at {}, and Hangfire's clean-up may be taking it at this moment. Create it \
             anew instead.",
            clock(at)
        ))),
        _ => Ok(()),
    }
}

fn holder_is_gone(found: &Found) -> Result<(), Outcome> {
    match holder(found, &found.job) {
        Holder::Gone(_) => Ok(()),
        Holder::Alive(server) => Err(refused(format!(
            "It is running: {}. A job is requeued from Processing only when its server has been \
             silent for {}.",
            reported(server),
            span(found.limits.server_timeout_ms)
        ))),
        Holder::Unknown => Err(refused(
            "It is Processing, and its state row does not say on which server, so nobody can tell \
             whether it still runs.",
        )),
    }
}

fn row_is_missing(found: &Found) -> Result<(), Outcome> {
    let job = &found.job;
    if let Some(row) = job.queue_rows.iter().find(|row| row.fetched_at.is_none()) {
        return Err(refused(format!(
            "It is queued already, on {}; a second queue row would run it twice.",
            row.queue
        )));
    }
    if let Some(taken) = job.queue_rows.iter().find_map(|row| row.fetched_at) {
        if !lapsed(found, taken) {
            return Err(busy(found, job, taken));
        }
        return Err(refused(format!(
            "It is queued already: its queue row was taken at {} and is handed out again by \
             Hangfire itself.",
            clock(taken)
        )));
    }
    match job.since() {
        Some(since) if (found.now - since).num_milliseconds() < MISSING_MS => Err(Outcome::Busy {
            since: Some(since),
            why: format!(
                "It was enqueued {} and has no queue row at this moment: a worker may just be \
                 taking it. If the row is still missing after a minute, it can be put back.",
                ago(since, found.now)
            ),
        }),
        _ => Ok(()),
    }
}

/// The queue that stands in the new state row, and the one that the queue row goes to.
fn queues<'a>(job: &'a FoundJob, choice: Option<&'a str>) -> (&'a str, &'a str) {
    let elected = choice
        .or(job.last_queue.as_deref())
        .filter(|queue| !queue.is_empty())
        .unwrap_or("default");
    (
        elected,
        choice.or(job.own_queue.as_deref()).unwrap_or(elected),
    )
}

/// The queue that a job goes to when nobody chooses one: that of the row it has, else its own,
/// else its last `Enqueued` row's, else `default`.
pub fn elected_queue(job: &FoundJob) -> &str {
    job.queue_rows
        .iter()
        .find(|row| row.fetched_at.is_none())
        .map_or_else(|| queues(job, None).1, |row| &row.queue)
}

/// That no live server serves a queue, as far as is known.
pub fn unserved(found: &Found, queue: &str) -> Option<String> {
    let mut any = false;
    for server in &found.servers {
        if server.heartbeat_age_ms > found.limits.server_timeout_ms {
            continue;
        }
        any = true;
        if server
            .queues
            .as_ref()
            .is_none_or(|queues| queues.iter().any(|served| served == queue))
        {
            return None;
        }
    }
    Some(if any {
        format!("No live server serves the queue {queue}: the job waits there until one does.")
    } else {
        format!("No server is alive: the job waits in the queue {queue} until one starts.")
    })
}

/// The operator's queue, if any was chosen.
fn choice(how: &Enqueue) -> Result<Option<&str>, Outcome> {
    let Some(queue) = how
        .queue
        .as_deref()
        .map(str::trim)
        .filter(|q| !q.is_empty())
    else {
        return Ok(None);
    };
    let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    if queue.len() <= 50 && queue.bytes().all(legal) {
        return Ok(Some(queue));
    }
    Err(refused(
        "That is no queue name: it must be made of at most 50 lower-case letters, digits, - and _.",
    ))
}

pub(super) fn plan(request: &Request, found: &Found, how: &Enqueue) -> Result<Plan, Outcome> {
    let job = &found.job;
    let choice = choice(how)?;
    let (elected, target) = queues(job, choice);
    let holder_gone = job.state == Some(StateName::Processing);
    let rows = one_row(found, job, choice, target, holder_gone)?;

    let mut writes = Vec::new();
    leave(job, &mut writes);
    writes.push(enqueued(job.id, Some(reason(request)), elected, found));
    writes.extend(rows.writes);
    let mut notes = vec![format!("Queued on {}.", rows.queue)];
    if how.reset_retries && job.parameter("RetryCount").is_some() {
        writes.push(Write::SetParameter {
            job: job.id,
            name: "RetryCount",
            value: "0".to_owned(),
        });
        notes.push("Its retry count starts again.".to_owned());
    }
    writes.push(Write::Expire {
        job: job.id,
        at: None,
    });
    notes.extend(rows.notes);
    notes.extend(unserved(found, &rows.queue));
    Ok(Plan {
        job: job.id,
        state: StateName::Enqueued,
        at: found.now,
        writes,
        notes,
    })
}

pub(super) fn enqueued(job: i64, reason: Option<String>, queue: &str, found: &Found) -> Write {
    Write::State {
        job,
        name: StateName::Enqueued,
        reason,
        data: StateValue::Object(vec![
            ("EnqueuedAt", iso(found.now)),
            ("Queue", queue.to_owned()),
        ]),
    }
}
