//! Guarded actions on `PostgreSQL`: one transaction each, under Hangfire's own lock of the job.
//!
//! Hangfire's lock is a row, which it commits before it works. Ours is inserted and deleted inside
//! our one transaction, so that nobody ever sees it: a server that wants the lock meanwhile waits
//! on the unfinished insert and has it as soon as we commit, and if we die, nothing of it is left.
//!
//! The audit row is written in the same transaction. Its id is made before, so that after a
//! connection that broke in the middle of COMMIT it tells whether the action happened.

mod audit;
mod find;
mod lock;
mod write;

#[cfg(test)]
mod tests;

use app::actions::decide::{decide, races_scheduler, schema_forbids, wanted};
use app::actions::found::{Found, Limits};
use app::actions::plan::Plan;
use app::actions::{Outcome, Request};
use app::model::state::{Instant, StateName};
use app::ports::actions::ActionStore;
use app::ports::error::StoreError;
use async_trait::async_trait;
use sqlx::Error;
use uuid::Uuid;

use super::conn::{Conn, begin};
use super::layout::Layout;
use super::migrate::{self, Own};
use super::pool::{Purpose, Transaction};
use super::session::Session;
use super::{PostgresStore, errors};
use crate::clock::SharedClock;
use crate::store::task::to_its_end;

/// A lock that is not free in two seconds is somebody's; a transaction whose client has gone
/// without a word must not hold Hangfire up.
const BEGIN: &str = begin!(
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    "SET LOCAL lock_timeout = 2000",
    "SET LOCAL statement_timeout = 10000",
    "SET LOCAL idle_in_transaction_session_timeout = 5000",
);

#[async_trait]
impl ActionStore for PostgresStore {
    async fn act(&self, audit: Uuid, request: &Request) -> Result<Outcome, StoreError> {
        let action = Action {
            session: self.session().clone(),
            clock: self.clock().clone(),
            limits: self.limits(),
            audit,
            request: request.clone(),
        };
        to_its_end(audit, action.run()).await
    }
}

/// One action, with all that it needs to come to its end alone.
struct Action {
    session: Session,
    clock: SharedClock,
    limits: Limits,
    audit: Uuid,
    request: Request,
}

/// Why a transaction is not committed.
enum Halt {
    /// It was decided so.
    Outcome(Outcome),
    /// The database's.
    Driver(Error),
    /// The schema has another version than when the catalogue was read: this one.
    Upgraded(i32),
}

/// What came of one transaction.
enum Attempt {
    /// It was committed, or decided against.
    Over(Outcome),
    /// The database did not answer; nothing was changed.
    Broken(StoreError),
    /// The tables are not as the catalogue had them; why, in words.
    TablesChanged(String),
}

impl From<Outcome> for Halt {
    fn from(outcome: Outcome) -> Self {
        Self::Outcome(outcome)
    }
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

/// What an audit row says beside the request.
#[derive(Clone)]
struct Entry {
    /// The job's state as it was found.
    before: Option<(StateName, i64)>,
    /// The same afterwards.
    after: Option<(StateName, i64)>,
    /// What became of it.
    outcome: Outcome,
}

impl Action {
    async fn run(self) -> Result<Outcome, StoreError> {
        let layout = match self.session.layout().await {
            Ok(layout) => layout,
            Err(error) => return Ok(self.record(None, not_begun(error)?).await),
        };
        match self.attempt(&layout).await {
            Attempt::Over(outcome) => Ok(outcome),
            Attempt::Broken(error) => Err(error),
            Attempt::TablesChanged(why) => self.once_more(&layout, why).await,
        }
    }

    /// A newer Hangfire upgrades its tables when it starts; then we look anew and act on what is
    /// there.
    async fn once_more(&self, stale: &Layout, why: String) -> Result<Outcome, StoreError> {
        tracing::warn!(audit = %self.audit, why, "the tables are not as they were");
        let refusal = Outcome::Refused {
            why: format!("Nothing was changed: {why}."),
        };
        let outcome = match self.session.look_again().await {
            Ok(fresh) if *fresh != *stale => match self.attempt(&fresh).await {
                Attempt::Over(outcome) => return Ok(outcome),
                Attempt::Broken(error) => return Err(error),
                Attempt::TablesChanged(_) => refusal,
            },
            Ok(_) => refusal,
            Err(error) => not_begun(error)?,
        };
        Ok(self.record(None, outcome).await)
    }

