//! Guarded actions on `PostgreSQL`: one transaction each, under Hangfire's own lock of the job.
//!
//! Hangfire's lock is a row, which it commits before it works. Ours is inserted and deleted inside
//! our one transaction, so that nobody ever sees it: a server that wants the lock meanwhile waits
//! on the unfinished insert and has it as soon as we commit, and if we die, nothing of it is left.
//!
//! The audit row is written in the same transaction. Its id is made before, so that after a
//! connection that broke in the middle of COMMIT it tells whether the action happened.

pub(super) mod audit;
pub(super) mod change;
pub(super) mod find;
mod lock;
pub(super) mod run;
mod write;

#[cfg(test)]
mod tests;

use app::actions::{Outcome, Request};
use app::model::state::{Instant, StateName};
use app::ports::actions::ActionStore;
use app::ports::error::StoreError;
use async_trait::async_trait;
use uuid::Uuid;

use super::PostgresStore;
use super::layout::Layout;
use crate::store::task::to_its_end;
use audit::Line;
use run::{Deed, Halt, Inside, Run};

#[async_trait]
impl ActionStore for PostgresStore {
    async fn act(&self, audit: Uuid, request: &Request) -> Result<Outcome, StoreError> {
        let run = Run::new(self, audit, JobDeed(request.clone()));
        to_its_end(audit, run.run()).await
    }
}

/// An action on a job.
#[derive(Clone)]
struct JobDeed(Request);

/// A job's state before and after.
#[derive(Clone, Default)]
pub struct Change {
    /// As it was found.
    pub(super) before: Option<(StateName, i64)>,
    /// Afterwards.
    pub(super) after: Option<(StateName, i64)>,
}

impl Deed for JobDeed {
    type Outcome = Outcome;
    type Found = Change;

    const WHAT: &'static str = "the job";

    fn of(outcome: Outcome) -> Outcome {
        outcome
    }

    async fn inside(
        &self,
        inside: &mut Inside<'_>,
        found: &mut Change,
    ) -> Result<Outcome, Halt<Outcome>> {
        let changed = change::change(inside, &self.0, &mut found.before).await?;
        found.after = Some((changed.state.clone(), changed.state_id));
        Ok(Outcome::Done {
            state: changed.state,
            state_id: changed.state_id,
            notes: changed.notes,
        })
    }

    fn line(&self, found: &Change, outcome: &Outcome) -> Line {
        let Self(request) = self;
        Line {
            actor: request.actor.clone(),
            action: request.action.slug(),
            job: Some(request.seen.job),
            seen: Some((request.seen.state.clone(), request.seen.state_id)),
            change: found.clone(),
            reason: request.reason.clone(),
            outcome: outcome.slug(),
            note: outcome.sentence(),
            claim: None,
        }
    }
}

/// An instant that no row bears is taken for the beginning of time.
fn at(instant: Option<Instant>) -> Instant {
    instant.unwrap_or(Instant::UNIX_EPOCH)
}
