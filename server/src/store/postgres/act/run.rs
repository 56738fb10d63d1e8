//! Seeing an action to its end: its transaction, and what it leaves in the audit.

use app::actions::Outcome;
use app::actions::decide::schema_forbids;
use app::actions::found::Limits;
use app::ports::error::StoreError;
use sqlx::Error;
use uuid::Uuid;

use super::audit::{self, Line};
use super::{find, lock};
use crate::clock::SharedClock;
use crate::store::postgres::conn::{Conn, begin};
use crate::store::postgres::layout::Layout;
use crate::store::postgres::migrate::{self, Own};
use crate::store::postgres::pool::{Purpose, Transaction};
use crate::store::postgres::session::Session;
use crate::store::postgres::{PostgresStore, errors};

/// A lock that is not free in two seconds is somebody's; a transaction whose client has gone
/// without a word must not hold Hangfire up.
pub const BEGIN: &str = begin!(
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    "SET LOCAL lock_timeout = 2000",
    "SET LOCAL statement_timeout = 10000",
    "SET LOCAL idle_in_transaction_session_timeout = 5000",
);

/// What an action does.
pub trait Deed: Clone + Send + Sync + 'static {
    /// What becomes of it.
    type Outcome: Clone + Send + Sync;
    /// What is found and changed on the way, for the audit.
    type Found: Clone + Default + Send + Sync;

    /// What somebody else may be changing, for people.
    const WHAT: &'static str;

    /// An outcome of what is the same for all actions.
    fn of(outcome: Outcome) -> Self::Outcome;

    /// Everything between BEGIN and the audit row.
    ///
    /// # Errors
    /// Every outcome but done.
    fn inside(
        &self,
        inside: &mut Inside<'_>,
        found: &mut Self::Found,
    ) -> impl Future<Output = Result<Self::Outcome, Halt<Self::Outcome>>> + Send;

    /// Commits the transaction in another database.
    ///
    /// # Errors
    /// What became of the action where that fails.
    fn commit_other(
        _found: &mut Self::Found,
        other: Transaction,
    ) -> impl Future<Output = Result<(), Halt<Self::Outcome>>> + Send {
        async { Ok(other.commit().await?) }
    }

    /// What became of an action whose transaction in another database is committed, where the one
    /// here then was not; `why` in words. `None` where there was no other one.
    fn half_done(_found: &Self::Found, _why: &str) -> Option<Self::Outcome> {
        None
    }

    /// The same row for an action that was not done here.
    fn without_effect(_found: &Self::Found, line: Line) -> Line {
        line.without_effect()
    }

    /// The audit's row.
    fn line(&self, found: &Self::Found, outcome: &Self::Outcome) -> Line;
}

/// A transaction, for what is done in it.
pub struct Inside<'c> {
    /// Its connection.
    pub conn: &'c mut Conn,
    /// Hangfire's tables.
    pub layout: &'c Layout,
    /// The job servers' time limits.
    pub limits: Limits,
    /// Hangfire's locks that it holds.
    pub(super) locks: lock::Locks,
    /// A transaction in another database that belongs to the same action. It is committed right
    /// before this one: by then everything that forbids the action is known.
    pub other: Option<Transaction>,
}

/// One action, with all that it needs to come to its end alone.
pub struct Run<D> {
    session: Session,
    clock: SharedClock,
    limits: Limits,
    audit: Uuid,
    deed: D,
}

/// Why a transaction is not committed.
pub enum Halt<O> {
    /// It was decided so.
    Outcome(O),
    /// The database's.
    Driver(Error),
    /// The schema has another version than when the catalogue was read: this one.
    Upgraded(i32),
}

impl<O> Halt<O> {
    /// The same with another kind of outcome.
    pub fn map<P>(self, outcome: impl FnOnce(O) -> P) -> Halt<P> {
        match self {
            Self::Outcome(halted) => Halt::Outcome(outcome(halted)),
            Self::Driver(error) => Halt::Driver(error),
            Self::Upgraded(version) => Halt::Upgraded(version),
        }
    }
}

