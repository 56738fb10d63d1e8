use chrono::TimeDelta;
use scraper::{Html, Selector};

use super::testing::{now, row};
use super::*;
use crate::components::shell::PageContext;
use crate::links::Links;

fn table(rows: &[JobRow], state: Option<ListState>, tick: bool) -> Html {
    table_in(rows, state, tick, false)
}

fn table_in(rows: &[JobRow], state: Option<ListState>, tick: bool, by_change: bool) -> Html {
    let owner = Owner::new();
    let html = owner.with(|| {
        provide_context(PageContext {
            links: Links::new("/ops"),
            sprite: "/ops/assets/sprite.svg".into(),
            now: now(),
        });
        let options = TableOptions {
            state,
            caption: "Jobs".into(),
            tick,
            by_change,
        };
        job_table(rows, &Links::new("/ops").source("prod"), &options).to_html()
    });
    Html::parse_document(&html)
}

fn texts(html: &Html, selector: &str) -> Vec<String> {
    html.select(&Selector::parse(selector).unwrap())
        .map(|element| element.text().collect::<String>().trim().to_owned())
        .collect()
}

fn attr(html: &Html, selector: &str, name: &str) -> Vec<String> {
    html.select(&Selector::parse(selector).unwrap())
        .filter_map(|element| element.attr(name).map(str::to_owned))
        .collect()
}

#[test]
fn a_row_carries_the_hooks_and_the_guard() {
    let html = table(&[row(42, "Failed")], Some(ListState::Failed), true);
    assert_eq!(attr(&html, "tr[data-job]", "data-job"), ["42"]);
    assert_eq!(attr(&html, "tr[data-job]", "data-state"), ["Failed"]);
    assert_eq!(attr(&html, "tr[data-job]", "data-state-id"), ["420"]);
    assert_eq!(attr(&html, "input[name=item]", "value"), ["42:420:Failed"]);
    assert_eq!(attr(&html, "a.job-n", "href"), ["/ops/s/prod/jobs/42"]);
    assert_eq!(texts(&html, ".j-n b"), ["ImportJob.RunAsync"]);
    assert_eq!(texts(&html, ".j-n .two"), ["118, \"HB-1\""]);
    assert_eq!(texts(&html, "td.j-e b"), ["TimeoutException"]);
    assert_eq!(texts(&html, "td.j-t"), ["17 s ago"]);
    assert_eq!(
        attr(&html, "td.j-t time", "datetime"),
        ["2026-11-27T14:05:31Z"]
    );
}

#[test]
fn what_cannot_be_guarded_cannot_be_ticked() {
    let mut unsettled = row(1, "Failed");
    unsettled.state.unsettled = true;
    let mut without_row = row(2, "Failed");
    without_row.state.id = None;
    let mut without_state = row(3, "Failed");
    without_state.state.name = None;
    let html = table(&[unsettled, without_row, without_state], None, true);
    assert!(attr(&html, "input[name=item]", "value").is_empty());
    assert_eq!(attr(&html, "input[disabled]", "aria-label").len(), 3);
    assert_eq!(texts(&html, "td.j-a .warn"), ["changing right now"]);
}

#[test]
fn stored_text_is_text() {
    let evil = "<img src=x onerror=alert(1)>\u{202e}moc\u{1b}[31m";
    let mut hostile = row(1, "Failed");
    hostile.invocation.type_name = Some(format!("X\">{evil}"));
    hostile.invocation.method = Some(evil.into());
    hostile.exception_type = Some(evil.into());
    hostile.exception_message = Some(evil.into());
    hostile.queue = Some(evil.into());
    let html = table(&[hostile], Some(ListState::Failed), true);
    assert!(texts(&html, "img, script").is_empty());
    assert_eq!(attr(&html, "td.j-q .ctl", "data-c"), ["U+202E", "ESC"]);
    assert_eq!(
        texts(&html, "td.j-q"),
        [evil],
        "copying gives what is stored"
    );
}

#[test]
fn a_planned_run_shows_when_it_is_due_and_that_it_is_late() {
    let mut soon = row(1, "Scheduled");
    soon.due_at = Some(now() + TimeDelta::minutes(4));
    let mut late = row(2, "Scheduled");
    late.due_at = Some(now() - TimeDelta::minutes(3));
    let html = table(&[soon, late], Some(ListState::Scheduled), false);
    assert_eq!(texts(&html, "td.j-t time"), ["in 4 min", "3 min ago"]);
    assert_eq!(texts(&html, "td.j-t .warn"), ["overdue"]);
}

#[test]
fn one_odd_row_does_not_cost_the_page() {
    let mut odd = row(1, "Failed");
    odd.invocation.type_name = None;
    odd.invocation.method = None;
    odd.exception_type = None;
    odd.state.since = None;
    odd.queue = None;
    let mut large = row(2, "Failed");
    large.failure_bytes = Some(20_000_000);
    let html = table(&[odd, large], Some(ListState::Failed), false);
    assert_eq!(
        texts(&html, ".j-n b"),
        ["unknown type", "ImportJob.RunAsync"]
    );
    assert_eq!(
        texts(&html, "td.j-e b"),
        ["Error not stored", "Error not read"]
    );
    assert_eq!(texts(&html, "td.j-t"), ["not known", "17 s ago"]);
}

#[test]
fn the_middle_column_says_what_the_row_needs() {
    let mut enqueued = row(2, "Enqueued");
    enqueued.state.reason = Some("Triggered by recurring job scheduler".into());
    let rows = [row(3, "Processing"), enqueued, row(1, "Awaiting")];
    let html = table(&rows, None, false);
    assert_eq!(
        texts(&html, "td.j-e"),
        [
            "app-01:5120:aaaa",
            "Triggered by recurring job scheduler",
            "– no reason given"
        ]
    );
}

#[test]
fn the_arrow_stands_on_the_column_that_rows_are_sorted_by() {
    let sorted = |state, by_change| {
        let html = table_in(&[row(1, "Failed")], Some(state), false, by_change);
        texts(&html, "th[aria-sort]")
    };
    assert_eq!(sorted(ListState::Failed, false), ["Id"]);
    assert_eq!(sorted(ListState::Failed, true), ["Failed"]);
    // Due times are in no order there.
    assert_eq!(sorted(ListState::Retrying, true), Vec::<String>::new());
}
