//! Reading the collector's numbers.

use app::model::insights::{
    AttemptsRow, Coverage, DelaysRow, DueRetry, FirstAttemptsRow, Pending, RecoveryRow, RoundsRow,
    Scope,
};
use app::model::invocation::Arguments;
use app::model::reason;
use app::model::state::Instant;
use app::ports::error::StoreError;
use app::ports::insights::InsightStore;
use async_trait::async_trait;
use futures::TryStreamExt as _;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Error};

use super::numbers::there;
use super::sql::{CALL, CURRENT};
use super::{SqliteStore, rows};
use crate::store::insights::{self, Asked, Cells, Reader, Statements, Take, Which, statements};

/// Every source of a file is this one.
const SCHEMA: &str = "main";

/// The schedule; jobs that went on meanwhile are not due any more.
fn due_sql() -> String {
    format!(
        "SELECT d.*, c.Reason AS reason FROM \
         (SELECT j.Id AS id, CAST(max(r.Score, -62135596800) AS INTEGER) AS due, \
         r.Score AS score, {CURRENT} AS current, {CALL} FROM \"Set\" r \
         JOIN Job j ON j.Id = CAST(r.Value AS INTEGER) AND CAST(j.Id AS TEXT) = r.Value \
         WHERE r.\"Key\" = 'schedule' AND r.Score <= ?1 AND j.StateName = 'Scheduled') d \
         JOIN State c ON c.Id = d.current \
         WHERE substr(c.Reason, 1, 14) = 'Retry attempt ' ORDER BY d.score, d.id LIMIT ?2"
    )
}

const STATEMENTS: Statements = statements!("redrive_", "c.updated_at");

impl Cells for SqliteRow {
    fn text(&self, column: &str) -> Result<String, Error> {
        Ok(rows::text(self, column)?.unwrap_or_default())
    }

    fn known(&self, column: &str) -> Result<Option<i64>, Error> {
        rows::int(self, column)
    }

    fn flag(&self, column: &str) -> Result<bool, Error> {
        Ok(rows::int(self, column)? == Some(1))
    }

    fn counts(&self, column: &str) -> Result<Vec<i64>, Error> {
        let counts = rows::text(self, column)?.unwrap_or_default();
        serde_json::from_str(&counts).map_err(|error| Error::Decode(error.into()))
    }
}

impl Reader for SqliteStore {
    async fn read_own<A: Default + Send + 'static>(
        &self,
        which: Which,
        asked: Asked,
        take: Take<A>,
    ) -> Result<Option<A>, StoreError> {
        let statement = which(&STATEMENTS);
        let read = Self::read(self, move |c| {
            Box::pin(async move {
                if !there(c).await? {
                    return Ok(None);
                }
                let mut rows = sqlx::query(statement)
                    .bind(SCHEMA)
                    .bind(asked.from)
                    .bind(asked.to)
                    .bind(asked.job_type)
                    .bind(asked.method)
                    .bind(asked.queue)
                    .bind(asked.step)
                    .fetch(c);
                let mut all = A::default();
                while let Some(row) = rows.try_next().await? {
                    take(&mut all, &row)?;
                }
                Ok(Some(all))
            })
        });
        read.await
    }

    fn file(&self) -> Option<&SqliteStore> {
        self.kept().map(|kept| kept.file())
    }
}

#[async_trait]
impl InsightStore for SqliteStore {
    async fn coverage(&self) -> Result<Option<Coverage>, StoreError> {
        insights::coverage(self).await
    }

    async fn first_attempts(
        &self,
        scope: &Scope,
        step: i64,
    ) -> Result<Vec<FirstAttemptsRow>, StoreError> {
        insights::first_attempts(self, scope, step).await
    }

    async fn rounds(&self, scope: &Scope, step: i64) -> Result<Vec<RoundsRow>, StoreError> {
        insights::rounds(self, scope, step).await
    }

    async fn attempts(&self, scope: &Scope) -> Result<Vec<AttemptsRow>, StoreError> {
        insights::attempts(self, scope).await
    }

    async fn recovery(&self, scope: &Scope) -> Result<Vec<RecoveryRow>, StoreError> {
        insights::recovery(self, scope).await
    }

    async fn delays(&self, scope: &Scope) -> Result<Vec<DelaysRow>, StoreError> {
        insights::delays(self, scope).await
    }

    async fn pending(&self) -> Result<Pending, StoreError> {
        insights::pending(self).await
    }

    async fn due_retries(&self, until: Instant, limit: u32) -> Result<Vec<DueRetry>, StoreError> {
        Self::read(self, move |c| {
            Box::pin(async move {
                sqlx::query(AssertSqlSafe(due_sql()))
                    .bind(until.timestamp())
                    .bind(i64::from(limit))
                    .fetch_all(c)
                    .await?
                    .iter()
                    .map(due_retry)
                    .collect()
            })
        })
        .await
    }

    async fn counted_queues(&self) -> Result<Vec<String>, StoreError> {
        insights::counted_queues(self).await
    }
}

fn due_retry(row: &SqliteRow) -> Result<DueRetry, Error> {
    let invocation = rows::invocation(row, Arguments::TooLarge)?;
    Ok(DueRetry {
        job: rows::int(row, "id")?.unwrap_or_default(),
        kind: insights::kind_of(&invocation),
        due: Instant::from_timestamp(rows::int(row, "due")?.unwrap_or_default(), 0)
            .unwrap_or_default(),
        number: reason::retry(rows::text(row, "reason")?.as_deref()),
    })
}
