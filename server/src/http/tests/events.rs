//! Streams and drawings over a source whose database is not there: whatever asked it would fail.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use app::links::Links;
use app::model::collect::batch::JobRow;
use app::model::data::StateData;
use app::model::state::{Instant, ListState, StateName, StateRow};
use app::ports::jobs::StateCounts;
use app::ports::source::{Access, Dialect, NumbersIn, SourceInfo};
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use axum::response::Response;
use futures::StreamExt;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::clock::{SharedClock, SystemClock};
use crate::config::SourceConfig;
use crate::http::router::router;
use crate::http::state::AppState;
use crate::source::arrivals::Arrivals;
use crate::source::{Snapshot, SourceHandle};
use crate::store::sqlite::SqliteStore;

/// Longer than anything takes that shall happen at once.
const SOON: Duration = Duration::from_secs(10);

struct Watched {
    state: AppState,
    sender: watch::Sender<Snapshot>,
    stop: CancellationToken,
}

fn snapshot(failed: i64) -> Snapshot {
    Snapshot {
        counts: Some(Arc::new(StateCounts {
            by_state: BTreeMap::from([(ListState::Failed, failed)]),
            other: BTreeMap::new(),
            no_state: 0,
            as_of: Instant::default(),
            exact: true,
        })),
        info: Some(Arc::new(SourceInfo {
            dialect: Dialect::Sqlite,
            server_version: "3.50".into(),
            schema_version: None,
            access: Access::ReadWrite,
            numbers: NumbersIn::Database,
            clock_skew_ms: 0,
        })),
        ..Snapshot::default()
    }
}

impl Watched {
    fn at(base: &str) -> Self {
        let clock: SharedClock = Arc::new(SystemClock);
        let file = std::env::temp_dir().join("redrive-there-is-no-such.db");
        let (sender, live) = watch::channel(snapshot(3));
        let source = SourceHandle {
            config: Arc::new(SourceConfig::main(file.display().to_string(), None)),
            store: Arc::new(SqliteStore::lazy(&file, clock.clone(), None)),
            demo: watch::channel(None).1,
            live,
            claims: Arc::default(),
        };
        let stop = CancellationToken::new();
        let links = Links::new(base);
        Self {
            state: AppState::new(links, clock, "ada".into(), vec![source], stop.clone()),
            sender,
            stop,
        }
    }

    async fn get(&self, uri: &str) -> Response {
        let request = Request::get(uri)
            .header(header::ACCEPT_ENCODING, "gzip, br")
            .body(Body::empty())
            .unwrap();
        router(self.state.clone()).oneshot(request).await.unwrap()
    }

    /// How often the database was asked.
    fn reads(&self) -> u64 {
        let counted = self.state.sources()[0].store.read_times().counted();
        let ends = counted.iter();
        ends.map(|end| end.get_histogram().get_sample_count()).sum()
    }

    async fn stream(&self, uri: &str) -> Stream {
        let response = self.get(uri).await;
        assert_eq!(response.status(), StatusCode::OK, "{uri}");
        assert_eq!(
            response.headers()[header::CONTENT_TYPE],
            "text/event-stream"
        );
        // Compressed, or held back by a proxy, it would come late.
        assert!(!response.headers().contains_key(header::CONTENT_ENCODING));
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        Stream {
            body: response.into_body().into_data_stream(),
        }
    }
}

struct Stream {
    body: axum::body::BodyDataStream,
}

impl Stream {
    /// The next event; `None` where the stream has ended.
    async fn next(&mut self) -> Option<Value> {
        let chunk = timeout(SOON, self.body.next()).await.unwrap()?.unwrap();
        let text = String::from_utf8(chunk.to_vec()).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("event: snapshot"), "{text}");
        let data = lines.next().unwrap().strip_prefix("data: ").unwrap();
        Some(serde_json::from_str(data).unwrap())
    }

    async fn failed(&mut self) -> Value {
        self.next().await.unwrap()["figures"]["failed"].clone()
    }
}

#[tokio::test]
async fn the_first_event_comes_at_once_and_says_what_the_page_shows() {
    let watched = Watched::at("/ops");
    let mut stream = watched.stream("/ops/s/main/events").await;
    let event = stream.next().await.unwrap();
    let failed = &event["figures"]["failed"];
    assert_eq!(failed["text"], "3");
    assert_eq!(failed["value"], "3");
    assert_eq!(failed["bad"], true);
    assert_eq!(failed["as_of"], "1970-01-01T00:00:00Z");
    assert_eq!(event["times"]["counted"], "1970-01-01T00:00:00Z");
    // What is not known is never 0.
    let first = &event["figures"]["first-attempt-success"];
    assert_eq!(
        (&first["text"], &first["value"]),
        (&"\u{2013}".into(), &Value::Null)
    );
    assert_eq!(event["trouble"], Value::Null);
}

