//! Opening a file as it is, and creating one of our own.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use app::ports::error::StoreError;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{ConnectOptions, Connection, SqlitePool};

use super::layout::{self, Layout};
use super::{SqliteStore, errors, migrate};
use crate::clock::SharedClock;

/// Readers wait this long for a lock, in files that are not in WAL mode.
const READ_WAIT: Duration = Duration::from_secs(5);
/// Writers wait this long for their turn; after it the answer is busy.
pub(super) const WRITE_WAIT: Duration = Duration::from_secs(2);
/// How many pages read at once.
const READERS: u32 = 8;

/// The connections to one file.
pub(super) struct Opened {
    /// Many, that only read.
    pub(super) readers: SqlitePool,
    /// One, that writes; none where the file cannot be written.
    pub(super) writer: Option<SqlitePool>,
    /// Why there is no writer.
    pub(super) cannot_write: Option<String>,
    /// What the file holds.
    pub(super) layout: Layout,
    /// The file itself, whatever its name.
    identity: (u64, u64),
    /// Kept for its drop.
    _copy: Option<PrivateCopy>,
}

impl SqliteStore {
    /// The open connections; opens the file where it is not open, or is another file by now.
    pub(super) async fn opened(&self) -> Result<Arc<Opened>, StoreError> {
        let identity = identity(&self.inner.path)?;
        let mut slot = self.inner.opened.lock().await;
        if let Some(opened) = slot.as_ref().filter(|opened| opened.identity == identity) {
            return Ok(Arc::clone(opened));
        }
        *slot = None;
        let opened =
            Arc::new(open(&self.inner.path, self.inner.read_only.as_deref(), identity).await?);
        if self.inner.of_hangfire {
            opened.layout.is_readable()?;
        }
        *slot = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// As [`Self::opened`], and a file that lacked what actions need is looked at again: a job
    /// server may have been making its tables when it was opened.
    pub(super) async fn look_again(&self) -> Result<Arc<Opened>, StoreError> {
        let opened = self.opened().await?;
        if opened.layout.missing_to_act.is_empty() {
            return Ok(opened);
        }
        *self.inner.opened.lock().await = None;
        self.opened().await
    }
}

fn identity(path: &Path) -> Result<(u64, u64), StoreError> {
    use std::os::unix::fs::MetadataExt;
    match std::fs::metadata(path) {
        Ok(file) => Ok((file.dev(), file.ino())),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            Err(StoreError::Absent(format!(
                "there is no file {}",
                whole.display()
            )))
        }
        Err(error) => Err(StoreError::Away(format!(
            "the file {} cannot be opened: {error}",
            path.display()
        ))),
    }
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(false)
        .busy_timeout(READ_WAIT)
        .disable_statement_logging()
}

fn pool(size: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(size)
        .acquire_timeout(Duration::from_secs(30))
        .test_before_acquire(false)
}

async fn open(
    path: &Path,
    read_only: Option<&str>,
    identity: (u64, u64),
) -> Result<Opened, StoreError> {
    let cannot_write = match read_only {
        Some(why) => Some(why.to_owned()),
        None => why_not_written(path).await?,
    };
    let mut copy = None;
    let (reading, writer) = if cannot_write.is_none() {
        let writer = pool(1).connect_lazy_with(options(path).busy_timeout(WRITE_WAIT));
        (options(path).pragma("query_only", "ON"), Some(writer))
    } else {
        let direct = options(path).read_only(true);
        match look(&direct).await {
            Ok(_) => (direct, None),
            Err(error) if errors::is_read_only(&error) => {
                let made = PrivateCopy::of(path)?;
                let reading = options(&made.path).pragma("query_only", "ON");
                copy = Some(made);
                (reading, None)
            }
            Err(error) => return Err(errors::sort(&error)),
        }
    };
    let layout = look(&reading).await.map_err(|error| errors::sort(&error))?;
    let cannot_write = cannot_write.map(|why| {
        if copy.is_some() {
            format!("{why}; it is read from a private copy made when it was opened")
        } else {
            why
        }
    });
    Ok(Opened {
        readers: pool(READERS).connect_lazy_with(reading),
        writer,
        cannot_write,
        layout,
        identity,
        _copy: copy,
    })
}

