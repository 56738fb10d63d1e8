//! Pages beside the bare SQL for the same rows, in one run, as ratios.
//!
//! Needs `REDRIVE_BENCH_DATABASE`: a `postgres://` URL of a database filled by `load.sql` (see
//! `docs/benchmarks.md`). Starts the binary that `cargo bench` built, on a free loopback port, and
//! stops it.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that cannot measure should stop"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sqlx::postgres::PgPoolOptions;
use sqlx::{PgPool, Row};

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

    let mut server = Server::start(&url);
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

fn median(mut spans: Vec<Duration>) -> f64 {
    spans.sort();
    spans[spans.len() / 2].as_secs_f64() * 1000.0
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

struct Server {
    child: Child,
    connection: TcpStream,
    address: String,
    started_in: Duration,
}

impl Server {
    fn start(url: &str) -> Self {
        let began = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_redrive"))
            .args(["serve", "--bind", "127.0.0.1:0", "--database", url])
            .env("RUST_LOG", "error")
            .stdout(Stdio::piped())
            .spawn()
            .expect("redrive");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output");
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("its first line");
        let address = line
            .split("http://")
            .nth(1)
            .and_then(|rest| rest.split('/').next())
            .expect("its address")
            .to_owned();
        let connection = TcpStream::connect(&address).expect("a connection");
        connection.set_nodelay(true).expect("no delay");
        let mut server = Self {
            child,
            connection,
            address,
            started_in: Duration::ZERO,
        };
        server.get("/s/main/jobs?state=failed", "");
        server.started_in = began.elapsed();
        server
    }

    /// Bytes of the body over the wire, and the body.
    fn get(&mut self, path: &str, coding: &str) -> (usize, String) {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAccept-Encoding: {coding}\r\n\r\n",
            self.address
        );
        self.connection.write_all(request.as_bytes()).expect("sent");
        let mut reader = BufReader::new(&self.connection);
        let (mut length, mut chunked, mut status) = (0, false, String::new());
        reader.read_line(&mut status).expect("a status");
        assert!(status.contains(" 200 "), "{path}: {status}");
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a header");
            let line = line.trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().expect("a length");
            }
            chunked |= line == "transfer-encoding: chunked";
            if line.is_empty() {
                break;
            }
        }
        let mut body = Vec::new();
        if chunked {
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).expect("a chunk");
                let size = usize::from_str_radix(line.trim(), 16).expect("its size");
                let mut chunk = vec![0; size + 2];
                reader.read_exact(&mut chunk).expect("its bytes");
                if size == 0 {
                    break;
                }
                body.extend_from_slice(&chunk[..size]);
            }
        } else {
            body.resize(length, 0);
            reader.read_exact(&mut body).expect("the body");
        }
        (body.len(), String::from_utf8_lossy(&body).into_owned())
    }

    fn resident_mib(&self) -> f64 {
        let path = format!("/proc/{}/statm", self.child.id());
        let pages: f64 = std::fs::read_to_string(path)
            .ok()
            .and_then(|text| text.split(' ').nth(1)?.parse().ok())
            .unwrap_or_default();
        pages * 4096.0 / 1_048_576.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