    /// One transaction, and the audit row of what it did not do.
    async fn attempt(&self, layout: &Layout) -> Attempt {
        let mut before = None;
        let mut transaction = match self.session.pool().begin(Purpose::Rare, BEGIN).await {
            Ok(transaction) => transaction,
            Err(error) => return self.halted(None, &error).await,
        };
        let halt = match self
            .inside(&mut transaction.conn, layout, &mut before)
            .await
        {
            Ok(done) => return self.commit(transaction, before, done).await,
            Err(halt) => halt,
        };
        transaction.rollback().await;
        match halt {
            Halt::Outcome(outcome) => Attempt::Over(self.record(before, outcome).await),
            Halt::Driver(error) if errors::is_changed_layout(&error) => {
                Attempt::TablesChanged(errors::map(&error).to_string())
            }
            Halt::Driver(error) => self.halted(before, &error).await,
            Halt::Upgraded(version) => {
                Attempt::TablesChanged(format!("Hangfire's schema has version {version} now"))
            }
        }
    }

    /// After an error that certainly came before COMMIT, or instead of it.
    async fn halted(&self, before: Option<(StateName, i64)>, error: &Error) -> Attempt {
        match halted(error) {
            Ok(outcome) => Attempt::Over(self.record(before, outcome).await),
            Err(error) => Attempt::Broken(error),
        }
    }

    /// Everything up to COMMIT.
    async fn inside(
        &self,
        conn: &mut Conn,
        layout: &Layout,
        before: &mut Option<(StateName, i64)>,
    ) -> Result<Outcome, Halt> {
        own_tables(conn).await?;
        let source = audit::source(conn, layout.schema(), self.clock.new_id()).await?;
        let version = find::version(conn, layout).await?;
        if let Some(why) = schema_forbids(version) {
            return Err(Outcome::Refused { why }.into());
        }
        if let Some(version) = version.filter(|version| *version != layout.version) {
            return Err(Halt::Upgraded(version));
        }
        let id = self.request.seen.job;
        let mut locks = lock::Locks::default();
        let mut notes = Vec::new();
        notes.extend(locks.take(conn, layout, id).await?);
        let Some(mut job) = find::job(conn, layout, id).await? else {
            return Err(Outcome::Gone.into());
        };
        if races_scheduler(&self.request.action, &job) {
            locks.take_scheduler(conn, layout).await?;
            // What the scheduler released until now is seen only by looking again.
            job = find::job(conn, layout, id).await?.ok_or(Outcome::Gone)?;
        }
        *before = job.state.clone().zip(job.state_id);
        let mut found = Found {
            seen_since: find::since(conn, layout, id, self.request.seen.state_id).await?,
            now: find::now(conn).await?,
            limits: self.limits,
            job,
            relatives: std::collections::BTreeMap::new(),
            servers: find::servers(conn, layout).await?,
        };
        self.relatives(conn, layout, &mut locks, &mut notes, &mut found)
            .await?;
        let plan = decide(&self.request, &found)?;
        let state_id = write::all(conn, layout, &plan).await?;
        let outcome = done(plan, state_id, notes);
        let entry = Entry {
            before: before.clone(),
            after: after(&outcome),
            outcome,
        };
        audit::insert(conn, source, self.audit, &self.request, &entry).await?;
        locks.release(conn, layout).await?;
        Ok(entry.outcome)
    }

