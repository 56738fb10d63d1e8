//! The page as a whole: what each section says, where it leads, and what stands there instead.

use std::time::Duration;

use super::super::{Collecting, Rows, attempts_page, not_collected};
use super::fixture::{delay, ended, first, given, html, invoices, kind, no_rows, now, round};
use crate::links::attempts::AttemptsView;
use crate::model::collect::RoundEnd;
use crate::model::insights::span::Asked;
use crate::model::insights::{FirstAttemptsRow, JobKind};
use crate::model::rates::{Rate, slot};
use crate::model::testing::at;
use crate::pages::document::testing::{attr, rendered, texts};
use crate::ports::error::StoreError;

fn imports() -> JobKind {
    kind("Bookstore.Jobs.SupplierInvoiceJobs", "ImportAsync")
}

/// A kind whose rate has halved in the last three hours, and one with ten retries of which the
/// last seven never helped.
fn rows() -> Rows {
    let (import, send) = (imports(), invoices());
    let last = slot(now());
    let lately: Vec<FirstAttemptsRow> = (last - 1_160..=last)
        .map(|slot| FirstAttemptsRow {
            kind: import.clone(),
            slot,
            rate: Rate::new(if slot > last - 18 { 17 } else { 34 }, 34),
        })
        .collect();
    Rows {
        first: Ok(vec![
            first(&import, "2026-11-26T15:00:00Z", (900, 1_000)),
            first(&import, "2026-11-27T14:00:00Z", (50, 100)),
            first(&send, "2026-11-27T14:00:00Z", (90, 100)),
        ]),
        usual: Ok(vec![
            first(&import, "2026-11-20T15:00:00Z", (970, 1_000)),
            first(&send, "2026-11-20T15:00:00Z", (90, 100)),
        ]),
        lately: Ok(lately),
        rounds: Ok(vec![
            round(&import, false, (RoundEnd::Succeeded, 1), (950, 0)),
            round(&import, false, (RoundEnd::Succeeded, 2), (140, 280_000)),
            round(&import, true, (RoundEnd::Succeeded, 1), (3, 0)),
            round(&import, true, (RoundEnd::GaveUp, 1), (1, 0)),
            round(&send, false, (RoundEnd::Succeeded, 1), (90, 0)),
            round(&send, false, (RoundEnd::Succeeded, 4), (4, 200_000)),
            round(&send, false, (RoundEnd::GaveUp, 11), (16, 64_000_000)),
        ]),
        attempts: Ok(vec![
            ended(&send, 1, "succeeded", (&[3, 3], &[70, 70])),
            ended(&send, 2, "failed", (&[], &[9_000])),
        ]),
        delays: Ok(vec![
            delay(&import, (2, 1), 140, (2_000, 2_000)),
            delay(&send, (10, 1), 20, (15_000, 44_000)),
        ]),
        ..no_rows()
    }
}

#[test]
fn a_fall_is_told_first_with_since_when_and_from_what() {
    let html = html(AttemptsView::default().over(Asked::Day), rows());
    let sentence = &texts(&html, ".page-h p")[0];
    assert!(
        sentence.ends_with(
            "SupplierInvoiceJobs.ImportAsync fell to 50.0 % since 27 Nov 12:10, from 99.7 %."
        ),
        "{sentence}"
    );
    let rows = attr(&html, ".types tr[data-type]", "data-method");
    assert_eq!(rows, ["ImportAsync", "SendAsync"]);
    assert_eq!(
        texts(&html, ".types tbody .tr"),
        [
            "\u{2212}49.7 pointssince 27 Nov 12:10usual 97.0 %",
            "no fallusual 90.0 %"
        ]
    );
    assert_eq!(attr(&html, ".types .spark.bad", "role"), ["img"]);
    assert_eq!(
        attr(&html, ".types .spark", "aria-label"),
        [
            "First-attempt success of SupplierInvoiceJobs.ImportAsync: 86.4 %",
            "First-attempt success of InvoiceEmailJob.SendAsync: 90.0 %"
        ]
    );
    assert_eq!(
        texts(&html, ".cov")[0],
        "exact, since 26 Nov 15:00, 14 s ago"
    );
}

