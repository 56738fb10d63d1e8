//! What needs attention.

use super::*;

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
