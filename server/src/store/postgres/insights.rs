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
use sqlx::postgres::PgRow;
use sqlx::{Error, Row as _};

use super::PostgresStore;
use super::migrate;
use super::numbers::TABLES;
use crate::store::decode;
use crate::store::insights::{self, Asked, Cells, Reader, Statements, Take, Which, statements};
use crate::store::sqlite::SqliteStore;

/// The schedule in the order of its index; jobs that went on meanwhile are not due any more.
const DUE: &str = "
SELECT j.id::bigint AS id, floor(greatest(r.score, -62135596800))::bigint AS due,
  c.reason::text AS reason,
  CASE WHEN pg_column_size(j.invocationdata) <= 65536
    THEN {without j.invocationdata Arguments} END AS invocation
FROM {s}.set r
JOIN {s}.job j ON j.id = CASE WHEN r.value ~ '^[0-9]+$' AND length(r.value) <= 18
  THEN r.value::bigint END
JOIN {s}.state c ON c.id = j.stateid AND c.jobid = j.id
WHERE r.key = 'schedule' AND r.score <= $1::bigint AND j.statename = 'Scheduled'
  AND c.reason LIKE 'Retry attempt %'
ORDER BY r.score, j.id LIMIT $2";

const STATEMENTS: Statements = statements!(
    "redrive.",
    "(extract(epoch FROM c.updated_at) * 1000000)::bigint"
);

impl Cells for PgRow {
    fn text(&self, column: &str) -> Result<String, Error> {
        Ok(self
            .try_get::<Option<String>, _>(column)?
            .unwrap_or_default())
    }

    fn known(&self, column: &str) -> Result<Option<i64>, Error> {
        self.try_get(column)
    }

    fn flag(&self, column: &str) -> Result<bool, Error> {
        self.try_get(column)
    }

    fn counts(&self, column: &str) -> Result<Vec<i64>, Error> {
        let counts: Vec<i32> = self.try_get(column)?;
        Ok(counts.into_iter().map(i64::from).collect())
    }
}

impl Reader for PostgresStore {
    async fn read_own<A: Default + Send + 'static>(
        &self,
        which: Which,
        asked: Asked,
        take: Take<A>,
    ) -> Result<Option<A>, StoreError> {
        let statement = which(&STATEMENTS);
        let read = self.session().read(move |conn, layout| {
            let asked = asked.clone();
            Box::pin(async move {
                if !migrate::are_readable(conn, &TABLES).await? {
                    return Ok(None);
                }
                let mut rows = sqlx::query(statement)
                    .bind(layout.schema())
                    .bind(asked.from)
                    .bind(asked.to)
                    .bind(asked.job_type)
                    .bind(asked.method)
                    .bind(asked.queue)
                    .bind(asked.step)
                    .fetch(conn);
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
impl InsightStore for PostgresStore {
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
        self.session()
            .read(move |conn, layout| {
                Box::pin(async move {
                    sqlx::query(layout.sql(DUE))
                        .bind(until.timestamp())
                        .bind(i64::from(limit))
                        .fetch_all(conn)
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

fn due_retry(row: &PgRow) -> Result<DueRetry, Error> {
    let invocation: Option<&str> = row.try_get("invocation")?;
    let invocation = decode::invocation(invocation.unwrap_or_default(), Arguments::TooLarge);
    Ok(DueRetry {
        job: row.try_get("id")?,
        kind: insights::kind_of(&invocation),
        due: Instant::from_timestamp(row.try_get("due")?, 0).unwrap_or_default(),
        number: reason::retry(row.try_get("reason")?),
    })
}
