//! Reading the audit.

use app::ports::audit::{AuditClaim, AuditRow, AuditStore};
use app::ports::error::StoreError;
use async_trait::async_trait;
use sqlx::postgres::PgRow;
use sqlx::{Error, Row as _};
use uuid::Uuid;

use super::PostgresStore;
use super::conn::Conn;
use super::migrate;
use crate::store::claim_note::ClaimNote;

const ROWS: &str = "
SELECT a.* FROM redrive.audit a JOIN redrive.source s ON s.id = a.source
WHERE s.hangfire_schema = $1 AND ($2::uuid IS NULL OR a.id < $2)
  AND ($3::bigint IS NULL OR a.job = $3)
ORDER BY a.id DESC LIMIT $4";

const ROWS_OF: &str = "
SELECT a.* FROM redrive.audit a JOIN redrive.source s ON s.id = a.source
WHERE s.hangfire_schema = $1 AND a.id = ANY($2) ORDER BY a.id";

#[async_trait]
impl AuditStore for PostgresStore {
    async fn audit(
        &self,
        job: Option<i64>,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<AuditRow>, StoreError> {
        self.session()
            .read(move |conn, layout| {
                Box::pin(async move {
                    if !exists(conn).await? {
                        return Ok(Vec::new());
                    }
                    sqlx::query(ROWS)
                        .bind(layout.schema())
                        .bind(before)
                        .bind(job)
                        .bind(i64::from(limit))
                        .fetch_all(conn)
                        .await?
                        .iter()
                        .map(audit_row)
                        .collect()
                })
            })
            .await
    }

    async fn audit_rows(&self, ids: &[Uuid]) -> Result<Vec<AuditRow>, StoreError> {
        let ids = ids.to_vec();
        self.session()
            .read(move |conn, layout| {
                let ids = ids.clone();
                Box::pin(async move {
                    if !exists(conn).await? {
                        return Ok(Vec::new());
                    }
                    sqlx::query(ROWS_OF)
                        .bind(layout.schema())
                        .bind(ids)
                        .fetch_all(conn)
                        .await?
                        .iter()
                        .map(audit_row)
                        .collect()
                })
            })
            .await
    }
}

async fn exists(conn: &mut Conn) -> Result<bool, Error> {
    migrate::are_readable(conn, &["audit", "source"]).await
}

fn audit_row(row: &PgRow) -> Result<AuditRow, Error> {
    let state = |name: &str, id: &str| -> Result<Option<(String, i64)>, Error> {
        Ok(row
            .try_get::<Option<String>, _>(name)?
            .zip(row.try_get::<Option<i64>, _>(id)?))
    };
    Ok(AuditRow {
        id: row.try_get("id")?,
        at: row.try_get("at")?,
        actor: row.try_get("actor")?,
        authenticated: row.try_get("authenticated")?,
        action: row.try_get("action")?,
        job: row.try_get("job")?,
        seen: state("seen_state", "seen_state_id")?,
        before: state("before_state", "before_state_id")?,
        after: state("after_state", "after_state_id")?,
        reason: row.try_get("reason")?,
        outcome: row.try_get("outcome")?,
        note: row.try_get("note")?,
        claim: claim(row)?,
    })
}

/// What a row says of a claim. Tables of an older Redrive, which are only read, lack the columns.
fn claim(row: &PgRow) -> Result<Option<AuditClaim>, Error> {
    if row.try_column("claims").is_err() {
        return Ok(None);
    }
    let Some(table) = row.try_get::<Option<String>, _>("claims")? else {
        return Ok(None);
    };
    let written: Option<String> = row.try_get("claim")?;
    let written = ClaimNote::read(written.as_deref());
    Ok(Some(AuditClaim {
        table,
        key: row.try_get("claim_key")?,
        seen: row.try_get("claim_seen")?,
        before: written.before,
        after: written.after,
    }))
}
