//! [`AuditStore`] on `SQLite`.

use app::ports::audit::{AuditClaim, AuditRow, AuditStore};
use app::ports::error::StoreError;
use async_trait::async_trait;
use chrono::DateTime;
use serde_json::Value;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use super::{SqliteStore, rows};
use crate::store::claim_note::ClaimNote;

/// The columns since the first version. They are named, since a prepared statement that takes all
/// there are does not survive a table that is made anew with more.
macro_rules! columns {
    () => {
        "id, at, actor, authenticated, action, job, seen_state, seen_state_id, before_state, \
         before_state_id, after_state, after_state_id, reason, outcome, note"
    };
}

/// Statements that read rows, by whether the audit knows of claims.
macro_rules! rows_of {
    ($rest:literal) => {
        [
            concat!(
                "SELECT ",
                columns!(),
                ", NULL AS claims, NULL AS claim_key, NULL AS claim_seen, NULL AS claim ",
                $rest
            ),
            concat!(
                "SELECT ",
                columns!(),
                ", claims, claim_key, claim_seen, claim ",
                $rest
            ),
        ]
    };
}

const ROWS: [&str; 2] = rows_of!(
    "FROM redrive_audit WHERE (?1 IS NULL OR job = ?1) AND (?2 IS NULL OR id < ?2) \
     ORDER BY id DESC LIMIT ?3"
);
const ROWS_BY_ID: [&str; 2] =
    rows_of!("FROM redrive_audit WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY id");

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
                let [old, new] = ROWS;
                let sql = match knows_claims(c).await? {
                    None => return Ok(Vec::new()),
                    Some(false) => old,
                    Some(true) => new,
                };
                let found = sqlx::query(sql)
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

    async fn audit_rows(&self, ids: &[Uuid]) -> Result<Vec<AuditRow>, StoreError> {
        let ids: Vec<String> = ids.iter().map(Uuid::to_string).collect();
        self.read(move |c| {
            Box::pin(async move {
                let [old, new] = ROWS_BY_ID;
                let sql = match knows_claims(c).await? {
                    None => return Ok(Vec::new()),
                    Some(false) => old,
                    Some(true) => new,
                };
                let found = sqlx::query(sql)
                    .bind(Value::from(ids).to_string())
                    .fetch_all(c)
                    .await?;
                found.iter().map(row).collect()
            })
        })
        .await
    }
}

/// Whether the audit knows of claims, which an older Redrive's does not; `None` where there is none.
pub(super) async fn knows_claims(
    connection: &mut SqliteConnection,
) -> Result<Option<bool>, sqlx::Error> {
    let row = sqlx::query(
        "SELECT count(*) AS columns, count(*) FILTER (WHERE name = 'claims') AS claims \
         FROM pragma_table_info('redrive_audit')",
    )
    .fetch_one(connection)
    .await?;
    let columns = rows::int(&row, "columns")?.unwrap_or_default();
    Ok((columns > 0).then_some(rows::int(&row, "claims")? == Some(1)))
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
        claim: claim(row)?,
    })
}

/// What a row says of a claim.
fn claim(row: &SqliteRow) -> Result<Option<AuditClaim>, sqlx::Error> {
    let Some(table) = rows::text(row, "claims")? else {
        return Ok(None);
    };
    let written = ClaimNote::read(rows::text(row, "claim")?.as_deref());
    Ok(Some(AuditClaim {
        table,
        key: rows::text(row, "claim_key")?,
        seen: rows::text(row, "claim_seen")?,
        before: written.before,
        after: written.after,
    }))
}
