//! Numbers that dashboards get wrong.

use super::fixture::{exception, first, given, html, invoices, kind, no_rows, page, round};
use crate::links::attempts::{AttemptsView, Sheet};
use crate::model::collect::RoundEnd;
use crate::model::insights::Pending;
use crate::pages::document::testing::{attr, rendered, texts};

use super::super::{Rows, attempts_page};

/// 80 jobs succeed at once, 20 with the fifth attempt; 9,999 of 10,000 pings succeed, and one rests
/// in Failed; one report still runs.
fn blips() -> Rows {
    let (send, ping) = (invoices(), kind("Bookstore.Jobs.PingJob", "RunAsync"));
    let report = kind("Bookstore.Jobs.NightlyReport", "RunAsync");
    Rows {
        first: Ok(vec![
            first(&send, "2026-11-27T10:00:00Z", (80, 100)),
            first(&ping, "2026-11-27T10:00:00Z", (9_999, 10_000)),
        ]),
        rounds: Ok(vec![
            round(&send, false, (RoundEnd::Succeeded, 1), (80, 0)),
            round(&send, false, (RoundEnd::Succeeded, 5), (20, 2_560_000)),
            round(&ping, false, (RoundEnd::Succeeded, 1), (9_999, 0)),
            round(&ping, false, (RoundEnd::GaveUp, 1), (1, 0)),
        ]),
        pending: Ok(Pending {
            rounds: vec![(report, false, 1)],
            recovery: Vec::new(),
        }),
        ..no_rows()
    }
}

#[test]
fn rates_count_jobs_and_one_failure_in_ten_thousand_is_seen() {
    let html = html(AttemptsView::default(), blips());
    let row = |name: &str| format!("tr[data-type$='{name}']");
    let send = row("InvoiceEmailJob");
    assert_eq!(
        texts(&html, &format!("{send} .fa")),
        ["80.0 %80 of 10071.1–86.7 %"]
    );
    let figure = format!("{send} [data-figure='first-attempt']");
    assert_eq!(attr(&html, &figure, "data-value"), ["0.8"]);
    assert_eq!(attr(&html, &figure, "data-numerator"), ["80"]);
    assert_eq!(attr(&html, &figure, "data-denominator"), ["100"]);
    assert_eq!(attr(&html, &figure, "data-as-of"), ["2026-11-27T14:05:34Z"]);
    // The share bar is of those that needed more: all twenty with a late attempt.
    assert_eq!(
        attr(&html, &format!("{send} .di svg[role=img]"), "aria-label"),
        ["4th+ 20 of those that needed more"]
    );
    assert_eq!(
        texts(&html, &format!("{send} .di .two")),
        ["20 needed more, 0 gave up"]
    );

    let ping = row("PingJob");
    assert_eq!(
        texts(&html, &format!("{ping} .fa")),
        ["99.99 %9,999 of 10,00099.94–99.998 %"]
    );
    assert_eq!(
        texts(&html, &format!("{ping} .di .two")),
        ["1 needed more, 1 gave up"]
    );
    let ping_bars = "figure.sm svg[aria-label^='PingJob']";
    assert_eq!(
        attr(&html, ping_bars, "aria-label"),
        ["PingJob.RunAsync: 1st 9,999, 2nd 0, 3rd 0, 4th+ 0, gave up 1"]
    );
    let words = texts(&html, &format!("{ping_bars} text"));
    assert!(words.contains(&">99.9".to_owned()), "{words:?}");
    for shown in texts(&html, &format!("{ping}, figure.sm")) {
        assert!(!shown.contains("100 %"), "{shown}");
    }

    // Nothing finished: no rate at all, neither none nor all.
    let report = row("NightlyReport");
    assert_eq!(texts(&html, &format!("{report} .fa")), ["none ended yet"]);
    assert_eq!(texts(&html, &format!("{report} .fi .two")), ["1 pending"]);
    assert_eq!(
        attr(
            &html,
            &format!("{report} [data-figure='first-attempt']"),
            "data-value"
        ),
        Vec::<String>::new()
    );
}

#[test]
fn all_together_is_counted_by_job_too() {
    let html = html(AttemptsView::default(), blips());
    assert_eq!(
        texts(&html, ".page-h p")[0],
        "99.8 % of jobs succeeded first time, 10,079 of 10,100 (99.7–99.9 %). \
         No job type has fallen."
    );
    let tries = texts(&html, ".tries tbody tr");
    assert_eq!(tries[0], "Succeeded with the 1st10,07999.8 %");
    assert_eq!(tries[3], "Succeeded with the 4th+200.2 %");
    assert_eq!(tries[4], "Gave up10.010 %");
    assert_eq!(tries[5], "Not finished yet1now");
}

