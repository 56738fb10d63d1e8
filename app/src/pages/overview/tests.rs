use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;

use super::*;
use crate::components::job_rows::testing::{now, row};
use crate::model::collect::{RoundEnd, RoundSums, hour};
use crate::model::health::{Check, Sighting};
use crate::model::insights::digest::Raw;
use crate::model::insights::{Coverage, DueRetry, FirstAttemptsRow, JobKind, Pending, RoundsRow};
use crate::model::rates::{Rate, slot};
use crate::pages::document::testing::{attr, chip, rendered, texts};
use crate::ports::failures::{FailureCause, FailureCauses};
use crate::ports::jobs::StateCounts;

fn server(id: &str, age_s: i64, processing: i64) -> Server {
    Server {
        id: id.into(),
        workers: Some(20),
        queues: Some(vec!["default".into()]),
        started_at: Some(now()),
        started_raw: None,
        heartbeat_at: now() - TimeDelta::seconds(age_s),
        heartbeat_age_ms: age_s * 1_000,
        processing,
    }
}

fn seen(failed: i64, servers: Vec<Server>) -> Seen {
    let mut by_state: BTreeMap<_, _> = ListState::ALL.into_iter().map(|s| (s, 0)).collect();
    by_state.insert(ListState::Failed, failed);
    Seen {
        source: chip("prod"),
        counts: Some(CountsView {
            counts: StateCounts {
                by_state,
                other: BTreeMap::new(),
                no_state: 0,
                as_of: now() - TimeDelta::seconds(2),
                exact: false,
            },
            age_ms: 2_000,
        }),
        servers: Ok(Arc::new(servers)),
        stale_claims: None,
        gone_ms: 300_000,
        digest: Current::default(),
        forecast: Current::default(),
        causes: Current::default(),
        findings: Some(Arc::new(Findings {
            seen: BTreeMap::new(),
            unanswered: BTreeSet::new(),
            read_at: now(),
        })),
        collecting: Collecting::default(),
        version: None,
    }
}

fn page(seen: Seen) -> scraper::Html {
    let failed = seen
        .counts
        .as_ref()
        .is_some_and(|counts| counts.of(ListState::Failed) > 0);
    let rows = failed.then(|| row(1, "Failed")).into_iter().collect();
    let failures = Ok(JobPage {
        rows,
        has_newer: false,
        has_older: false,
    });
    rendered(move || {
        overview_page(OverviewPage {
            failures,
            by_change: true,
            seen,
        })
    })
}

fn kind(job_type: &str) -> JobKind {
    JobKind {
        job_type: format!("Bookstore.Jobs.{job_type}"),
        method: "RunAsync".into(),
    }
}

fn read<T>(value: T) -> Current<T> {
    Current {
        value: Some(Arc::new(value)),
        at: Some(now() - TimeDelta::seconds(3)),
        trouble: None,
    }
}

/// A week of a hundred first attempts per ten minutes: 98 of them well, 60 in the last two hours.
fn digest(since: i64) -> Digest {
    let end = slot(now());
    let first = (end - 1_200..=end)
        .map(|slot| FirstAttemptsRow {
            kind: kind("ImportJob"),
            slot,
            rate: Rate::new(if slot > end - 12 { 60 } else { 98 }, 100),
        })
        .collect();
    let rounds = |hour, later, end, number, rounds| RoundsRow {
        hour,
        kind: kind("ImportJob"),
        later,
        end,
        number,
        sums: RoundSums {
            rounds,
            backoff_ms: 0,
        },
    };
    let last = hour(now()) - 1;
    let day = vec![
        rounds(last, false, RoundEnd::Succeeded, 1, 3_034),
        rounds(last, false, RoundEnd::Succeeded, 2, 608),
        rounds(last, false, RoundEnd::GaveUp, 11, 38),
        rounds(last, true, RoundEnd::Succeeded, 1, 5),
    ];
    let mut week = day.clone();
    week.push(rounds(last - 100, false, RoundEnd::Succeeded, 1, 6_320));
    Digest::new(
        Raw {
            coverage: Coverage {
                since: Some(since),
                watermark: 9_000,
                epoch: 0,
                as_of: now(),
            },
            first,
            week,
            day,
            pending: Pending {
                rounds: vec![(kind("ImportJob"), false, 58)],
                recovery: Vec::new(),
            },
        },
        now(),
    )
}

