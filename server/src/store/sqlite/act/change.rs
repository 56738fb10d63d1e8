//! Changing a job inside a transaction that somebody holds, for an action on the job itself and for
//! one on its claim: the same guard, the same rules, the same rows.

use std::collections::BTreeMap;
use std::time::Duration;

use app::actions::decide::{decide, races_scheduler, wanted};
use app::actions::found::{Found, Limits};
use app::actions::{Action, Actor, Outcome, Request, Seen};
use app::model::state::{Instant, StateName};
use sqlx::{Connection as _, SqliteConnection, SqlitePool};

use super::write::Expiry;
use super::{Halt, find, write};
use crate::store::sqlite::SqliteStore;

/// Relatives that one transaction takes along: job servers wait while it runs, and it shall not hold
/// them up for longer than 250 ms. Each relative costs a dozen statements.
pub(super) const MOST_RELATIVES: usize = 100;

/// The pause between two transactions that belong together: others get their turn.
const TURN: Duration = Duration::from_millis(30);

/// What is known of a change while it is made.
#[derive(Default)]
pub(in crate::store::sqlite) struct Progress {
    /// The job's state as it was found.
    pub(in crate::store::sqlite) before: Option<(StateName, i64)>,
    /// Jobs of which not all state rows got their expiry yet.
    rest: Vec<Expiry>,
}

impl Progress {
    /// After the COMMIT, gives the state rows that the transaction left out the expiry of their job,
    /// in transactions of their own. Where this is broken off the job is whole all the same: rows
    /// that were not marked stay when their job expires, and rows that keep an old mark are cleaned
    /// up under it, as Hangfire's own are.
    pub(in crate::store::sqlite) async fn finish(self, writer: &SqlitePool) {
        for expiry in self.rest {
            let mut open = true;
            while open {
                tokio::time::sleep(TURN).await;
                let batch = async {
                    let mut connection = writer.acquire().await?;
                    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
                    let open = write::expire_more(&mut transaction, expiry).await?;
                    transaction.commit().await?;
                    Ok::<bool, sqlx::Error>(open)
                };
                open = batch.await.unwrap_or_else(|error| {
                    let job = expiry.job;
                    tracing::warn!(job, %error, "not all state rows got the expiry of their job");
                    false
                });
            }
        }
    }
}

/// What was changed.
pub(in crate::store::sqlite) struct Changed {
    /// The new state.
    pub(in crate::store::sqlite) state: StateName,
    /// Its row's id.
    pub(in crate::store::sqlite) state_id: i64,
    /// What was changed, in sentences.
    pub(in crate::store::sqlite) notes: Vec<String>,
}

/// Decides an action from what is there now, and does it. Whatever halts it, the caller rolls the
/// transaction back; after its COMMIT the caller calls [`Progress::finish`].
pub(in crate::store::sqlite) async fn change(
    connection: &mut SqliteConnection,
    store: &SqliteStore,
    request: &Request,
    now: Instant,
    progress: &mut Progress,
) -> Result<Changed, Halt> {
    let id = request.seen.job;
    let mut notes = Vec::new();
    notes.extend(find::lock(connection, id, now).await?);
    let Some(job) = find::job(connection, id).await? else {
        return Err(Outcome::Gone.into());
    };
    if races_scheduler(&request.action, &job) {
        find::scheduler(connection, now).await?;
    }
    progress.before = job.state.clone().zip(job.state_id);
    let mut found = Found {
        now,
        limits: Limits {
            relatives: MOST_RELATIVES,
            ..store.limits
        },
        seen_since: find::since(connection, id, request.seen.state_id).await?,
        job,
        relatives: BTreeMap::new(),
        servers: find::servers(connection, now).await?,
    };
    relatives(connection, request, &mut notes, &mut found).await?;
    let plan = decide(request, &found)?;
    let state_id = write::all(connection, &store.inner.clock, &plan, &mut progress.rest).await?;
    let mut all_notes = plan.notes;
    all_notes.append(&mut notes);
    Ok(Changed {
        state: plan.state,
        state_id,
        notes: all_notes,
    })
}

/// As [`change`], guarded by what is found of the job at this moment: for somebody who holds the
/// transaction and saw something else, such as the job's claim.
pub(in crate::store::sqlite) async fn change_as_found(
    connection: &mut SqliteConnection,
    store: &SqliteStore,
    (job, action): (i64, Action),
    (actor, reason): (&Actor, Option<&str>),
    now: Instant,
    progress: &mut Progress,
) -> Result<Changed, Halt> {
    let Some(found) = find::job(connection, job).await? else {
        return Err(Outcome::Gone.into());
    };
    let (Some(state), Some(state_id)) = (found.state, found.state_id) else {
        return Err(Outcome::Busy {
            since: None,
            why: format!("Job #{job} is being changed at this moment. Try again."),
        }
        .into());
    };
    let request = Request {
        action,
        seen: Seen {
            job,
            state,
            state_id,
        },
        reason: reason.map(str::to_owned),
        actor: actor.clone(),
    };
    change(connection, store, &request, now, progress).await
}

/// Reads the jobs that the decision needs beside this one, none of them under a live lock.
async fn relatives(
    connection: &mut SqliteConnection,
    request: &Request,
    notes: &mut Vec<String>,
    found: &mut Found,
) -> Result<(), Halt> {
    // Of a job that has moved on nothing is done, so nothing else need be looked at.
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
            notes.extend(find::lock(connection, id, found.now).await?);
            let relative = find::job(connection, id).await?;
            found.relatives.insert(id, relative);
        }
    }
}
