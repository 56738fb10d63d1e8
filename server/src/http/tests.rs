//! The whole router over a recorded `SQLite` file: statuses, headers, words.

mod acting;
mod attempts;
mod claims;
mod events;
mod metrics;

use std::sync::Arc;

use app::links::Links;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::router::router;
use super::state::AppState;
use crate::clock::{SharedClock, SystemClock};
use crate::config::SourceConfig;
use crate::source::{Snapshot, SourceHandle};
use crate::store::sqlite::SqliteStore;

const RECORDED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../app/tests/fixtures/hangfire-storage-sqlite/hangfire.db"
);

struct Site {
    base: &'static str,
    state: AppState,
    folder: TempDir,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Site {
    /// Two sources over one recorded file: `main`, and `locked`, which is configured read-only.
    async fn at(base: &'static str) -> Self {
        Self::of(base, true).await
    }

    /// With or without own tables.
    async fn of(base: &'static str, own_tables: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hangfire.db");
        std::fs::copy(RECORDED, &file).unwrap();
        let clock: SharedClock = Arc::new(SystemClock);
        let store = Arc::new(SqliteStore::open(&file, clock.clone()).await.unwrap());
        if own_tables {
            store.migrate().await.unwrap();
        }
        let source = |name: &str, read_only| SourceHandle {
            config: Arc::new(SourceConfig {
                name: name.to_owned(),
                read_only,
                ..SourceConfig::main(file.display().to_string(), None)
            }),
            store: store.clone(),
            demo: watch::channel(None).1,
            live: watch::channel(Snapshot::default()).1,
            claims: Arc::default(),
        };
        let sources = vec![source("main", false), source("locked", true)];
        let stop = CancellationToken::new();
        let state = AppState::new(Links::new(base), clock, "ada".into(), sources, stop);
        Self {
            base,
            state,
            folder,
        }
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let response = router(self.state.clone()).oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    async fn get(&self, path: &str) -> Answer {
        let uri = format!("{}{path}", self.base);
        self.send(Request::get(uri).body(Body::empty()).unwrap())
            .await
    }

    async fn get_json(&self, path: &str) -> (StatusCode, serde_json::Value) {
        let request = Request::get(format!("{}{path}", self.base))
            .header(header::ACCEPT, "application/json")
            .body(Body::empty())
            .unwrap();
        let answer = self.send(request).await;
        (answer.status, serde_json::from_str(&answer.body).unwrap())
    }

    async fn post(&self, path: &str, form: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(format!("{}{path}", self.base))
            .header(header::HOST, "redrive.test")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::from(form.to_owned())).unwrap())
            .await
    }
}

#[tokio::test]
async fn every_page_answers_with_its_policy() {
    let site = Site::at("").await;
    for path in [
        "/s/main",
        "/s/main/jobs?state=failed",
        "/s/main/jobs/1",
        "/s/main/servers",
        "/s/main/audit",
    ] {
        let answer = site.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        let policy = answer.headers[header::CONTENT_SECURITY_POLICY]
            .to_str()
            .unwrap();
        let nonce = policy
            .split("'nonce-")
            .nth(1)
            .unwrap()
            .split('\'')
            .next()
            .unwrap();
        assert!(
            answer.body.contains(&format!("nonce=\"{nonce}\"")),
            "{path}"
        );
        assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store");
        assert!(
            !answer.body.contains(" style="),
            "{path} has an inline style"
        );
    }
}