    /// Locks and reads the jobs that the decision needs beside this one.
    async fn relatives(
        &self,
        conn: &mut Conn,
        layout: &Layout,
        locks: &mut lock::Locks,
        notes: &mut Vec<String>,
        found: &mut Found,
    ) -> Result<(), Halt> {
        // Of a job that has moved on nothing is done, so nothing else need be locked.
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
                notes.extend(locks.take(conn, layout, id).await?);
                let relative = find::job(conn, layout, id).await?;
                found.relatives.insert(id, relative);
            }
        }
    }

    async fn commit(
        &self,
        transaction: Transaction,
        before: Option<(StateName, i64)>,
        done: Outcome,
    ) -> Attempt {
        let Err(error) = transaction.commit().await else {
            return Attempt::Over(done);
        };
        if is_certain_no(&error) {
            return self.halted(before, &error).await;
        }
        tracing::warn!(audit = %self.audit, %error, "the connection was lost during COMMIT");
        let lost = Outcome::Busy {
            since: None,
            why: "The connection to the database was lost before the change was committed. \
                  Nothing was changed; try again."
                .to_owned(),
        };
        let entry = Entry {
            before,
            after: None,
            outcome: lost,
        };
        let settled = audit::settle(
            self.session.clone(),
            self.clock.clone(),
            self.audit,
            self.request.clone(),
            entry.clone(),
        );
        Attempt::Over(match settled.await {
            Some(audit::Settled::Happened) => done,
            Some(audit::Settled::DidNot) => entry.outcome,
            None => Outcome::Unknown {
                why: format!(
                    "The connection to the database was lost during COMMIT, and the audit cannot \
                     be read. Look there for {}: it says whether the action happened. Do not act \
                     again before.",
                    self.audit
                ),
            },
        })
    }

    /// Writes down an outcome other than done. It stands whether or not that succeeds.
    async fn record(&self, before: Option<(StateName, i64)>, outcome: Outcome) -> Outcome {
        let entry = Entry {
            before,
            after: None,
            outcome,
        };
        let written = audit::write_down(
            &self.session,
            &self.clock,
            self.audit,
            &self.request,
            &entry,
        )
        .await;
        let why = match written {
            Ok(_) => return entry.outcome,
            Err(Halt::Driver(error)) => errors::map(&error).to_string(),
            Err(_) => "Redrive's own tables are not this program's".to_owned(),
        };
        tracing::warn!(
            audit = %self.audit,
            job = self.request.seen.job,
            outcome = entry.outcome.slug(),
            why,
            "an action without effect could not be written to the audit"
        );
        entry.outcome
    }
}

/// Whether a failed COMMIT certainly did not happen: the database itself rejected it. Any other
/// answer (it shuts down, a pooling proxy lost it) leaves that open.
fn is_certain_no(error: &Error) -> bool {
    let Error::Database(no) = error else {
        return false;
    };
    no.code().is_some_and(|code| {
        code == "57014"
            || ["23", "25", "40"]
                .iter()
                .any(|class| code.starts_with(class))
    })
}

/// Without its audit row no action is done.
async fn own_tables(conn: &mut Conn) -> Result<(), Halt> {
    let why = match migrate::own(conn).await? {
        Own::Current => return Ok(()),
        Own::Behind(_) => {
            "Redrive's own tables are missing or old, so the action could not be written to the \
             audit: `redrive migrate` makes them."
        }
        Own::Newer(_) => {
            "Redrive's own tables were made by a newer Redrive, so this one does not write to them."
        }
    };
    Err(Outcome::Refused {
        why: why.to_owned(),
    }
    .into())
}

fn done(plan: Plan, state_id: i64, mut more: Vec<String>) -> Outcome {
    let mut notes = plan.notes;
    notes.append(&mut more);
    Outcome::Done {
        state: plan.state,
        state_id,
        notes,
    }
}

fn after(outcome: &Outcome) -> Option<(StateName, i64)> {
    match outcome {
        Outcome::Done {
            state, state_id, ..
        } => Some((state.clone(), *state_id)),
        _ => None,
    }
}

/// Tables that cannot be used are a refusal; a database that does not answer is an error.
fn not_begun(error: StoreError) -> Result<Outcome, StoreError> {
    match error {
        StoreError::Unreadable(why) | StoreError::Forbidden(why) => Ok(Outcome::Refused { why }),
        other => Err(other),
    }
}

/// What an error of the database before COMMIT means. Nothing was changed.
fn halted(error: &Error) -> Result<Outcome, StoreError> {
    if errors::is_busy(error) {
        return Ok(Outcome::Busy {
            since: None,
            why: "Somebody else is changing the job, and did not finish within two seconds. \
                  Nothing was changed; try again."
                .to_owned(),
        });
    }
    if let Error::Database(database) = error
        && matches!(database.code().as_deref(), Some("42501" | "25006"))
    {
        return Ok(Outcome::Refused {
            why: format!(
                "The database does not let this role write: {}.",
                database.message()
            ),
        });
    }
    not_begun(errors::map(error))
}

/// An instant that no row bears is taken for the beginning of time.
fn at(instant: Option<Instant>) -> Instant {
    instant.unwrap_or(Instant::UNIX_EPOCH)
}
