//! What is kept of jobs, memories and the index: in the own tables beside the jobs, or in the file
//! that stands in for them.

use std::collections::{HashMap, HashSet};

use app::model::collect::Memory;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::SqliteRow;
use sqlx::{Error, Sqlite, SqliteConnection, SqlitePool};

use super::rows;
use crate::store::astray::{Entry, Window};

const MEMORIES: &str = "SELECT job, memory FROM redrive_collector_job \
     WHERE source = (SELECT id FROM redrive_source WHERE hangfire_schema = 'main') \
     AND (job IN (SELECT value FROM json_each(?)) OR undecided)";

const MEMORIES_AFTER: &str = "SELECT job, memory FROM redrive_collector_job \
     WHERE source = (SELECT id FROM redrive_source WHERE hangfire_schema = 'main') \
     AND job > ? ORDER BY job LIMIT ?";

const ENTRIES: &str = "SELECT job, list = 'failed' AS is_failed, state_id, changed_at \
     FROM redrive_failures \
     WHERE source = (SELECT id FROM redrive_source WHERE hangfire_schema = 'main') \
     AND job > ? AND job <= ? ORDER BY job LIMIT ?";

/// A connection to the file that stands in, where there is one.
pub(super) struct Own(Option<PoolConnection<Sqlite>>);

impl Own {
    pub(super) async fn open(file: Option<SqlitePool>) -> Result<Self, Error> {
        Ok(Self(match file {
            Some(file) => Some(file.acquire().await?),
            None => None,
        }))
    }

    /// The connection to what is kept, from the one to the jobs.
    pub(super) fn beside<'c>(
        &'c mut self,
        jobs: &'c mut SqliteConnection,
    ) -> &'c mut SqliteConnection {
        match &mut self.0 {
            Some(file) => file,
            None => jobs,
        }
    }
}

/// Ids as a JSON array.
pub(super) fn json(ids: &HashSet<i64>) -> String {
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    format!("[{}]", ids.join(","))
}

/// Memories of these jobs, and of those that are not decided yet.
pub(in crate::store) async fn memories(
    connection: &mut SqliteConnection,
    jobs: &HashSet<i64>,
) -> Result<HashMap<i64, Memory>, Error> {
    sqlx::query(MEMORIES)
        .bind(json(jobs))
        .fetch_all(connection)
        .await?
        .iter()
        .map(remembered)
        .collect()
}

/// The next memories, by job.
pub(in crate::store) async fn memories_after(
    connection: &mut SqliteConnection,
    after: i64,
    limit: u32,
) -> Result<Vec<(i64, Memory)>, Error> {
    sqlx::query(MEMORIES_AFTER)
        .bind(after)
        .bind(i64::from(limit))
        .fetch_all(connection)
        .await?
        .iter()
        .map(remembered)
        .collect()
}

/// The index's rows of a window, by job.
pub(in crate::store) async fn entries(
    connection: &mut SqliteConnection,
    window: Window,
    limit: i64,
) -> Result<Vec<Entry>, Error> {
    sqlx::query(ENTRIES)
        .bind(window.after)
        .bind(window.end())
        .bind(limit)
        .fetch_all(connection)
        .await?
        .iter()
        .map(|row| {
            let int = |column| rows::int(row, column).map(Option::unwrap_or_default);
            Ok(Entry {
                job: int("job")?,
                is_failed: int("is_failed")? == 1,
                state_id: int("state_id")?,
                changed_at: int("changed_at")?,
            })
        })
        .collect()
}

fn remembered(row: &SqliteRow) -> Result<(i64, Memory), Error> {
    let memory = rows::text(row, "memory")?.unwrap_or_default();
    let memory = serde_json::from_str(&memory).map_err(|error| Error::Decode(error.into()))?;
    Ok((rows::int(row, "job")?.unwrap_or_default(), memory))
}
