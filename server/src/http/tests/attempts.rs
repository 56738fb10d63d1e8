//! Attempts from state rows to the page: through the collector, the store and the router, on both
//! databases.

use std::collections::BTreeMap;
use std::sync::Arc;

use app::links::Links;
use app::model::state::Instant;
use app::ports::collector::CollectorStore;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use chrono::{SecondsFormat, TimeDelta};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::super::router::router;
use super::super::state::AppState;
use super::Site;
use crate::clock::SystemClock;
use crate::collector::{Collector, Passed};
use crate::config::SourceConfig;
use crate::source::{Snapshot, SourceHandle, Store};
use crate::testing::fixture::Fixture;
use crate::testing::postgres::TestDatabase;
use crate::testing::sqlite::TestFile;

/// What keeps the database of a site.
enum Kept {
    Postgres(#[expect(dead_code, reason = "dropped at the end")] Box<TestDatabase>),
    Sqlite(#[expect(dead_code, reason = "dropped at the end")] Box<TestFile>),
}

/// A site over one database whose rows are collected.
struct Collected {
    state: AppState,
    _kept: Kept,
}

impl Collected {
    /// One over each kind of database; without a server to test on, over the other one only.
    async fn both(fixture: &Fixture) -> Vec<Self> {
        let file = TestFile::with(fixture).await;
        let store = Arc::new(file.store.clone());
        let mut both = vec![Self::over(store.clone(), store, Kept::Sqlite(Box::new(file))).await];
        if let Some(database) = TestDatabase::with(fixture).await {
            let store = database.store();
            store.migrate().await.unwrap();
            let store = Arc::new(store);
            let kept = Kept::Postgres(Box::new(database));
            both.push(Self::over(store.clone(), store, kept).await);
        }
        both
    }

    async fn over(store: Arc<dyn Store>, collected: Arc<dyn CollectorStore>, kept: Kept) -> Self {
        let (live, seen) = watch::channel(Snapshot::default());
        let mut collector = Collector::new(collected, Arc::new(SystemClock), live);
        let mut idle = 0;
        // A failure that rests is settled when nothing follows it.
        while idle < 3 {
            match collector.pass().await.unwrap() {
                Passed::More => idle = 0,
                Passed::Idle => idle += 1,
                Passed::Elsewhere => panic!("another process collects"),
            }
        }
        let source = SourceHandle {
            config: Arc::new(SourceConfig::main("test".into(), None)),
            store,
            demo: watch::channel(None).1,
            live: seen,
            claims: Arc::default(),
        };
        let state = AppState::new(
            Links::new(""),
            Arc::new(SystemClock),
            "ada".into(),
            vec![source],
            CancellationToken::new(),
        );
        Self { state, _kept: kept }
    }

    async fn get(&self, path: &str) -> (StatusCode, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = router(self.state.clone()).oneshot(request).await.unwrap();
        let status = response.status();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    /// A table, each row by the names of its columns.
    async fn sheet(&self, sheet: &str, query: &str) -> Vec<BTreeMap<String, String>> {
        let path = format!("/s/main/attempts/{sheet}.csv?{query}");
        let (status, body) = self.get(&path).await;
        assert_eq!(status, StatusCode::OK, "{path}: {body}");
        csv::Reader::from_reader(body.as_bytes())
            .deserialize()
            .collect::<Result<_, _>>()
            .unwrap()
    }
}

/// Rows of made-up jobs.
#[derive(Default)]
struct Rows {
    jobs: Vec<Value>,
    states: Vec<Value>,
}

impl Rows {
    /// A job that ends in the last of its rows: name, milliseconds after the job was created, reason,
    /// and what its data has beyond the usual.
    fn job(&mut self, id: i64, job_type: &str, at: Instant, rows: &[(&str, i64, String, Value)]) {
        let when = |ms: i64| text(at + TimeDelta::milliseconds(ms));
        let mut last = (0, "");
        for (place, (name, ms, reason, data)) in rows.iter().enumerate() {
            let state = id * 100 + i64::try_from(place).unwrap() + 1;
            last = (state, name);
            self.states.push(json!({
                "id": state, "jobid": id, "name": name,
                "reason": (!reason.is_empty()).then_some(reason),
                "createdat": when(*ms), "data": data, "updatecount": 0,
            }));
        }
        let (state, name) = last;
        let call = json!({
            "Type": format!("Bookstore.Jobs.{job_type}, Bookstore.Jobs"),
            "Method": "RunAsync", "ParameterTypes": "[]", "Arguments": "[]",
        });
        self.jobs.push(json!({
            "id": id, "stateid": state, "statename": name, "invocationdata": call,
            "arguments": [], "createdat": text(at), "expireat": null, "updatecount": 0,
        }));
    }

    fn fixture(self) -> Fixture {
        Fixture::of(BTreeMap::from([
            ("job".to_owned(), self.jobs),
            ("state".to_owned(), self.states),
        ]))
    }
}

fn text(at: Instant) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

fn plain(name: &str, ms: i64) -> (&str, i64, String, Value) {
    (name, ms, String::new(), json!({}))
}

fn failed(ms: i64, exception: &str) -> (&'static str, i64, String, Value) {
    (
        "Failed",
        ms,
        String::new(),
        json!({ "ExceptionType": exception }),
    )
}

/// A retry that is planned so many milliseconds ahead.
fn planned(
    begin: Instant,
    ms: i64,
    (n, of): (u32, u32),
    ahead: i64,
) -> (&'static str, i64, String, Value) {
    let now = begin + TimeDelta::milliseconds(ms);
    let data = json!({
        "ScheduledAt": text(now), "EnqueueAt": text(now + TimeDelta::milliseconds(ahead)),
    });
    (
        "Scheduled",
        ms,
        format!("Retry attempt {n} of {of}: no"),
        data,
    )
}

fn released(ms: i64) -> (&'static str, i64, String, Value) {
    let reason = "Triggered by DelayedJobScheduler".to_owned();
    ("Enqueued", ms, reason, json!({ "Queue": "default" }))
}

/// 80 jobs succeed at once, 20 fail four times and then succeed; 9,999 of 10,000 pings succeed,
/// the last one rests in Failed; one report still runs.
fn blips() -> Fixture {
    let mut rows = Rows::default();
    for g in 1..=100_i64 {
        let begin = at("2026-11-02T08:00:00Z") + TimeDelta::minutes(g);
        let runs = if g <= 80 { 1 } else { 5 };
        let mut steps = Vec::new();
        for run in 1..=runs {
            let ms = (run - 1) * 45_000;
            steps.push(if run == 1 {
                plain("Enqueued", ms)
            } else {
                released(ms)
            });
            steps.push(plain("Processing", ms + 500));
            if run == runs {
                steps.push(plain("Succeeded", ms + 1_000));
            } else {
                let n = u32::try_from(run).unwrap();
                steps.push(failed(ms + 1_000, "System.TimeoutException"));
                steps.push(planned(begin, ms + 1_000, (n, 10), 32_000));
            }
        }
        rows.job(700_000 + g, "InvoiceEmailJob", begin, &steps);
    }
    for g in 1..=10_000_i64 {
        let begin = at("2026-11-02T00:00:00Z") + TimeDelta::seconds(8 * g);
        let end = if g == 10_000 { "Failed" } else { "Succeeded" };
        let steps = [
            plain("Enqueued", 100),
            plain("Processing", 200),
            plain(end, 300),
        ];
        rows.job(710_000 + g, "PingJob", begin, &steps);
    }
    let begin = at("2026-11-02T12:00:00Z");
    let runs = [plain("Enqueued", 0), plain("Processing", 1_000)];
    rows.job(730_001, "NightlyReport", begin, &runs);
    rows.fixture()
}

const DAY: &str = "from=2026-11-02&to=2026-11-03";

#[tokio::test]
async fn blips_are_counted_by_job_and_one_failure_in_ten_thousand_is_seen() {
    for site in Collected::both(&blips()).await {
        let kinds = site.sheet("kinds", DAY).await;
        let row = |name: &str| {
            let is =
                |row: &&BTreeMap<String, String>| row["type"] == format!("Bookstore.Jobs.{name}");
            kinds.iter().find(is).unwrap()
        };
        let send = row("InvoiceEmailJob");
        assert_eq!(send["first_attempts_succeeded"], "80");
        assert_eq!(send["first_attempts_ended"], "100");
        assert_eq!(send["first_attempt_rate"], "0.8");
        assert_eq!(send["succeeded_1st"], "80");
        assert_eq!(send["succeeded_2nd"], "0");
        assert_eq!(send["succeeded_3rd"], "0");
        assert_eq!(send["succeeded_4th_or_later"], "20");
        assert_eq!(send["gave_up"], "0");
        // 80 retries of 32 s each, none of them for nothing.
        assert_eq!(send["backoff_ms"], "2560000");
        assert_eq!(send["wasted_attempts"], "0");
        let ping = row("PingJob");
        assert_eq!(ping["first_attempts_succeeded"], "9999");
        assert_eq!(ping["first_attempts_ended"], "10000");
        assert_eq!(ping["gave_up"], "1");
        let report = row("NightlyReport");
        assert_eq!(report["first_attempts_ended"], "0");
        assert_eq!(report["first_attempt_rate"], "");
        assert_eq!(report["pending"], "1");

        // 180 attempts of the first kind, but no rate is made of them.
        let times = site
            .sheet(
                "times",
                &format!("{DAY}&type=Bookstore.Jobs.InvoiceEmailJob"),
            )
            .await;
        let attempts: Vec<(&str, &str)> = times
            .iter()
            .map(|row| (row["attempt"].as_str(), row["ended"].as_str()))
            .collect();
        assert_eq!(
            attempts,
            [("1st", "100"), ("2nd", "20"), ("3rd", "20"), ("4th+", "40")]
        );
        let delays = site.sheet("delays", DAY).await;
        assert_eq!(delays.len(), 4);
        assert_eq!(delays[0]["shortest_ms"], "32000");
        // Always the same, which the default formula would not be.
        assert_eq!(delays[0]["inferred"], "list");

        let (status, page) = site.get(&format!("/s/main/attempts?{DAY}")).await;
        assert_eq!(status, StatusCode::OK);
        for words in [
            "80.0 %",
            "80 of 100",
            "71.1–86.7",
            "99.99 %",
            "9,999 of 10,000",
            "none ended yet",
        ] {
            assert!(page.contains(words), "{words}");
        }
        assert!(!page.contains("55.6"));
        assert!(!page.contains(" style="));
    }
}

const PERMANENT: &str = "Bookstore.Jobs.PermanentJobException";
const TIMEOUT: &str = "System.TimeoutException";
const HTTP: &str = "System.Net.Http.HttpRequestException";

/// Twelve jobs fail for good on all four runs; one of twenty time-outs too, the others recover with
/// the second; one waits for its retry, one failed once and rests, one met two exceptions.
fn reconciliations() -> Fixture {
    let mut rows = Rows::default();
    for g in 1..=32_i64 {
        let begin = at("2026-11-02T08:00:00Z") + TimeDelta::minutes(g);
        let runs = if g <= 13 { 4 } else { 2 };
        let exception = if g <= 12 { PERMANENT } else { TIMEOUT };
        let mut steps = Vec::new();
        for run in 1..=runs {
            let ms = (run - 1) * 10_000;
            steps.push(if run == 1 {
                plain("Enqueued", ms)
            } else {
                released(ms)
            });
            steps.push(plain("Processing", ms + 500));
            if run == runs && g > 13 {
                steps.push(plain("Succeeded", ms + 1_000));
                continue;
            }
            steps.push(failed(ms + 1_000, exception));
            if run < runs {
                let n = u32::try_from(run).unwrap();
                steps.push(planned(begin, ms + 1_000, (n, 3), 5_000));
            }
        }
        rows.job(1_100_000 + g, "ReconcileJob", begin, &steps);
    }
    let begin = at("2026-11-02T09:00:00Z");
    let waits = [
        plain("Enqueued", 0),
        plain("Processing", 1_000),
        failed(2_000, "System.NullReferenceException"),
        planned(begin, 2_000, (1, 3), 30 * 86_400_000),
    ];
    rows.job(1_100_041, "ReconcileJob", begin, &waits);
    let rests = [
        plain("Enqueued", 0),
        plain("Processing", 1_000),
        failed(2_000, "System.ArgumentException"),
    ];
    rows.job(1_100_042, "ReconcileJob", begin, &rests);
    let two = [
        plain("Enqueued", 0),
        plain("Processing", 1_000),
        failed(2_000, TIMEOUT),
        planned(begin, 2_000, (1, 3), 2_000),
        released(10_000),
        plain("Processing", 11_000),
        failed(12_000, HTTP),
        planned(begin, 12_000, (2, 3), 5_000),
        released(20_000),
        plain("Processing", 21_000),
        plain("Succeeded", 22_000),
    ];
    rows.job(1_100_043, "ReconcileJob", begin, &two);
    rows.fixture()
}

#[tokio::test]
async fn recovery_is_counted_per_job_and_judged_where_many_tried() {
    for site in Collected::both(&reconciliations()).await {
        let rows = site.sheet("exceptions", DAY).await;
        let facts: Vec<[&str; 6]> = rows
            .iter()
            .map(|row| {
                [
                    "exception",
                    "recovered",
                    "finished",
                    "pending",
                    "retries_for_nothing",
                    "verdict",
                ]
                .map(|column| row[column].as_str())
            })
            .collect();
        assert_eq!(
            facts,
            [
                [PERMANENT, "0", "12", "0", "36", "stop retrying"],
                [TIMEOUT, "20", "21", "0", "3", "recovers"],
                [
                    "System.ArgumentException",
                    "0",
                    "1",
                    "0",
                    "0",
                    "too few to say"
                ],
                [HTTP, "1", "1", "0", "0", "recovers"],
                [
                    "System.NullReferenceException",
                    "0",
                    "0",
                    "1",
                    "0",
                    "none finished"
                ],
            ]
        );
        // Twelve rounds of three waits of 5 s.
        assert_eq!(rows[0]["backoff_for_nothing_about_ms"], "180000");
        let bounds = |row: usize| {
            let share = |column: &str| rows[row][column].parse::<f64>().unwrap();
            (share("recovery_low"), share("recovery_high"))
        };
        let near = |(low, high): (f64, f64), (wanted_low, wanted_high): (f64, f64)| {
            let close = |a: f64, b: f64| (a - b).abs() < 0.0005;
            assert!(
                close(low, wanted_low) && close(high, wanted_high),
                "{low} {high}"
            );
        };
        near(bounds(0), (0.0, 0.242));
        near(bounds(1), (0.773, 0.992));
        near(bounds(2), (0.0, 0.793));
        assert_eq!(rows[4]["recovery_rate"], "");

        let (_, page) = site.get(&format!("/s/main/attempts?{DAY}")).await;
        assert_eq!(page.matches("stop retrying this").count(), 1);
        // Three retries each, of rounds that gave up: twelve and one.
        let kinds = site.sheet("kinds", DAY).await;
        assert_eq!(kinds[0]["wasted_attempts"], "39");
        assert_eq!(kinds[0]["pending"], "1");
    }
}

#[tokio::test]
async fn what_cannot_be_meant_gets_a_clear_answer() {
    let site = Site::at("").await;
    for (query, words) in [
        ("range=fortnight", "there is no range “fortnight”"),
        (
            "from=2026-11-12&to=2016-11-12",
            "“from” must lie before “to”",
        ),
        ("from=now()", "“from” must be a time such as"),
    ] {
        let answer = site.get(&format!("/s/main/attempts?{query}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
        assert!(answer.body.contains(words), "{query}");
    }
    for path in [
        "/s/main/attempts/passwords.csv",
        "/s/main/attempts/kinds.txt",
    ] {
        assert_eq!(site.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let odd = site.get("/s/main/policy?policy=magic").await;
    assert_eq!(odd.status, StatusCode::BAD_REQUEST);
    assert!(
        odd.body
            .contains("hangfire, list, fixed, exponential, explicit")
    );
    let field = site.get("/s/main/policy?retries=many").await;
    assert_eq!(field.status, StatusCode::BAD_REQUEST);
    assert!(
        field
            .body
            .contains("“retries” must be a whole number from 0 to 200")
    );
}

#[tokio::test]
async fn ten_years_and_a_second_are_counted_by_the_hour() {
    for site in Collected::both(&reconciliations()).await {
        let (status, page) = site
            .get("/s/main/attempts?from=2016-11-12&to=2026-11-12")
            .await;
        assert_eq!(status, StatusCode::OK);
        assert!(page.contains("Nothing is counted before"), "{page}");
        let second = "from=2026-11-02T08:30:00Z&to=2026-11-02T08:30:01Z";
        let (status, page) = site.get(&format!("/s/main/attempts?{second}")).await;
        assert_eq!(status, StatusCode::OK);
        assert!(
            page.contains("these are counted from 2 Nov 08:00 to 2 Nov 09:00"),
            "{page}"
        );
        let name = "x".repeat(4_096);
        let (status, page) = site
            .get(&format!("/s/main/attempts?{DAY}&type={name}"))
            .await;
        assert_eq!(status, StatusCode::OK);
        assert!(page.contains("Filtered out"), "{page}");
    }
}

#[tokio::test]
async fn a_source_that_nothing_was_collected_of_says_how_far_it_is() {
    let site = Site::at("").await;
    let answer = site.get("/s/main/attempts").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(
        answer.body.contains("The history is being read"),
        "{}",
        answer.body
    );
    let policy = site.get("/s/main/policy").await;
    assert_eq!(policy.status, StatusCode::OK);
    assert!(policy.body.contains("4 h 18 min to 4 h 45 min"));
    assert!(policy.body.contains("Nothing was counted yet"));
    assert!(!policy.headers.contains_key(header::REFRESH));
}
