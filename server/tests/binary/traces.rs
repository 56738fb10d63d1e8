//! 500 failed jobs with stack traces of 300 kB each: their list costs what the list of the same
//! jobs without traces costs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::running::Running;
use crate::scratch::Scratch;

const LIST: &str = "/s/main/jobs?state=failed&limit=50";
const KB: usize = 1_000;
const MIB: u64 = 1 << 20;

/// Fills a database with the jobs; `traces` says whether they have their traces.
async fn fill(scratch: &Scratch, traces: bool) {
    let mut sql = if scratch.is_postgres() {
        include_str!("traces/postgres.sql")
    } else {
        include_str!("traces/sqlite.sql")
    }
    .to_owned();
    if !traces {
        // The last statement gives the failures their traces.
        let (rows, _) = sql.split_once("-- traces").unwrap();
        sql = rows.to_owned();
    }
    scratch.run(&sql).await;
}

async fn list_is_light(with: &Scratch, twin: &Scratch) {
    fill(with, true).await;
    fill(twin, false).await;
    let server = Running::start(&with.url());
    let light = Running::start(&twin.url()).get(LIST).await;
    let heavy = server.get(LIST).await;
    assert_eq!((heavy.status, light.status), (200, 200));
    for page in [&heavy, &light] {
        assert_eq!(page.body.matches("data-job=").count(), 50);
        assert!(page.body.len() <= 200 * KB, "{} bytes", page.body.len());
    }
    let (heavy, light) = (heavy.body.len(), light.body.len());
    assert!(
        heavy.abs_diff(light) * 20 <= light,
        "{heavy} bytes are more than 5 % away from {light}"
    );

    let before = server.resident();
    for _ in 0..100 {
        assert_eq!(server.get(LIST).await.status, 200);
    }
    let grown = server.resident().saturating_sub(before);
    assert!(grown <= 32 * MIB, "it grew by {} MiB", grown / MIB);

    let job = server.get("/s/main/jobs/3500500").await;
    assert_eq!(job.status, 200);
    assert!(job.body.len() <= 500 * KB, "{} bytes", job.body.len());
    assert!(job.body.contains("300 kB"), "it says how long the trace is");
    let rest = "/s/main/jobs/3500500/trace/35005003";
    assert!(job.body.contains(rest), "it offers the rest");
    let whole = server.get(rest).await.body;
    assert!(whole.len() >= 300 * KB, "{} bytes", whole.len());
    let first = whole.lines().next().unwrap();
    assert!(job.body.contains(first.trim()), "it shows the beginning");
}

#[tokio::test]
async fn traces_cost_the_list_nothing_on_sqlite() {
    list_is_light(&Scratch::sqlite().await, &Scratch::sqlite().await).await;
}

#[tokio::test]
async fn traces_cost_the_list_nothing_on_postgres() {
    let (Some(with), Some(twin)) = (Scratch::postgres().await, Scratch::postgres().await) else {
        return;
    };
    list_is_light(&with, &twin).await;

    let (port, read) = counted(with.server()).await;
    let server = Running::start(&with.url_through(port));
    server.get(LIST).await;
    let before = read.load(Ordering::SeqCst);
    server.get(LIST).await;
    let bytes = read.load(Ordering::SeqCst) - before;
    assert!(bytes > 0, "the page is read through the counter");
    assert!(bytes <= 1_000_000, "{bytes} bytes from the database");
}

/// Best of 20 of the list, in milliseconds.
async fn best(server: &Running) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        let began = Instant::now();
        server.get(LIST).await;
        best = best.min(began.elapsed().as_secs_f64() * 1_000.0);
    }
    best
}

#[tokio::test]
#[ignore = "a benchmark: see docs/benchmarks.md"]
async fn how_long_the_list_takes_beside_its_twin() {
    let mut both = vec![("SQLite", Scratch::sqlite().await, Scratch::sqlite().await)];
    if let (Some(with), Some(twin)) = (Scratch::postgres().await, Scratch::postgres().await) {
        both.push(("PostgreSQL", with, twin));
    }
    for (name, with, twin) in both {
        fill(&with, true).await;
        fill(&twin, false).await;
        let with = best(&Running::start(&with.url())).await;
        let twin = best(&Running::start(&twin.url())).await;
        println!(
            "{name:10}  with traces {with:6.2} ms   twin {twin:6.2} ms   ratio {:.2}",
            with / twin
        );
    }
}

/// A way to a database server that counts the bytes that come from it: its port, and the count.
async fn counted(target: (String, u16)) -> (u16, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicU64::new(0));
    let counting = count.clone();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect((target.0.as_str(), target.1))
                .await
                .unwrap();
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, mut to_server) = server.into_split();
            tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut to_server).await });
            let counting = counting.clone();
            tokio::spawn(async move {
                let mut bytes = vec![0; 65_536];
                while let Ok(n @ 1..) = from_server.read(&mut bytes).await {
                    counting.fetch_add(n as u64, Ordering::SeqCst);
                    if to_client.write_all(&bytes[..n]).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    (port, count)
}
