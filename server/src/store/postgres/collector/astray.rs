//! Where the index of failed jobs and the jobs themselves do not agree.

use std::collections::HashMap;
use std::sync::Arc;

use app::model::collect::position::Position;
use app::ports::collector::Astray;
use app::ports::error::StoreError;
use sqlx::{Error, Row as _, SqlitePool};

use super::look::{jobs, rows_of};
use super::own::Own;
use crate::store::astray::{Candidate, Window, compare};
use crate::store::postgres::conn::Conn;
use crate::store::postgres::layout::Layout;
use crate::store::postgres::session::Session;

/// So many jobs are compared with the index at once, and so many strays are taken in.
const WINDOW: i64 = 10_000;
const STRAYS: usize = 2_000;

const WINDOW_END: &str = "
SELECT max(w.id)::bigint AS last, count(*) AS jobs FROM (
  SELECT j.id FROM {s}.job j WHERE j.id > $1 ORDER BY j.id LIMIT $2) w";

const CANDIDATES: &str = "
SELECT j.id::bigint AS id, COALESCE(j.stateid, 0)::bigint AS current_row,
  j.statename = 'Failed' AS is_failed,
  j.statename = 'Failed' OR COALESCE(c.reason LIKE 'Retry attempt %', false) AS belongs
FROM {s}.job j
LEFT JOIN {s}.state c ON c.id = CASE j.statename WHEN 'Scheduled' THEN j.stateid END
  AND c.jobid = j.id
WHERE j.id > $1 AND j.id <= $2 AND j.statename IN ('Failed', 'Scheduled')
ORDER BY j.id";

/// See [`app::ports::collector::CollectorStore::astray`].
pub(super) async fn astray(
    session: &Session,
    kept: Option<SqlitePool>,
    position: &Position,
    after: i64,
) -> Result<Astray, StoreError> {
    let position = Arc::new(position.clone());
    session
        .read(move |conn, layout| {
            let (position, kept) = (Arc::clone(&position), kept.clone());
            Box::pin(async move {
                let mut own = Own::open(kept).await?;
                compared(conn, &layout, &mut own, &position, after).await
            })
        })
        .await
}

async fn compared(
    conn: &mut Conn,
    layout: &Layout,
    own: &mut Own,
    position: &Position,
    after: i64,
) -> Result<Astray, Error> {
    let end = sqlx::query(layout.sql(WINDOW_END))
        .bind(after)
        .bind(WINDOW)
        .fetch_one(&mut *conn)
        .await?;
    let is_end = end.try_get::<i64, _>("jobs")? < WINDOW;
    let last: Option<i64> = end.try_get("last")?;
    let mut window = Window {
        after,
        last: last.filter(|_| !is_end),
    };
    let entries = own.entries(conn, layout, window, WINDOW).await?;
    window.cut(&entries, WINDOW);
    let candidates = candidates(conn, layout, window).await?;
    let found = compare(window, &candidates, &entries, position.watermark, STRAYS);
    let ids: Vec<i64> = found.strays.iter().map(|(job, _)| *job).collect();
    let jobs = jobs(conn, layout, ids.clone()).await?;
    let (memories, rows) = if ids.is_empty() {
        (HashMap::new(), HashMap::new())
    } else {
        let rows = rows_of(conn, layout, position, ids.clone()).await?;
        let ids = ids.into_iter().collect();
        (own.memories(conn, layout, &ids).await?, rows)
    };
    Ok(found.told(jobs, memories, rows))
}

async fn candidates(
    conn: &mut Conn,
    layout: &Layout,
    window: Window,
) -> Result<Vec<Candidate>, Error> {
    sqlx::query(layout.sql(CANDIDATES))
        .bind(window.after)
        .bind(window.end())
        .fetch_all(conn)
        .await?
        .iter()
        .map(|row| {
            Ok(Candidate {
                job: row.try_get("id")?,
                is_failed: row.try_get("is_failed")?,
                belongs: row.try_get("belongs")?,
                row: Some(row.try_get("current_row")?),
            })
        })
        .collect()
}
