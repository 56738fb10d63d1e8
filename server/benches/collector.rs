//! The collector: state rows per second, and how much room its numbers take.
//!
//! Needs `REDRIVE_BENCH_SERVER`: a `postgres://` URL of a role that may create databases. It makes
//! one of its own there, fills it by `load.sql`, and drops it. `REDRIVE_BENCH_JOBS` says with how
//! many jobs (200,000: 960,000 state rows).

#![expect(
    clippy::expect_used,
    reason = "a benchmark that cannot measure should stop"
)]

use std::sync::Arc;
use std::time::Instant;

use app::ports::collector::CollectorStore;
use server::clock::SystemClock;
use server::collector::{Collector, Passed};
use server::source::Snapshot;
use server::store::postgres::PostgresStore;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _};
use tokio::sync::watch;

const NAME: &str = "redrive_bench_collector";
const RUNS: usize = 3;
/// Days that `load.sql` spreads its jobs over, and the types of its jobs.
const DAYS: i64 = 14;
const TYPES: i64 = 12;

const TABLES: [&str; 10] = [
    "collector",
    "collector_job",
    "attempts",
    "first_attempts",
    "rounds",
    "recovery",
    "delays",
    "gauges",
    "failure_groups",
    "failures",
];

#[tokio::main]
async fn main() {
    let Ok(server) = std::env::var("REDRIVE_BENCH_SERVER") else {
        eprintln!("skipped: set REDRIVE_BENCH_SERVER (see docs/benchmarks.md)");
        return;
    };
    let jobs: i64 = std::env::var("REDRIVE_BENCH_JOBS")
        .map_or(200_000, |jobs| jobs.parse().expect("a number of jobs"));
    let mut admin = PgConnection::connect(&server).await.expect("the server");
    let drop = format!("DROP DATABASE IF EXISTS {NAME} WITH (FORCE)");
    run(&mut admin, &drop).await;
    run(&mut admin, &format!("CREATE DATABASE {NAME}")).await;
    let options: PgConnectOptions = server.parse().expect("a URL");
    let url = options.database(NAME).to_url_lossy().to_string();
    measure(&url, jobs).await;
    run(&mut admin, &drop).await;
}

async fn measure(url: &str, jobs: i64) {
    let store = PostgresStore::connect(url, "hangfire", Arc::new(SystemClock)).expect("a store");
    store.migrate_hangfire().await.expect("Hangfire's tables");
    store.migrate().await.expect("own tables");
    let mut conn = PgConnection::connect(url).await.expect("the database");
    load(&mut conn, jobs).await;
    let store: Arc<dyn CollectorStore> = Arc::new(store);
    let mut rates = Vec::new();
    for _ in 0..RUNS {
        run(
            &mut conn,
            &format!("TRUNCATE redrive.{}", TABLES.join(", redrive.")),
        )
        .await;
        let (rows, seconds) = collect(&store).await;
        println!("{rows} state rows in {seconds:.2} s");
        rates.push(rows / seconds);
    }
    rates.sort_by(f64::total_cmp);
    println!(
        "state rows per second, median of {RUNS}: {:.0}",
        rates[RUNS / 2]
    );
    for table in TABLES {
        let row = sqlx::query(AssertSqlSafe(format!(
            "SELECT pg_total_relation_size('redrive.{table}') AS bytes, \
             (SELECT count(*) FROM redrive.{table}) AS rows"
        )))
        .fetch_one(&mut conn)
        .await
        .expect("a size");
        let (bytes, rows): (i64, i64) = (row.get("bytes"), row.get("rows"));
        println!(
            "{table:16} {rows:9} rows {bytes:11} bytes, per job type and day {:9}",
            bytes / DAYS / TYPES
        );
    }
}

/// `load.sql` without what only psql understands.
async fn load(conn: &mut PgConnection, jobs: i64) {
    let sql = include_str!("load.sql").replace(":jobs", &jobs.to_string());
    let sql: Vec<&str> = sql.lines().filter(|line| !line.starts_with('\\')).collect();
    run(conn, &sql.join("\n")).await;
    run(conn, "VACUUM ANALYZE").await;
}

/// Reads everything; how many rows, in how many seconds.
async fn collect(store: &Arc<dyn CollectorStore>) -> (f64, f64) {
    let (live, seen) = watch::channel(Snapshot::default());
    let mut collector = Collector::new(Arc::clone(store), Arc::new(SystemClock), live);
    let began = Instant::now();
    while collector.pass().await.expect("a pass") == Passed::More {}
    let took = began.elapsed().as_secs_f64();
    collector.leave().await;
    let position = seen.borrow().collecting.position.clone();
    let rows = position.expect("a position").rows;
    (f64::from(i32::try_from(rows).expect("few rows")), took)
}

async fn run(conn: &mut PgConnection, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(conn)
        .await
        .expect("statements");
}
