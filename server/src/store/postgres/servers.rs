//! Servers and queues.

use std::collections::{BTreeSet, HashMap};

use app::model::data::parse_date;
use app::model::job::Server;
use app::model::state::Instant;
use app::ports::error::StoreError;
use sqlx::{Error, Row as _};

use super::conn::Conn;
use super::layout::Layout;
use super::session::Session;
use crate::store::decode;

/// Heartbeats are written by the database's clock, and judged by it.
const SERVERS: &str = "
SELECT v.id::text AS id, {utc v.lastheartbeat} AS heartbeat_at,
  (extract(epoch FROM clock_timestamp() - {utc v.lastheartbeat}) * 1000)::bigint AS age,
  CASE WHEN pg_column_size(v.data) <= 65536 THEN {raw v.data} END AS data
FROM {s}.server v ORDER BY v.id LIMIT 10000";

const PROCESSING: &str = "
SELECT {key c.data ServerId} AS server, count(*) AS jobs
FROM {s}.job j JOIN {s}.state c ON c.id = j.stateid AND c.jobid = j.id
WHERE j.statename = 'Processing' GROUP BY 1";

/// Walks from one queue's name to the next in the index, however many rows each has.
const QUEUES: &str = "
WITH RECURSIVE names AS (
  (SELECT q.queue FROM {s}.jobqueue q ORDER BY q.queue LIMIT 1)
  UNION ALL
  SELECT (SELECT q.queue FROM {s}.jobqueue q WHERE q.queue > n.queue ORDER BY q.queue LIMIT 1)
  FROM names n WHERE n.queue IS NOT NULL
)
SELECT queue::text AS queue FROM names WHERE queue IS NOT NULL LIMIT 1000";

/// See [`app::ports::jobs::JobStore::servers`].
pub async fn servers(session: &Session) -> Result<Vec<Server>, StoreError> {
    session
        .read(|conn, layout| Box::pin(async move { read_servers(conn, &layout).await }))
        .await
}

pub(super) async fn read_servers(conn: &mut Conn, layout: &Layout) -> Result<Vec<Server>, Error> {
    let mut processing: HashMap<String, i64> = HashMap::new();
    let rows = sqlx::query(layout.sql(PROCESSING))
        .fetch_all(&mut *conn)
        .await?;
    for row in rows {
        if let Some(server) = row.try_get::<Option<String>, _>("server")? {
            processing.insert(layout.plain("state", "data", server), row.try_get("jobs")?);
        }
    }
    let rows = sqlx::query(layout.sql(SERVERS)).fetch_all(conn).await?;
    rows.iter()
        .map(|row| {
            let id: String = row.try_get("id")?;
            let json: Option<String> = row.try_get("data")?;
            let data = decode::server_data(json.as_deref().unwrap_or_default());
            let started_at = data.started.as_deref().and_then(parse_date);
            Ok(Server {
                workers: data.workers,
                queues: data.queues,
                started_at,
                started_raw: data.started.filter(|_| started_at.is_none()),
                heartbeat_at: row
                    .try_get::<Option<Instant>, _>("heartbeat_at")?
                    .unwrap_or(Instant::UNIX_EPOCH),
                heartbeat_age_ms: row.try_get::<Option<i64>, _>("age")?.unwrap_or(i64::MAX),
                processing: processing.get(&id).copied().unwrap_or(0),
                id,
            })
        })
        .collect()
}

/// See [`app::ports::jobs::JobStore::queues`].
pub async fn queues(session: &Session) -> Result<Vec<String>, StoreError> {
    session
        .read(|conn, layout| {
            Box::pin(async move {
                let mut names = BTreeSet::new();
                let rows = sqlx::query(layout.sql(QUEUES))
                    .fetch_all(&mut *conn)
                    .await?;
                for row in rows {
                    names.insert(row.try_get::<String, _>("queue")?);
                }
                for server in read_servers(conn, &layout).await? {
                    names.extend(server.queues.unwrap_or_default());
                }
                Ok(names.into_iter().collect())
            })
        })
        .await
}
