//! Where the numbers of a source are kept: in its own database, or, where that cannot be, in a file
//! of this host.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use app::model::collect::hash::hash;
use app::model::collect::position::Position;
use app::ports::collector::CollectorStore as _;
use app::ports::error::StoreError;
use app::ports::source::NumbersIn;
use sqlx::SqlitePool;
use uuid::Uuid;

use super::sqlite::SqliteStore;

/// What to do where own tables are missing, after a semicolon.
macro_rules! hint {
    () => {
        "where they cannot be made, give Redrive a state_dir: it then keeps the numbers in a file of \
         its own host"
    };
}
pub(crate) use hint;

/// What a look at the source's database says of the own tables that hold numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// They are there, and may be read.
    There,
    /// They are not, and this process may make them.
    ToBeMade,
    /// They are not, and this process cannot make them.
    Never,
}

/// Where the numbers of a source are kept.
#[derive(Clone, Copy)]
pub(crate) enum Numbers<'a> {
    /// In its own database.
    Own,
    /// In a file of this host.
    Kept(&'a Kept),
    /// In its own database by another process, if at all: this one must not write there.
    Elsewhere,
}

impl Numbers<'_> {
    /// Connections that read the file, where it is one.
    pub(crate) async fn reader(&self) -> Result<Option<SqlitePool>, StoreError> {
        match self {
            Self::Kept(kept) => Ok(Some(kept.file.reader().await?)),
            Self::Own | Self::Elsewhere => Ok(None),
        }
    }
}

/// What to say of a source without or with a file that may stand in.
pub(crate) fn numbers_in(kept: Option<&Kept>, home: Home) -> NumbersIn {
    match (home, kept) {
        (_, Some(kept)) if kept.choice(home) == KEPT => {
            NumbersIn::File(kept.file.path().to_owned())
        }
        (Home::There, _) => NumbersIn::Database,
        (Home::ToBeMade, _) => NumbersIn::ToBeMade,
        (Home::Never, _) => NumbersIn::Nowhere,
    }
}

const OWN: u8 = 0;
const KEPT: u8 = 1;
const ELSEWHERE: u8 = 2;

/// A file of this host that stands in for the own tables of one source. It holds nothing else, is
/// made when it is first needed, and belongs to its owner alone.
pub struct Kept {
    file: SqliteStore,
    /// Whether the source's database must not be written, whatever it would allow.
    only: bool,
    /// What was chosen last.
    chosen: AtomicU8,
}

impl Kept {
    /// The file in `dir` for the source of this name on this `database`, which is named by what
    /// stays the same: another database has another file. `only`: the database must not be written,
    /// whatever it would allow. `beside` makes the store of a file.
    pub(crate) fn new(
        dir: &Path,
        source: &str,
        database: &[&str],
        only: bool,
        beside: impl FnOnce(&Path) -> SqliteStore,
    ) -> Self {
        let number = hash(database.iter().map(|part| Some(*part)));
        let path = dir.join(format!("{source}-{number:016x}.db"));
        Self {
            file: beside(&path),
            only,
            chosen: AtomicU8::new(ELSEWHERE),
        }
    }

    /// The file's store. It has no jobs.
    pub(crate) fn file(&self) -> &SqliteStore {
        &self.file
    }

    fn choice(&self, home: Home) -> u8 {
        match home {
            Home::There if self.only => ELSEWHERE,
            Home::ToBeMade if self.only => KEPT,
            Home::There | Home::ToBeMade => OWN,
            Home::Never => KEPT,
        }
    }

    /// Chooses anew, so that it changes by itself when the source's database does.
    pub(crate) fn choose(&self, home: Home) -> Numbers<'_> {
        let chosen = self.choice(home);
        if self.chosen.swap(chosen, Ordering::Relaxed) != chosen && chosen == KEPT {
            let file = self.file.path().display();
            tracing::info!(%file, "the numbers of a source go to a file of this host");
        }
        self.chosen()
    }

    /// What was chosen last; before that nothing is written anywhere.
    pub(crate) fn chosen(&self) -> Numbers<'_> {
        match self.chosen.load(Ordering::Relaxed) {
            OWN => Numbers::Own,
            KEPT => Numbers::Kept(self),
            _ => Numbers::Elsewhere,
        }
    }

    /// As [`app::ports::collector::CollectorStore::lease`], of the file, which is made where it is
    /// missing.
    pub(crate) async fn lease(
        &self,
        holder: Uuid,
        lasts: Duration,
    ) -> Result<Option<Position>, StoreError> {
        let leased = async {
            self.make().await?;
            self.file.lease(holder, lasts).await
        };
        let path = self.file.path().display();
        leased.await.map_err(|error| match error {
            StoreError::Away(why) => StoreError::Away(format!("{path}, for the numbers: {why}")),
            other => {
                StoreError::Forbidden(format!("the numbers cannot be kept in {path}: {other}"))
            }
        })
    }

    async fn make(&self) -> Result<(), StoreError> {
        let path = self.file.path();
        create(path).map_err(|error| StoreError::Forbidden(error.to_string()))?;
        match self.file.keep_a_log().await {
            // Somebody reads it: the next lease is soon enough.
            Ok(()) | Err(StoreError::Away(_)) => self.file.migrate().await,
            Err(error) => Err(error),
        }
    }
}

/// Makes an empty file, and the folder it lies in, where they are missing.
fn create(path: &Path) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match made {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
