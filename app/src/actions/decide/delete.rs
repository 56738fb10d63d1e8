//! Delete, with the jobs that wait for the deleted one.

use std::collections::BTreeSet;

use chrono::{Duration, Months};

use super::super::found::{Found, FoundJob};
use super::super::plan::{Plan, StateValue, Write};
use super::super::reason::reason;
use super::super::words::{children as count_children, jobs};
use super::super::{Outcome, Request};
use super::continuations::{Fate, Next, children, fate_on_delete, next};
use super::enqueue::enqueued;
use super::queue::one_row;
use super::{iso, leave, no_batch, refused, schedule_member, total, unknown_state};
use crate::model::state::{Instant, StateName};

/// A job without a state that is older than this was never finished creating: Hangfire does not
/// wait for it either.
const STUCK_CREATION_MS: i64 = 15 * 60_000;

pub(super) fn may(state: &StateName) -> Result<(), Outcome> {
    match state {
        StateName::Deleted => Err(refused("It is deleted already.")),
        StateName::Other(_) => Err(unknown_state(state)),
        _ => Ok(()),
    }
}

/// Every job that the delete may touch, as far as found.
pub(super) fn relatives(found: &Found) -> Result<Vec<i64>, Outcome> {
    let mut seen = BTreeSet::from([found.job.id]);
    let mut open = vec![&found.job];
    while let Some(parent) = open.pop() {
        for child in children(parent)? {
            if !seen.insert(child.id) {
                continue;
            }
            if let Some(Some(job)) = found.relatives.get(&child.id)
                && job.state == Some(StateName::Awaiting)
                && is_deleted_too(job, child.options)
            {
                open.push(job);
            }
        }
    }
    seen.remove(&found.job.id);
    Ok(seen.into_iter().collect())
}

fn is_deleted_too(child: &FoundJob, options: i64) -> bool {
    fate_on_delete(options) == Fate::Deleted || matches!(next(child), Some(Next::Deleted { .. }))
}

pub(super) fn plan(request: &Request, found: &Found) -> Result<Plan, Outcome> {
    let mut deleting = Deleting {
        found,
        visited: BTreeSet::new(),
        writes: Vec::new(),
        released: Vec::new(),
        deleted: Vec::new(),
        notes: Vec::new(),
    };
    deleting.job(&found.job, Some(reason(request)))?;
    let mut notes = Vec::new();
    if found.job.state == Some(StateName::Processing) {
        notes.push("A worker may still finish the work; its result is then dropped.".to_owned());
    }
    if !deleting.released.is_empty() {
        notes.push(format!(
            "Released {} that waited for it: {}.",
            count_children(deleting.released.len()),
            jobs(&deleting.released)
        ));
    }
    if !deleting.deleted.is_empty() {
        notes.push(format!(
            "Deleted {} whose condition was not met: {}.",
            count_children(deleting.deleted.len()),
            jobs(&deleting.deleted)
        ));
    }
    notes.extend(deleting.notes);
    Ok(Plan {
        job: found.job.id,
        state: StateName::Deleted,
        at: found.now,
        writes: deleting.writes,
        notes,
    })
}

struct Deleting<'a> {
    found: &'a Found,
    visited: BTreeSet<i64>,
    writes: Vec<Write>,
    released: Vec<i64>,
    deleted: Vec<i64>,
    notes: Vec<String>,
}

impl<'a> Deleting<'a> {
    /// Deletes a job; the ones that wait for it go first, as Hangfire has it.
    fn job(&mut self, job: &'a FoundJob, reason: Option<String>) -> Result<(), Outcome> {
        self.visited.insert(job.id);
        for child in children(job)? {
            if self.visited.insert(child.id) {
                self.child(job.id, child.id, child.options)?;
            }
        }
        let now = self.found.now;
        for (format, expire_at) in [
            (
                "stats:deleted:%Y-%m-%d",
                now.checked_add_months(Months::new(1)),
            ),
            ("stats:deleted:%Y-%m-%d-%H", Some(day_after(now))),
        ] {
            self.writes.push(Write::Count {
                key: now.format(format).to_string(),
                delta: 1,
                expire_at,
            });
        }
        leave(job, &mut self.writes);
        self.writes.push(Write::State {
            job: job.id,
            name: StateName::Deleted,
            reason,
            data: StateValue::Object(vec![("DeletedAt", iso(now))]),
        });
        self.writes.push(total("stats:deleted", 1));
        self.writes.push(Write::Expire {
            job: job.id,
            at: Some(day_after(now)),
        });
        Ok(())
    }

    fn child(&mut self, parent: i64, id: i64, options: i64) -> Result<(), Outcome> {
        let child = match self.found.relatives.get(&id) {
            Some(Some(child)) => child,
            Some(None) => return Ok(()),
            None => {
                return Err(refused(format!(
                    "Job #{id}, which waits for #{parent}, was not read."
                )));
            }
        };
        if !is_waiting(self.found, child)? {
            return Ok(());
        }
        no_batch(child)?;
        if fate_on_delete(options) == Fate::Deleted {
            self.job(child, Some("Continuation condition was not met".to_owned()))?;
            self.deleted.push(id);
            return Ok(());
        }
        match next(child) {
            Some(Next::Enqueued { queue, reason }) => self.enqueue(child, &queue, reason)?,
            Some(Next::Scheduled { due, reason }) => self.schedule(child, due, reason),
            Some(Next::Deleted { reason }) => {
                self.job(child, reason)?;
                self.deleted.push(id);
                return Ok(());
            }
            None => {
                return Err(refused(format!(
                    "Job #{id} waits for #{parent}, and the state it is to be released into \
                     (NextState) cannot be read: it would wait for ever. Enqueue or delete #{id} \
                     first."
                )));
            }
        }
        self.released.push(id);
        Ok(())
    }

    fn enqueue(
        &mut self,
        child: &FoundJob,
        queue: &str,
        reason: Option<String>,
    ) -> Result<(), Outcome> {
        let target = child.own_queue.as_deref().unwrap_or(queue);
        let rows = one_row(self.found, child, None, target, false)?;
        leave(child, &mut self.writes);
        self.writes
            .push(enqueued(child.id, reason, queue, self.found));
        self.writes.extend(rows.writes);
        self.notes.extend(rows.notes);
        self.writes.push(Write::Expire {
            job: child.id,
            at: None,
        });
        Ok(())
    }

    fn schedule(&mut self, child: &FoundJob, due: Instant, reason: Option<String>) {
        leave(child, &mut self.writes);
        self.writes.push(Write::State {
            job: child.id,
            name: StateName::Scheduled,
            reason,
            data: StateValue::Object(vec![
                ("EnqueueAt", iso(due)),
                ("ScheduledAt", iso(self.found.now)),
            ]),
        });
        self.writes.push(Write::AddToSet {
            key: "schedule",
            value: schedule_member(child),
            score: due.timestamp(),
        });
        self.writes.push(Write::Expire {
            job: child.id,
            at: None,
        });
    }
}

/// Whether a child still waits; the others are left as they are.
fn is_waiting(found: &Found, child: &FoundJob) -> Result<bool, Outcome> {
    let age = (found.now - child.created_at).num_milliseconds();
    if child.unsettled || (child.state.is_none() && age < STUCK_CREATION_MS) {
        return Err(Outcome::Busy {
            since: child.since(),
            why: format!(
                "Hangfire is changing job #{}, which waits for this one. Nothing was changed; try \
                 again.",
                child.id
            ),
        });
    }
    Ok(child.state == Some(StateName::Awaiting))
}

pub(super) fn day_after(at: Instant) -> Instant {
    at + Duration::days(1)
}
