//! What is kept of jobs, memories and the index: in the own tables beside the jobs, or in the file
//! that stands in for them.

use std::collections::{HashMap, HashSet};

use app::model::collect::Memory;
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgRow;
use sqlx::{Error, Row as _, Sqlite, SqlitePool};

use crate::store::astray::{Entry, Window};
use crate::store::postgres::conn::Conn;
use crate::store::postgres::layout::Layout;
use crate::store::sqlite::own;

const MEMORIES: &str = "
SELECT m.job, m.memory FROM redrive.collector_job m
JOIN redrive.source s ON s.id = m.source
WHERE s.hangfire_schema = $1 AND (m.job = ANY($2))
UNION
SELECT m.job, m.memory FROM redrive.collector_job m
JOIN redrive.source s ON s.id = m.source
WHERE s.hangfire_schema = $1 AND m.undecided";

const MEMORIES_AFTER: &str = "
SELECT m.job, m.memory FROM redrive.collector_job m
JOIN redrive.source s ON s.id = m.source
WHERE s.hangfire_schema = $1 AND m.job > $2 ORDER BY m.job LIMIT $3";

const ENTRIES: &str = "
SELECT f.job, f.list = 'failed' AS is_failed, f.state_id, f.changed_at FROM redrive.failures f
WHERE f.source = (SELECT s.id FROM redrive.source s WHERE s.hangfire_schema = $1)
  AND f.job > $2 AND f.job <= $3 ORDER BY f.job LIMIT $4";

/// A connection to the file, where there is one.
pub(super) struct Own(Option<PoolConnection<Sqlite>>);

impl Own {
    pub(super) async fn open(file: Option<SqlitePool>) -> Result<Self, Error> {
        Ok(Self(match file {
            Some(file) => Some(file.acquire().await?),
            None => None,
        }))
    }

    /// Memories of these jobs, and of those that are not decided yet.
    pub(super) async fn memories(
        &mut self,
        conn: &mut Conn,
        layout: &Layout,
        jobs: &HashSet<i64>,
    ) -> Result<HashMap<i64, Memory>, Error> {
        if let Some(file) = &mut self.0 {
            return own::memories(file, jobs).await;
        }
        sqlx::query(MEMORIES)
            .bind(layout.schema())
            .bind(jobs.iter().copied().collect::<Vec<i64>>())
            .fetch_all(conn)
            .await?
            .iter()
            .map(remembered)
            .collect()
    }

    /// The next memories, by job.
    pub(super) async fn memories_after(
        &mut self,
        conn: &mut Conn,
        layout: &Layout,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, Memory)>, Error> {
        if let Some(file) = &mut self.0 {
            return own::memories_after(file, after, limit).await;
        }
        sqlx::query(MEMORIES_AFTER)
            .bind(layout.schema())
            .bind(after)
            .bind(i64::from(limit))
            .fetch_all(conn)
            .await?
            .iter()
            .map(remembered)
            .collect()
    }

    /// The index's rows of a window, by job.
    pub(super) async fn entries(
        &mut self,
        conn: &mut Conn,
        layout: &Layout,
        window: Window,
        limit: i64,
    ) -> Result<Vec<Entry>, Error> {
        if let Some(file) = &mut self.0 {
            return own::entries(file, window, limit).await;
        }
        sqlx::query(ENTRIES)
            .bind(layout.schema())
            .bind(window.after)
            .bind(window.end())
            .bind(limit)
            .fetch_all(conn)
            .await?
            .iter()
            .map(|row| {
                Ok(Entry {
                    job: row.try_get("job")?,
                    is_failed: row.try_get("is_failed")?,
                    state_id: row.try_get("state_id")?,
                    changed_at: row.try_get("changed_at")?,
                })
            })
            .collect()
    }
}

fn remembered(row: &PgRow) -> Result<(i64, Memory), Error> {
    let memory: &str = row.try_get("memory")?;
    let memory = serde_json::from_str(memory).map_err(|error| Error::Decode(error.into()))?;
    Ok((row.try_get("job")?, memory))
}
