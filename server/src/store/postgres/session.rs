//! Transactions. Every read and every write runs in a task of its own, from its first word to its
//! last: a handler that is dropped (a closed browser tab) must not leave one half-way, and the
//! driver would keep a connection with an open transaction where it is dropped while beginning.
//!
//! Nothing that a transaction needs is kept in a connection, so `PgBouncer` in transaction mode may
//! stand between: limits are set locally, in the same message that begins the transaction; time
//! zones are named in the statements; names of statements are given up where they get lost (see
//! `pool`).

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, RwLock};

use app::ports::error::StoreError;
use tokio::time::Instant;

use super::conn::{Conn, begin};
use super::errors;
use super::layout::{Failed, Layout};
use super::pool::{Pool, Purpose};

/// What a transaction does: a future on its connection.
pub type Work<'c, T> = Pin<Box<dyn Future<Output = Result<T, sqlx::Error>> + Send + 'c>>;

/// One snapshot for all statements of a read, so that what they say fits together.
const BEGIN: &str = begin!(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET LOCAL statement_timeout = 5000",
);
/// The order of joins is the statements' own: finding another one takes longer than the reads. So
/// does compiling them (servers from 11 on know that setting).
const BEGIN_PLAIN: &str = begin!(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET LOCAL statement_timeout = 5000",
    "SET LOCAL join_collapse_limit = 1",
    "SET LOCAL jit = off",
);
/// A plan is made once for each statement and connection, for any values: most statements ask by
/// key, where another plan is never better. [`plan_for_values`] is for the others (servers from 12
/// on know that setting; older ones compare such a plan with five that were made for values).
const BEGIN_GENERIC: &str = begin!(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET LOCAL statement_timeout = 5000",
    "SET LOCAL join_collapse_limit = 1",
    "SET LOCAL jit = off",
    "SET LOCAL plan_cache_mode = force_generic_plan",
);

/// Claim times are read as text, so zone and style are fixed.
const BEGIN_CLAIMS: &str = begin!(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET LOCAL statement_timeout = 5000",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO, MDY'",
);
/// The share of claims that are stale decides which index serves.
const BEGIN_CLAIMS_FOR_VALUES: &str = begin!(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET LOCAL statement_timeout = 5000",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO, MDY'",
    "SET LOCAL join_collapse_limit = 1",
    "SET LOCAL jit = off",
    "SET LOCAL plan_cache_mode = force_custom_plan",
);

/// What a read begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Jobs: plans for any values, until [`plan_for_values`].
    Jobs,
    /// Claims: plans for their values, until [`plan_once`].
    Claims,
}

fn begin_for(kind: Kind, server: i32) -> &'static str {
    match (kind, server) {
        (Kind::Jobs, 120_000..) => BEGIN_GENERIC,
        (Kind::Jobs, 110_000..) => BEGIN_PLAIN,
        (Kind::Jobs, _) => BEGIN,
        (Kind::Claims, 120_000..) => BEGIN_CLAIMS_FOR_VALUES,
        (Kind::Claims, _) => BEGIN_CLAIMS,
    }
}

/// From here on in this transaction, statements are planned for any values.
///
/// # Errors
/// The database's.
pub async fn plan_once(conn: &mut Conn, layout: &Layout) -> Result<(), sqlx::Error> {
    if layout.server >= 120_000 {
        sqlx::raw_sql("SET LOCAL plan_cache_mode = force_generic_plan")
            .execute(conn)
            .await?;
    }
    Ok(())
}

/// From here on in this transaction, statements are planned for the values they are sent with.
///
/// # Errors
/// The database's.
pub async fn plan_for_values(conn: &mut Conn, layout: &Layout) -> Result<(), sqlx::Error> {
    if layout.server >= 120_000 {
        sqlx::raw_sql("SET LOCAL plan_cache_mode = force_custom_plan")
            .execute(conn)
            .await?;
    }
    Ok(())
}

/// Connections to one source, and what its catalogue said.
#[derive(Debug, Clone)]
pub struct Session {
    pool: Pool,
    schema: Arc<str>,
    layout: Arc<RwLock<Option<Arc<Layout>>>>,
}

impl Session {
    /// A session that has not connected yet.
    pub fn new(pool: Pool, schema: &str) -> Self {
        Self {
            pool,
            schema: schema.into(),
            layout: Arc::default(),
        }
    }

