//! [`AuditStore`] on `SQLite`.

use app::ports::audit::{AuditRow, AuditStore};
use app::ports::error::StoreError;
use async_trait::async_trait;
use chrono::DateTime;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use super::{SqliteStore, rows};

const ROWS: &str = "SELECT id, at, actor, authenticated, action, job, seen_state, seen_state_id, \
     before_state, before_state_id, after_state, after_state_id, reason, outcome, note \
     FROM redrive_audit WHERE (?1 IS NULL OR job = ?1) AND (?2 IS NULL OR id < ?2) \
     ORDER BY id DESC LIMIT ?3";
const ROW: &str = "SELECT id, at, actor, authenticated, action, job, seen_state, seen_state_id, \
     before_state, before_state_id, after_state, after_state_id, reason, outcome, note \
     FROM redrive_audit WHERE id = ?1";

#[async_trait]
impl AuditStore for SqliteStore {
    async fn audit(
        &self,
        job: Option<i64>,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<AuditRow>, StoreError> {
        self.read(move |c| {
            Box::pin(async move {
                if !exists(c).await? {
                    return Ok(Vec::new());
                }
                let found = sqlx::query(ROWS)
                    .bind(job)
                    .bind(before.map(|id| id.to_string()))
                    .bind(i64::from(limit))
                    .fetch_all(c)
                    .await?;
                found.iter().map(row).collect()
            })
        })
        .await
    }

    async fn audit_row(&self, id: Uuid) -> Result<Option<AuditRow>, StoreError> {
        self.read(move |c| {
            Box::pin(async move {
                if !exists(c).await? {
                    return Ok(None);
                }
                let found = sqlx::query(ROW)
                    .bind(id.to_string())
                    .fetch_optional(c)
                    .await?;
                found.as_ref().map(row).transpose()
            })
        })
        .await
    }
}

async fn exists(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let found =
        sqlx::query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'redrive_audit'")
            .fetch_optional(connection)
            .await?;
    Ok(found.is_some())
}

fn row(row: &SqliteRow) -> Result<AuditRow, sqlx::Error> {
    let text = |column| rows::text(row, column).map(Option::unwrap_or_default);
    let int = |column| rows::int(row, column).map(Option::unwrap_or_default);
    Ok(AuditRow {
        id: Uuid::parse_str(&text("id")?).unwrap_or_default(),
        at: DateTime::from_timestamp_micros(int("at")?).unwrap_or_default(),
        actor: text("actor")?,
        authenticated: int("authenticated")? != 0,
        action: text("action")?,
        job: rows::int(row, "job")?,
        seen: rows::text(row, "seen_state")?.zip(rows::int(row, "seen_state_id")?),
        before: rows::text(row, "before_state")?.zip(rows::int(row, "before_state_id")?),
        after: rows::text(row, "after_state")?.zip(rows::int(row, "after_state_id")?),
        reason: rows::text(row, "reason")?,
        outcome: text("outcome")?,
        note: text("note")?,
        claim: None,
    })
}
