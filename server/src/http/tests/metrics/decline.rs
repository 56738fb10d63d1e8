//! A recorded decline: jobs whose first attempts succeed in 98 cases of a hundred, and then in 90, at
//! 200 jobs an hour. Its rows are written as a job server writes them, collected, and scraped every
//! ten minutes; the example rule, evaluated over the scrapes, announces it within two hours, and
//! nothing before.

use std::fmt::Write as _;

use app::model::state::Instant;
use chrono::{TimeDelta, TimeZone as _, Utc};
use serde_json::json;

use super::*;
use crate::collector::Collector;
use crate::source::totals::Reader;
use crate::store::sqlite::ticks::ticks;
use crate::testing::sqlite::TestFile;

/// Ten minutes, in seconds.
const SLOT: i64 = 600;
/// Slots of a day at 98 %, and of four hours at 90 %.
const BEFORE: i64 = 144;
const AFTER: i64 = 24;

const TYPE: &str = "Bookstore.Jobs.InvoiceEmailJob";
const CALL: &str = r#"{"Type":"Bookstore.Jobs.InvoiceEmailJob, Bookstore.Jobs","Method":"SendAsync","ParameterTypes":"[]"}"#;

fn begin() -> Instant {
    Utc.with_ymd_and_hms(2026, 11, 20, 0, 0, 0).unwrap()
}

/// What has happened so far.
#[derive(Debug, Clone, Copy, Default)]
struct Happened {
    jobs: i64,
    failed: i64,
}

/// The rows of a slot: 33, 33 and 34 jobs in turn.
fn rows(slot: i64, happened: &mut Happened) -> String {
    let mut sql = "BEGIN;".to_owned();
    let jobs = if slot % 3 == 2 { 34 } else { 33 };
    let one_fails_of = if slot < BEFORE { 50 } else { 10 };
    for n in 0..jobs {
        happened.jobs += 1;
        let (job, fails) = (happened.jobs, happened.jobs % one_fails_of == 0);
        happened.failed += i64::from(fails);
        let at = begin() + TimeDelta::seconds(slot * SLOT + n * 16);
        let mut state = |name: &str, reason: Option<&str>, ms: i64, data: serde_json::Value| {
            let reason = reason.map_or("NULL".to_owned(), |reason| format!("'{reason}'"));
            let at = ticks(at + TimeDelta::milliseconds(ms));
            writeln!(
                sql,
                "INSERT INTO State (JobId, Name, Reason, CreatedAt, ExpireAt, Data) \
                 VALUES ({job}, '{name}', {reason}, {at}, 0, '{data}');"
            )
            .unwrap();
        };
        state("Enqueued", None, 0, json!({ "Queue": "mail" }));
        state("Processing", None, 100, json!({ "ServerId": "app-1" }));
        let mut done = 1_100;
        if fails {
            state(
                "Failed",
                None,
                1_100,
                json!({ "ExceptionType": "System.TimeoutException", "ExceptionMessage": "no" }),
            );
            let due = at.timestamp_millis();
            let planned = json!({
                "EnqueueAt": (due + 4_100).to_string(),
                "ScheduledAt": (due + 1_100).to_string(),
            });
            state(
                "Scheduled",
                Some("Retry attempt 1 of 10: no"),
                1_100,
                planned,
            );
            let released = Some("Triggered by DelayedJobScheduler");
            state("Enqueued", released, 4_100, json!({ "Queue": "mail" }));
            state("Processing", None, 4_900, json!({ "ServerId": "app-1" }));
            done = 5_900;
        }
        let ran = json!({ "PerformanceDuration": "1000", "Latency": "100" });
        state("Succeeded", None, done, ran);
        writeln!(
            sql,
            "INSERT INTO Job (Id, StateId, StateName, InvocationData, Arguments, CreatedAt, ExpireAt) \
             VALUES ({job}, 0, 'Succeeded', '{CALL}', '[]', {}, 0);",
            ticks(at)
        )
        .unwrap();
    }
    sql + "COMMIT;"
}

/// Scrapes after each slot.
struct Scrapes {
    first: Vec<f64>,
    succeeded: Vec<f64>,
    last: String,
}

