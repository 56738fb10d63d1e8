//! Where the index of failed jobs and the jobs themselves do not agree.

use std::collections::{HashMap, HashSet};

use app::model::collect::Stray;
use app::model::collect::position::Position;
use app::ports::collector::Astray;
use sqlx::{AssertSqlSafe, SqliteConnection};

use super::look::{job, memories, rows_of};
use crate::store::failures::micros;
use crate::store::sqlite::failures::fits;
use crate::store::sqlite::rows;
use crate::store::sqlite::sql::{CALL, CURRENT};

/// So many jobs are compared with the index at once, and so many strays are taken in.
const WINDOW: i64 = 4_000;
const STRAYS: i64 = 500;

const WINDOW_END: &str = "SELECT Id AS last FROM Job WHERE Id > ? ORDER BY Id LIMIT 1 OFFSET ?";

/// Jobs whose row in the index is missing or another one than the job's own.
fn stray_sql() -> String {
    format!(
        "SELECT j.Id AS id, j.CreatedAt AS created_at, {CALL}, \
         j.StateName = 'Failed' AS is_failed, j.current AS current_row FROM \
         (SELECT j.*, {CURRENT} AS current FROM Job j WHERE j.Id > ?1 AND j.Id <= ?2 \
           AND j.StateName IN ('Failed', 'Scheduled')) j \
         LEFT JOIN State c ON c.Id = j.current \
         LEFT JOIN redrive_failures f ON f.job = j.Id AND f.source = \
           (SELECT id FROM redrive_source WHERE hangfire_schema = 'main') \
         WHERE (j.StateName = 'Failed' OR substr(c.Reason, 1, 14) = 'Retry attempt ') \
           AND coalesce(j.current, 0) <= ?3 AND (f.job IS NULL \
             OR f.list <> CASE j.StateName WHEN 'Failed' THEN 'failed' ELSE 'retrying' END \
             OR f.state_id <> coalesce(j.current, f.state_id)) \
         ORDER BY j.Id LIMIT ?4"
    )
}

fn stale_sql() -> String {
    let fits = fits();
    format!(
        "SELECT f.job AS job, f.changed_at AS changed_at FROM redrive_failures f \
         WHERE f.source = (SELECT id FROM redrive_source WHERE hangfire_schema = 'main') \
         AND f.job > ?1 AND f.job <= ?2 AND NOT EXISTS \
         (SELECT 1 FROM Job j WHERE j.Id = f.job AND {fits}) ORDER BY f.job LIMIT ?3"
    )
}

/// See [`app::ports::collector::CollectorStore::astray`].
pub(super) async fn astray(
    connection: &mut SqliteConnection,
    position: &Position,
    after: i64,
) -> Result<Astray, sqlx::Error> {
    let end = sqlx::query(WINDOW_END)
        .bind(after)
        .bind(WINDOW - 1)
        .fetch_optional(&mut *connection)
        .await?;
    let mut last = match &end {
        Some(row) => rows::int(row, "last")?,
        None => None,
    };
    let mut found = Vec::new();
    let strays = sqlx::query(AssertSqlSafe(stray_sql()))
        .bind(after)
        .bind(last.unwrap_or(i64::MAX))
        .bind(position.watermark)
        .bind(STRAYS)
        .fetch_all(&mut *connection)
        .await?;
    for row in &strays {
        let (id, job) = job(row)?;
        found.push((id, job, rows::int(row, "is_failed")? == Some(1)));
    }
    if found.len() >= usize::try_from(STRAYS).unwrap_or(usize::MAX) {
        last = found.last().map(|(id, ..)| *id);
    }
    let mut stale = Vec::new();
    let left = sqlx::query(AssertSqlSafe(stale_sql()))
        .bind(after)
        .bind(last.unwrap_or(i64::MAX))
        .bind(WINDOW)
        .fetch_all(&mut *connection)
        .await?;
    for row in &left {
        let changed_at = rows::int(row, "changed_at")?.unwrap_or_default();
        stale.push((
            rows::int(row, "job")?.unwrap_or_default(),
            micros(changed_at),
        ));
    }
    let ids: HashSet<i64> = found.iter().map(|(id, ..)| *id).collect();
    let (mut memories, mut history) = if ids.is_empty() {
        (HashMap::new(), HashMap::new())
    } else {
        let history = rows_of(connection, position, &ids).await?;
        (memories(connection, &ids).await?, history)
    };
    let strays = found
        .into_iter()
        .map(|(id, job, is_failed)| {
            let stray = Stray {
                job,
                is_failed,
                memory: memories.remove(&id),
                rows: history.remove(&id).unwrap_or_default(),
            };
            (id, stray)
        })
        .collect();
    Ok(Astray {
        strays,
        stale,
        last,
    })
}
