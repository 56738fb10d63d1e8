//! Killed with `kill -9` while it collects: what is counted in the end is what was there, once.

use std::sync::Arc;

use server::clock::SystemClock;
use server::store::postgres::PostgresStore;
use sqlx::{AssertSqlSafe, Connection as _};

use crate::running::Running;
use crate::scratch::Scratch;

/// Job g waits 10 ms and runs g % 7 ms; one in ten fails for good.
const JOBS: i64 = 12_000;
const ROWS: i64 = 3 * JOBS;
const FAILED: i64 = JOBS / 10;

const POSTGRES: &str = "
INSERT INTO hangfire.job (id, stateid, statename, invocationdata, arguments, createdat)
  SELECT g, g * 3 + 2, CASE WHEN g % 10 = 0 THEN 'Failed' ELSE 'Succeeded' END,
    '{\"Type\": \"Bookstore.Jobs.MailJob, Bookstore.Jobs\", \"Method\": \"RunAsync\"}', '[]',
    timestamptz '2026-11-02 08:00Z' + g * interval '1 s'
  FROM generate_series(1, 12000) g;
INSERT INTO hangfire.state (id, jobid, name, createdat, data)
  SELECT g * 3 + nth, g, CASE nth WHEN 0 THEN 'Enqueued' WHEN 1 THEN 'Processing' ELSE j.statename END,
    j.createdat + CASE nth WHEN 0 THEN 0 WHEN 1 THEN 10 ELSE 10 + g % 7 END * interval '1 ms',
    CASE nth WHEN 0 THEN '{\"Queue\": \"default\"}' ELSE '{\"ExceptionType\": \"E\"}' END::jsonb
  FROM generate_series(1, 12000) g JOIN hangfire.job j ON j.id = g, generate_series(0, 2) nth;
SELECT setval('hangfire.state_id_seq', 36002), setval('hangfire.job_id_seq', 12000);";

/// Ticks of the same times.
const SQLITE: &str = "
WITH RECURSIVE n (g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM n WHERE g < 12000)
INSERT INTO Job (Id, StateId, StateName, InvocationData, Arguments, CreatedAt, ExpireAt)
  SELECT g, 0, CASE WHEN g % 10 = 0 THEN 'Failed' ELSE 'Succeeded' END,
    '{\"Type\":\"Bookstore.Jobs.MailJob, Bookstore.Jobs\",\"Method\":\"RunAsync\"}', '[]',
    639292176000000000 + g * 10000000, 0
  FROM n;
WITH r (nth) AS (VALUES (0), (1), (2))
INSERT INTO State (Id, JobId, Name, CreatedAt, Data, ExpireAt)
  SELECT j.Id * 3 + nth, j.Id, CASE nth WHEN 0 THEN 'Enqueued' WHEN 1 THEN 'Processing' ELSE j.StateName END,
    j.CreatedAt + CASE nth WHEN 0 THEN 0 WHEN 1 THEN 10 ELSE 10 + j.Id % 7 END * 10000,
    CASE nth WHEN 0 THEN '{\"Queue\":\"default\"}' ELSE '{\"ExceptionType\":\"E\"}' END, 0
  FROM Job j, r ORDER BY j.Id, nth;";

/// What was counted: attempts by outcome, their waits and runs, first attempts, rounds, recovery,
/// jobs by state.
const COUNTED: [&str; 2] = [
    "SELECT 1::bigint, sum(attempts)::bigint FROM redrive.attempts WHERE outcome = 'succeeded' \
     UNION ALL SELECT 2, sum(attempts)::bigint FROM redrive.attempts WHERE outcome = 'failed' \
     UNION ALL SELECT 3, sum(waited_ms)::bigint FROM redrive.attempts \
     UNION ALL SELECT 4, sum(ran_ms)::bigint FROM redrive.attempts \
     UNION ALL SELECT 5, sum(succeeded)::bigint FROM redrive.first_attempts \
     UNION ALL SELECT 6, sum(ended)::bigint FROM redrive.first_attempts \
     UNION ALL SELECT 7, sum(rounds)::bigint FROM redrive.rounds \
     UNION ALL SELECT 8, sum(gave_up)::bigint FROM redrive.recovery \
     UNION ALL SELECT 9, value FROM redrive.gauges WHERE gauge = 'jobs' AND label = 'failed' \
     ORDER BY 1",
    "SELECT 1, sum(attempts) FROM redrive_attempts WHERE outcome = 'succeeded' \
     UNION ALL SELECT 2, sum(attempts) FROM redrive_attempts WHERE outcome = 'failed' \
     UNION ALL SELECT 3, sum(waited_ms) FROM redrive_attempts \
     UNION ALL SELECT 4, sum(ran_ms) FROM redrive_attempts \
     UNION ALL SELECT 5, sum(succeeded) FROM redrive_first_attempts \
     UNION ALL SELECT 6, sum(ended) FROM redrive_first_attempts \
     UNION ALL SELECT 7, sum(rounds) FROM redrive_rounds \
     UNION ALL SELECT 8, sum(gave_up) FROM redrive_recovery \
     UNION ALL SELECT 9, value FROM redrive_gauges WHERE gauge = 'jobs' AND label = 'failed' \
     ORDER BY 1",
];

