//! Servers and queues.

use std::collections::{BTreeMap, BTreeSet};

use app::model::data::parse_date;
use app::model::job::Server;
use app::model::state::Instant;
use sqlx::SqliteConnection;

use super::rows;
use super::sql::member;
use crate::store::decode;

/// Jobs in Processing, by the server of their last Processing row.
const PROCESSING: &str = concat!(
    "SELECT server, count(*) AS n FROM (SELECT (SELECT coalesce(",
    member!("Data", "ServerId"),
    ", ",
    member!("Data", "ServerName"),
    ") FROM State WHERE JobId = j.Id AND Name = 'Processing' ORDER BY Id DESC LIMIT 1) AS server \
     FROM Job j WHERE StateName = 'Processing') WHERE server IS NOT NULL GROUP BY server"
);

/// Each queue once, by hops through the index.
const QUEUES: &str = "WITH RECURSIVE q(name) AS (SELECT min(Queue) FROM JobQueue UNION ALL \
     SELECT (SELECT min(Queue) FROM JobQueue WHERE Queue > name) FROM q WHERE name IS NOT NULL) \
     SELECT name FROM q WHERE name IS NOT NULL";

/// Every server; ages by `now`, which on `SQLite` is the host's clock.
pub(super) async fn servers(
    connection: &mut SqliteConnection,
    now: Instant,
) -> Result<Vec<Server>, sqlx::Error> {
    let mut processing = BTreeMap::new();
    for row in &sqlx::query(PROCESSING).fetch_all(&mut *connection).await? {
        let server = rows::text(row, "server")?.unwrap_or_default();
        processing.insert(server, rows::int(row, "n")?.unwrap_or_default());
    }
    let found = sqlx::query(
        "SELECT Id AS id, Data AS data, LastHeartbeat AS heartbeat_at FROM Server ORDER BY Id",
    )
    .fetch_all(connection)
    .await?;
    found
        .iter()
        .map(|row| {
            let id = rows::text(row, "id")?.unwrap_or_default();
            let data = decode::server_data(&rows::text(row, "data")?.unwrap_or_default());
            let heartbeat_at = rows::instant(row, "heartbeat_at")?.unwrap_or_default();
            Ok(Server {
                workers: data.workers,
                queues: data.queues,
                started_at: data.started.as_deref().and_then(parse_date),
                started_raw: data.started.filter(|text| parse_date(text).is_none()),
                heartbeat_at,
                heartbeat_age_ms: (now - heartbeat_at).num_milliseconds(),
                processing: processing.get(&id).copied().unwrap_or_default(),
                id,
            })
        })
        .collect()
}

/// The queues of queue rows and of servers, by name.
pub(super) async fn queues(connection: &mut SqliteConnection) -> Result<Vec<String>, sqlx::Error> {
    let mut names = BTreeSet::new();
    for row in &sqlx::query(QUEUES).fetch_all(&mut *connection).await? {
        names.extend(rows::text(row, "name")?);
    }
    for row in &sqlx::query("SELECT Data AS data FROM Server")
        .fetch_all(connection)
        .await?
    {
        let data = decode::server_data(&rows::text(row, "data")?.unwrap_or_default());
        names.extend(data.queues.unwrap_or_default());
    }
    Ok(names.into_iter().collect())
}