#[test]
fn numbers_lead_to_the_jobs_behind_them() {
    let html = html(AttemptsView::default().over(Asked::Day), rows());
    let time = "&from=2026-11-26T15%3A00%3A00Z&to=2026-11-27T15%3A00%3A00Z";
    let send = "&type=Bookstore.Jobs.InvoiceEmailJob&method=SendAsync";
    let row = "tr[data-method='SendAsync']";
    assert_eq!(
        attr(&html, &format!("{row} .ty a"), "href"),
        ["/ops/s/prod/attempts?range=24h&type=Bookstore.Jobs.InvoiceEmailJob&method=SendAsync"]
    );
    assert_eq!(
        attr(&html, &format!("{row} .fi a"), "href"),
        [format!("/ops/s/prod/jobs?{}{time}", &send[1..])]
    );
    // The parts of the bar for pointers, and the number that gave up for everybody.
    assert_eq!(
        attr(&html, &format!("{row} .di a"), "href"),
        [
            format!("/ops/s/prod/jobs?state=succeeded{send}{time}&attempts_min=4"),
            format!("/ops/s/prod/jobs?state=failed{send}{time}"),
            format!("/ops/s/prod/jobs?state=failed{send}{time}"),
        ]
    );
    assert_eq!(
        attr(&html, &format!("{row} .di .hits"), "aria-hidden"),
        ["true"]
    );
    assert_eq!(
        attr(&html, &format!("{row} .di .hits a"), "tabindex"),
        ["-1", "-1"]
    );
    let step = attr(&html, ".rate tbody a", "href");
    assert_eq!(
        step.last().unwrap(),
        "/ops/s/prod/jobs?from=2026-11-27T14%3A00%3A00Z&to=2026-11-27T14%3A30%3A00Z"
    );
    // Every table can be had as a file, with the same choice.
    assert_eq!(
        attr(&html, "a.csv", "href"),
        [
            "/ops/s/prod/attempts/rate.csv?range=24h",
            "/ops/s/prod/attempts/kinds.csv?range=24h",
            "/ops/s/prod/attempts/exceptions.csv?range=24h",
            "/ops/s/prod/attempts/fewer-retries.csv?range=24h",
            "/ops/s/prod/attempts/delays.csv?range=24h",
            "/ops/s/prod/attempts/times.csv?range=24h",
        ]
    );
}

#[test]
fn what_retries_cost_is_told_of_the_kind_that_wasted_most() {
    let html = html(AttemptsView::default(), rows());
    let send = "tr[data-method='SendAsync']";
    assert_eq!(texts(&html, &format!("{send} .wa")), ["160"]);
    assert_eq!(
        texts(&html, &format!("{send} .bo")),
        ["17 h 50 min17 h 47 min for nothing"]
    );
    let said = &texts(&html, "section[aria-labelledby='econ-h'] .sec-p")[0];
    assert_eq!(
        said,
        "InvoiceEmailJob.SendAsync wasted most; its finished rounds, replayed under lower limits. \
         Of 11 attempts allowed, 4 would have lost nothing and saved 112 attempts."
    );
    assert_eq!(
        texts(&html, ".econ tbody tr"),
        [
            "11 attempts as now–––not known",
            "4 attempts loses nothing0 of 4112not knownnot known",
            "3 attempts 4 of 4132not knownnot known",
            "2 attempts 4 of 4152not known29.5 s",
            "1 attempt 4 of 4172not known0 ms",
        ]
    );
    assert_eq!(
        texts(&html, ".fits li > p"),
        [
            "SupplierInvoiceJobs.ImportAsync 2 retries: 2 s, ?, inferred",
            "140 planned delays, the same before each retry every time.",
            "InvoiceEmailJob.SendAsync 10 retries: Hangfire\u{2019}s default formula, inferred",
            "All of 20 planned delays lie in the bands of the default formula.",
        ]
    );
    assert_eq!(
        texts(&html, ".times tbody tr"),
        [
            "InvoiceEmailJob.SendAsync1st2≤ 5 ms≤ 5 ms≤ 5 ms≤ 100 ms≤ 100 ms≤ 100 ms",
            "2nd1not recorded≤ 10 s≤ 10 s≤ 10 s",
        ]
    );
    assert_eq!(
        texts(&html, "tr[data-method='ImportAsync'] .di .two"),
        ["140 needed more, 0 gave up", "4 after a requeue, 1 gave up"]
    );
}

