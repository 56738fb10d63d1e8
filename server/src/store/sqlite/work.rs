//! Running work on a connection: reads with a deadline, writes one at a time, both in spawned
//! tasks.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use app::ports::error::StoreError;
use sqlx::{Connection, SqliteConnection};

use super::{SqliteStore, errors};

/// No read takes longer than this.
pub(super) const READ_LIMIT: Duration = Duration::from_secs(5);

/// Steps of `SQLite`'s machine between two looks at the clock; some tenths of a millisecond.
const STEPS: i32 = 10_000;

/// What a piece of work gives.
pub(super) type Work<'c, T> = Pin<Box<dyn Future<Output = Result<T, sqlx::Error>> + Send + 'c>>;

impl SqliteStore {
    /// Runs `work` in one read transaction that is stopped after [`READ_LIMIT`].
    pub(super) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T> + Send + 'static,
        T: Send + 'static,
    {
        self.read_for(READ_LIMIT, work).await
    }

    /// As [`Self::read`], with a limit of its own.
    pub(super) async fn read_for<T, F>(&self, limit: Duration, work: F) -> Result<T, StoreError>
    where
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T> + Send + 'static,
        T: Send + 'static,
    {
        let began = Instant::now();
        let read = self.read_untimed(limit, work).await;
        self.inner.times.count(began.elapsed(), &read);
        read
    }

    async fn read_untimed<T, F>(&self, limit: Duration, work: F) -> Result<T, StoreError>
    where
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T> + Send + 'static,
        T: Send + 'static,
    {
        let opened = self.opened().await?;
        let task = tokio::spawn(async move {
            let mut connection = opened.readers.acquire().await?;
            let deadline = Instant::now() + limit;
            connection
                .lock_handle()
                .await?
                .set_progress_handler(STEPS, move || Instant::now() < deadline);
            let mut transaction = connection.begin().await?;
            let result = work(&mut transaction).await;
            transaction.rollback().await?;
            connection.lock_handle().await?.remove_progress_handler();
            result
        });
        match task.await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(match errors::sort(&error) {
                StoreError::TimedOut(_) => StoreError::TimedOut(limit),
                other => other,
            }),
            Err(failure) => Err(StoreError::Internal(failure.to_string())),
        }
    }
}
