//! Servers, by the host's clock.

use super::*;
use crate::clock::Clock;

/// A clock that a test sets.
struct At(Instant);

impl Clock for At {
    fn now(&self) -> Instant {
        self.0
    }
}

#[tokio::test]
async fn servers_have_queues_and_heartbeats() {
    let (_dir, path) = fixture("transitions-sqlite/base.db");
    let mut connection = SqliteConnection::connect(path.to_str().unwrap())
        .await
        .unwrap();
    sqlx::raw_sql(
        "DELETE FROM Server; INSERT INTO Server VALUES \
         ('a:1:x', '{\"WorkerCount\":4,\"Queues\":[\"critical\",\"default\"],\"StartedAt\":\"2026-11-29T19:12:26.5Z\"}', 639315783194587619), \
         ('b:2:y', '{\"WorkerCount\":\"2\",\"Queues\":{\"$type\":\"System.String[], mscorlib\",\"$values\":[\"reports\"]},\"StartedAt\":\"27.03.2026 07:30:00\"}', 639315783204587619); \
         UPDATE State SET Data = json_set(Data, '$.ServerId', 'a:1:x') WHERE Name = 'Processing'",
    )
    .execute(&mut connection)
    .await
    .unwrap();
    let now = at("2026-11-29T19:45:30.458761Z");
    let store = SqliteStore::open(&path, Arc::new(At(now))).await.unwrap();
    let servers = store.servers().await.unwrap();
    assert_eq!(servers.len(), 2);
    let (a, b) = (&servers[0], &servers[1]);
    assert_eq!(
        (a.id.as_str(), a.workers, a.processing),
        ("a:1:x", Some(4), 1)
    );
    assert_eq!(
        a.queues,
        Some(vec!["critical".to_owned(), "default".to_owned()])
    );
    assert_eq!(a.started_at, Some(at("2026-11-29T19:12:26.5Z")));
    assert_eq!(a.heartbeat_at, at("2026-11-29T19:45:19.458761Z"));
    assert_eq!(a.heartbeat_age_ms, 11_000);
    assert_eq!(
        (b.workers, b.processing, b.heartbeat_age_ms),
        (Some(2), 0, 10_000)
    );
    assert_eq!(b.queues, Some(vec!["reports".to_owned()]));
    assert_eq!(
        (b.started_at, b.started_raw.as_deref()),
        (None, Some("27.03.2026 07:30:00"))
    );
    let queues = store.queues().await.unwrap();
    for queue in ["critical", "default", "reports"] {
        assert!(queues.iter().any(|known| known == queue), "{queues:?}");
    }
}