#[test]
fn a_part_that_could_not_be_read_costs_its_section_alone() {
    let late = || StoreError::TimedOut(Duration::from_secs(5));
    let html = html(
        AttemptsView::default(),
        Rows {
            recovery: Err(late()),
            attempts: Err(late()),
            ..rows()
        },
    );
    let stopped = "This was stopped to protect the database";
    assert_eq!(texts(&html, ".msg h2"), [stopped, stopped]);
    assert_eq!(texts(&html, ".types tbody tr").len(), 2);
    let broken = Rows {
        rounds: Err(late()),
        ..rows()
    };
    let page = super::fixture::page(AttemptsView::default(), broken);
    assert_eq!(page.error(), Some(&late()));
    let html = rendered(move || attempts_page(page));
    assert_eq!(texts(&html, ".msg h2"), [stopped]);
    assert_eq!(texts(&html, ".types").len(), 0);
}

#[test]
fn five_cases_without_numbers_have_five_messages() {
    let heads = |html: &scraper::Html| texts(html, ".msg h2");
    let nothing = html(AttemptsView::default(), no_rows());
    assert_eq!(heads(&nothing), ["Nothing ended in this time"]);
    let view = AttemptsView {
        job_type: Some("InvoiceEmailJob".into()),
        ..AttemptsView::default()
    };
    let filtered = html(view, no_rows());
    assert_eq!(heads(&filtered), ["Filtered out"]);
    assert_eq!(
        texts(&filtered, ".msg p")[0],
        "No attempt of type “InvoiceEmailJob” ended in this time. \
         Types are counted by their whole name, with the namespace."
    );
    let not_yet = |collecting: Collecting| rendered(move || not_collected("prod", &collecting));
    let reading = not_yet(Collecting {
        read: Some(250),
        highest: 1_000,
        ..Collecting::default()
    });
    assert_eq!(heads(&reading), ["The history is being read"]);
    assert_eq!(attr(&reading, "progress", "value"), ["250"]);
    assert_eq!(attr(&reading, "progress", "max"), ["1000"]);
    let idle = not_yet(Collecting {
        caught_up: true,
        ..Collecting::default()
    });
    assert_eq!(heads(&idle), ["No attempt has ended yet"]);
    let stuck = not_yet(Collecting {
        trouble: Some("no room on the disk".into()),
        ..Collecting::default()
    });
    assert_eq!(heads(&stuck), ["Nothing is counted for now"]);
    assert!(texts(&stuck, ".msg p")[0].contains("no room on the disk"));
}

#[test]
fn odd_times_are_explained() {
    let said = |from: &str, to: &str| {
        let view = AttemptsView::default().over(Asked::Between {
            from: Some(at(from)),
            to: Some(at(to)),
        });
        texts(&html(view, rows()), ".scope-w").join(" ")
    };
    assert_eq!(
        said("2016-11-27T00:00:00Z", "2026-11-27T00:00:00Z"),
        "Nothing is counted before 12 Nov 08:00: this period is covered from then on."
    );
    assert_eq!(
        said("2026-11-27T10:00:00Z", "2026-11-27T10:00:01Z"),
        "Numbers are kept by the hour: these are counted from 27 Nov 10:00 to 27 Nov 11:00."
    );
    assert_eq!(
        said("2027-11-27T10:00:00Z", "2027-11-28T10:00:00Z"),
        "This period lies in the future."
    );
}

#[test]
fn a_history_that_is_still_being_read_is_partial() {
    let mut given = given(AttemptsView::default(), rows());
    given.collecting = Collecting {
        read: Some(600),
        highest: 1_208,
        caught_up: false,
        trouble: None,
    };
    let html = rendered(move || attempts_page(super::super::AttemptsPage::new(given)));
    assert!(texts(&html, ".cov")[0].starts_with("partial, since 20 Nov"));
    assert!(
        texts(&html, ".scope-w")[0].contains("up to state row 600 of 1208"),
        "{:?}",
        texts(&html, ".scope-w")
    );
}

#[test]
fn hostile_names_stay_text() {
    let evil = kind("A<script>alert(1)</script>\u{202e}", "\"><img src=x>");
    let html = html(
        AttemptsView::default(),
        Rows {
            first: Ok(vec![first(&evil, "2026-11-27T14:00:00Z", (1, 2))]),
            rounds: Ok(vec![round(&evil, false, (RoundEnd::GaveUp, 2), (1, 0))]),
            ..no_rows()
        },
    );
    assert_eq!(attr(&html, "main script", "src"), Vec::<String>::new());
    assert_eq!(attr(&html, "main img", "src"), Vec::<String>::new());
    assert!(!html.html().contains(" style="));
    assert!(texts(&html, ".types tbody th")[0].contains("‹U+202E›"));
}
