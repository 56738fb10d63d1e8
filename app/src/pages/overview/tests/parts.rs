//! The charts and their tables.

use super::*;

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
