//! [`Source`] on `SQLite`.

use app::ports::error::StoreError;
use app::ports::source::{Access, Dialect, Source, SourceInfo};
use async_trait::async_trait;

use super::migrate::Own;
use super::{SqliteStore, migrate, rows};

#[async_trait]
impl Source for SqliteStore {
    async fn info(&self) -> Result<SourceInfo, StoreError> {
        let opened = self.opened().await?;
        let (version, own) = self
            .read(|c| {
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
            .await?;
        let read_only = |why: String, remedy| Access::ReadOnly { why, remedy };
        let access = if let Some(why) = &opened.cannot_write {
            read_only(why.clone(), None)
        } else if !opened.layout.missing_to_act.is_empty() {
            let missing = opened.layout.missing_to_act.join(", ");
            read_only(format!("the file lacks what actions need: {missing}"), None)
        } else {
            match own {
                Own::Current => Access::ReadWrite,
                Own::Behind(from) => read_only(
                    "Redrive's own tables are missing in the file, or old".to_owned(),
                    Some(self.sql_after(from)),
                ),
                Own::Newer(version) => read_only(
                    format!(
                        "Redrive's own tables are of version {version}, made by a newer Redrive"
                    ),
                    None,
                ),
            }
        };
        Ok(SourceInfo {
            dialect: Dialect::Sqlite,
            server_version: version.unwrap_or_default(),
            schema_version: None,
            access,
            clock_skew_ms: 0,
        })
    }
}
