//! Recurring jobs.

use app::model::recurring::RecurringJob;
use app::ports::error::StoreError;
use app::ports::recurring::RecurringStore;
use async_trait::async_trait;
use sqlx::Error;
use sqlx::sqlite::SqliteRow;

use super::{SqliteStore, rows};
use crate::store::recurring::recurring_job;

/// A field that was written twice makes a row more: the first one counts.
const RECURRING: &str = "
SELECT r.Value AS id, cron.Value AS cron, call.Value AS call
FROM \"Set\" r
JOIN Hash cron ON cron.\"Key\" = 'recurring-job:' || r.Value AND cron.Field = 'Cron'
JOIN Hash call ON call.\"Key\" = 'recurring-job:' || r.Value AND call.Field = 'Job'
WHERE r.\"Key\" = 'recurring-jobs' AND r.Score >= 0
  AND octet_length(cron.Value) <= 65536 AND octet_length(call.Value) <= 65536
ORDER BY r.Value, cron.Id, call.Id LIMIT ?1";

#[async_trait]
impl RecurringStore for SqliteStore {
    async fn recurring(&self, limit: u32) -> Result<Vec<RecurringJob>, StoreError> {
        Self::read(self, move |c| {
            Box::pin(async move {
                let found = sqlx::query(RECURRING)
                    .bind(i64::from(limit))
                    .fetch_all(c)
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

fn recurring(row: &SqliteRow) -> Result<Option<RecurringJob>, Error> {
    let text = |column: &str| Ok::<_, Error>(rows::text(row, column)?.unwrap_or_default());
    Ok(recurring_job(text("id")?, &text("cron")?, &text("call")?))
}