/// How many rows were read; none before there is a position.
const READ: [&str; 2] = [
    "SELECT 0::bigint, (position::json->>'rows')::bigint FROM redrive.collector",
    "SELECT 0, json_extract(position, '$.rows') FROM redrive_collector",
];

const FREE: [&str; 2] = [
    "UPDATE redrive.collector SET held_until = now() - interval '1 s'",
    "UPDATE redrive_collector SET held_until = 0",
];

/// The tables that a write writes to, in their order.
const TABLES: [&str; 6] = [
    "attempts",
    "first_attempts",
    "rounds",
    "recovery",
    "gauges",
    "collector_job",
];

/// Whether the program waits for a lock.
const WAITS: &str = "SELECT count(*) FROM pg_stat_activity \
     WHERE datname = current_database() AND application_name = 'redrive' \
     AND wait_event_type = 'Lock'";

async fn read(scratch: &Scratch) -> i64 {
    let found = scratch
        .pairs(READ[usize::from(!scratch.is_postgres())])
        .await;
    found.first().map_or(0, |(_, rows)| *rows)
}

/// Stops it at each of its statements, and kills it there.
async fn killed_on_postgres(scratch: &Scratch) {
    let own = PostgresStore::connect(&scratch.url(), "hangfire", Arc::new(SystemClock));
    own.unwrap().migrate().await.unwrap();
    let mut look = scratch.connect().await;
    for table in TABLES {
        let mut holder = scratch.connect().await;
        let sql = format!("BEGIN; LOCK TABLE redrive.{table} IN SHARE MODE");
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&mut holder)
            .await
            .unwrap();
        let mut server = Running::start(&scratch.url());
        while sqlx::query_scalar::<_, i64>(WAITS)
            .fetch_one(&mut look)
            .await
            .unwrap()
            == 0
        {
            tokio::task::yield_now().await;
        }
        server.kill();
        holder.close().await.unwrap();
        scratch.settled().await;
        assert_eq!(read(scratch).await, 0, "{table}");
        scratch.run(FREE[0]).await;
    }
}

/// Kills it while it holds the file's lock, as often as that is met.
async fn killed_on_sqlite(scratch: &Scratch) {
    let mut conn = scratch.open().await;
    sqlx::query("PRAGMA busy_timeout = 0")
        .execute(&mut conn)
        .await
        .unwrap();
    let mut killed = 0;
    for _ in 0..4 {
        let mut server = Running::start(&scratch.url());
        while read(scratch).await < ROWS {
            if let Ok(mine) = conn.begin_with("BEGIN IMMEDIATE").await {
                mine.rollback().await.unwrap();
            } else {
                killed += 1;
                break;
            }
        }
        server.kill();
        scratch.run(FREE[1]).await;
    }
    assert!(killed > 0, "it was never met while it wrote");
}

async fn killed_while_it_collects(scratch: Scratch) {
    let at = usize::from(!scratch.is_postgres());
    scratch.run([POSTGRES, SQLITE][at]).await;
    if scratch.is_postgres() {
        killed_on_postgres(&scratch).await;
    } else {
        killed_on_sqlite(&scratch).await;
    }
    let _server = Running::start(&scratch.url());
    while read(&scratch).await < ROWS {
        tokio::task::yield_now().await;
    }
    assert_eq!(read(&scratch).await, ROWS);
    let ran = (1..=JOBS).map(|job| job % 7).sum();
    let wanted = [
        JOBS - FAILED,
        FAILED,
        10 * JOBS,
        ran,
        JOBS - FAILED,
        JOBS,
        JOBS,
        FAILED,
        FAILED,
    ];
    let wanted: Vec<(i64, i64)> = (1..).zip(wanted).collect();
    assert_eq!(scratch.pairs(COUNTED[at]).await, wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_collects_on_sqlite() {
    killed_while_it_collects(Scratch::sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_collects_on_postgres() {
    if let Some(scratch) = Scratch::postgres().await {
        killed_while_it_collects(scratch).await;
    }
}