#[tokio::test]
async fn a_trace_is_served_whole_as_plain_text() {
    let site = Site::at("").await;
    let page = site.get("/s/main/jobs?state=failed").await.body;
    let row = page.split("data-job=\"").nth(1).unwrap();
    let job = row.split('"').next().unwrap();
    let state = row
        .split("data-state-id=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let trace = site.get(&format!("/s/main/jobs/{job}/trace/{state}")).await;
    assert_eq!(trace.status, StatusCode::OK);
    assert_eq!(
        trace.headers[header::CONTENT_TYPE],
        "text/plain; charset=utf-8"
    );
    assert!(
        trace.body.contains("\n   at Bookstore.Jobs."),
        "{}",
        trace.body
    );
    for none in [
        format!("/s/main/jobs/{job}/trace/999"),
        format!("/s/main/jobs/x/trace/{state}"),
    ] {
        assert_eq!(
            site.get(&none).await.status,
            StatusCode::NOT_FOUND,
            "{none}"
        );
    }
    let none = site.get(&format!("/s/main/jobs/{job}/trace/999")).await;
    assert!(none.body.contains("no stack trace at state row 999"));
}

#[tokio::test]
async fn the_entry_goes_to_the_first_source() {
    let answer = Site::at("").await.get("/").await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(answer.headers[header::LOCATION], "/s/main");
}

#[tokio::test]
async fn a_slash_too_many_at_the_end_is_taken_away() {
    for base in ["", "/ops/redrive"] {
        let site = Site::at(base).await;
        for (path, there) in [
            ("/s/main/", "/s/main"),
            ("/s/main/jobs/?state=failed", "/s/main/jobs?state=failed"),
        ] {
            let answer = site.get(path).await;
            assert_eq!(answer.status, StatusCode::PERMANENT_REDIRECT, "{path}");
            let there = format!("{base}{there}");
            assert_eq!(answer.headers[header::LOCATION], there.as_str());
        }
        let answer = site.post("/s/main/", "", &[]).await;
        assert_ne!(answer.status, StatusCode::PERMANENT_REDIRECT);
    }
    // Browsers would go to another host.
    let site = Site::at("").await;
    for path in ["//elsewhere.test/", "/%5Celsewhere.test/"] {
        let answer = site.get(path).await;
        let to = answer.headers.get(header::LOCATION);
        assert!(to.is_none_or(|to| to == "/%5Celsewhere.test"), "{to:?}");
    }
}

/// A source whose database must not be written, and for which nothing stands in.
#[tokio::test]
async fn attempts_that_are_not_counted_say_what_would_change_it() {
    let site = Site::of("", false).await;
    let answer = site.get("/s/locked/attempts").await;
    assert_eq!(answer.status, StatusCode::OK);
    for words in ["attempts of this source are not counted", "state_dir"] {
        assert!(answer.body.contains(words), "{words}: {}", answer.body);
    }
    let (status, body) = site.get_json("/s/locked/attempts").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(body["message"].as_str().unwrap().contains("state_dir"));
}

#[tokio::test]
async fn what_does_not_exist_says_what_does() {
    let site = Site::at("").await;
    for (path, status, words) in [
        ("/s/nowhere/jobs", StatusCode::NOT_FOUND, "locked"),
        ("/s/main/jobs/4711", StatusCode::NOT_FOUND, "4711"),
        ("/s/main/jobs/abc", StatusCode::NOT_FOUND, "abc"),
        (
            "/s/main/jobs/99999999999999999999",
            StatusCode::NOT_FOUND,
            "99999999999999999999",
        ),
        ("/nonsense", StatusCode::NOT_FOUND, "/nonsense"),
        (
            "/s/main/jobs?state=burnt",
            StatusCode::BAD_REQUEST,
            "retrying",
        ),
        (
            "/s/main/jobs?state=failed&after=garbage",
            StatusCode::BAD_REQUEST,
            "marker",
        ),
        ("/s/main/jobs?limit=0", StatusCode::BAD_REQUEST, "limit"),
        (
            "/s/main/jobs/1?history_before=x",
            StatusCode::BAD_REQUEST,
            "history_before",
        ),
        ("/s/main/audit?before=x", StatusCode::BAD_REQUEST, "before"),
    ] {
        let answer = site.get(path).await;
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.body.contains(words), "{path} does not say {words}");
    }
    assert_eq!(
        site.get("/assets/theme.0.js").await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn programs_get_errors_as_json() {
    let site = Site::at("").await;
    let (status, body) = site.get_json("/s/nowhere/jobs").await;
    assert_eq!(
        (status, &body["error"]),
        (StatusCode::NOT_FOUND, &"unknown_source".into())
    );
    let (status, body) = site.get_json("/s/main/jobs/4711").await;
    assert_eq!(
        (status, &body["error"]),
        (StatusCode::NOT_FOUND, &"unknown_job".into())
    );
    let (status, body) = site.get_json("/s/main/jobs?state=burnt").await;
    assert_eq!(
        (status, &body["error"]),
        (StatusCode::BAD_REQUEST, &"malformed".into())
    );
}

#[tokio::test]
async fn another_site_may_not_act_and_is_told_why() {
    let site = Site::at("").await;
    let form = "source=main&job=1&state=Failed&state_id=1";
    for headers in [
        [("origin", "https://evil.example")].as_slice(),
        [("sec-fetch-site", "cross-site")].as_slice(),
        [("origin", "null")].as_slice(),
    ] {
        let answer = site.post("/api/requeue", form, headers).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{headers:?}");
        assert!(answer.body.contains("another site"), "{headers:?}");
    }
    // A proxy that ends TLS: same host, other scheme.
    let own = [
        ("origin", "https://redrive.test"),
        ("accept", "application/json"),
    ];
    let answer = site.post("/api/requeue", form, &own).await;
    assert_ne!(answer.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn actions_are_posted_never_fetched() {
    let site = Site::at("").await;
    let answer = site
        .get("/api/requeue?source=main&job=1&state=Failed&state_id=1")
        .await;
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn a_form_that_cannot_be_meant_is_answered_in_words() {
    let site = Site::at("").await;
    let json = [("accept", "application/json")];
    for (form, words) in [
        ("source=main&job=x&state=Failed&state_id=1", "job"),
        ("source=main&item=1:2", "job:state_id:state"),
        ("source=main&job=1&job=2&state=Failed&state_id=1", "job"),
        (
            "source=main&job=1&state=Failed&state_id=1&queue=No+Queue",
            "queue",
        ),
    ] {
        let answer = site.post("/api/requeue", form, &json).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{form}");
        assert!(answer.body.contains(words), "{form}: {}", answer.body);
    }
    let answer = site.post("/api/requeue", "source=nowhere", &json).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_read_only_source_refuses() {
    let site = Site::at("").await;
    let form = "source=locked&job=1&state=Failed&state_id=1";
    let answer = site
        .post("/api/delete", form, &[("accept", "application/json")])
        .await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    let body: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(body["outcome"], "refused");
    let page = site.post("/api/delete", form, &[]).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.body.contains("read-only"));
}

#[tokio::test]
async fn below_a_sub_path_nothing_else_is_served() {
    let site = Site::at("/ops/redrive").await;
    assert_eq!(site.get("/s/main").await.status, StatusCode::OK);
    let entry = site.get("/").await;
    assert_eq!(entry.headers[header::LOCATION], "/ops/redrive/s/main");
    let bare = site.get("").await;
    assert_eq!(bare.status, StatusCode::PERMANENT_REDIRECT);
    assert_eq!(bare.headers[header::LOCATION], "/ops/redrive/");
    for outside in ["/s/main", "/ops/redriveX", "/"] {
        let request = Request::get(outside).body(Body::empty()).unwrap();
        assert_eq!(
            site.send(request).await.status,
            StatusCode::NOT_FOUND,
            "{outside}"
        );
    }
}

#[tokio::test]
async fn assets_are_kept_for_a_year_and_come_compressed() {
    let site = Site::at("").await;
    let page = site.get("/s/main").await.body;
    let sheet = page.split("rel=\"stylesheet\" href=\"").nth(1).unwrap();
    let sheet = sheet.split('"').next().unwrap();
    let request = Request::get(sheet)
        .header(header::ACCEPT_ENCODING, "gzip")
        .body(Body::empty())
        .unwrap();
    let response = router(site.state.clone()).oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()[header::CONTENT_ENCODING], "gzip");
    assert_eq!(
        response.headers()[header::CONTENT_TYPE],
        "text/css; charset=utf-8"
    );
    assert!(
        response.headers()[header::CACHE_CONTROL]
            .to_str()
            .unwrap()
            .contains("immutable")
    );
}

#[tokio::test]
async fn the_process_is_healthy_before_a_source_answers() {
    let site = Site::at("").await;
    assert_eq!(site.get("/healthz").await.status, StatusCode::OK);
    let ready = site.get("/readyz").await;
    assert_eq!(ready.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(ready.body.contains("main: not looked at yet"));
}

/// The recorded file's jobs were never collected at first; then they are.
#[tokio::test]
async fn failed_jobs_are_listed_in_the_order_of_change_once_the_index_is_whole() {
    let site = Site::at("").await;
    let page = site.get("/s/main/jobs?state=failed").await;
    assert_eq!(page.status, StatusCode::OK);
    let words = "Newest job first, not in the order of change: no state row was read yet";
    assert!(page.body.contains(words), "{}", page.body);
    let source = &site.state.sources()[0];
    let live = watch::channel(Snapshot::default()).0;
    let mut collector =
        crate::collector::Collector::new(source.store.clone(), Arc::new(SystemClock), live);
    for _ in 0..3 {
        collector.pass().await.unwrap();
    }
    for list in ["failed", "retrying"] {
        let page = site.get(&format!("/s/main/jobs?state={list}")).await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(
            !page.body.contains("not in the order of change"),
            "{}",
            page.body
        );
        assert!(
            page.body
                .contains(r#"aria-current="true" data-order="changed""#),
            "{}",
            page.body
        );
    }
    for (query, words) in [
        ("state=failed&order=id", "newest job first"),
        ("state=failed&order=changed", "latest change first"),
        (
            "state=succeeded&order=changed",
            "only failed and retrying jobs",
        ),
        (
            "state=failed&exception=PermanentJobException&attempts_min=1",
            "latest change first",
        ),
    ] {
        let page = site.get(&format!("/s/main/jobs?{query}")).await;
        assert_eq!(page.status, StatusCode::OK, "{query}");
        assert!(page.body.contains(words), "{query}: {}", page.body);
    }
    let odd = site.get("/s/main/jobs?state=failed&order=size").await;
    assert_eq!(odd.status, StatusCode::BAD_REQUEST);
}