/// Twelve jobs never recover; one of 21 timeouts does not; some are too few, one is pending.
fn reconciliations() -> Rows {
    let kind = kind("Bookstore.Jobs.ReconcileJob", "RunAsync");
    Rows {
        rounds: Ok(vec![round(
            &kind,
            false,
            (RoundEnd::GaveUp, 4),
            (12, 180_000),
        )]),
        recovery: Ok(vec![
            exception(&kind, "System.ArgumentException", [0, 1, 0, 0]),
            exception(&kind, "System.Net.Http.HttpRequestException", [1, 0, 1, 0]),
            exception(&kind, "System.TimeoutException", [20, 1, 21, 3]),
            exception(
                &kind,
                "Bookstore.Jobs.PermanentJobException",
                [0, 12, 0, 36],
            ),
        ]),
        pending: Ok(Pending {
            rounds: vec![(kind.clone(), false, 1)],
            recovery: vec![(kind, "System.NullReferenceException".into(), 1)],
        }),
        ..no_rows()
    }
}

#[test]
fn only_what_never_recovers_of_many_is_to_be_stopped() {
    let html = html(AttemptsView::default(), reconciliations());
    let rows = "tr[data-exception]";
    assert_eq!(
        attr(&html, rows, "data-verdict"),
        ["permanent", "recovers", "too-few", "recovers", "undecided"]
    );
    assert_eq!(
        attr(&html, rows, "data-exception"),
        [
            "Bookstore.Jobs.PermanentJobException",
            "System.TimeoutException",
            "System.ArgumentException",
            "System.Net.Http.HttpRequestException",
            "System.NullReferenceException"
        ]
    );
    assert_eq!(
        texts(&html, ".exc td.ex-w"),
        [
            "0 of 12 recovered: stop retrying this. 36 retries and about 3 min in backoff for nothing.",
            "95.2 % recover, with 21 retries; 3 retries and about 15 s in backoff for nothing.",
            "None of 1 recovered: too few to say. Up to 79.3 % might.",
            "100 % recover, with 1 retry.",
            "Nothing can be said before a round finishes.",
        ]
    );
    let said = texts(&html, "main")
        .join(" ")
        .matches("stop retrying this")
        .count();
    assert_eq!(said, 1);
    let bars = texts(&html, ".exc td.ex-b > .two");
    assert_eq!(bars[..2], ["none recovered", "0–24.2 %"]);
    assert_eq!(bars[2..4], ["95.2 % recovered, 20 of 21", "77.3–99.2 %"]);
    assert_eq!(
        texts(&html, ".exc tr:last-child td.ex-b"),
        ["none has finished yet"]
    );
    assert_eq!(texts(&html, ".exc tr:last-child td.num"), ["–1 pending"]);
}

#[test]
fn tables_hold_the_same_numbers() {
    let sheet = page(AttemptsView::default(), blips())
        .sheet(Sheet::Kinds)
        .unwrap();
    assert_eq!(sheet.len(), 4);
    let columns: Vec<&str> = sheet[0].iter().map(String::as_str).collect();
    let cell = |row: usize, name: &str| {
        let place = columns.iter().position(|column| *column == name).unwrap();
        sheet[row][place].as_str()
    };
    let row = |job_type: &str| {
        let found = sheet.iter().position(|row| row[0].ends_with(job_type));
        found.unwrap()
    };
    let send = row("InvoiceEmailJob");
    assert_eq!(cell(send, "first_attempts_succeeded"), "80");
    assert_eq!(cell(send, "first_attempts_ended"), "100");
    assert_eq!(cell(send, "first_attempt_rate"), "0.8");
    assert_eq!(cell(send, "succeeded_4th_or_later"), "20");
    assert_eq!(cell(send, "backoff_ms"), "2560000");
    assert_eq!(cell(row("PingJob"), "gave_up"), "1");
    let report = row("NightlyReport");
    assert_eq!(cell(report, "first_attempt_rate"), "");
    assert_eq!(cell(report, "pending"), "1");

    let sheet = page(AttemptsView::default(), reconciliations())
        .sheet(Sheet::Exceptions)
        .unwrap();
    assert_eq!(sheet[1][0], "Bookstore.Jobs.PermanentJobException");
    assert_eq!(sheet[1].last().unwrap(), "stop retrying");
    for sheet in Sheet::ALL {
        let table = page(AttemptsView::default(), blips()).sheet(sheet).unwrap();
        let width = table[0].len();
        assert!(table.iter().all(|row| row.len() == width), "{sheet:?}");
    }
}

#[test]
fn a_queue_leaves_out_what_is_not_counted_by_queue() {
    let view = AttemptsView {
        queue: Some("mail".into()),
        ..AttemptsView::default()
    };
    let given = given(view, blips());
    let html = rendered(move || attempts_page(super::super::AttemptsPage::new(given)));
    assert!(!texts(&html, "main").join(" ").contains("1 pending"));
    assert!(
        texts(&html, ".scope-w")
            .join(" ")
            .contains("not counted by queue")
    );
}
