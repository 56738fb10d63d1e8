//! What a long history costs: the overview and the sums behind it, with ten thousand jobs and with
//! ten million.
//!
//! Needs `REDRIVE_BENCH_SERVER`: a `postgres://` URL of a role that may create databases. It makes two
//! of its own there, fills their numbers by `history.sql`, and drops them.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that cannot measure should stop"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use app::model::insights::Scope;
use app::ports::error::StoreError;
use app::ports::insights::InsightStore;
use server::clock::SystemClock;
use server::store::postgres::PostgresStore;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

const ROUNDS: usize = 40;
const HISTORIES: [i64; 2] = [10_000, 10_000_000];
/// 2026-11-29 00:00 UTC, where the histories end.
const END: i64 = 498_816;

#[tokio::main]
async fn main() {
    let Ok(server) = std::env::var("REDRIVE_BENCH_SERVER") else {
        eprintln!("skipped: set REDRIVE_BENCH_SERVER (see docs/benchmarks.md)");
        return;
    };
    let mut admin = PgConnection::connect(&server).await.expect("the server");
    let mut histories = Vec::new();
    for jobs in HISTORIES {
        histories.push(History::new(&server, &mut admin, jobs).await);
    }
    println!("medians of {ROUNDS} in milliseconds: {HISTORIES:?} jobs");
    for path in ["/s/main", "/s/main/attempts"] {
        let times = each(&histories, |history| async { history.page(path) }).await;
        tell(path, times);
    }
    for what in [
        "first attempts",
        "rounds",
        "attempts",
        "recovery",
        "delays",
        "pending",
        "queues",
        "coverage",
    ] {
        let times = each(&histories, |history| history.sums(what)).await;
        tell(what, times);
    }
    for history in histories {
        history.end(&mut admin).await;
    }
}

fn tell(what: &str, times: [f64; 2]) {
    let [short, long] = times;
    println!(
        "{what:18} {short:8.2} {long:8.2}   ratio {:5.2}",
        long / short
    );
}

/// Alternates, so that both see the same weather.
async fn each<'a, F: Future<Output = Duration>>(
    histories: &'a [History],
    measure: impl Fn(&'a History) -> F,
) -> [f64; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS + 5 {
        for (times, history) in times.iter_mut().zip(histories) {
            let took = measure(history).await;
            if round >= 5 {
                times.push(took);
            }
        }
    }
    times.map(|mut times| {
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1_000.0
    })
}

struct History {
    name: String,
    store: PostgresStore,
    server: Child,
    address: String,
}

impl History {
    async fn new(server: &str, admin: &mut PgConnection, jobs: i64) -> Self {
        let name = format!("redrive_bench_history_{jobs}");
        run(
            admin,
            &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
        )
        .await;
        run(admin, &format!("CREATE DATABASE {name}")).await;
        let options: PgConnectOptions = server.parse().expect("a URL");
        let url = options.database(&name).to_url_lossy().to_string();
        let store =
            PostgresStore::connect(&url, "hangfire", Arc::new(SystemClock)).expect("a store");
        store.migrate_hangfire().await.expect("Hangfire's tables");
        store.migrate().await.expect("own tables");
        let mut conn = PgConnection::connect(&url).await.expect("the database");
        let sql = include_str!("history.sql").replace("JOBS", &jobs.to_string());
        run(&mut conn, &sql).await;
        run(&mut conn, "VACUUM ANALYZE").await;
        let (server, address) = serve(&url);
        Self {
            name,
            store,
            server,
            address,
        }
    }

    /// A page over a connection of its own.
    fn page(&self, path: &str) -> Duration {
        let began = Instant::now();
        let mut connection = TcpStream::connect(&self.address).expect("a connection");
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.address
        );
        connection.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        connection.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200 "), "{path}: {answer}");
        began.elapsed()
    }

    /// Sums over the last seven days of the history.
    async fn sums(&self, what: &str) -> Duration {
        let scope = Scope {
            from: END - 7 * 24,
            to: END,
            job_type: None,
            method: None,
            queue: None,
        };
        let began = Instant::now();
        self.read(what, &scope).await.expect("sums");
        began.elapsed()
    }

    async fn read(&self, what: &str, scope: &Scope) -> Result<(), StoreError> {
        let store = &self.store;
        match what {
            "first attempts" => store.first_attempts(scope, 1).await.map(drop),
            "rounds" => store.rounds(scope, 24).await.map(drop),
            "attempts" => store.attempts(scope).await.map(drop),
            "recovery" => store.recovery(scope).await.map(drop),
            "delays" => store.delays(scope).await.map(drop),
            "pending" => store.pending().await.map(drop),
            "queues" => store.counted_queues().await.map(drop),
            _ => store.coverage().await.map(drop),
        }
    }

    async fn end(mut self, admin: &mut PgConnection) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        self.store.close().await;
        run(admin, &format!("DROP DATABASE {} WITH (FORCE)", self.name)).await;
    }
}

fn serve(url: &str) -> (Child, String) {
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
        .and_then(|rest| rest.split('/').next());
    let address = address.expect("its address").to_owned();
    (child, address)
}

async fn run(conn: &mut PgConnection, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(conn)
        .await
        .expect("statements");
}
