//! Recurring jobs.

use app::model::recurring::RecurringJob;
use app::ports::error::StoreError;
use app::ports::recurring::RecurringStore;
use async_trait::async_trait;
use sqlx::postgres::PgRow;
use sqlx::{Error, Row as _};

use super::PostgresStore;
use crate::store::recurring::recurring_job;

/// A field that was written twice makes a row more: the first one counts.
const RECURRING: &str = r#"
SELECT r.value::text AS id, cron.value::text AS cron, call.value::text AS call
FROM {s}.set r
JOIN {s}.hash cron ON cron.key = 'recurring-job:' || r.value AND cron.field = 'Cron'
JOIN {s}.hash call ON call.key = 'recurring-job:' || r.value AND call.field = 'Job'
WHERE r.key = 'recurring-jobs' AND r.score >= 0
  AND pg_column_size(cron.value) <= 65536 AND pg_column_size(call.value) <= 65536
ORDER BY r.value COLLATE "C", cron.id, call.id LIMIT $1"#;

#[async_trait]
impl RecurringStore for PostgresStore {
    async fn recurring(&self, limit: u32) -> Result<Vec<RecurringJob>, StoreError> {
        self.session()
            .read(move |conn, layout| {
                Box::pin(async move {
                    let found = sqlx::query(layout.sql(RECURRING))
                        .bind(i64::from(limit))
                        .fetch_all(conn)
                        .await?;
                    let jobs: Result<Vec<_>, _> = found.iter().map(recurring).collect();
                    let mut jobs: Vec<RecurringJob> = jobs?.into_iter().flatten().collect();
                    jobs.dedup_by(|later, first| later.id == first.id);
                    Ok(jobs)
                })
            })
            .await
    }
}

fn recurring(row: &PgRow) -> Result<Option<RecurringJob>, Error> {
    let text = |column: &str| {
        let value = row.try_get::<Option<String>, _>(column)?;
        Ok::<_, Error>(value.unwrap_or_default())
    };
    Ok(recurring_job(text("id")?, &text("cron")?, &text("call")?))
}
