//! One queue row, one run.

use super::super::Outcome;
use super::super::found::{Found, FoundJob};
use super::super::plan::Write;
use super::super::words::{ago, clock};
use crate::model::state::Instant;

/// What becomes of a job's queue rows.
pub(super) struct Settled {
    /// The steps.
    pub writes: Vec<Write>,
    /// The queue of the one row that is left.
    pub queue: String,
    /// What is worth saying.
    pub notes: Vec<String>,
}

/// Leaves exactly one queue row of the job, one that no worker has taken: the one that is there
/// (moved only to a queue that the operator chose), else a new one on `target`.
///
/// A taken row is a worker's until its server is gone (`holder_gone`, and taken before the server
/// fell silent) or the job system itself would hand it out again; then it is deleted, never
/// revived.
///
/// # Errors
/// [`Outcome::Busy`] where a worker has it.
pub(super) fn one_row(
    found: &Found,
    job: &FoundJob,
    choice: Option<&str>,
    target: &str,
    holder_gone: bool,
) -> Result<Settled, Outcome> {
    let mut writes = Vec::new();
    let mut notes = Vec::new();
    for row in &job.queue_rows {
        let Some(taken) = row.fetched_at else {
            continue;
        };
        // A row taken lately is another worker's: it went back to its queue when its server stopped.
        let left_behind = holder_gone && age_ms(found, taken) > found.limits.server_timeout_ms;
        if !left_behind && !lapsed(found, taken) {
            return Err(busy(found, job, taken));
        }
        notes.push(format!(
            "A queue row on {}, taken at {} by a worker that is gone, was removed.",
            row.queue,
            clock(taken)
        ));
        writes.push(Write::DeleteQueueRow { id: row.id });
    }
    let waiting = || job.queue_rows.iter().filter(|row| row.fetched_at.is_none());
    let kept = waiting()
        .find(|row| row.queue == target)
        .or_else(|| waiting().next());
    let Some(kept) = kept else {
        writes.push(Write::InsertQueueRow {
            job: job.id,
            queue: target.to_owned(),
        });
        return Ok(Settled {
            writes,
            queue: target.to_owned(),
            notes,
        });
    };
    for row in waiting().filter(|row| row.id != kept.id) {
        notes.push(format!("A second queue row on {} was removed.", row.queue));
        writes.push(Write::DeleteQueueRow { id: row.id });
    }
    let queue = choice.unwrap_or(&kept.queue).to_owned();
    if queue != kept.queue {
        writes.push(Write::MoveQueueRow {
            id: kept.id,
            queue: queue.clone(),
        });
    }
    notes.push("Its queue row was still there and was kept: it runs once.".to_owned());
    Ok(Settled {
        writes,
        queue,
        notes,
    })
}

/// Leaves no queue row of the job.
///
/// # Errors
/// [`Outcome::Busy`] where a worker has one.
pub(super) fn no_row(found: &Found, job: &FoundJob) -> Result<Vec<Write>, Outcome> {
    job.queue_rows
        .iter()
        .map(|row| match row.fetched_at {
            Some(taken) if !lapsed(found, taken) => Err(busy(found, job, taken)),
            _ => Ok(Write::DeleteQueueRow { id: row.id }),
        })
        .collect()
}

/// Whether the job system itself would hand a row taken then out again.
pub(super) fn lapsed(found: &Found, taken: Instant) -> bool {
    age_ms(found, taken) > found.limits.invisibility_ms
}

fn age_ms(found: &Found, taken: Instant) -> i64 {
    (found.now - taken).num_milliseconds()
}

/// A worker has the job's queue row.
pub(super) fn busy(found: &Found, job: &FoundJob, taken: Instant) -> Outcome {
    Outcome::Busy {
        since: Some(taken),
        why: format!(
            "A worker has job #{}'s queue row, taken at {} ({}). Nothing was changed; try again \
             when it is done.",
            job.id,
            clock(taken),
            ago(taken, found.now)
        ),
    }
}
