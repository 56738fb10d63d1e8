//! `/metrics`, over a recorded file and over a replay.

mod decline;
mod promtool;

use std::collections::BTreeMap;

use app::model::insights::JobKind;
use app::model::rates::Rate;

use super::*;
use crate::clock::Clock as _;
use crate::source::totals::{Sums, Totals};

/// The series of a page by name and labels, as they are written; each may be there once.
pub(super) fn series(text: &str) -> BTreeMap<String, f64> {
    let mut series = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        let former = series.insert(name.to_owned(), value.parse().unwrap());
        assert_eq!(former, None, "{name}");
    }
    series
}

/// A site whose source `main` was seen as `live` says.
async fn seen(live: Snapshot) -> Site {
    let mut site = Site::at("").await;
    let main = site.state.source("main").unwrap().clone();
    let source = SourceHandle {
        live: watch::channel(live).1,
        ..main
    };
    let clock = site.state.clock().clone();
    let stop = site.state.stop().clone();
    site.state = AppState::new(Links::new(""), clock, "ada".into(), vec![source], stop);
    site
}

#[tokio::test]
async fn a_source_that_was_not_looked_at_yet_is_down() {
    let site = seen(Snapshot::default()).await;
    let answer = site.get("/metrics").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(
        answer.headers[header::CONTENT_TYPE],
        "text/plain; version=0.0.4"
    );
    let series = series(&answer.body);
    assert_eq!(
        series[r#"redrive_source_up{source="main"}"#].to_string(),
        "0"
    );
    let build = format!(
        r#"redrive_build_info{{version="{}"}}"#,
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(series[&build].to_string(), "1");
    // Nothing is made up for what is not known.
    for unknown in ["redrive_jobs", "redrive_claims", "redrive_collector"] {
        assert!(!answer.body.contains(unknown), "{}", answer.body);
    }
}

#[tokio::test]
async fn names_of_any_kind_are_written_as_the_format_wants() {
    let mut sums = Sums::default();
    sums.add_first_attempts(vec![app::model::insights::FirstAttemptsRow {
        kind: JobKind {
            job_type: "A\"quote\\slash\nline</script>é`1".to_owned(),
            method: "Go{x=\"1\"}".to_owned(),
        },
        slot: 0,
        rate: Rate::new(98, 100),
    }]);
    let mut totals = Totals::default();
    totals.advance(&sums, SystemClock.now());
    let site = seen(Snapshot {
        totals: Some(Arc::new(totals)),
        ..Snapshot::default()
    })
    .await;
    let body = site.get("/metrics").await.body;
    let labels = r#"{source="main",type="A\"quote\\slash\nline</script>é`1",method="Go{x=\"1\"}"}"#;
    let series = series(&body);
    let of = |name: &str| series[&format!("{name}{labels}")].to_string();
    assert_eq!(of("redrive_first_attempts_total"), "100");
    assert_eq!(of("redrive_first_attempts_succeeded_total"), "98");
    promtool::check_metrics(&body);
}