async fn replayed() -> Scrapes {
    let file = TestFile::new().await;
    let (live, seen_live) = watch::channel(Snapshot::default());
    let mut collector = Collector::new(
        Arc::new(file.store.clone()),
        Arc::new(SystemClock),
        live.clone(),
    );
    let mut site = seen(Snapshot::default()).await;
    let source = SourceHandle {
        live: seen_live,
        ..site.state.source("main").unwrap().clone()
    };
    let clock = site.state.clock().clone();
    let stop = site.state.stop().clone();
    site.state = AppState::new(Links::new(""), clock, "ada".into(), vec![source], stop);
    let mut reader = Reader::default();
    let mut happened = Happened::default();
    let mut scrapes = Scrapes {
        first: Vec::new(),
        succeeded: Vec::new(),
        last: String::new(),
    };
    let labels = format!(r#"{{source="main",type="{TYPE}",method="SendAsync"}}"#);
    for slot in 0..BEFORE + AFTER {
        file.run(&rows(slot, &mut happened)).await;
        let written = happened.jobs * 3 + happened.failed * 4;
        loop {
            collector.pass().await.unwrap();
            let collecting = live.borrow().collecting.clone();
            let rows = collecting.position.map(|position| position.rows);
            if collecting.caught_up && rows == Some(written) {
                break;
            }
        }
        let now = begin() + TimeDelta::seconds((slot + 1) * SLOT);
        let totals = reader.read(&file.store, now).await.unwrap();
        live.send_modify(|snapshot| snapshot.totals = totals);
        let body = site.get("/metrics").await.body;
        let all = series(&body);
        let of = |name: &str| all[&format!("{name}{labels}")];
        // What was written is what is scraped.
        let (first, succeeded) = (
            of("redrive_first_attempts_total"),
            of("redrive_first_attempts_succeeded_total"),
        );
        let expected = (happened.jobs, happened.jobs - happened.failed);
        assert_eq!(
            (format!("{first}"), format!("{succeeded}")),
            (expected.0.to_string(), expected.1.to_string()),
            "slot {slot}"
        );
        scrapes.first.push(first);
        scrapes.succeeded.push(succeeded);
        scrapes.last = body;
    }
    scrapes
}

/// What the rule must say at each moment, for promtool.
fn test_file(scrapes: &Scrapes) -> String {
    let values = |values: &[f64]| {
        let values: Vec<String> = values.iter().map(f64::to_string).collect();
        values.join(" ")
    };
    let labels = format!(r#"{{source="main",type="{TYPE}",method="SendAsync"}}"#);
    let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/alerts/redrive.yml");
    let mut text = format!(
        "rule_files: ['{rules}']\nevaluation_interval: 10m\ntests:\n- interval: 10m\n  \
         input_series:\n  - series: 'redrive_first_attempts_total{labels}'\n    values: '{}'\n  \
         - series: 'redrive_first_attempts_succeeded_total{labels}'\n    values: '{}'\n  \
         alert_rule_test:\n",
        values(&scrapes.first),
        values(&scrapes.succeeded)
    );
    // The scrape after slot n is the one of minute 10 n. Until an hour after the fall nothing may
    // be said; from two hours on it must be.
    let quiet = (0..BEFORE + 6).map(|slot| (slot, false));
    let told = (BEFORE + 11..BEFORE + AFTER).map(|slot| (slot, true));
    for (slot, fires) in quiet.chain(told) {
        let minutes = slot * 10;
        let alerts = if fires {
            format!(
                "[{{exp_labels: {{severity: warning, source: main, type: {TYPE}, method: SendAsync}}, \
                 exp_annotations: {{summary: 'First attempts of {TYPE}.SendAsync in main succeed \
                 less often than usual', description: 'What these jobs depend on may be failing. \
                 Retries still hide it; the Attempts page shows since when.'}}}}]"
            )
        } else {
            "[]".to_owned()
        };
        writeln!(
            text,
            "  - {{eval_time: {minutes}m, alertname: RedriveFirstAttemptsFall, exp_alerts: {alerts}}}"
        )
        .unwrap();
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fall_is_announced_within_two_hours_and_nothing_before() {
    let scrapes = replayed().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("decline.yml"), test_file(&scrapes)).unwrap();
    promtool::test_rules(folder.path(), "decline.yml");
    promtool::check_metrics(&scrapes.last);
    // Every tenth job of the last four hours, and every fiftieth before, was tried twice.
    let all = series(&scrapes.last);
    let labels =
        |more: &str| format!(r#"{{source="main",type="{TYPE}",method="SendAsync"{more}}}"#);
    let jobs = 200 * 28;
    let failed = 200 * 24 / 50 + 200 * 4 / 10;
    let value = |name: &str, more: &str| all[&format!("{name}{}", labels(more))];
    for (number, outcome, attempts) in [
        (1, "succeeded", jobs - failed),
        (1, "failed", failed),
        (2, "succeeded", failed),
    ] {
        let more = format!(r#",number="{number}",outcome="{outcome}""#);
        assert_eq!(
            value("redrive_attempts_total", &more).to_string(),
            attempts.to_string(),
            "{more}"
        );
    }
    // Retries waited 0.8 s from when they were released, and were planned 3 s ahead.
    let waits = "redrive_attempt_wait_seconds_bucket";
    assert_eq!(value(waits, r#",retry="true",le="0.5""#).to_string(), "0");
    assert_eq!(
        value(waits, r#",retry="true",le="1""#).to_string(),
        failed.to_string()
    );
    assert_eq!(
        value("redrive_retry_delay_seconds_sum", "").to_string(),
        (failed * 3).to_string()
    );
}
