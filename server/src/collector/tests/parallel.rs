//! Writers on connections of their own, while rows are collected and expire beside them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use app::model::collect::Job;
use app::model::data::StateData;
use app::model::invocation::Arguments;
use app::model::state::{Instant, StateName, StateRow};
use rand::Rng as _;
use sqlx::PgConnection;
use tokio::sync::{Semaphore, watch};

use super::database::{Database, Kind, lines};
use super::oracle::{self, Whole};
use super::story::{Step, invocation, random, story};
use super::{Passed, collect, same};
use crate::clock::SystemClock;
use crate::collector::Collector;
use crate::source::Snapshot;
use crate::store::decode;
use crate::testing::fixture::Fixture;
use crate::testing::postgres::TestDatabase;

const WRITERS: u64 = 6;
/// Jobs of each writer.
const JOBS: usize = 60;

/// Transactions that were committed, the collector's passes, and writers that still write.
#[derive(Default)]
struct Seen {
    commits: u64,
    passes: u64,
    writers: u64,
}

/// What the writers share.
struct Shared {
    /// Every row that was ever committed, by job.
    log: Mutex<BTreeMap<i64, Whole>>,
    /// Jobs whose stories are over, with their last row, if they are final.
    finished: Mutex<Vec<(i64, i64)>>,
    seen: watch::Sender<Seen>,
    /// So many transactions at a time are held open until others have committed, and the collector has met
    /// their gaps.
    held: Semaphore,
}

async fn run(conn: &mut PgConnection, sql: &'static str) {
    sqlx::raw_sql(sql).execute(conn).await.unwrap();
}

/// A writer: one job after the other, each step a transaction.
async fn write(database: &TestDatabase, shared: &Shared, seed: u64) {
    let mut random = random(seed);
    let mut conn = database.connection().await;
    for n in 0..JOBS {
        let mut at = 1_793_600_000_000 + i64::try_from(n).unwrap() * 300_000;
        let call = invocation(&mut random);
        let job: i64 = sqlx::query_scalar(
            "INSERT INTO hangfire.job (invocationdata, arguments, createdat) \
             VALUES ($1, '[]', to_timestamp($2::float8 / 1000)) RETURNING id",
        )
        .bind(&call)
        .bind(at)
        .fetch_one(&mut conn)
        .await
        .unwrap();
        let call = decode::invocation(&call.to_string(), Arguments::TooLarge);
        let mut whole = Whole {
            job: Job::of(&call, Instant::from_timestamp_millis(at), None),
            state: None,
            rows: Vec::new(),
        };
        let steps = story(&mut random);
        let mut next = 0;
        while next < steps.len() {
            let same = steps[next + 1..].iter().take_while(|step| step.same);
            let end = next + 1 + same.count();
            run(&mut conn, "BEGIN").await;
            let mut rows = Vec::new();
            let mut now = at;
            for step in &steps[next..end] {
                now += step.later;
                rows.push(insert(&mut conn, job, step, now).await);
            }
            let hold = (random.random_range(0..3) == 0).then(|| shared.held.try_acquire());
            if let Some(Ok(_held)) = hold {
                let enough = shared.seen.borrow().commits + 5;
                let others = |seen: &Seen| seen.commits >= enough || seen.writers <= 2;
                shared.seen.subscribe().wait_for(others).await.unwrap();
                // A pass that begins from here on meets the gap.
                let passes = shared.seen.borrow().passes + 2;
                let met = |seen: &Seen| seen.passes >= passes;
                shared.seen.subscribe().wait_for(met).await.unwrap();
            }
            if random.random_range(0..10) == 0 {
                run(&mut conn, "ROLLBACK").await;
                continue;
            }
            run(&mut conn, "COMMIT").await;
            shared.seen.send_modify(|seen| seen.commits += 1);
            (at, next) = (now, end);
            whole.rows.extend(rows);
            let last = whole.rows.last().unwrap();
            (whole.job.current_row, whole.state) = (Some(last.id), Some(last.name.clone()));
        }
        let last = whole.rows.last().unwrap();
        if last.name.is_final() {
            shared.finished.lock().unwrap().push((job, last.id));
        }
        shared.log.lock().unwrap().insert(job, whole);
    }
    shared.seen.send_modify(|seen| seen.writers -= 1);
}

