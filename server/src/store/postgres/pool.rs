//! The connections to one source, and transactions on them.
//!
//! Reads are sent as named statements, which the server parses and plans once for each connection
//! instead of on every use. Names live in the server's process, so a pooling proxy that hands our
//! transactions to other processes (`PgBouncer` in transaction mode) loses them, or mixes them up
//! with those of its other clients: every driver counts from one. Therefore each transaction asks
//! first which process it runs in, in the message that begins it; where that changed under a
//! connection, or where a name turns out to be lost, this pool sends everything unnamed from then
//! on. Writes are never sent named: a statement that was mixed up must not write.
//!
//! A pool of the driver's would not tell us whose connection it hands out, and would ask each
//! connection whether it is alive, which BEGIN does as well.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Error};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::conn::Conn;
use super::connect;
use crate::store::read_times::ReadTimes;

/// Longest wait for a connection.
pub(super) const ACQUIRE: Duration = Duration::from_secs(3);
/// Longest wait of an action for its turn, where many come at once: unlike a page, it is not simply
/// asked for again.
const TURN: Duration = Duration::from_secs(10);
/// Connections kept at most: pages are short reads, so a few serve many viewers.
const MAX_CONNECTIONS: u32 = 10;
/// Connections that nobody used for this long are closed.
const IDLE: Duration = Duration::from_mins(5);
/// A connection is closed after this time, so that a server that was moved is found.
const LIFETIME: Duration = Duration::from_mins(30);

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Reading for pages: named statements where they can be.
    Pages,
    /// Everything else: unnamed ones.
    Rare,
}

/// Connections that are opened when they are needed.
#[derive(Debug, Clone)]
pub struct Pool(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    options: PgConnectOptions,
    /// Last used at the end.
    idle: Mutex<Vec<Conn>>,
    permits: Arc<Semaphore>,
    named: AtomicBool,
    times: ReadTimes,
}

impl Pool {
    /// A pool that has not connected yet; `named`: whether names may be tried.
    pub fn new(options: PgConnectOptions, named: bool, times: ReadTimes) -> Self {
        let most = usize::try_from(MAX_CONNECTIONS).unwrap_or(1);
        Self(Arc::new(Inner {
            options,
            idle: Mutex::default(),
            permits: Arc::new(Semaphore::new(most)),
            named: AtomicBool::new(named),
            times,
        }))
    }

    /// Where it connects to, and the database there.
    pub(super) fn place(&self) -> (String, String) {
        let options = &self.0.options;
        let database = options.get_database().unwrap_or(options.get_username());
        (connect::place(options), database.to_owned())
    }

    /// How long its reads took.
    pub fn times(&self) -> &ReadTimes {
        &self.0.times
    }

    /// Begins a transaction with a message made by `begin!`.
    ///
    /// A connection that was idle may have died, and where the server was started anew all of them
    /// have: nothing has been done yet, so the next one is tried, the last of them a new one.
    ///
    /// # Errors
    /// [`Error::PoolTimedOut`] where none is to be had in time, [`Error::PoolClosed`]; else as the
    /// database's.
    pub async fn begin(
        &self,
        purpose: Purpose,
        message: &'static str,
    ) -> Result<Transaction, Error> {
        let turn = match purpose {
            Purpose::Pages => ACQUIRE,
            Purpose::Rare => TURN,
        };
        let permit = timeout(turn, self.0.permits.clone().acquire_owned())
            .await
            .map_err(|_| Error::PoolTimedOut)?
            .map_err(|_| Error::PoolClosed)?;
        let deadline = Instant::now() + ACQUIRE;
        loop {
            let named = purpose == Purpose::Pages && self.is_named();
            let idle = self.0.take_idle(named);
            let is_new = idle.is_none();
            let mut conn = match idle {
                Some(conn) => conn,
                None => self.0.connect(named, deadline).await?,
            };
            match timeout_at(deadline, conn.begin(message)).await {
                Ok(Ok(is_same)) if is_same || !named => {
                    return Ok(Transaction {
                        conn,
                        pool: self.clone(),
                        permit,
                    });
                }
                Ok(Ok(_)) => {
                    tokio::spawn(conn.close());
                    self.lose_names("transactions are handed to other backends");
                }
                Ok(Err(error)) if is_new => return Err(error),
                Ok(Err(error)) => tracing::debug!(%error, "an idle connection was broken"),
                Err(_) => {
                    // Whatever swallowed this one has the other idle ones too.
                    close(std::mem::take(&mut *self.0.idle()));
                    return Err(Error::PoolTimedOut);
                }
            }
        }
    }

