//! Guarded actions on `SQLite`: one short `BEGIN IMMEDIATE` transaction each.
//!
//! From its first statement on nobody else writes, so what is read inside it stays true until it
//! commits. Hangfire takes a lock of its own before it changes a job, a row that it commits; while
//! such a row stands and has not expired, the job is Hangfire's and the answer is busy. Ours needs
//! no such row: a server cannot insert its own before we are done, and reads the job after it.

mod audit;
mod find;
mod write;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use app::actions::decide::{decide, races_scheduler, wanted};
use app::actions::found::{Found, Limits};
use app::actions::{Outcome, Request};
use app::model::state::{Instant, StateName};
use app::ports::actions::ActionStore;
use app::ports::error::StoreError;
use async_trait::async_trait;
use sqlx::{Connection, SqliteConnection, SqlitePool};
use uuid::Uuid;

use crate::store::task::to_its_end;

use self::write::Expiry;
use super::connect::Opened;
use super::{SqliteStore, errors, migrate, source};

/// Relatives that one transaction takes along: job servers wait while it runs, and it shall not hold
/// them up for longer than 250 ms. Each relative costs a dozen statements.
const MOST_RELATIVES: usize = 100;

/// The pause between two transactions that belong together: others get their turn.
const TURN: Duration = Duration::from_millis(30);

#[async_trait]
impl ActionStore for SqliteStore {
    async fn act(&self, audit: Uuid, request: &Request) -> Result<Outcome, StoreError> {
        let action = Acting {
            store: self.clone(),
            audit,
            request: request.clone(),
        };
        to_its_end(audit, action.run()).await
    }
}

/// One action, with all that it needs to come to its end alone.
struct Acting {
    store: SqliteStore,
    audit: Uuid,
    request: Request,
}

/// Why a transaction is not committed.
enum Halt {
    /// It was decided so.
    Outcome(Outcome),
    /// The database's.
    Driver(sqlx::Error),
}

impl From<Outcome> for Halt {
    fn from(outcome: Outcome) -> Self {
        Self::Outcome(outcome)
    }
}

impl From<sqlx::Error> for Halt {
    fn from(error: sqlx::Error) -> Self {
        Self::Driver(error)
    }
}

/// What an audit row says beside the request.
struct Entry {
    /// When, by the host's clock.
    at: Instant,
    /// The job's state as it was found.
    before: Option<(StateName, i64)>,
    /// The same afterwards.
    after: Option<(StateName, i64)>,
    /// What became of it.
    outcome: Outcome,
}

impl Acting {
    async fn run(self) -> Result<Outcome, StoreError> {
        let opened = match self.store.opened().await {
            Ok(opened) => opened,
            Err(error) => return not_begun(error),
        };
        let Some(writer) = opened.writer.clone() else {
            let why = opened.cannot_write.clone();
            return Ok(Outcome::Refused {
                why: why.unwrap_or_else(|| "The file cannot be written.".to_owned()),
            });
        };
        let (mut before, mut rest) = (None, Vec::new());
        let outcome = match self
            .transaction(&opened, &writer, &mut before, &mut rest)
            .await
        {
            Ok(done) => {
                self.expire(&writer, rest).await;
                return Ok(done);
            }
            Err(Halt::Outcome(outcome)) => outcome,
            Err(Halt::Driver(error)) => halted(&error)?,
        };
        Ok(self.record(&writer, before, outcome).await)
    }

    async fn transaction(
        &self,
        opened: &Arc<Opened>,
        writer: &SqlitePool,
        before: &mut Option<(StateName, i64)>,
        rest: &mut Vec<Expiry>,
    ) -> Result<Outcome, Halt> {
        let mut connection = writer.acquire().await?;
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let done = match self.inside(&mut transaction, opened, before, rest).await {
            Ok(done) => done,
            Err(halt) => {
                // What halted it matters; a transaction that is over already cannot roll back.
                drop(transaction.rollback().await);
                return Err(halt);
            }
        };
        match transaction.commit().await {
            Ok(()) => Ok(done),
            Err(error) => self.after_failed_commit(error, done).await,
        }
    }

