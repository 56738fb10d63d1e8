//! The page of stale claims beside the bare SQL for the same rows, in one run.
//!
//! Needs `REDRIVE_BENCH_CLAIMS`: a `postgres://` URL of a database filled by `claims.sql` (see
//! `docs/benchmarks.md`). Starts the binary that `cargo bench` built, on a free loopback port, and
//! stops it.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that cannot measure should stop"
)]

use std::time::{Duration, Instant};

use sqlx::postgres::PgPoolOptions;
use sqlx::{PgPool, Row};

#[path = "support/server.rs"]
mod server;

use server::{Server, median};

const ROUNDS: usize = 120;

/// The page's rows, and one to see whether there are more.
const CLAIMS: &str = r#"SELECT "IdempotencyKey", "Status", "ClaimedAtUtc", "ProviderMessageId"
    FROM public."OutgoingEmails"
    WHERE "Status" = 0 AND "ClaimedAtUtc" < now() - interval '10 minutes'
    ORDER BY "ClaimedAtUtc", "IdempotencyKey" LIMIT 26"#;
const JOBS: &str = "SELECT j.id, j.statename, j.createdat, s.createdat, s.reason, \
    (j.invocationdata - 'Arguments')::text, j.arguments::text \
    FROM hangfire.job j LEFT JOIN hangfire.state s ON s.id = j.stateid \
    WHERE j.id = ANY($1) ORDER BY j.id";
const STATES: &str = "SELECT jobid, id, name, reason, createdat, (data - 'ExceptionDetails')::text \
    FROM hangfire.state WHERE jobid = ANY($1) ORDER BY id";

#[tokio::main]
async fn main() {
    let Ok(url) = std::env::var("REDRIVE_BENCH_CLAIMS") else {
        eprintln!("skipped: set REDRIVE_BENCH_CLAIMS (see docs/benchmarks.md)");
        return;
    };
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .connect(&url)
        .await
        .expect("database");
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("redrive.toml");
    std::fs::write(&config, configuration(&url)).expect("a configuration");
    let config = config.to_str().expect("a path");

    let page = "/s/main/claims";
    let mut server = Server::start(&["--config", config], page);
    // Until the jobs behind the claims are known, nothing is offered.
    let asked_first = Instant::now();
    while server.get(page, "").1.contains("still being looked for") {
        assert!(asked_first.elapsed() < Duration::from_mins(2), "no index");
        std::thread::sleep(Duration::from_millis(100));
    }
    let (mut pages, mut bare, mut claims, mut jobs, mut states) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS + 10 {
        let began = Instant::now();
        let (_, body) = server.get(page, "");
        let whole = began.elapsed();
        let rows = body.matches("data-claim=").count();
        assert_eq!(rows, 25, "the page shows its rows");
        let spans = plain(&pool).await;
        if round >= 10 {
            pages.push(whole);
            bare.push(spans.iter().sum());
            for (all, span) in [&mut claims, &mut jobs, &mut states].into_iter().zip(spans) {
                all.push(span);
            }
        }
    }
    let best = |spans: &[Duration]| spans.iter().min().expect("rounds").as_secs_f64() * 1000.0;
    let (best_page, best_bare) = (best(&pages), best(&bare));
    let (page_ms, bare_ms) = (median(pages), median(bare));
    println!("25 of the stale claims, medians of {ROUNDS}, milliseconds");
    println!(
        "page {page_ms:.2}   bare SQL {bare_ms:.2} (claims {:.2}, jobs {:.2}, states {:.2})   above {:.2}",
        median(claims),
        median(jobs),
        median(states),
        page_ms - bare_ms
    );
    println!(
        "at best: page {best_page:.2}   bare SQL {best_bare:.2}   above {:.2}",
        best_page - best_bare
    );
    println!("brotli: {} bytes", server.get(page, "br").0);
    println!("memory: {:.1} MiB", server.resident_mib());
    println!(
        "start to first answer: {} ms",
        server.started_in.as_millis()
    );
}

/// What the page has to read, and how long each statement takes.
async fn plain(pool: &PgPool) -> [Duration; 3] {
    let began = Instant::now();
    let claims = sqlx::query(CLAIMS).fetch_all(pool).await.expect("claims");
    let first = began.elapsed();
    let orders: Vec<i64> = claims
        .iter()
        .take(25)
        .map(|row| {
            let key: String = row.get(0);
            let order = key.rsplit(':').next().expect("an order");
            order.parse().expect("a number")
        })
        .collect();
    let began = Instant::now();
    sqlx::query(JOBS)
        .bind(&orders)
        .fetch_all(pool)
        .await
        .expect("jobs");
    let second = began.elapsed();
    let began = Instant::now();
    sqlx::query(STATES)
        .bind(&orders)
        .fetch_all(pool)
        .await
        .expect("states");
    [first, second, began.elapsed()]
}

fn configuration(url: &str) -> String {
    format!(
        r#"
        [[source]]
        name = "main"
        database = "{url}"
        [[source.claims]]
        name = "emails"
        table = "OutgoingEmails"
        key = "IdempotencyKey"
        status = "Status"
        claimed_at = "ClaimedAtUtc"
        provider_id = "ProviderMessageId"
        sending = 0
        sent = 1
        window = "24h"
        [[source.claims.keys]]
        pattern = "invoice-email:{{0}}"
        type = "InvoiceEmailJob"
        "#
    )
}