#[tokio::test]
async fn an_event_comes_when_something_has_changed_and_only_then() {
    let watched = Watched::at("");
    let mut stream = watched.stream("/s/main/events").await;
    assert_eq!(stream.failed().await["value"], "3");
    watched.sender.send_modify(|_| ());
    watched.sender.send_replace(snapshot(4));
    assert_eq!(stream.failed().await["value"], "4");
    watched
        .sender
        .send_modify(|seen| seen.trouble = Some("the database does not answer".into()));
    let event = stream.next().await.unwrap();
    assert_eq!(event["trouble"], "the database does not answer");
    assert_eq!(event["figures"]["failed"]["value"], "4");
}

#[tokio::test]
async fn a_stream_ends_when_the_program_stops() {
    let watched = Watched::at("");
    let mut open = watched.stream("/s/main/events").await;
    open.next().await.unwrap();
    watched.stop.cancel();
    assert_eq!(open.next().await, None);
    // One that is opened while the program stops ends too.
    assert_eq!(watched.stream("/s/main/events").await.next().await, None);
}

#[tokio::test]
async fn a_page_that_is_closed_leaves_nothing_behind() {
    let watched = Watched::at("");
    let before = watched.sender.receiver_count();
    let mut stream = watched.stream("/s/main/events").await;
    stream.next().await.unwrap();
    assert_eq!(watched.sender.receiver_count(), before + 1);
    drop(stream);
    assert_eq!(watched.sender.receiver_count(), before);
}

#[tokio::test]
async fn what_came_into_a_list_is_counted_from_what_the_page_knows() {
    let watched = Watched::at("");
    let row = |id, job| JobRow {
        job,
        row: StateRow {
            id,
            name: StateName::Failed,
            reason: None,
            created_at: Instant::default(),
            data: StateData::default(),
            details_chars: None,
        },
    };
    let mut arrivals = Arrivals::after(10);
    arrivals.take(&[row(11, 1), row(12, 2), row(13, 3)]);
    watched
        .sender
        .send_modify(|seen| seen.collecting.arrivals = Some(Arc::new(arrivals)));
    let new = async |uri: &str| watched.stream(uri).await.next().await.unwrap()["new"].clone();
    let one = new("/s/main/events?list=failed&since=12").await;
    assert_eq!((&one["jobs"], &one["at_least"]), (&1.into(), &false.into()));
    let all = new("/s/main/events?list=failed&since=3").await;
    assert_eq!((&all["jobs"], &all["at_least"]), (&3.into(), &true.into()));
    assert_eq!(
        new("/s/main/events?list=enqueued&since=12").await["jobs"],
        0
    );
    // Of all jobs those that were created since, whatever their state.
    let created = new("/s/main/events?list=all&since=11&job=2").await;
    assert_eq!(created["jobs"], 1);
    assert_eq!(new("/s/main/events").await, Value::Null);
    for wrong in [
        "list=burnt&since=1",
        "list=failed&since=x",
        "list=failed",
        "list=all&since=1",
    ] {
        let answer = watched.get(&format!("/s/main/events?{wrong}")).await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{wrong}");
    }
    let unknown = watched.get("/s/nowhere/events").await;
    assert_eq!(unknown.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn sixty_four_viewers_ask_the_database_as_little_as_one() {
    let watched = Watched::at("");
    let mut streams = Vec::new();
    for _ in 0..64 {
        let mut stream = watched.stream("/s/main/events").await;
        assert_eq!(stream.failed().await["value"], "3");
        streams.push(stream);
    }
    watched.sender.send_replace(snapshot(4));
    for stream in &mut streams {
        assert_eq!(stream.failed().await["value"], "4");
        let charts = watched.get("/s/main/charts").await;
        assert_eq!(charts.status(), StatusCode::OK);
    }
    assert_eq!(watched.reads(), 0);
    // What does ask it is counted, and cannot be answered.
    let page = watched.get("/s/main").await;
    assert_eq!(page.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_ne!(watched.reads(), 0);
}