    /// Everything up to COMMIT.
    async fn inside(
        &self,
        connection: &mut SqliteConnection,
        opened: &Opened,
        before: &mut Option<(StateName, i64)>,
        rest: &mut Vec<Expiry>,
    ) -> Result<Outcome, Halt> {
        let own = migrate::state(connection).await?;
        if let Some(why) = source::why_not_acted(opened, own) {
            return Err(Outcome::Refused { why }.into());
        }
        let now = self.store.inner.clock.now();
        let id = self.request.seen.job;
        let mut notes = Vec::new();
        notes.extend(find::lock(connection, id, now).await?);
        let Some(job) = find::job(connection, id).await? else {
            return Err(Outcome::Gone.into());
        };
        if races_scheduler(&self.request.action, &job) {
            find::scheduler(connection, now).await?;
        }
        *before = job.state.clone().zip(job.state_id);
        let mut found = Found {
            now,
            limits: Limits {
                relatives: MOST_RELATIVES,
                ..self.store.limits
            },
            seen_since: find::since(connection, id, self.request.seen.state_id).await?,
            job,
            relatives: BTreeMap::new(),
            servers: find::servers(connection, now).await?,
        };
        self.relatives(connection, &mut notes, &mut found).await?;
        let plan = decide(&self.request, &found)?;
        let state_id = write::all(connection, &self.store.inner.clock, &plan, rest).await?;
        let mut all_notes = plan.notes;
        all_notes.append(&mut notes);
        let entry = Entry {
            at: now,
            before: before.clone(),
            after: Some((plan.state.clone(), state_id)),
            outcome: Outcome::Done {
                state: plan.state,
                state_id,
                notes: all_notes,
            },
        };
        audit::insert(connection, self.audit, &self.request, &entry).await?;
        Ok(entry.outcome)
    }

    /// Gives the state rows that the transaction left out the expiry of their job, in transactions
    /// of their own. Where this is broken off the job is whole all the same: rows that were not
    /// marked stay when their job expires, and rows that keep an old mark are cleaned up under it,
    /// as Hangfire's own are.
    async fn expire(&self, writer: &SqlitePool, rest: Vec<Expiry>) {
        for expiry in rest {
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

    /// Reads the jobs that the decision needs beside this one, none of them under a live lock.
    async fn relatives(
        &self,
        connection: &mut SqliteConnection,
        notes: &mut Vec<String>,
        found: &mut Found,
    ) -> Result<(), Halt> {
        // Of a job that has moved on nothing is done, so nothing else need be looked at.
        let seen = &self.request.seen;
        if found.job.state.as_ref() != Some(&seen.state)
            || found.job.state_id != Some(seen.state_id)
        {
            return Ok(());
        }
        loop {
            let ids = wanted(&self.request.action, found)?;
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

    /// A COMMIT that failed is rolled back, or has happened although its answer was an error: the
    /// audit row tells.
    async fn after_failed_commit(
        &self,
        error: sqlx::Error,
        done: Outcome,
    ) -> Result<Outcome, Halt> {
        tracing::warn!(audit = %self.audit, %error, "a COMMIT failed");
        match audit::is_there(&self.store, self.audit).await {
            Ok(true) => Ok(done),
            Ok(false) => Err(error.into()),
            Err(unread) => {
                tracing::warn!(audit = %self.audit, error = %unread, "the audit cannot be read");
                Ok(Outcome::Unknown {
                    why: format!(
                        "COMMIT answered with an error ({error}), and the audit cannot be read. \
                         Look there for {}: it says whether the action happened. Do not act again \
                         before.",
                        self.audit
                    ),
                })
            }
        }
    }

    /// Writes down an outcome other than done. It stands whether or not that succeeds.
    async fn record(
        &self,
        writer: &SqlitePool,
        before: Option<(StateName, i64)>,
        outcome: Outcome,
    ) -> Outcome {
        let entry = Entry {
            at: self.store.inner.clock.now(),
            before,
            after: None,
            outcome,
        };
        let written = async {
            let mut connection = writer.acquire().await?;
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            audit::insert(&mut transaction, self.audit, &self.request, &entry).await?;
            transaction.commit().await
        };
        if let Err(error) = written.await {
            tracing::warn!(
                audit = %self.audit,
                job = self.request.seen.job,
                outcome = entry.outcome.slug(),
                error = %errors::sort(&error),
                "an action without effect could not be written to the audit"
            );
        }
        entry.outcome
    }
}

/// A file that cannot be used is a refusal; one that does not answer is an error.
fn not_begun(error: StoreError) -> Result<Outcome, StoreError> {
    match error {
        StoreError::Unreadable(why) | StoreError::Forbidden(why) => Ok(Outcome::Refused { why }),
        other => Err(other),
    }
}

/// What an error of the database before COMMIT means. Nothing was changed.
fn halted(error: &sqlx::Error) -> Result<Outcome, StoreError> {
    if errors::is_busy(error) {
        return Ok(Outcome::Busy {
            since: None,
            why: "Another process is writing to the file, and did not finish within two seconds. \
                  Nothing was changed; try again."
                .to_owned(),
        });
    }
    not_begun(errors::sort(error))
}