    /// The connections.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The schema's name.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Runs a read transaction. It is run a second time where the tables turn out to have changed
    /// since the catalogue was read.
    ///
    /// # Errors
    /// As the database's.
    pub async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> Fn(&'c mut Conn, Arc<Layout>) -> Work<'c, T> + Send + Sync + 'static,
    {
        self.read_as(Kind::Jobs, errors::map, work).await
    }

    /// As [`Session::read`], where it begins as its kind does, and `meant` says what the driver's
    /// errors mean.
    ///
    /// # Errors
    /// As the database's.
    pub async fn read_as<T, F>(
        &self,
        kind: Kind,
        meant: fn(&sqlx::Error) -> StoreError,
        work: F,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> Fn(&'c mut Conn, Arc<Layout>) -> Work<'c, T> + Send + Sync + 'static,
    {
        let (session, began) = (self.clone(), Instant::now());
        let read = spawned(async move {
            let layout = session.layout_now().await?;
            let error = match session.read_named(kind, &work, layout.clone()).await {
                Err(error) if errors::is_changed_layout(&error) => error,
                other => return other.map_err(|error| meant(&error)),
            };
            let fresh = session.look().await?;
            if fresh == layout {
                return Err(meant(&error));
            }
            session
                .read_named(kind, &work, fresh)
                .await
                .map_err(|error| meant(&error))
        })
        .await;
        self.pool.times().count(began.elapsed(), &read);
        read
    }

    /// The tables as they were last seen; looked at first where they were not yet.
    ///
    /// # Errors
    /// As [`Session::look_again`].
    pub async fn layout(&self) -> Result<Arc<Layout>, StoreError> {
        let session = self.clone();
        spawned(async move { session.layout_now().await }).await
    }

    /// Looks at the catalogue anew.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] where the tables are not Hangfire's or too old; else as the
    /// database's.
    pub async fn look_again(&self) -> Result<Arc<Layout>, StoreError> {
        let session = self.clone();
        spawned(async move { session.look().await }).await
    }

    async fn layout_now(&self) -> Result<Arc<Layout>, StoreError> {
        let known = self.layout.read().ok().and_then(|known| known.clone());
        match known {
            Some(layout) => Ok(layout),
            None => self.look().await,
        }
    }

    async fn look(&self) -> Result<Arc<Layout>, StoreError> {
        let result = match self.look_once().await {
            Err(Failed::Driver(error)) if self.can_be_mended(&error) => self.look_once().await,
            other => other,
        };
        let (known, answer) = match result {
            Ok(layout) => {
                let layout = Arc::new(layout);
                (Some(layout.clone()), Ok(layout))
            }
            Err(Failed::Known(fault)) => (None, Err(fault)),
            Err(Failed::Driver(error)) => return Err(errors::map(&error)),
        };
        if let Ok(mut slot) = self.layout.write() {
            *slot = known;
        }
        answer
    }

    async fn look_once(&self) -> Result<Layout, Failed> {
        let mut transaction = self.pool.begin(Purpose::Pages, BEGIN).await?;
        let layout = Layout::read(&mut transaction.conn, &self.schema).await;
        // Who asked reads next: the connection should be back by then.
        transaction.rollback().await;
        layout
    }

    /// Whether a read failed because of what a connection knew of its statements, which is mended
    /// now.
    fn can_be_mended(&self, error: &sqlx::Error) -> bool {
        if errors::is_lost_name(error) && self.pool.is_named() {
            self.pool.lose_names(&error.to_string());
            return true;
        }
        if errors::is_stale_plan(error) {
            self.pool.renew();
            return true;
        }
        false
    }

    async fn read_named<T, F>(
        &self,
        kind: Kind,
        work: &F,
        layout: Arc<Layout>,
    ) -> Result<T, sqlx::Error>
    where
        F: for<'c> Fn(&'c mut Conn, Arc<Layout>) -> Work<'c, T> + Send + Sync + 'static,
    {
        match self.read_once(kind, work, layout.clone()).await {
            Err(error) if self.can_be_mended(&error) => self.read_once(kind, work, layout).await,
            other => other,
        }
    }

    async fn read_once<T, F>(
        &self,
        kind: Kind,
        work: &F,
        layout: Arc<Layout>,
    ) -> Result<T, sqlx::Error>
    where
        F: for<'c> Fn(&'c mut Conn, Arc<Layout>) -> Work<'c, T> + Send + Sync + 'static,
    {
        let begin = begin_for(kind, layout.server);
        let mut transaction = self.pool.begin(Purpose::Pages, begin).await?;
        let result = work(&mut transaction.conn, layout).await;
        transaction.leave();
        result
    }
}

/// Runs a future in a task of its own, so that it comes to its end whatever becomes of the caller.
///
/// # Errors
/// The future's; [`StoreError::Internal`] where it panicked.
pub async fn spawned<T: Send + 'static>(
    work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::spawn(work).await {
        Ok(result) => result,
        Err(error) => Err(StoreError::Internal(format!("the read broke off: {error}"))),
    }
}