fn forecast() -> Forecast {
    let retry = |job_type: &str, minutes: i64, number| DueRetry {
        job: minutes,
        kind: kind(job_type),
        due: now() + TimeDelta::minutes(minutes),
        number: Some(number),
    };
    Forecast::new(
        &[
            retry("StockSyncJob", 1, (10, 10)),
            retry("StockSyncJob", 2, (10, 10)),
            retry("StockSyncJob", 30, (3, 10)),
            retry("ImportJob", 40, (5, 5)),
        ],
        100,
        now(),
    )
}

#[test]
fn when_all_is_well_it_says_so() {
    let html = page(seen(0, vec![server("a", 4, 1)]));
    assert!(texts(&html, ".page-h p")[0].ends_with("Nothing needs you."));
    assert!(texts(&html, ".attn-r").is_empty());
    assert_eq!(texts(&html, ".msg h2"), ["Nothing rests in Failed"]);
    assert_eq!(texts(&html, ".page-h .cov"), ["estimate, 2 s ago"]);
}

#[test]
fn what_could_not_be_checked_is_not_taken_for_well() {
    let sentence = |findings: Option<Findings>| {
        let mut seen = seen(0, vec![server("a", 4, 1)]);
        seen.findings = findings.map(Arc::new);
        texts(&page(seen), ".page-h p")[0].clone()
    };
    let unchecked = sentence(None);
    let end = "Nothing that is known needs you: faults are not checked yet.";
    assert!(unchecked.ends_with(end), "{unchecked}");
    let partly = sentence(Some(Findings {
        seen: BTreeMap::new(),
        unanswered: BTreeSet::from([Check::OverdueSchedule, Check::UnservedQueue]),
        read_at: now(),
    }));
    let end = "Nothing that is known needs you: 2 checks could not be made.";
    assert!(partly.ends_with(end), "{partly}");
}