impl From<Outcome> for Halt<Outcome> {
    fn from(outcome: Outcome) -> Self {
        Self::Outcome(outcome)
    }
}

impl<O> From<Error> for Halt<O> {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

/// What came of one transaction.
enum Attempt<O> {
    /// It was committed, or decided against.
    Over(O),
    /// The database did not answer; nothing was changed.
    Broken(StoreError),
    /// The tables are not as the catalogue had them; why, in words.
    TablesChanged(String),
}

impl<D: Deed> Run<D> {
    /// An action on a store, with the audit row's id.
    pub fn new(store: &PostgresStore, audit: Uuid, deed: D) -> Self {
        Self {
            session: store.session().clone(),
            clock: store.clock().clone(),
            limits: store.limits(),
            audit,
            deed,
        }
    }

    /// Does it.
    ///
    /// # Errors
    /// The database's, where it could not be asked, or broke off, before the commit.
    pub async fn run(self) -> Result<D::Outcome, StoreError> {
        let none = D::Found::default();
        let layout = match self.session.layout().await {
            Ok(layout) => layout,
            Err(error) => return Ok(self.record(&none, D::of(not_begun(error)?)).await),
        };
        match self.attempt(&layout).await {
            Attempt::Over(outcome) => Ok(outcome),
            Attempt::Broken(error) => Err(error),
            Attempt::TablesChanged(why) => self.once_more(&layout, why).await,
        }
    }

    /// A newer Hangfire upgrades its tables when it starts; then we look anew and act on what is
    /// there.
    async fn once_more(&self, stale: &Layout, why: String) -> Result<D::Outcome, StoreError> {
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
        Ok(self.record(&D::Found::default(), D::of(outcome)).await)
    }

    /// One transaction, and the audit row of what it did not do.
    async fn attempt(&self, layout: &Layout) -> Attempt<D::Outcome> {
        let mut found = D::Found::default();
        let mut transaction = match self.session.pool().begin(Purpose::Rare, BEGIN).await {
            Ok(transaction) => transaction,
            Err(error) => return self.halted(&found, &error).await,
        };
        let halt = match self.inside(&mut transaction.conn, layout, &mut found).await {
            Ok(done) => return self.commit(transaction, &found, done).await,
            Err(halt) => halt,
        };
        transaction.rollback().await;
        match halt {
            Halt::Outcome(outcome) => Attempt::Over(self.record(&found, outcome).await),
            Halt::Driver(error) if errors::is_changed_layout(&error) => {
                Attempt::TablesChanged(errors::map(&error).to_string())
            }
            Halt::Driver(error) => self.halted(&found, &error).await,
            Halt::Upgraded(version) => {
                Attempt::TablesChanged(format!("Hangfire's schema has version {version} now"))
            }
        }
    }

    /// After an error that certainly came before COMMIT, or instead of it.
    async fn halted(&self, found: &D::Found, error: &Error) -> Attempt<D::Outcome> {
        if let Some(half) = D::half_done(found, &errors::map(error).to_string()) {
            return Attempt::Over(self.record(found, half).await);
        }
        match halted(error, D::WHAT) {
            Ok(outcome) => Attempt::Over(self.record(found, D::of(outcome)).await),
            Err(error) => Attempt::Broken(error),
        }
    }

    /// Everything up to COMMIT.
    async fn inside(
        &self,
        conn: &mut Conn,
        layout: &Layout,
        found: &mut D::Found,
    ) -> Result<D::Outcome, Halt<D::Outcome>> {
        own_tables(conn).await.map_err(|halt| halt.map(D::of))?;
        let source = audit::source(conn, layout.schema(), self.clock.new_id()).await?;
        let version = find::version(conn, layout).await?;
        if let Some(why) = schema_forbids(version) {
            return Err(Halt::Outcome(D::of(Outcome::Refused { why })));
        }
        if let Some(version) = version.filter(|version| *version != layout.version) {
            return Err(Halt::Upgraded(version));
        }
        let mut inside = Inside {
            conn,
            layout,
            limits: self.limits,
            locks: lock::Locks::default(),
            other: None,
        };
        let outcome = self.deed.inside(&mut inside, found).await?;
        let line = self.deed.line(found, &outcome);
        let Inside {
            conn, locks, other, ..
        } = inside;
        audit::insert(conn, source, self.audit, &line).await?;
        locks.release(conn, layout).await?;
        if let Some(other) = other {
            D::commit_other(found, other).await?;
        }
        Ok(outcome)
    }