    /// Whether reads are sent as named statements.
    pub fn is_named(&self) -> bool {
        self.0.named.load(Ordering::Relaxed)
    }

    /// Sends everything unnamed from now on.
    pub(super) fn lose_names(&self, why: &str) {
        if self.0.named.swap(false, Ordering::Relaxed) {
            tracing::info!(
                why,
                "named statements do not work here, as behind a pooling proxy: sending unnamed ones"
            );
        }
        self.renew();
    }

    /// Closes the idle connections that know names: their statements fit no longer.
    pub(super) fn renew(&self) {
        let (stale, kept) = self.0.idle().drain(..).partition(|conn| conn.named);
        *self.0.idle() = kept;
        close(stale);
    }

    /// Waits until no transaction runs, also none that is rolled back behind its reader's back.
    #[cfg(test)]
    pub async fn settled(&self) {
        drop(self.0.permits.acquire_many(MAX_CONNECTIONS).await);
    }

    /// Closes the connections; transactions that run are waited for.
    pub async fn close(&self) {
        let all = self.0.permits.acquire_many(MAX_CONNECTIONS).await;
        self.0.permits.close();
        let idle = std::mem::take(&mut *self.0.idle());
        for conn in idle {
            conn.close().await;
        }
        drop(all);
    }
}

impl Inner {
    fn idle(&self) -> MutexGuard<'_, Vec<Conn>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection of that kind that was used last.
    fn take_idle(&self, named: bool) -> Option<Conn> {
        let mut idle = self.idle();
        let at = idle.iter().rposition(|conn| conn.named == named)?;
        Some(idle.remove(at))
    }

    fn put_idle(&self, mut conn: Conn) {
        let now = Instant::now();
        conn.used = now;
        let is_old = |conn: &Conn| now - conn.used > IDLE || now - conn.opened > LIFETIME;
        let old = {
            let mut idle = self.idle();
            if conn.named && !self.named.load(Ordering::Relaxed) {
                drop(idle);
                vec![conn]
            } else {
                idle.push(conn);
                let (old, kept) = idle.drain(..).partition(is_old);
                *idle = kept;
                old
            }
        };
        close(old);
    }

    /// A new connection. A server that is just starting is waited for.
    async fn connect(&self, named: bool, deadline: Instant) -> Result<Conn, Error> {
        self.make_room();
        let mut pause = Duration::from_millis(10);
        loop {
            match timeout_at(deadline, self.options.connect()).await {
                Ok(Ok(raw)) => return Ok(Conn::new(raw, named)),
                Ok(Err(error)) if is_starting(&error) => {}
                Ok(Err(error)) => return Err(error),
                Err(_) => return Err(Error::PoolTimedOut),
            }
            sleep(pause).await;
            pause = (pause * 2).min(ACQUIRE / 5);
        }
    }

    /// Closes an idle connection of the other kind where one more would be too many.
    fn make_room(&self) {
        let most = usize::try_from(MAX_CONNECTIONS).unwrap_or(1);
        let busy = most - self.permits.available_permits().min(most);
        let mut idle = self.idle();
        if idle.len() + busy > most {
            let oldest = idle.remove(0);
            drop(idle);
            close(vec![oldest]);
        }
    }
}

fn close(connections: Vec<Conn>) {
    for conn in connections {
        tokio::spawn(conn.close());
    }
}

fn is_starting(error: &Error) -> bool {
    match error {
        Error::Io(cause) => cause.kind() == ErrorKind::ConnectionRefused,
        // too many connections: one that was just closed may still count; cannot connect now
        Error::Database(no) => matches!(no.code().as_deref(), Some("53300" | "57P03")),
        _ => false,
    }
}

/// A transaction. One that is neither committed nor rolled back ends with its connection, which is
/// closed then.
#[derive(Debug)]
pub struct Transaction {
    /// Its connection.
    pub conn: Conn,
    pool: Pool,
    permit: OwnedSemaphorePermit,
}

impl Transaction {
    /// Commits.
    ///
    /// # Errors
    /// The database's.
    pub async fn commit(self) -> Result<(), Error> {
        self.end("COMMIT").await
    }

    /// Rolls back, behind the caller's back: nobody has to wait for that.
    pub fn leave(self) {
        tokio::spawn(self.rollback());
    }

    /// Rolls back. A connection that cannot is closed, which does the same.
    pub async fn rollback(self) {
        drop(self.end("ROLLBACK").await);
    }

    async fn end(mut self, statement: &'static str) -> Result<(), Error> {
        self.conn.end(statement).await?;
        self.pool.0.put_idle(self.conn);
        drop(self.permit);
        Ok(())
    }
}
