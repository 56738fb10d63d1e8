//! With a real Hangfire server on the same database.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// A running server; stopped with it.
struct Peer {
    process: Child,
    port: u16,
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Peer {
    /// Starts one on the database; `None`, said loudly, where there is no program.
    async fn start(database: &TestDatabase) -> Option<Self> {
        let Some(program) = std::env::var_os("REDRIVE_PEER") else {
            eprintln!("SKIPPED: REDRIVE_PEER is not set, nothing was tested with a real server");
            return None;
        };
        let options: PgConnectOptions = database.url.parse().unwrap();
        let port = TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let process = Command::new(program)
            .arg("--Pg")
            .arg(format!(
                "Host={};Port={};Username={};Database={}",
                options.get_host(),
                options.get_port(),
                options.get_username(),
                options.get_database().unwrap()
            ))
            .args(["--Url", &format!("http://127.0.0.1:{port}")])
            .args(["--ServerName", "peer-1", "--Workers", "4"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let peer = Self { process, port };
        until("the peer is up", async || {
            peer.ask("GET", "/health").await.is_some()
        })
        .await;
        Some(peer)
    }

    /// The body of a good answer.
    async fn ask(&self, method: &str, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.ok()?;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\
             Connection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        answer
            .starts_with("HTTP/1.1 200")
            .then(|| answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }

    async fn enqueue(&self, kind: &str, n: i64) -> i64 {
        let answer = self
            .ask("POST", &format!("/enqueue?kind={kind}&n={n}"))
            .await
            .unwrap();
        // The body may be chunked; the list holds one id.
        let list = &answer[answer.find('[').unwrap()..answer.find(']').unwrap()];
        let id: String = list.chars().filter(char::is_ascii_digit).collect();
        id.parse().unwrap()
    }

    /// Hangfire's own client requeues the job if it is Failed; whether it did.
    async fn requeue(&self, job: i64) -> bool {
        self.ask("POST", &format!("/requeue?id={job}&from=Failed"))
            .await
            .unwrap()
            .contains("true")
    }
}

/// Waits for what another program does; there is nothing of it to await.
async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    for _ in 0..1200 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("not within a minute: {what}");
}

/// The states of a job, in order.
async fn states(database: &TestDatabase, job: i64) -> Vec<String> {
    sqlx::query_scalar("SELECT name FROM hangfire.state WHERE jobid = $1 ORDER BY id")
        .bind(job)
        .fetch_all(&mut database.connection().await)
        .await
        .unwrap()
}

async fn state(database: &TestDatabase, job: i64) -> Option<String> {
    sqlx::query_scalar("SELECT statename FROM hangfire.job WHERE id = $1")
        .bind(job)
        .fetch_one(&mut database.connection().await)
        .await
        .unwrap()
}

/// The job has come to rest in this state, and no worker has a row of it.
async fn rests(database: &TestDatabase, job: i64, name: &str) -> bool {
    state(database, job).await.as_deref() == Some(name)
        && queue_rows(database, job).await.is_empty()
}

async fn failed_job(kind: &str) -> Option<(TestDatabase, Peer, i64)> {
    let database = TestDatabase::empty().await?;
    let peer = Peer::start(&database).await?;
    own_tables(&database).await;
    let job = peer.enqueue(kind, 1).await;
    until("the job has failed", async || {
        rests(&database, job, "Failed").await
    })
    .await;
    Some((database, peer, job))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_requeued_job_is_run_by_a_real_server_once() {
    let Some((database, _peer, job)) = failed_job("once").await else {
        return;
    };
    assert_eq!(
        states(&database, job).await,
        ["Enqueued", "Processing", "Failed"]
    );
    let outcome = act(&database, job, requeue()).await;
    done(&outcome);
    until("it has run again", async || {
        states(&database, job).await.len() >= 6 && rests(&database, job, "Failed").await
    })
    .await;
    // Deleted, and its delete undone, it does not run; requeued to another queue, it does.
    done(&act(&database, job, Action::Delete).await);
    done(&act(&database, job, Action::UndoDelete).await);
    let critical = Action::Requeue(Enqueue {
        queue: Some("critical".to_owned()),
        reset_retries: false,
    });
    done(&act(&database, job, critical).await);
    until("it has run once more", async || {
        states(&database, job).await.len() >= 11 && rests(&database, job, "Failed").await
    })
    .await;
    assert_eq!(
        states(&database, job).await,
        [
            "Enqueued",
            "Processing",
            "Failed",
            "Enqueued",
            "Processing",
            "Failed",
            "Deleted",
            "Failed",
            "Enqueued",
            "Processing",
            "Failed"
        ]
    );
}

/// Hangfire and we requeue the same job at the same moment, again and again: each run that starts
/// was asked for by exactly one of us.
#[tokio::test(flavor = "multi_thread")]
async fn hangfire_and_we_never_run_a_job_twice() {
    let Some((database, peer, job)) = failed_job("once").await else {
        return;
    };
    let store = store(&database);
    let (mut ours, mut theirs) = (0, 0);
    for round in 0..25 {
        let request = seen(&database, job, requeue()).await;
        let (by_us, also_by_us, by_them, also_by_them) = tokio::join!(
            store.act(SystemClock.new_id(), &request),
            store.act(SystemClock.new_id(), &request),
            peer.requeue(job),
            peer.requeue(job),
        );
        for outcome in [by_us, also_by_us] {
            match outcome.unwrap() {
                Outcome::Done { .. } => ours += 1,
                Outcome::Moved { .. } | Outcome::Busy { .. } => {}
                other => panic!("{other:?}"),
            }
        }
        theirs += usize::from(by_them) + usize::from(also_by_them);
        until("the job has failed again", async || {
            rests(&database, job, "Failed").await
        })
        .await;
        assert!(
            ours + theirs > round,
            "somebody requeued it in round {round}"
        );
    }
    let states = states(&database, job).await;
    for name in ["Enqueued", "Processing", "Failed"] {
        let rows = states.iter().filter(|state| *state == name).count();
        assert_eq!(
            rows,
            1 + ours + theirs,
            "{name}: {ours} ours, {theirs} theirs"
        );
    }
    assert_eq!(
        count(&database, "SELECT count(*) FROM hangfire.lock").await,
        0
    );
}

/// A requeue of a job that is being run is refused while its server lives.
#[tokio::test(flavor = "multi_thread")]
async fn a_running_job_is_left_to_its_server() {
    let Some(database) = TestDatabase::empty().await else {
        return;
    };
    let Some(peer) = Peer::start(&database).await else {
        return;
    };
    own_tables(&database).await;
    let job = peer.enqueue("slow", 2).await;
    until("it runs", async || {
        state(&database, job).await.as_deref() == Some("Processing")
    })
    .await;
    assert!(refused(&act(&database, job, requeue()).await).contains("It is running"));
    until("it has succeeded", async || {
        rests(&database, job, "Succeeded").await
    })
    .await;
    assert_eq!(
        states(&database, job).await,
        ["Enqueued", "Processing", "Succeeded"]
    );
}
