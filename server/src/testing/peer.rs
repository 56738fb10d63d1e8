//! A real Hangfire server on a test's database: the program named by `REDRIVE_PEER`.

use std::ffi::OsStr;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::postgres::TestDatabase;

/// A running server; stopped with it.
pub struct Peer {
    address: SocketAddr,
    process: Child,
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Peer {
    /// Starts one on a `PostgreSQL` database; `None`, said loudly, where there is no program.
    pub async fn on_postgres(database: &TestDatabase, more: &[&str]) -> Option<Self> {
        let options: PgConnectOptions = database.url.parse().unwrap();
        let connection = format!(
            "Host={};Port={};Username={};Database={}",
            options.get_host(),
            options.get_port(),
            options.get_username(),
            options.get_database().unwrap()
        );
        Self::start("--Pg", connection.as_ref(), more).await
    }

    /// Starts one on an `SQLite` file, which it makes where there is none; `None`, said loudly,
    /// where there is no program.
    pub async fn on_sqlite(path: &Path, more: &[&str]) -> Option<Self> {
        Self::start("--Sqlite", path.as_os_str(), more).await
    }

    async fn start(kind: &str, database: &OsStr, more: &[&str]) -> Option<Self> {
        let Some(program) = std::env::var_os("REDRIVE_PEER") else {
            eprintln!("SKIPPED: REDRIVE_PEER is not set, nothing was tested with a real server");
            return None;
        };
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let process = Command::new(program)
            .arg(kind)
            .arg(database)
            .args(["--Url", &format!("http://{address}")])
            .args(["--ServerName", "peer", "--Workers", "4"])
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let peer = Self { address, process };
        until("the peer is up", async || peer.ask("GET", "/health").await).await;
        Some(peer)
    }

    /// Where it listens: `http://127.0.0.1:5080`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The body of a good answer.
    pub async fn ask(&self, method: &str, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect(self.address).await.ok()?;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            self.address
        );
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        answer
            .starts_with("HTTP/1.1 200")
            .then(|| answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }

    /// Creates a job of a kind; its id.
    pub async fn enqueue(&self, kind: &str, n: i64) -> i64 {
        let path = format!("/enqueue?kind={kind}&n={n}");
        let answer = self.ask("POST", &path).await.unwrap();
        number_after(&answer, '[')
    }

    /// Hangfire's own client requeues the job if it is Failed; whether it did.
    pub async fn requeue(&self, job: i64) -> bool {
        let path = format!("/requeue?id={job}&from=Failed");
        self.ask("POST", &path).await.unwrap().contains("true")
    }

    /// How many emails its provider has delivered.
    pub async fn deliveries(&self) -> i64 {
        let health = self.ask("GET", "/health").await.unwrap();
        let count = health.split_once("\"deliveries\"").unwrap().1;
        number_after(count, ':')
    }
}

/// The number after a mark. Bodies come in chunks, so they are no JSON as they are.
fn number_after(text: &str, mark: char) -> i64 {
    let rest = text.split_once(mark).unwrap().1;
    let digits: String = rest
        .trim_start_matches('"')
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().unwrap()
}

/// Asks again and again what another program has done, until there is an answer: there is nothing
/// of it to await.
pub async fn until<T>(what: &str, question: impl AsyncFn() -> Option<T>) -> T {
    for _ in 0..3_000 {
        if let Some(answer) = question().await {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("not within a minute: {what}");
}
