//! Where the numbers of the source are kept.

use app::ports::error::StoreError;
use sqlx::{Error, SqliteConnection};

use super::connect::Opened;
use super::{SqliteStore, migrate, rows};
use crate::store::kept::{Home, Numbers};

const THERE: &str = "SELECT count(*) AS n FROM sqlite_master \
     WHERE name IN ('redrive_source', 'redrive_gauges')";

/// Whether the own tables of numbers are there.
pub(super) async fn there(connection: &mut SqliteConnection) -> Result<bool, Error> {
    let found = sqlx::query(THERE).fetch_one(connection).await?;
    Ok(rows::int(&found, "n")? == Some(2))
}

impl SqliteStore {
    /// Where they were kept when that was chosen last.
    pub(super) fn numbers(&self) -> Numbers<'_> {
        self.kept
            .as_ref()
            .map_or(Numbers::Own, |kept| kept.chosen())
    }

    /// Chooses where they are kept.
    pub(super) async fn choose(&self) -> Result<Numbers<'_>, StoreError> {
        let Some(kept) = &self.kept else {
            return Ok(Numbers::Own);
        };
        let opened = self.opened().await?;
        Ok(kept.choose(self.home(&opened).await?))
    }

    /// What the file says of the own tables of numbers.
    pub(super) async fn home(&self, opened: &Opened) -> Result<Home, StoreError> {
        let there = self.read(|c| Box::pin(there(c))).await?;
        Ok(if there {
            Home::There
        } else if opened.writer.is_some() {
            Home::ToBeMade
        } else {
            Home::Never
        })
    }

    /// Keeps a journal beside which readers need not wait, in a file of our own.
    pub(in crate::store) async fn keep_a_log(&self) -> Result<(), StoreError> {
        let writer = self.writer().await?;
        sqlx::query(migrate::WAL)
            .execute(&writer)
            .await
            .map(drop)
            .map_err(|error| super::errors::sort(&error))
    }
}
