//! The heartbeats of the demo's living servers.

use std::time::Duration;

use sqlx::SqlitePool;
use tokio_util::sync::CancellationToken;

use crate::clock::SharedClock;
use crate::store::sqlite::ticks::ticks;

/// Real servers send one every 30 s.
const INTERVAL: Duration = Duration::from_secs(15);

/// Keeps the heartbeats of the demo's living servers fresh, from now on until `shutdown`. Nothing
/// else of the demo moves: no job runs. A database that cannot be written for a while is tried
/// again at the next beat.
pub async fn keep_alive(pool: SqlitePool, clock: SharedClock, shutdown: CancellationToken) {
    loop {
        if let Err(error) = beat(&pool, &clock).await {
            tracing::warn!(%error, "the demo's heartbeats could not be written");
        }
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(INTERVAL) => {}
        }
    }
}

/// One heartbeat of every living server, a second apart from each other.
pub(super) async fn beat(pool: &SqlitePool, clock: &SharedClock) -> Result<(), sqlx::Error> {
    const SECOND: i64 = 10_000_000;
    sqlx::query(
        r#"UPDATE "Server" SET "LastHeartbeat" = ?1 - ?2 * alive.key
FROM (SELECT key, value FROM json_each((SELECT "Value" FROM "redrive_demo" WHERE "Key" = 'living_servers'))) AS alive
WHERE "Server"."Id" = alive.value"#,
    )
    .bind(ticks(clock.now()))
    .bind(SECOND)
    .execute(pool)
    .await?;
    Ok(())
}
