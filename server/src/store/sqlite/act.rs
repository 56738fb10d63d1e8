//! Guarded actions on `SQLite`: one short `BEGIN IMMEDIATE` transaction each.
//!
//! From its first statement on nobody else writes, so what is read inside it stays true until it
//! commits. Hangfire takes a lock of its own before it changes a job, a row that it commits; while
//! such a row stands and has not expired, the job is Hangfire's and the answer is busy. Ours needs
//! no such row: a server cannot insert its own before we are done, and reads the job after it.

mod audit;
mod change;
mod find;
mod write;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use app::actions::{Outcome, Request};
use app::model::state::{Instant, StateName};
use app::ports::actions::ActionStore;
use app::ports::error::StoreError;
use async_trait::async_trait;
use sqlx::{Connection, SqliteConnection, SqlitePool};
use uuid::Uuid;

use crate::store::task::to_its_end;

use super::connect::Opened;
use super::{SqliteStore, errors, migrate, source};
use change::change;
pub(super) use change::{Changed, Progress, change_as_found};

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
pub(super) enum Halt {
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
        let mut progress = Progress::default();
        let outcome = match self.transaction(&opened, &writer, &mut progress).await {
            Ok(done) => {
                progress.finish(&writer).await;
                return Ok(done);
            }
            Err(Halt::Outcome(outcome)) => outcome,
            Err(Halt::Driver(error)) => halted(&error)?,
        };
        Ok(self.record(&writer, progress.before, outcome).await)
    }

    async fn transaction(
        &self,
        opened: &Arc<Opened>,
        writer: &SqlitePool,
        progress: &mut Progress,
    ) -> Result<Outcome, Halt> {
        let mut connection = writer.acquire().await?;
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let done = match self.inside(&mut transaction, opened, progress).await {
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
        progress: &mut Progress,
    ) -> Result<Outcome, Halt> {
        let own = migrate::state(connection).await?;
        if let Some(why) = source::why_not_acted(opened, own) {
            return Err(Outcome::Refused { why }.into());
        }
        let now = self.store.inner.clock.now();
        let changed = change(connection, &self.store, &self.request, now, progress).await?;
        let entry = Entry {
            at: now,
            before: progress.before.clone(),
            after: Some((changed.state.clone(), changed.state_id)),
            outcome: Outcome::Done {
                state: changed.state,
                state_id: changed.state_id,
                notes: changed.notes,
            },
        };
        audit::insert(connection, self.audit, &self.request, &entry).await?;
        Ok(entry.outcome)
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
