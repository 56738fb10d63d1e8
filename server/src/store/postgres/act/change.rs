//! The guarded change of one job, inside a transaction.

use std::collections::BTreeMap;

use app::actions::decide::{decide, races_scheduler, wanted};
use app::actions::found::Found;
use app::actions::{Outcome, Request};
use app::model::state::StateName;

use super::run::{Halt, Inside};
use super::{find, write};

/// A job that was changed.
pub struct Changed {
    /// Its new state.
    pub state: StateName,
    /// The new state row's id.
    pub state_id: i64,
    /// What was changed, in sentences.
    pub notes: Vec<String>,
}

/// Locks the job, compares it with what was seen, decides and writes. What it was goes into
/// `before`, also where nothing is done.
///
/// # Errors
/// Every outcome but done; nothing was written then that a rollback does not undo.
pub async fn change(
    inside: &mut Inside<'_>,
    request: &Request,
    before: &mut Option<(StateName, i64)>,
) -> Result<Changed, Halt<Outcome>> {
    let id = request.seen.job;
    let layout = inside.layout;
    let mut notes = Vec::new();
    notes.extend(inside.locks.take(inside.conn, layout, id).await?);
    let conn = &mut *inside.conn;
    let Some(mut job) = find::job(conn, layout, id).await? else {
        return Err(Outcome::Gone.into());
    };
    if races_scheduler(&request.action, &job) {
        inside.locks.take_scheduler(conn, layout).await?;
        // What the scheduler released until now is seen only by looking again.
        job = find::job(conn, layout, id).await?.ok_or(Outcome::Gone)?;
    }
    *before = job.state.clone().zip(job.state_id);
    let mut found = Found {
        seen_since: find::since(conn, layout, id, request.seen.state_id).await?,
        now: find::now(conn).await?,
        limits: inside.limits,
        job,
        relatives: BTreeMap::new(),
        servers: find::servers(conn, layout).await?,
    };
    relatives(inside, request, &mut notes, &mut found).await?;
    let plan = decide(request, &found)?;
    let state_id = write::all(inside.conn, layout, &plan).await?;
    let mut said = plan.notes;
    said.append(&mut notes);
    Ok(Changed {
        state: plan.state,
        state_id,
        notes: said,
    })
}

/// Locks and reads the jobs that the decision needs beside this one.
async fn relatives(
    inside: &mut Inside<'_>,
    request: &Request,
    notes: &mut Vec<String>,
    found: &mut Found,
) -> Result<(), Halt<Outcome>> {
    // Of a job that has moved on nothing is done, so nothing else need be locked.
    let seen = &request.seen;
    if found.job.state.as_ref() != Some(&seen.state) || found.job.state_id != Some(seen.state_id) {
        return Ok(());
    }
    loop {
        let ids = wanted(&request.action, found)?;
        if ids.is_empty() {
            return Ok(());
        }
        for id in ids {
            notes.extend(inside.locks.take(inside.conn, inside.layout, id).await?);
            let relative = find::job(inside.conn, inside.layout, id).await?;
            found.relatives.insert(id, relative);
        }
    }
}
