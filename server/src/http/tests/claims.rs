//! Claims, over a recorded file: the page, the actions, and what forms may not say.

use app::links::claims::item;
use axum::Router;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};
use sqlx::SqlitePool;
use tokio::net::TcpListener;

use super::*;
use crate::config::ConfigFile;
use crate::source::claims::SourceClaims;
use crate::source::sampler;

const CLAIMS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../app/tests/fixtures/claims/sqlite/claims.db"
);

/// Four claims: 43 was sent; 44 to 46 are Sending for longer than ten minutes, and their jobs say
/// Succeeded because the retry skipped. The attempt that holds 44 failed with an exception that
/// proves that nothing was sent; the claim times of 45 and 46 are older than any attempt.
struct Claims {
    site: Site,
    pool: SqlitePool,
    stop: CancellationToken,
}

impl Drop for Claims {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn provider() -> String {
    async fn answer(Path(key): Path<String>) -> Response {
        match key.as_str() {
            "invoice-email:45" => r#"{"messageId": "msg-0045"}"#.into_response(),
            "invoice-email:46" => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = Router::new().route("/emails/{key}", get(answer));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    format!("http://{address}/emails/{{key}}")
}

impl Claims {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("claims.db");
        std::fs::copy(CLAIMS, &file).unwrap();
        let text = format!(
            r#"
            [[source]]
            name = "main"
            database = "{database}"
            [[source.claims]]
            name = "emails"
            table = "OutgoingEmails"
            key = "IdempotencyKey"
            status = "Status"
            claimed_at = "ClaimedAtUtc"
            provider_id = "ProviderMessageId"
            sending = 0
            sent = 1
            retention = "1s"
            window = "1s"
            nothing_sent_on = ["SupplierUnavailableException"]
            [[source.claims.keys]]
            pattern = "invoice-email:{{0}}"
            type = "InvoiceEmailJob"
            [source.claims.provider]
            url = "{url}"
            "#,
            database = file.display(),
            url = provider().await
        );
        let config = toml::from_str::<ConfigFile>(&text)
            .unwrap()
            .sources
            .remove(0);
        let clock: SharedClock = Arc::new(SystemClock);
        let store = Arc::new(SqliteStore::open(&file, clock.clone()).await.unwrap());
        store.migrate().await.unwrap();
        let pool = store.writer().await.unwrap();
        let claims = Arc::new(SourceClaims::of(&config).unwrap());
        let (sender, mut live) = watch::channel(Snapshot::default());
        let stop = CancellationToken::new();
        tokio::spawn(sampler::run(
            store.clone(),
            claims.clone(),
            clock.clone(),
            sender,
            stop.clone(),
        ));
        live.wait_for(|seen| {
            let tables = seen.claims.as_ref();
            seen.info.is_some()
                && tables.is_some_and(|tables| tables.iter().all(|table| table.figures.is_some()))
        })
        .await
        .unwrap();
        while claims.why_not_yet().is_some() {
            claims.catch_up(store.as_ref()).await.unwrap();
        }
        let source = |name: &str, read_only| SourceHandle {
            config: Arc::new(SourceConfig {
                name: name.to_owned(),
                read_only,
                ..config.clone()
            }),
            store: store.clone(),
            demo: watch::channel(None).1,
            live: live.clone(),
            claims: claims.clone(),
        };
        let sources = vec![source("main", false), source("locked", true)];
        let state = AppState::new(Links::new(""), clock, "ada".into(), sources, stop.clone());
        Self {
            site: Site {
                base: "",
                state,
                folder,
            },
            pool,
            stop,
        }
    }

    /// Status and answer of an action, as a program gets it.
    async fn act(&self, action: &str, form: &[(&str, &str)]) -> (u16, Value) {
        let answer = self
            .post(action, form, &[("accept", "application/json")])
            .await;
        let body = serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{}", answer.body));
        (answer.status.as_u16(), body)
    }

    async fn post(&self, action: &str, form: &[(&str, &str)], headers: &[(&str, &str)]) -> Answer {
        let mut pairs = vec![("source", "main"), ("claims", "emails")];
        pairs.extend(form);
        let encoded: Vec<String> = pairs
            .iter()
            .map(|(name, value)| format!("{name}={}", app::links::escape(value)))
            .collect();
        self.site
            .post(&format!("/api/{action}"), &encoded.join("&"), headers)
            .await
    }

    /// Status and message id of a claim, as they are stored.
    async fn row(&self, key: &str) -> Option<(i64, Option<String>)> {
        sqlx::query_as(
            r#"SELECT "Status", "ProviderMessageId" FROM "OutgoingEmails" WHERE "IdempotencyKey" = ?"#,
        )
        .bind(key)
        .fetch_optional(&self.pool)
        .await
        .unwrap()
    }

    async fn number(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }
}

const T44: &str = "2026-11-29 19:45:04.6335355";
const T45: &str = "2026-11-29 19:20:04.6335398";
const T46: &str = "2026-11-29 19:20:05.156554";
const QUEUED: &str = r#"SELECT count(*) FROM "JobQueue""#;

fn of<'a>(key: &'a str, time: &'a str) -> [(&'a str, &'a str); 2] {
    [("key", key), ("claimed_at", time)]
}

/// Keys and verdicts of the rows of a page, in their order.
fn rows(body: &str) -> Vec<(String, String)> {
    let attribute = |row: &str, name: &str| {
        let value = row.split(&format!("{name}=\"")).nth(1);
        value
            .and_then(|rest| rest.split('"').next())
            .unwrap_or("")
            .to_owned()
    };
    let rows = body.split("<tr").skip(1);
    rows.map(|row| row.split('>').next().unwrap_or_default())
        .filter(|row| row.contains("data-claim="))
        .map(|row| (attribute(row, "data-claim"), attribute(row, "data-verdict")))
        .collect()
}

#[tokio::test]
async fn stale_claims_are_listed_with_their_verdicts() {
    let claims = Claims::new().await;
    let page = claims.site.get("/s/main/claims").await;
    assert_eq!(page.status, StatusCode::OK);
    let pair = |key: &str, verdict: &str| (key.to_owned(), verdict.to_owned());
    assert_eq!(
        rows(&page.body),
        [
            pair("invoice-email:45", "unknown"),
            pair("invoice-email:46", "unknown"),
            pair("invoice-email:44", "safe"),
        ]
    );
    let sent = claims.site.get("/s/main/claims?status=sent").await;
    assert_eq!(rows(&sent.body), [pair("invoice-email:43", "")]);
    let one = claims
        .site
        .get("/s/main/claims?claims=emails&key=invoice-email%3A44")
        .await;
    assert_eq!(rows(&one.body), [pair("invoice-email:44", "safe")]);
    // Ten years is a longer cut-off than any recorded claim is old.
    let none = claims.site.get("/s/main/claims?cutoff=3650d").await;
    assert_eq!((none.status, rows(&none.body).len()), (StatusCode::OK, 0));
}

#[tokio::test]
async fn pages_of_claims_follow_each_other() {
    let claims = Claims::new().await;
    let mut seen = Vec::new();
    let mut next = Some("/s/main/claims?status=all&limit=1".to_owned());
    while let Some(url) = next.take() {
        let page = claims.site.get(&url).await;
        assert_eq!(page.status, StatusCode::OK, "{url}");
        seen.extend(rows(&page.body).into_iter().map(|(key, _)| key));
        assert!(seen.len() <= 4, "{seen:?}");
        let link = page.body.split("href=\"").find(|link| {
            let url = link.split('"').next().unwrap_or_default();
            url.contains("after=")
        });
        next = link.map(|link| link.split('"').next().unwrap().replace("&amp;", "&"));
    }
    let order = [43, 44, 46, 45].map(|order| format!("invoice-email:{order}"));
    seen.sort_unstable();
    let mut expected = order.to_vec();
    expected.sort_unstable();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn what_the_url_cannot_mean_is_said() {
    let claims = Claims::new().await;
    for (query, status, words) in [
        ("status=burnt", 400, "sending"),
        ("cutoff=soon", 400, "cutoff"),
        ("cutoff=-5m", 400, "cutoff"),
        ("cutoff=4000d", 400, "ten years"),
        ("limit=0", 400, "limit"),
        ("after=garbage", 400, "marker"),
        ("after=a&before=b", 400, "not both"),
        ("table=nowhere", 404, "emails"),
    ] {
        let answer = claims.site.get(&format!("/s/main/claims?{query}")).await;
        assert_eq!(answer.status.as_u16(), status, "{query}");
        assert!(answer.body.contains(words), "{query}: {}", answer.body);
    }
    let (status, body) = claims.site.get_json("/s/main/claims?claims=nowhere").await;
    assert_eq!(
        (status.as_u16(), &body["error"]),
        (404, &json!("unknown_claims"))
    );
}

#[tokio::test]
async fn a_released_claim_runs_its_job_once() {
    let claims = Claims::new().await;
    let form = of("invoice-email:44", T44);
    let (status, body) = claims.act("release", &form).await;
    assert_eq!((status, &body["outcome"]), (200, &json!("done")), "{body}");
    assert_eq!(
        (&body["job"], &body["state"]),
        (&json!(2), &json!("Enqueued"))
    );
    assert_eq!(claims.row("invoice-email:44").await, None);
    assert_eq!(claims.number(QUEUED).await, 1);
    let (status, body) = claims.act("release", &form).await;
    assert_eq!((status, &body["outcome"]), (404, &json!("gone")));
    assert_eq!(claims.number(QUEUED).await, 1);
}

#[tokio::test]
async fn what_is_unknown_needs_a_word_and_a_reason() {
    let claims = Claims::new().await;
    let claim = of("invoice-email:46", T46);
    let (status, body) = claims.act("reclaim", &claim).await;
    assert_eq!((status, &body["outcome"]), (422, &json!("refused")));
    let twice = [claim[0], claim[1], ("may_deliver_twice", "true")];
    let (status, body) = claims.act("reclaim", &twice).await;
    assert_eq!(status, 422);
    assert!(
        body["why"].as_str().unwrap().contains("give a reason"),
        "{body}"
    );
    assert_eq!(claims.number(QUEUED).await, 0);
    let meant = [claim[0], claim[1], twice[2], ("reason", "customer waits")];
    let (status, body) = claims.act("reclaim", &meant).await;
    assert_eq!((status, &body["job"]), (200, &json!(4)), "{body}");
}

#[tokio::test]
async fn of_several_only_what_is_safe_is_done_and_the_rest_is_named() {
    let claims = Claims::new().await;
    let items = [
        item("invoice-email:44", Some(T44)),
        item("invoice-email:46", Some(T46)),
    ];
    let form = [
        ("item", &*items[0]),
        ("item", &*items[1]),
        ("may_deliver_twice", "true"),
        ("reason", "all of them"),
    ];
    let (status, body) = claims.act("reclaim", &form).await;
    assert_eq!(status, 200);
    let outcomes: Vec<_> = body
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["outcome"])
        .collect();
    assert_eq!(outcomes, [&json!("done"), &json!("refused")]);
    assert!(
        body[1]["why"]
            .as_str()
            .unwrap()
            .contains("outcome is unknown")
    );
    assert_eq!(claims.row("invoice-email:46").await, Some((0, None)));
    assert_eq!(claims.number(QUEUED).await, 1);
}

#[tokio::test]
async fn a_browser_is_sent_back_to_where_the_outcome_is_named() {
    let claims = Claims::new().await;
    let claim = of("invoice-email:45", T45);
    let form = [
        claim[0],
        claim[1],
        ("provider_message_id", " msg-0045 "),
        ("reason", "provider's log"),
        ("back", "/s/main/claims?status=sending&done=1"),
    ];
    let answer = claims.post("mark-sent", &form, &[]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let location = answer.headers[header::LOCATION].to_str().unwrap();
    let start = "/s/main/claims?status=sending&done=";
    assert!(location.starts_with(start), "{location}");
    assert_eq!(
        claims.row("invoice-email:45").await,
        Some((1, Some("msg-0045".to_owned())))
    );
    let page = claims.site.get(location).await.body;
    assert!(page.contains("data-outcome=\"done\""), "{page}");
    // Somebody else was first.
    let (status, body) = claims.act("mark-sent", &form).await;
    assert_eq!((status, &body["to"]), (409, &json!("sent")), "{body}");
    assert_eq!(body["provider_message_id"], "msg-0045");
    // Without a page to go back to, the table's.
    let answer = claims.post("mark-sent", &form[..2], &[]).await;
    let location = answer.headers[header::LOCATION].to_str().unwrap();
    assert!(
        location.starts_with("/s/main/claims?status=stale&table=emails&done="),
        "{location}"
    );
}

#[tokio::test]
async fn the_providers_answer_is_evidence_from_then_on() {
    let claims = Claims::new().await;
    for (key, time, answer, id) in [
        ("invoice-email:45", T45, "known", json!("msg-0045")),
        ("invoice-email:44", T44, "denied", json!(null)),
        ("invoice-email:46", T46, "not-known", json!(null)),
    ] {
        let (status, body) = claims.act("ask-provider", &of(key, time)).await;
        assert_eq!((status, &body["answer"]), (200, &json!(answer)), "{body}");
        assert_eq!(body["provider_message_id"], id);
    }
    let page = claims.site.get("/s/main/claims").await.body;
    assert!(page.contains("msg-0045"), "{page}");
    let (status, body) = claims
        .act("ask-provider", &of("invoice-email:9", T44))
        .await;
    assert_eq!((status, &body["outcome"]), (404, &json!("gone")));
    let items = [item("a", None), item("b", None)];
    let two = [("item", &*items[0]), ("item", &*items[1])];
    assert_eq!(claims.act("ask-provider", &two).await.0, 400);
    let browser = claims
        .post("ask-provider", &of("invoice-email:44", T44), &[])
        .await;
    assert_eq!(browser.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_purge_takes_old_sent_claims_and_is_done_once() {
    let claims = Claims::new().await;
    let (status, body) = claims.act("purge-claims", &[("reason", "tidy")]).await;
    assert_eq!((status, &body["purged"]), (200, &json!(1)), "{body}");
    assert_eq!(claims.row("invoice-email:43").await, None);
    assert_eq!(
        claims
            .number(r#"SELECT count(*) FROM "OutgoingEmails""#)
            .await,
        3
    );
    let (_, body) = claims.act("purge-claims", &[]).await;
    assert_eq!(body["purged"], 0);
    let browser = claims.post("purge-claims", &[], &[]).await;
    assert_eq!(browser.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_read_only_source_changes_nothing() {
    let claims = Claims::new().await;
    for action in [
        "reclaim",
        "release",
        "mark-sent",
        "ask-provider",
        "purge-claims",
    ] {
        let form = format!(
            "source=locked&claims=emails&key=invoice-email%3A44&claimed_at={}",
            app::links::escape(T44)
        );
        let url = format!("/api/{action}");
        let json = claims
            .site
            .post(&url, &form, &[("accept", "application/json")])
            .await;
        assert_eq!(json.status, StatusCode::UNPROCESSABLE_ENTITY, "{action}");
        assert!(json.body.contains("read-only"), "{action}: {}", json.body);
        let page = claims.site.post(&url, &form, &[]).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{action}");
        assert!(page.body.contains("read-only"), "{action}");
    }
    assert_eq!(claims.row("invoice-email:44").await, Some((0, None)));
    assert!(claims.row("invoice-email:43").await.is_some());
    let page = claims.site.get("/s/locked/claims").await.body;
    assert_eq!(rows(&page).len(), 3);
}

#[tokio::test]
async fn forms_that_cannot_be_meant_are_answered_in_words() {
    let claims = Claims::new().await;
    let long = "x".repeat(2_001);
    for (action, form, words) in [
        ("release", vec![], "“key”"),
        ("release", vec![("item", "nonsense")], "claimed_at:key"),
        ("release", vec![("key", "k"), ("job", "x")], "“job”"),
        ("release", vec![("key", "k"), ("reason", &*long)], "2000"),
        ("release", vec![("key", "k"), ("key", "l")], "key"),
        ("purge-claims", vec![("reason", &*long)], "2000"),
    ] {
        let (status, body) = claims.act(action, &form).await;
        assert_eq!(status, 400, "{form:?}");
        assert!(body["message"].as_str().unwrap().contains(words), "{body}");
    }
    let json = [("accept", "application/json")];
    for (form, word) in [
        ("source=main&claims=nowhere&key=k", "unknown_claims"),
        ("source=nowhere&key=k", "unknown_source"),
    ] {
        let answer = claims.site.post("/api/release", form, &json).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{form}");
        assert!(answer.body.contains(word), "{}", answer.body);
    }
    // The only table need not be named.
    let form = format!(
        "source=main&key=invoice-email%3A44&claimed_at={}",
        app::links::escape(T44)
    );
    let answer = claims.site.post("/api/release", &form, &json).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let evil = claims
        .post(
            "release",
            &of("k", T44),
            &[("origin", "https://evil.example")],
        )
        .await;
    assert_eq!(evil.status, StatusCode::FORBIDDEN);
    let fetched = claims.site.get("/api/release?source=main&key=k").await;
    assert_eq!(fetched.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn keys_of_any_kind_travel_unharmed() {
    let claims = Claims::new().await;
    let odd = [
        "quote\"s' & <b>".to_owned(),
        "two\r\nlines\nand more".to_owned(),
        "</script><script>alert(1)</script>".to_owned(),
        format!("ten-kilobytes:{}é", "k".repeat(10_000)),
        "colon:percent%25:é".to_owned(),
    ];
    for key in &odd {
        sqlx::query(
            r#"INSERT INTO "OutgoingEmails" ("IdempotencyKey", "Status", "ClaimedAtUtc") VALUES (?, 0, '2026-11-29 19:00:00')"#,
        )
        .bind(key)
        .execute(&claims.pool)
        .await
        .unwrap();
    }
    let page = claims.site.get("/s/main/claims").await;
    assert_eq!((page.status, rows(&page.body).len()), (StatusCode::OK, 8));
    assert!(!page.body.contains("<script>alert"));
    for key in &odd {
        let item = item(key, Some("2026-11-29 19:00:00"));
        // No job stands behind it, so there is nothing to run again.
        let (status, body) = claims.act("release", &[("item", &*item)]).await;
        assert_eq!(
            (status, &body[0]["outcome"]),
            (200, &json!("refused")),
            "{body}"
        );
        let form = [("key", &**key), ("claimed_at", "2026-11-29 19:00:00")];
        let (status, body) = claims.act("mark-sent", &form).await;
        assert_eq!((status, &body["key"]), (200, &json!(key)), "{body}");
        assert_eq!(claims.row(key).await, Some((1, None)));
    }
}

#[tokio::test]
async fn a_jobs_page_shows_its_claim() {
    let claims = Claims::new().await;
    let page = claims.site.get("/s/main/jobs/2").await.body;
    assert!(page.contains("invoice-email:44"), "{page}");
    assert!(page.contains("Safe to resend"));
    // Requeued alone, it would only find its claim.
    assert!(
        page.contains("Its claim invoice-email:44 is Sending"),
        "{page}"
    );
    let sent = claims.site.get("/s/main/jobs/1").await.body;
    assert!(sent.contains("msg-0001"));
}

#[tokio::test]
async fn a_table_that_is_dropped_costs_no_more_than_itself() {
    let claims = Claims::new().await;
    sqlx::query(r#"DROP TABLE "OutgoingEmails""#)
        .execute(&claims.pool)
        .await
        .unwrap();
    let page = claims.site.get("/s/main/claims").await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(page.body.contains("OutgoingEmails"), "{}", page.body);
    let (status, body) = claims.act("release", &of("invoice-email:44", T44)).await;
    assert_eq!((status, &body["error"]), (503, &json!("not_readable")));
    assert_eq!(
        claims.site.get("/s/main/jobs/2").await.status,
        StatusCode::OK
    );
}