    async fn commit(
        &self,
        transaction: Transaction,
        found: &D::Found,
        done: D::Outcome,
    ) -> Attempt<D::Outcome> {
        let Err(error) = transaction.commit().await else {
            return Attempt::Over(done);
        };
        if is_certain_no(&error) {
            return self.halted(found, &error).await;
        }
        tracing::warn!(audit = %self.audit, %error, "the connection was lost during COMMIT");
        let half = D::half_done(
            found,
            "the connection was lost before the change was committed",
        );
        let lost = half.unwrap_or_else(|| {
            D::of(Outcome::Busy {
                since: None,
                why: "The connection to the database was lost before the change was committed. \
                      Nothing was changed; try again."
                    .to_owned(),
            })
        });
        let line = D::without_effect(found, self.deed.line(found, &lost));
        let settled = audit::settle(self.session.clone(), self.clock.clone(), self.audit, line);
        Attempt::Over(match settled.await {
            Some(audit::Settled::Happened) => done,
            Some(audit::Settled::DidNot) => lost,
            None => D::of(Outcome::Unknown {
                why: format!(
                    "The connection to the database was lost during COMMIT, and the audit cannot \
                     be read. Look there for {}: it says whether the action happened. Do not act \
                     again before.",
                    self.audit
                ),
            }),
        })
    }

    /// Writes down an outcome other than done. It stands whether or not that succeeds.
    async fn record(&self, found: &D::Found, outcome: D::Outcome) -> D::Outcome {
        let line = D::without_effect(found, self.deed.line(found, &outcome));
        let written = audit::write_down(&self.session, &self.clock, self.audit, &line).await;
        let why = match written {
            Ok(_) => return outcome,
            Err(Halt::Driver(error)) => errors::map(&error).to_string(),
            Err(_) => "Redrive's own tables are not this program's".to_owned(),
        };
        tracing::warn!(
            audit = %self.audit,
            job = line.job,
            outcome = line.outcome,
            why,
            "an action without effect could not be written to the audit"
        );
        outcome
    }
}

/// Whether a failed COMMIT certainly did not happen: the database itself rejected it. Any other
/// answer (it shuts down, a pooling proxy lost it) leaves that open.
pub fn is_certain_no(error: &Error) -> bool {
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
pub(super) async fn own_tables(conn: &mut Conn) -> Result<(), Halt<Outcome>> {
    let why = match migrate::own(conn).await? {
        Own::Current => return Ok(()),
        Own::Behind(_) => {
            "Redrive's own tables are missing or old, so the action could not be written to the \
             audit: `redrive migrate` makes them."
        }
        Own::Newer(_) => {
            "Redrive's own tables were made by a newer Redrive, so this one does not write to them."
        }
        Own::Hidden => {
            "The database role may not read Redrive's own tables, so the action could not be \
             written to the audit."
        }
    };
    Err(Outcome::Refused {
        why: why.to_owned(),
    }
    .into())
}

/// Tables that cannot be used are a refusal; a database that does not answer is an error.
fn not_begun(error: StoreError) -> Result<Outcome, StoreError> {
    match error {
        StoreError::Unreadable(why) | StoreError::Forbidden(why) => Ok(Outcome::Refused { why }),
        other => Err(other),
    }
}

/// What an error of the database before COMMIT means. Nothing was changed.
fn halted(error: &Error, what: &str) -> Result<Outcome, StoreError> {
    if errors::is_busy(error) {
        return Ok(Outcome::Busy {
            since: None,
            why: format!(
                "Somebody else is changing {what}, and did not finish within two seconds. Nothing \
                 was changed; try again."
            ),
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
