//! What odd questions, an empty source and policies are answered with.

use axum::http::{StatusCode, header};
use chrono::TimeDelta;

use super::super::Site;
use super::Collected;
use super::numbers::{DAY, reconciliations};
use super::rows::{Rows, failed, plain, planned};
use crate::clock::{Clock as _, SystemClock};

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

#[tokio::test]
async fn a_retry_that_comes_after_the_next_run_of_its_recurring_job_is_found() {
    let mut rows = Rows::default();
    let begin = SystemClock.now() - TimeDelta::hours(3);
    for (job, job_type) in [(1, "FeedJob"), (2, "ExportJob"), (3, "PingJob")] {
        let steps = [
            plain("Enqueued", 0),
            plain("Processing", 100),
            failed(200, "System.TimeoutException"),
            planned(begin, 200, (1, 2), 400_000),
        ];
        rows.job(job, job_type, begin, &steps);
    }
    rows.recurring("feed", "*/5 * * * *", "FeedJob");
    rows.recurring("export", "@daily", "ExportJob");
    rows.recurring("ping", "every now and then", "PingJob");
    for site in Collected::both(&rows.fixture()).await {
        let (status, page) = site.get("/s/main/policy").await;
        assert_eq!(status, StatusCode::OK);
        let figure = "data-figure=\"late-retry\"";
        assert_eq!(page.matches(figure).count(), 1, "{page}");
        let values = format!("{figure} data-value=\"400000\" data-every=\"300000\"");
        assert!(page.contains(&values), "{page}");
        assert!(
            page.contains("\u{201c}feed\u{201d} (*/5 * * * *)"),
            "{page}"
        );
    }
}
