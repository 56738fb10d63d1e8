//! [`Source`] on `SQLite`.

use std::sync::Arc;

use app::ports::error::StoreError;
use app::ports::source::{Access, Dialect, Source, SourceInfo};
use async_trait::async_trait;

use super::connect::Opened;
use super::migrate::Own;
use super::{SqliteStore, migrate, rows};
use crate::store::kept::numbers_in;

#[async_trait]
impl Source for SqliteStore {
    async fn info(&self) -> Result<SourceInfo, StoreError> {
        let opened = self.look_again().await?;
        let (version, mut own) = self.facts().await?;
        // The file may have been away or busy when the program started.
        if matches!(own, Own::Behind(_))
            && opened.writer.is_some()
            && self.is_to_have_own_tables()
            && self.migrate().await.is_ok()
        {
            own = self.facts().await?.1;
        }
        let access = match why_not_acted(&opened, own) {
            None => Access::ReadWrite,
            Some(why) => Access::ReadOnly {
                why,
                remedy: match own {
                    Own::Behind(from) if opened.writer.is_some() => Some(self.sql_after(from)),
                    _ => None,
                },
            },
        };
        let home = self.home(&opened).await?;
        Ok(SourceInfo {
            dialect: Dialect::Sqlite,
            server_version: version.unwrap_or_default(),
            schema_version: None,
            access,
            numbers: numbers_in(self.kept().map(Arc::as_ref), home),
            clock_skew_ms: 0,
        })
    }
}

impl SqliteStore {
    /// The version of `SQLite`, and how the own tables stand.
    async fn facts(&self) -> Result<(Option<String>, Own), StoreError> {
        self.read(|c| {
            Box::pin(async move {
                let row = sqlx::query("SELECT sqlite_version() AS version")
                    .fetch_one(&mut *c)
                    .await?;
                // Reads the schema, so that a table that went away is noticed here.
                sqlx::query("SELECT 1 FROM Job, State LIMIT 1")
                    .fetch_optional(&mut *c)
                    .await?;
                Ok((rows::text(&row, "version")?, migrate::state(c).await?))
            })
        })
        .await
    }
}

/// Why no action is possible on a file, if none is.
pub(super) fn why_not_acted(opened: &Opened, own: Own) -> Option<String> {
    if opened.writer.is_none() {
        return opened.cannot_write.clone();
    }
    if !opened.layout.missing_to_act.is_empty() {
        return Some(format!(
            "The file lacks what actions need: {}.",
            opened.layout.missing_to_act.join(", ")
        ));
    }
    match own {
        Own::Current => None,
        Own::Behind(_) => Some("Redrive's own tables are missing in the file, or old.".to_owned()),
        Own::Newer(version) => Some(format!(
            "Redrive's own tables are of version {version}, made by a newer Redrive."
        )),
    }
}
