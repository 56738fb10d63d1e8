//! Where the index of failed jobs and the jobs themselves do not agree.

use std::collections::{HashMap, HashSet};

use app::model::collect::position::Position;
use app::ports::collector::Astray;
use sqlx::{AssertSqlSafe, Error, SqliteConnection};

use super::look::{jobs, rows_of};
use crate::store::astray::{Candidate, Window, compare};
use crate::store::sqlite::own::{self, Own};
use crate::store::sqlite::rows;
use crate::store::sqlite::sql::CURRENT;

/// So many jobs are compared with the index at once, and so many strays are taken in.
const WINDOW: i64 = 4_000;
const STRAYS: usize = 500;

const WINDOW_END: &str = "SELECT Id AS last FROM Job WHERE Id > ? ORDER BY Id LIMIT 1 OFFSET ?";

fn candidates_sql() -> String {
    format!(
        "SELECT j.Id AS id, j.current AS current_row, j.StateName = 'Failed' AS is_failed, \
         j.StateName = 'Failed' OR coalesce(substr(c.Reason, 1, 14) = 'Retry attempt ', 0) \
           AS belongs FROM \
         (SELECT j.Id, j.StateName, {CURRENT} AS current FROM Job j \
           WHERE j.Id > ? AND j.Id <= ? AND j.StateName IN ('Failed', 'Scheduled')) j \
         LEFT JOIN State c ON c.Id = j.current ORDER BY j.Id"
    )
}

/// See [`app::ports::collector::CollectorStore::astray`].
pub(super) async fn astray(
    connection: &mut SqliteConnection,
    mut own: Own,
    position: &Position,
    after: i64,
) -> Result<Astray, Error> {
    let end = sqlx::query(WINDOW_END)
        .bind(after)
        .bind(WINDOW - 1)
        .fetch_optional(&mut *connection)
        .await?;
    let last = match &end {
        Some(row) => rows::int(row, "last")?,
        None => None,
    };
    let mut window = Window { after, last };
    let entries = own::entries(own.beside(connection), window, WINDOW).await?;
    window.cut(&entries, WINDOW);
    let candidates = candidates(connection, window).await?;
    let found = compare(window, &candidates, &entries, position.watermark, STRAYS);
    let ids: HashSet<i64> = found.strays.iter().map(|(job, _)| *job).collect();
    let (jobs, memories, history) = if ids.is_empty() {
        (HashMap::new(), HashMap::new(), HashMap::new())
    } else {
        (
            jobs(connection, CURRENT, &ids).await?,
            own::memories(own.beside(connection), &ids).await?,
            rows_of(connection, position, &ids).await?,
        )
    };
    Ok(found.told(jobs, memories, history))
}

async fn candidates(
    connection: &mut SqliteConnection,
    window: Window,
) -> Result<Vec<Candidate>, Error> {
    sqlx::query(AssertSqlSafe(candidates_sql()))
        .bind(window.after)
        .bind(window.end())
        .fetch_all(connection)
        .await?
        .iter()
        .map(|row| {
            Ok(Candidate {
                job: rows::int(row, "id")?.unwrap_or_default(),
                is_failed: rows::int(row, "is_failed")? == Some(1),
                belongs: rows::int(row, "belongs")? == Some(1),
                row: rows::int(row, "current_row")?,
            })
        })
        .collect()
}
