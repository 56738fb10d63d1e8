//! Several processes that watch one source.

use std::cell::Cell;
use std::time::Duration;

use std::sync::Arc;

use app::model::collect::batch::Changes;
use app::ports::collector::CollectorStore;
use app::ports::error::StoreError;
use app::ports::source::{Access, Source as _};
use uuid::Uuid;

use super::database::{Database, Kind};
use super::{Passed, collect, collected_is_right, collector, story};
use crate::clock::SystemClock;
use crate::store::postgres::PostgresStore;
use crate::testing::fixture::Fixture;

#[tokio::test]
async fn one_process_at_a_time_collects() {
    let fixture = story::jobs(3, 60);
    for database in Database::everywhere(&fixture).await {
        let mut one = collector(&database.store, 20);
        let mut two = collector(&database.store, 20);
        assert_eq!(one.pass().await.unwrap(), Passed::More);
        assert_eq!(two.pass().await.unwrap(), Passed::Elsewhere);
        // The lease of one ends unnoticed, and the other one takes over.
        database
            .execute_own(
                "UPDATE redrive.collector SET held_until = now() - interval '1 s'",
                "UPDATE redrive_collector SET held_until = 0",
            )
            .await;
        assert_eq!(two.pass().await.unwrap(), Passed::More);
        assert_eq!(
            one.pass().await.unwrap(),
            Passed::Elsewhere,
            "{}",
            database.name()
        );
        assert_eq!(two.pass().await.unwrap(), Passed::More);
        // Given back, it is free at once.
        two.leave().await;
        assert_eq!(one.pass().await.unwrap(), Passed::More);
        collect(&mut one).await.unwrap();
        one.leave().await;
        collected_is_right(&database, 20, database.name()).await;
    }
}

/// The rights that are proposed for a role that may only read are all that collecting takes.
#[tokio::test]
async fn a_role_with_the_proposed_rights_collects() {
    let Some(database) = Database::postgres(&Fixture::named("mixed")).await else {
        return;
    };
    let Kind::Postgres(server) = &database.kind else {
        return;
    };
    let role = server.reader("collector").await;
    let store =
        PostgresStore::connect(&server.url_as(&role), "hangfire", Arc::new(SystemClock)).unwrap();
    while let Access::ReadOnly { remedy, .. } = store.info().await.unwrap().access {
        server.execute(&remedy.unwrap()).await;
    }
    let store: Arc<dyn CollectorStore> = Arc::new(store);
    let mut collector = collector(&store, 100);
    collect(&mut collector).await.unwrap();
    collector.sweep_now().await.unwrap();
    collector.leave().await;
    assert_ne!(database.groups().await, 0);
    collected_is_right(&database, 100, &role).await;
}

/// A process that stood still while another one collected.
#[tokio::test]
async fn a_write_from_another_position_changes_nothing() {
    let fixture = story::jobs(4, 20);
    for database in Database::everywhere(&fixture).await {
        let (store, me) = (&database.store, Uuid::from_u128(7));
        let lease = store.lease(me, Duration::from_mins(1)).await.unwrap();
        let from = lease.unwrap();
        let look = store.look(&from, 1_000).await.unwrap();
        let changes = look.batch.fold(&from);
        let mut to = from.clone();
        to.watermark = 1;
        assert!(store.write(me, &from, &to, &changes).await.unwrap());
        let once = database.numbers().await;
        assert!(!once.is_empty());
        assert!(!store.write(me, &from, &to, &changes).await.unwrap());
        let other = Uuid::from_u128(8);
        assert!(!store.write(other, &to, &to, &changes).await.unwrap());
        assert_eq!(database.numbers().await, once, "{}", database.name());
        assert!(
            store
                .write(me, &to, &to, &Changes::default())
                .await
                .unwrap()
        );
    }
}

/// Two processes, each of which takes the other for dead again and again.
#[tokio::test]
async fn two_collectors_at_once_count_once() {
    let fixture = story::jobs(34, 300);
    let last = fixture.states.last().unwrap().id;
    for database in Database::everywhere(&fixture).await {
        let stores = [database.store.clone(), database.collecting()];
        let end = Cell::new(0);
        let work = stores.iter().map(|store| async {
            let mut collector = collector(store, 20);
            let mut batches = 0;
            while end.get() < last {
                collector.rows = 20;
                match collector.pass().await {
                    Ok(Passed::More) => batches += 1,
                    Ok(Passed::Idle | Passed::Elsewhere) | Err(StoreError::Away(_)) => {}
                    Err(error) => panic!("{error}"),
                }
                if let Some(position) = &collector.position {
                    end.set(end.get().max(position.watermark));
                }
                // Whoever has the lease loses it.
                database
                    .execute_own(
                        "UPDATE redrive.collector SET held_until = now() - interval '1 s'",
                        "UPDATE redrive_collector SET held_until = 0",
                    )
                    .await;
            }
            collector.leave().await;
            batches
        });
        let batches = futures::future::join_all(work).await;
        let name = database.name();
        assert!(
            batches.iter().all(|batches| *batches > 0),
            "{batches:?} on {name}"
        );
        collected_is_right(&database, 20, name).await;
    }
}

/// A process whose clock was years ahead has gone without giving the lease back. On `PostgreSQL` the
/// database's clock counts.
#[tokio::test]
async fn a_lease_from_a_wrong_clock_does_not_last() {
    let fixture = story::jobs(35, 10);
    let database = Database::sqlite(&fixture).await;
    let Kind::Sqlite(file) = &database.kind else {
        return;
    };
    let mut gone = collector(&database.store, 10);
    assert_eq!(gone.pass().await.unwrap(), Passed::More);
    let mut next = collector(&database.store, 10);
    assert_eq!(next.pass().await.unwrap(), Passed::Elsewhere);
    // In 2100.
    file.run("UPDATE redrive_collector SET held_until = 4102444800000000")
        .await;
    assert_eq!(next.pass().await.unwrap(), Passed::More);
}
