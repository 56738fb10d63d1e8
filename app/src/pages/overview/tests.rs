use std::collections::BTreeMap;

use super::*;
use crate::components::job_rows::testing::{now, row};
use crate::pages::document::testing::{attr, chip, rendered, texts};
use crate::ports::jobs::StateCounts;

fn server(id: &str, age_s: i64, processing: i64) -> Server {
    Server {
        id: id.into(),
        workers: Some(20),
        queues: Some(vec!["default".into()]),
        started_at: Some(now()),
        started_raw: None,
        heartbeat_at: now(),
        heartbeat_age_ms: age_s * 1_000,
        processing,
    }
}

fn page(failed: i64, servers: Vec<Server>) -> OverviewPage {
    let mut by_state: BTreeMap<_, _> = ListState::ALL.into_iter().map(|s| (s, 0)).collect();
    by_state.insert(ListState::Failed, failed);
    let rows = (failed > 0).then(|| row(1, "Failed")).into_iter().collect();
    OverviewPage {
        source: chip("prod"),
        counts: Some(CountsView {
            counts: StateCounts {
                by_state,
                other: BTreeMap::new(),
                no_state: 0,
                as_of: now(),
                exact: false,
            },
            age_ms: 2_000,
        }),
        failures: Ok(JobPage {
            rows,
            has_newer: false,
            has_older: false,
        }),
        servers: Ok(servers),
        stale_claims: None,
        gone_ms: 300_000,
    }
}

#[test]
fn when_all_is_well_it_says_so() {
    let html = rendered(|| overview_page(page(0, vec![server("a", 4, 1)])));
    assert!(texts(&html, ".page-h p")[0].ends_with("Nothing needs you."));
    assert!(texts(&html, ".attn-r").is_empty());
    assert_eq!(texts(&html, ".msg h2"), ["Nothing rests in Failed"]);
    assert_eq!(texts(&html, ".page-h .cov"), ["estimate, 2 s ago"]);
}

#[test]
fn what_needs_somebody_is_listed() {
    let servers = vec![server("a", 4, 1), server("b", 90, 0), server("c", 301, 4)];
    let html = rendered(|| overview_page(page(1, servers)));
    assert_eq!(
        texts(&html, ".attn-h"),
        [
            "1 server is gone",
            "1 server is quiet",
            "1 job rests in Failed"
        ]
    );
    assert_eq!(
        texts(&html, ".attn-e")[0],
        "4 jobs still in Processing with it."
    );
    assert_eq!(
        attr(&html, ".attn-a", "href"),
        [
            "/ops/s/prod/servers",
            "/ops/s/prod/servers",
            "/ops/s/prod/jobs?state=failed"
        ]
    );
    assert_eq!(attr(&html, "[data-figure=failed]", "data-value"), ["1"]);
    assert_eq!(attr(&html, "tr[data-job]", "data-job"), ["1"]);
}