async fn look(options: &SqliteConnectOptions) -> Result<Layout, sqlx::Error> {
    let mut connection = options.connect().await?;
    let found = layout::look(&mut connection).await;
    connection.close().await?;
    found
}

/// Tries the lock of a writer, which changes nothing. A file that somebody else is writing can be
/// written.
async fn why_not_written(path: &Path) -> Result<Option<String>, StoreError> {
    let tried = async {
        let mut connection = options(path)
            .busy_timeout(Duration::from_millis(200))
            .connect()
            .await?;
        let tried = async {
            connection
                .begin_with("BEGIN IMMEDIATE")
                .await?
                .rollback()
                .await
        }
        .await;
        connection.close().await?;
        tried
    };
    match tried.await {
        Ok(()) => Ok(None),
        Err(error) if errors::is_busy(&error) => Ok(None),
        Err(error) if errors::is_read_only(&error) => Ok(Some(
            "the file cannot be written by this process".to_owned(),
        )),
        Err(error) => Err(errors::sort(&error)),
    }
}

/// A copy of a file in WAL mode that lies where nothing can be written: `SQLite` cannot read it
/// there, since even readers need a file beside it.
struct PrivateCopy {
    path: PathBuf,
}

impl PrivateCopy {
    fn of(original: &Path) -> Result<Self, StoreError> {
        let mut wal = original.as_os_str().to_owned();
        wal.push("-wal");
        if std::fs::metadata(&wal).is_ok_and(|file| file.len() > 0) {
            return Err(StoreError::Away(format!(
                "the file {} is in use by another process, and lies where this one may not write, \
                 which reading it needs",
                original.display()
            )));
        }
        let path = std::env::temp_dir().join(format!(
            "redrive-{}-{:032x}.db",
            std::process::id(),
            rand::random::<u128>()
        ));
        let copied = std::fs::copy(original, &path).and_then(|_| {
            let mut permissions = std::fs::metadata(&path)?.permissions();
            std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o600);
            std::fs::set_permissions(&path, permissions)
        });
        match copied {
            Ok(()) => Ok(Self { path }),
            Err(error) => Err(StoreError::Away(format!(
                "the file {} can be read only through a copy, which could not be made: {error}",
                original.display()
            ))),
        }
    }
}

impl Drop for PrivateCopy {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            let mut path = self.path.as_os_str().to_owned();
            path.push(end);
            // What is left in the temporary folder does no harm.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Makes the tables of Hangfire and of Redrive in a new or empty file, in WAL mode.
pub(super) async fn create(path: &Path, clock: &SharedClock) -> Result<(), StoreError> {
    let failed = |error: sqlx::Error| match errors::sort(&error) {
        StoreError::Away(why) => {
            StoreError::Forbidden(format!("{} cannot be created: {why}", path.display()))
        }
        other => other,
    };
    let mut connection = options(path)
        .create_if_missing(true)
        .connect()
        .await
        .map_err(failed)?;
    let found = layout::look(&mut connection).await.map_err(failed)?;
    if !found.empty {
        return Err(StoreError::Forbidden(format!(
            "{} holds tables already: new ones are made only in an empty file",
            path.display()
        )));
    }
    sqlx::query(migrate::WAL)
        .execute(&mut connection)
        .await
        .map_err(failed)?;
    migrate::all(&mut connection, clock).await.map_err(failed)?;
    connection.close().await.map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixture::fixtures;

    #[tokio::test]
    async fn a_private_copy_is_read_and_goes_away() {
        let original = fixtures().join("hangfire-storage-sqlite/hangfire.db");
        let copy = PrivateCopy::of(&original).unwrap();
        let path = copy.path.clone();
        let found = look(&options(&path).pragma("query_only", "ON"))
            .await
            .unwrap();
        assert!(found.missing_to_read.is_empty() && found.missing_to_act.is_empty());
        drop(copy);
        assert!(!path.exists());
    }

    #[test]
    fn a_file_in_use_elsewhere_is_not_copied() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("live.db");
        std::fs::write(&path, "x").unwrap();
        std::fs::write(dir.path().join("live.db-wal"), "x").unwrap();
        let refused = PrivateCopy::of(&path).err().unwrap();
        assert!(
            matches!(refused, StoreError::Away(why) if why.contains("in use by another process"))
        );
    }
}