#[test]
fn what_needs_somebody_is_listed() {
    let servers = vec![server("a", 4, 1), server("b", 90, 0), server("c", 301, 4)];
    let html = page(seen(1, servers));
    assert_eq!(
        texts(&html, ".attn-h h3"),
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
    assert_eq!(texts(&html, ".attn-s .cov"), ["exact, checked now"]);
    assert_eq!(attr(&html, "tr[data-job]", "data-job"), ["1"]);
}

#[test]
fn every_figure_of_the_lists_is_there_once() {
    let html = page(seen(4_871, vec![server("a", 4, 1)]));
    for list in ListState::ALL {
        let selector = format!("[data-figure={}]", list.slug());
        let expected = if list == ListState::Failed {
            "4871"
        } else {
            "0"
        };
        assert_eq!(
            attr(&html, &selector, "data-value"),
            [expected],
            "{selector}"
        );
        assert_eq!(
            attr(&html, &selector, "data-as-of"),
            ["2026-11-27T14:05:46Z"],
            "{selector}"
        );
    }
    assert_eq!(texts(&html, "dd.bad [data-figure]"), ["4,871"]);
}

#[test]
fn a_fall_is_told_with_its_numbers_and_leads_to_its_jobs() {
    let mut seen = seen(0, vec![server("a", 4, 1)]);
    seen.digest = read(digest(0));
    let html = page(seen);
    assert_eq!(
        texts(&html, ".attn-h h3"),
        ["First-attempt success fell by 38.0 points"]
    );
    let second = &texts(&html, ".attn-h .two")[0];
    assert!(second.starts_with("ImportJob.RunAsync: 60.0"), "{second}");
    let evidence = &texts(&html, ".attn-e")[0];
    assert!(
        evidence.starts_with("720 of 1,200 succeeded first time; 98,784 of 100,800"),
        "{evidence}"
    );
    let href = &attr(&html, ".attn-a", "href")[0];
    assert_eq!(
        href,
        "/ops/s/prod/jobs?state=failed&type=Bookstore.Jobs.ImportJob&method=RunAsync\
         &from=2026-11-27T12%3A10%3A00Z"
    );
    // 24 hours: 12 slots of 60 and 132 of 98, of a hundred each.
    let figure = "[data-figure=first-attempt-success]";
    assert_eq!(attr(&html, figure, "data-numerator"), ["13656"]);
    assert_eq!(attr(&html, figure, "data-denominator"), ["14400"]);
    assert_eq!(texts(&html, &format!("dd.bad {figure}")).len(), 1);
}

#[test]
fn what_finished_is_drawn_and_tabled_with_its_coverage() {
    let mut whole = seen(0, vec![server("a", 4, 1)]);
    whole.digest = read(digest(0));
    let html = page(whole);
    let head = &texts(&html, ".page-h p")[0];
    assert!(
        head.contains("3,685 jobs finished 13:00\u{2013}14:00."),
        "{head}"
    );
    assert_eq!(texts(&html, "[data-figure=succeeded-last-hour]"), ["3,647"]);
    // 9,354 + 608 + 38 first rounds.
    assert_eq!(
        texts(&html, ".dist-t td:nth-child(2)"),
        ["9,354", "608", "0", "0", "38"]
    );
    assert_eq!(
        attr(&html, "[data-figure=rounds-second]", "data-numerator"),
        ["608"]
    );
    assert_eq!(
        attr(&html, "[data-figure=rounds-second]", "data-denominator"),
        ["10000"]
    );
    let beside = texts(&html, ".dist > .sub");
    assert!(
        beside.contains(
            &"After a requeue 5 succeeded and 0 gave up. 58 rounds have begun and not finished."
                .to_owned()
        ),
        "{beside:?}"
    );
    for part in ["rate", "spread", "finished"] {
        let covered = texts(&html, &format!("[data-part={part}] .sec-h .cov"));
        assert_eq!(covered, ["exact, 3 s ago"], "{part}");
    }
    let last = "[data-part=finished] .fig-t tr:nth-last-child(2) a";
    assert_eq!(
        attr(&html, last, "href")[0],
        "/ops/s/prod/jobs?state=succeeded&from=2026-11-27T13%3A00%3A00Z\
         &to=2026-11-27T14%3A00%3A00Z"
    );

    let mut young = seen(0, Vec::new());
    young.digest = read(digest(hour(now()) - 30));
    let html = page(young);
    assert_eq!(
        texts(&html, "[data-part=rate] .sec-h .cov"),
        ["partial, since 26 Nov 08:00 UTC, 3 s ago"]
    );
    assert_eq!(
        texts(&html, "[data-part=finished] .sec-h .cov"),
        ["exact, 3 s ago"]
    );
}

#[test]
fn last_tries_are_told_with_the_time_that_is_left() {
    let mut seen = seen(0, vec![server("a", 4, 1)]);
    seen.forecast = read(forecast());
    let html = page(seen);
    assert_eq!(texts(&html, ".attn-h h3"), ["3 jobs are on their last try"]);
    assert_eq!(
        texts(&html, ".attn-h .two"),
        ["due before 15:05; then they give up"]
    );
    assert_eq!(
        texts(&html, ".attn-e"),
        ["2 StockSyncJob.RunAsync, 1 ImportJob.RunAsync."]
    );
    assert_eq!(texts(&html, ".attn-w"), ["in 1 min the first runs"]);
    // A job on its last try of five has had five attempts.
    assert_eq!(
        attr(&html, ".attn-a", "href"),
        ["/ops/s/prod/jobs?state=retrying&attempts_min=5"]
    );
    assert_eq!(texts(&html, ".due-t td:nth-child(2)"), ["3", "1"]);
    assert_eq!(
        attr(&html, ".due-t a", "href")[1],
        "/ops/s/prod/jobs?state=retrying&type=Bookstore.Jobs.ImportJob&method=RunAsync"
    );
    let label = &attr(&html, "[data-part=due] svg[role=img]", "aria-label")[0];
    assert!(
        label.starts_with("Retries due per five minutes from 14:05 to 15:05: 2, 0, 0,"),
        "{label}"
    );
}

#[test]
fn a_need_shows_its_day_where_that_is_known_by_the_hour() {
    let mut seen = seen(3, vec![server("a", 90, 0)]);
    seen.digest = read(digest(hour(now()) - 5));
    let html = page(seen);
    assert_eq!(
        texts(&html, ".attn-h h3"),
        [
            "1 server is quiet",
            "First-attempt success fell by 38.0 points",
            "3 jobs rest in Failed"
        ]
    );
    assert_eq!(
        texts(&html, ".attn-s.trends .attn-hd .attn-t"),
        ["24 hours"]
    );
    // The words beside them say it: no drawing is spoken.
    assert_eq!(attr(&html, ".attn .spark", "aria-hidden"), ["true", "true"]);
    assert_eq!(attr(&html, ".attn .spark", "role").len(), 0);
    // Hours of 98 %, then the two that fell to 60 %.
    let line = &attr(&html, ".attn-r:nth-child(2) .sp-line", "d")[0];
    assert_eq!(line.matches(['M', 'L']).count(), 24);
    // 38 gave up in the last full hour; of the hours before the last six nothing was counted.
    assert_eq!(attr(&html, ".attn-r:nth-child(3) .sp-bar", "x"), ["110"]);
    assert_eq!(
        attr(&html, ".attn-r:nth-child(3) .sp-mark", "d"),
        ["M90 29.5H120"]
    );
}

#[test]
fn bars_of_the_forecast_lead_to_the_nearest_list() {
    let mut seen = seen(0, Vec::new());
    seen.forecast = read(forecast());
    let html = page(seen);
    let retrying = "/ops/s/prod/jobs?state=retrying&type=Bookstore.Jobs.StockSyncJob\
                    &method=RunAsync";
    // Two of one kind; then one job, and another.
    assert_eq!(
        attr(&html, "[data-part=due] .g-s .hits a", "href"),
        [retrying, "/ops/s/prod/jobs/30", "/ops/s/prod/jobs/40"]
    );
    assert_eq!(
        texts(&html, "[data-part=due] .g-s .hits title"),
        [
            "14:05: 2 on the last try, 0 with tries left. Leads to all retrying jobs of \
             StockSyncJob.RunAsync",
            "14:35: 0 on the last try, 1 with tries left. Leads to job 30",
            "14:45: 1 on the last try, 0 with tries left. Leads to job 40",
        ]
    );
    // The same without a pointer.
    assert_eq!(
        attr(&html, "[data-part=due] .fig-t a", "href"),
        [retrying, "/ops/s/prod/jobs/30", "/ops/s/prod/jobs/40"]
    );
}

#[test]
fn points_of_the_rate_lead_to_the_failed_jobs_of_their_time() {
    let mut seen = seen(0, Vec::new());
    let mut counted = digest(0);
    // An hour in which every first attempt succeeded has no failed job behind it.
    counted.first_by_hour[0].1 = Rate::new(600, 600);
    let whole = counted.first_by_hour.len();
    seen.digest = read(counted);
    let html = page(seen);
    let links = attr(&html, "[data-part=rate] .f-s .hits a", "href");
    assert_eq!(links.len(), whole - 1);
    assert_eq!(
        links.last().unwrap(),
        "/ops/s/prod/jobs?state=failed&from=2026-11-27T14%3A00%3A00Z\
         &to=2026-11-27T15%3A00%3A00Z"
    );
    let title = texts(&html, "[data-part=rate] .f-s .hits title");
    assert!(
        title
            .last()
            .unwrap()
            .ends_with("Leads to jobs that came to rest in Failed then"),
        "{title:?}"
    );
    assert_eq!(attr(&html, "[data-part=rate] .fig-t a", "href"), links);
}

#[test]
fn faults_that_the_checks_found_are_told_once() {
    let servers = vec![server("a", 301, 4)];
    let mut seen = seen(0, servers);
    let found = |count, examples: &[&str]| Sighting {
        count,
        examples: examples.iter().map(|&name| name.to_owned()).collect(),
        detail: None,
    };
    if let Some(counts) = &mut seen.counts {
        counts.counts.by_state.insert(ListState::Enqueued, 7);
    }
    seen.findings = Some(Arc::new(Findings {
        seen: BTreeMap::from([
            (Check::OverdueSchedule, found(94, &["12", "13"])),
            (Check::ProcessingWithoutServer, found(6, &[])),
            (Check::UnservedQueue, found(7, &["mail (7)"])),
            (Check::Unsettled, found(0, &[])),
        ]),
        unanswered: BTreeSet::from([Check::SeveralQueueRows]),
        read_at: now(),
    }));
    let html = page(seen);
    assert_eq!(
        texts(&html, ".attn-s .cov"),
        ["partial, 1 check could not be made, checked now"]
    );
    // Neither the server that is gone nor the queue without servers is told a second time.
    assert_eq!(
        texts(&html, ".attn-h h3"),
        [
            "94 members of the schedule have been due for more than a minute and were not released",
            "6 jobs say Processing on a server that is gone",
            "7 jobs wait in queues that no living server serves",
        ]
    );
    assert_eq!(
        texts(&html, ".attn-h .two"),
        ["for example 12, 13", "for example mail (7)"]
    );
    assert_eq!(
        attr(&html, ".attn-a", "href"),
        [
            "/ops/s/prod/jobs?state=retrying",
            "/ops/s/prod/jobs?state=processing",
            "/ops/s/prod/jobs?state=enqueued"
        ]
    );
}

#[test]
fn causes_that_many_share_are_told_and_lead_to_their_jobs() {
    let cause = |job_type: &str, exception: &str, jobs| FailureCause {
        kind: kind(job_type),
        exception: exception.into(),
        jobs,
        newest: now() - TimeDelta::minutes(3),
        oldest: now() - TimeDelta::hours(20),
    };
    let mut seen = seen(26, vec![server("a", 4, 1)]);
    seen.causes = read(FailureCauses {
        top: vec![
            cause("ImportJob", "System.TimeoutException", 14),
            cause("StockSyncJob", "", 6),
            // Less than one in five.
            cause("FeedJob", "System.Exception", 5),
        ],
        causes: 4,
        jobs: 26,
    });
    let html = page(seen);
    assert_eq!(
        texts(&html, ".attn-h h3"),
        [
            "14 of 26 failed jobs have one cause",
            "6 of 26 failed jobs have one cause",
            "26 jobs rest in Failed"
        ]
    );
    assert_eq!(
        texts(&html, ".attn-h .two"),
        [
            "ImportJob.RunAsync: TimeoutException",
            "StockSyncJob.RunAsync: an exception that is not stored"
        ]
    );
    assert_eq!(
        texts(&html, ".attn-e")[0],
        "The first failed 20 h ago, the last 3 min ago. 4 causes in all."
    );
    assert_eq!(
        attr(&html, ".attn-a", "href")[..2],
        [
            "/ops/s/prod/jobs?state=failed&type=Bookstore.Jobs.ImportJob&method=RunAsync\
             &exception=System.TimeoutException",
            "/ops/s/prod/jobs?state=failed&type=Bookstore.Jobs.StockSyncJob&method=RunAsync"
        ]
    );
}

#[test]
fn before_anything_is_counted_it_says_so_and_how_far_it_is() {
    let mut seen = seen(0, vec![server("a", 4, 1)]);
    seen.collecting = Collecting {
        watermark: Some(450_000),
        highest: 1_000_000,
        caught_up: false,
        trouble: None,
    };
    seen.forecast.trouble = Some("the role may not read the schedule".into());
    let html = page(seen);
    assert_eq!(attr(&html, ".collecting progress", "value"), ["45"]);
    assert!(texts(&html, ".collecting")[0].contains("450,000 of 1,000,000"));
    assert!(texts(&html, "[data-part=rate] p")[1].contains("45 %"));
    assert_eq!(
        texts(&html, "[data-part=due] p").last().unwrap(),
        "Not known: the role may not read the schedule."
    );
    assert_eq!(
        texts(&html, "[data-figure=first-attempt-success]"),
        ["\u{2013}"]
    );
}

#[test]
fn a_part_that_is_fetched_is_the_same_as_on_the_page() {
    let whole = || {
        let mut seen = seen(3, vec![server("a", 4, 1)]);
        seen.digest = read(digest(0));
        seen.forecast = read(forecast());
        seen.version = Some(now());
        seen
    };
    let html = page(whole());
    let alone = rendered(move || overview_parts(&whole()));
    for part in ["rate", "spread", "due", "finished", "servers"] {
        let selector = format!("[data-part={part}]");
        let (on_page, fetched) = (texts(&html, &selector), texts(&alone, &selector));
        assert_eq!(on_page.len(), 1, "{part}");
        assert_eq!(on_page, fetched, "{part}");
    }
    let version = attr(&html, "[data-charts]", "data-version");
    assert_eq!(version, ["2026-11-27T14:05:48+00:00"]);
    assert_eq!(
        attr(&html, "[data-live-needs]", "data-live-needs"),
        attr(&alone, "[data-needs]", "data-needs")
    );
}
