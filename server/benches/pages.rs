//! Pages beside the bare SQL for the same rows, in one run, as ratios.
//!
//! Needs `REDRIVE_BENCH_DATABASE`: a `postgres://` URL of a database filled by `load.sql` (see
//! `docs/benchmarks.md`). Starts the binary that `cargo bench` built, on a free loopback port, and
//! stops it.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that cannot measure should stop"
)]

use std::time::Instant;

use sqlx::postgres::PgPoolOptions;
use sqlx::{PgPool, Row};

#[path = "support/server.rs"]
mod server;

use server::{Server, median};

const ROUNDS: usize = 60;

const FIRST: &str = "SELECT j.id, j.statename, j.createdat, s.reason, s.createdat, \
    s.data->>'ExceptionType', left(s.data->>'ExceptionMessage', 300), \
    j.invocationdata->>'Type', j.invocationdata->>'Method', left(j.arguments::text, 300) \
    FROM hangfire.job j LEFT JOIN hangfire.state s ON s.id = j.stateid \
    WHERE j.statename = 'Failed' AND j.id < $1 ORDER BY j.id DESC LIMIT 51";
const STATES: &str = "SELECT id, name, reason, createdat, data::text FROM hangfire.state \
    WHERE jobid = $1 ORDER BY id";

#[tokio::main]
async fn main() {
    let Ok(url) = std::env::var("REDRIVE_BENCH_DATABASE") else {
        eprintln!("skipped: set REDRIVE_BENCH_DATABASE (see docs/benchmarks.md)");
        return;
    };
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .connect(&url)
        .await
        .expect("database");
    let jobs: i64 = sqlx::query("SELECT max(id) FROM hangfire.job")
        .fetch_one(&pool)
        .await
        .expect("jobs")
        .get(0);
    // In load.sql, the jobs with 15 state rows are the last 3 of every 20.
    let busy = jobs / 2 / 20 * 20 + 18;
    let middle = jobs / 2 + 1;

    let mut server = Server::start(&["--database", &url], "/s/main/jobs?state=failed");
    println!("memory, idle: {:.1} MiB", server.resident_mib());
    let first = "/s/main/jobs?state=failed".to_owned();
    let (_, body) = server.get(&first, "");
    let body = body.replace("&amp;", "&");
    let mut deep_page = older(&body).expect("an Older link").to_owned();
    // The same marker with another id: a page from the middle, without walking there.
    let mut parts = deep_page.rsplitn(2, "after=1.");
    let tail = parts
        .next()
        .unwrap_or_default()
        .split_once('.')
        .expect("a marker")
        .1
        .to_owned();
    deep_page = format!("{}after=1.{middle}.{tail}", parts.next().expect("a marker"));
    let job = format!("/s/main/jobs/{busy}");

    println!("{jobs} jobs, medians of {ROUNDS}, milliseconds");
    let rows = [
        ("failed list, first page", first.as_str(), FIRST, i64::MAX),
        (
            "failed list, from the middle",
            deep_page.as_str(),
            FIRST,
            middle,
        ),
        ("one job with 15 states", job.as_str(), STATES, busy),
    ];
    let mut pages = Vec::new();
    for (name, path, sql, argument) in rows {
        let (page, bare) = measure(&mut server, path, &pool, sql, argument).await;
        println!(
            "{name:32} page {page:7.2}   bare SQL {bare:7.2}   ratio {:6.2}   above {:6.2}",
            page / bare,
            page - bare
        );
        pages.push(page);
    }
    println!("middle over first: {:.2}", pages[1] / pages[0]);
    println!(
        "failed list, 50 rows, brotli: {} bytes",
        server.get(&first, "br").0
    );
    let files = assets(&body);
    let packed: usize = files.iter().map(|file| server.get(file, "br").0).sum();
    println!(
        "JS and WASM, brotli: {packed} bytes in {} files",
        files.len()
    );
    println!("memory after the run: {:.1} MiB", server.resident_mib());
    println!(
        "start to first answer: {} ms",
        server.started_in.as_millis()
    );
}

/// Alternates page and SQL, so that both see the same weather.
async fn measure(
    server: &mut Server,
    path: &str,
    pool: &PgPool,
    sql: &'static str,
    argument: i64,
) -> (f64, f64) {
    let (mut pages, mut bare) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS + 10 {
        let began = Instant::now();
        server.get(path, "");
        let page = began.elapsed();
        let began = Instant::now();
        sqlx::query(sql)
            .bind(argument)
            .fetch_all(pool)
            .await
            .expect("rows");
        let plain = began.elapsed();
        if round >= 10 {
            pages.push(page);
            bare.push(plain);
        }
    }
    (median(pages), median(bare))
}

fn older(html: &str) -> Option<&str> {
    html.split("href=\"")
        .map(|rest| rest.split('"').next().unwrap_or_default())
        .find(|href| href.contains("after=1."))
}

/// The scripts and the WASM that a page refers to.
fn assets(html: &str) -> Vec<&str> {
    html.split('"')
        .filter(|text| text.starts_with("/assets/"))
        .filter(|text| !text.contains(".css") && !text.contains(".svg"))
        .collect()
}
