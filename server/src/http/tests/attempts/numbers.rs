//! What is counted, on the page and in its tables.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use chrono::TimeDelta;

use super::Collected;
use super::rows::{Rows, at, failed, plain, planned, released};
use crate::testing::fixture::Fixture;

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

pub(super) const DAY: &str = "from=2026-11-02&to=2026-11-03";

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
pub(super) fn reconciliations() -> Fixture {
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