async fn insert(conn: &mut PgConnection, job: i64, step: &Step, at: i64) -> StateRow {
    let id: i64 = sqlx::query_scalar(
        "WITH s AS (INSERT INTO hangfire.state (jobid, name, reason, createdat, data) \
           VALUES ($1, $2, $3, to_timestamp($4::float8 / 1000), $5) RETURNING id), \
         j AS (UPDATE hangfire.job SET stateid = s.id, statename = $2 FROM s WHERE job.id = $1) \
         SELECT id FROM s",
    )
    .bind(job)
    .bind(step.name)
    .bind(&step.reason)
    .bind(at)
    .bind(&step.data)
    .fetch_one(conn)
    .await
    .unwrap();
    StateRow {
        id,
        name: StateName::parse(step.name),
        reason: step.reason.clone(),
        created_at: Instant::from_timestamp_millis(at).unwrap(),
        data: StateData::parse_column(Some(&step.data.to_string())),
        details_chars: None,
    }
}

/// Takes away jobs that are final and counted, until the writers are done; how many.
async fn expire(
    database: &TestDatabase,
    shared: &Shared,
    mut seen: watch::Receiver<Snapshot>,
) -> usize {
    let mut conn = database.connection().await;
    let mut expired = 0;
    while seen.changed().await.is_ok() {
        let read_to = {
            let live = seen.borrow_and_update();
            let Some(position) = &live.collecting.position else {
                continue;
            };
            let gap = position.gaps().first().map(|(first, _)| first - 1);
            gap.unwrap_or(position.watermark)
        };
        let gone: Vec<i64> = {
            let mut finished = shared.finished.lock().unwrap();
            let gone = finished.iter().filter(|(_, last)| *last <= read_to);
            let gone = gone.map(|(job, _)| *job).collect();
            finished.retain(|(_, last)| *last > read_to);
            gone
        };
        expired += gone.len();
        sqlx::query("DELETE FROM hangfire.job WHERE id = ANY($1)")
            .bind(gone)
            .execute(&mut conn)
            .await
            .unwrap();
    }
    expired
}

/// Whatever order they commit in, and although rows go away meanwhile, what is counted in the end
/// is what a log of all rows gives.
#[tokio::test]
async fn parallel_writers_are_counted_while_rows_expire() {
    let Some(database) = Database::postgres(&Fixture::of(BTreeMap::new())).await else {
        return;
    };
    let Kind::Postgres(server) = &database.kind else {
        return;
    };
    let shared = Shared {
        log: Mutex::default(),
        finished: Mutex::default(),
        seen: watch::Sender::new(Seen {
            commits: 0,
            passes: 0,
            writers: WRITERS,
        }),
        held: Semaphore::new(2),
    };
    let (live, seen) = watch::channel(Snapshot::default());
    let mut collector = Collector::new(Arc::clone(&database.store), Arc::new(SystemClock), live);
    collector.rows = 1_000;
    let writing = futures::future::join_all((0..WRITERS).map(|n| write(server, &shared, 50 + n)));
    let collecting = async {
        let mut with_gaps = 0;
        loop {
            let done = shared.seen.borrow().writers == 0;
            assert_ne!(collector.pass().await.unwrap(), Passed::Elsewhere);
            let position = collector.position.as_ref().unwrap();
            with_gaps += usize::from(!position.gaps().is_empty());
            shared.seen.send_modify(|seen| seen.passes += 1);
            if done {
                collect(&mut collector).await.unwrap();
                break;
            }
        }
        let position = collector.position.clone().unwrap();
        collector.leave().await;
        // Its channel closes, and nothing expires any more.
        drop(collector);
        (position, with_gaps)
    };
    let (_, expired, (position, with_gaps)) =
        futures::join!(writing, expire(server, &shared, seen), collecting);
    assert!(expired > 50, "{expired} jobs expired meanwhile");
    assert!(with_gaps > 10, "{with_gaps} passes met a gap");
    let log = shared.log.into_inner().unwrap();
    let rows: usize = log.values().map(|job| job.rows.len()).sum();
    assert_eq!(position.gaps(), []);
    assert_eq!(usize::try_from(position.rows).unwrap(), rows);
    let wanted = lines(&oracle::numbers(log.values()));
    same(&database.numbers().await, &wanted, "parallel writers");
}
