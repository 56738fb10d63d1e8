//! Pages of rows that went wrong elsewhere.

use super::fixture::{Page, given, record};
use crate::model::data::StateData;
use crate::model::invocation::Invocation;
use crate::model::state::{StateName, StateRow};
use crate::model::testing::{at, because, row};

const FAILED: &str = r#"{"ExceptionType":"System.TimeoutException","ExceptionMessage":"Supplier did not answer","ExceptionDetails":"System.TimeoutException: Supplier did not answer\n   at Bookstore.Jobs.Demo.RunAsync()"}"#;

pub(super) fn failed(id: i64, created_at: &str) -> StateRow {
    because(
        id,
        "Failed",
        created_at,
        "An exception occurred during performance of the job.",
        FAILED,
    )
}

fn retry(id: i64, created_at: &str, number: u32, of: u32, due: &str) -> StateRow {
    because(
        id,
        "Scheduled",
        created_at,
        &format!("Retry attempt {number} of {of}: Supplier did not answer"),
        &format!(r#"{{"ScheduledAt":"{created_at}","EnqueueAt":"{due}"}}"#),
    )
}

fn released(id: i64, created_at: &str) -> StateRow {
    because(
        id,
        "Enqueued",
        created_at,
        "Triggered by DelayedJobScheduler",
        r#"{"Queue":"default"}"#,
    )
}

pub(super) fn processing(id: i64, created_at: &str) -> StateRow {
    row(
        id,
        "Processing",
        created_at,
        r#"{"ServerId":"app-1:10:aaaa","WorkerId":"w-1"}"#,
    )
}

#[test]
fn clocks_of_two_hosts_that_disagree_are_marked() {
    let rows = vec![
        row(2_000_001, "Enqueued", "2026-11-02T10:00:00.730Z", "{}"),
        processing(2_000_002, "2026-11-02T10:00:00.000Z"),
        row(
            2_000_003,
            "Succeeded",
            "2026-11-02T10:00:01.250Z",
            r#"{"PerformanceDuration":"1245","Latency":"-730"}"#,
        ),
    ];
    let created = at("2026-11-02T10:00:00Z");
    let page = Page::of(given(
        record(
            200_001,
            Some(StateName::Succeeded),
            Some(2_000_003),
            created,
            rows,
        ),
        "2026-11-02T10:05:00Z",
    ));
    assert_eq!(page.attempts(), [["1", "succeeded", "0", "1245", ""]]);
    let row = page.text("tr[data-attempt]");
    assert!(row.contains("clocks disagree by 730 ms"), "{row}");
    assert!(!row.contains("-730") && !row.contains('\u{2212}'), "{row}");
}

#[test]
fn dates_in_unix_form_are_due_times() {
    for (due, planned) in [
        ("1774596640000", "1774596600000"),
        ("1774596640", "1774596600"),
    ] {
        let rows = vec![
            row(1, "Enqueued", "2026-03-27T07:29:50Z", "{}"),
            processing(2, "2026-03-27T07:29:55Z"),
            failed(3, "2026-03-27T07:30:00Z"),
            retry(4, planned, 1, 10, due),
        ];
        let mut rows = rows;
        rows[3].created_at = at("2026-03-27T07:30:00Z");
        let created = at("2026-03-27T07:29:50Z");
        let page = Page::of(given(
            record(200_002, Some(StateName::Scheduled), Some(4), created, rows),
            "2026-03-27T07:30:10Z",
        ));
        assert_eq!(page.attempts(), [["1", "failed", "5000", "5000", ""]]);
        assert_eq!(
            page.attributes("tr[data-planned-retry]", "data-backoff-ms"),
            ["40000"]
        );
        assert_eq!(
            page.attributes("tr[data-planned-retry]", "data-planned-retry"),
            ["1"]
        );
        let next = page.section("next");
        assert!(next.contains("00:00:30"), "{next}");
        assert!(next.contains("27 Mar 2026, 07:30:40 UTC"), "{next}");
        assert!(next.contains("0 of 10 retries used"), "{next}");
        let planned = page.text("tr[data-planned-retry]");
        assert!(
            planned.contains("fits the inferred 15 s to 44 s"),
            "{planned}"
        );
    }
}

/// Both retries are used, somebody requeued it, and it failed again at once.
fn payout() -> Page {
    let rows = vec![
        row(4_000_001, "Enqueued", "2026-11-02T08:00:00.000Z", "{}"),
        processing(4_000_002, "2026-11-02T08:00:00.200Z"),
        failed(4_000_003, "2026-11-02T08:00:01.200Z"),
        retry(
            4_000_004,
            "2026-11-02T08:00:01.200Z",
            1,
            2,
            "2026-11-02T08:00:11.200Z",
        ),
        released(4_000_005, "2026-11-02T08:00:14.000Z"),
        processing(4_000_006, "2026-11-02T08:00:14.300Z"),
        failed(4_000_007, "2026-11-02T08:00:15.100Z"),
        retry(
            4_000_008,
            "2026-11-02T08:00:15.100Z",
            2,
            2,
            "2026-11-02T08:00:35.100Z",
        ),
        released(4_000_009, "2026-11-02T08:00:44.000Z"),
        processing(4_000_010, "2026-11-02T08:00:44.250Z"),
        failed(4_000_011, "2026-11-02T08:00:45.250Z"),
        because(
            4_000_012,
            "Enqueued",
            "2026-11-02T11:15:00.000Z",
            "Triggered via Dashboard UI",
            r#"{"Queue":"default"}"#,
        ),
        processing(4_000_013, "2026-11-02T11:15:00.500Z"),
        failed(4_000_014, "2026-11-02T11:15:00.900Z"),
    ];
    let created = at("2026-11-02T08:00:00Z");
    let mut given = given(
        record(
            400_001,
            Some(StateName::Failed),
            Some(4_000_014),
            created,
            rows,
        ),
        "2026-11-02T12:00:00Z",
    );
    given.record.parameters = vec![("RetryCount".into(), Some("2".into()))];
    Page::of(given)
}

#[test]
fn a_requeue_after_the_last_retry_is_not_a_backoff_of_hours() {
    let page = payout();
    assert_eq!(
        page.attempts(),
        [
            ["1", "failed", "200", "1000", ""],
            ["2", "failed", "300", "800", "10000"],
            ["3", "failed", "250", "1000", "20000"],
            ["4", "failed", "500", "400", ""],
        ]
    );
    let rows = page.texts("tr[data-attempt]");
    assert!(
        rows[1].contains("10 s planned, released 2.8 s after it was due"),
        "{}",
        rows[1]
    );
    assert!(
        rows[2].contains("20 s planned, released 8.9 s after it was due"),
        "{}",
        rows[2]
    );
    // The delays show which policy it is: a list of two, not the default's 15 s to 44 s.
    assert!(rows[1].contains("fits the inferred 10 s"), "{}", rows[1]);
    assert!(rows[2].contains("fits the inferred 20 s"), "{}", rows[2]);
    assert!(rows[3].contains("after a requeue"), "{}", rows[3]);
    let hand = page.text("tr.is-op");
    assert!(
        hand.contains("Somebody, in Hangfire\u{2019}s dashboard, requeued it"),
        "{hand}"
    );
}

#[test]
fn used_up_retries_are_told_before_the_requeue() {
    let page = payout();
    let next = page.section("next");
    assert!(
        next.contains(
            "Both retries are used: a requeue gives exactly one run unless the retry count is \
             started again."
        ),
        "{next}"
    );
    let facts = page.text(".job-facts");
    assert!(facts.contains("2 of 2"), "{facts}");
    assert!(facts.contains("Attempts 4 in 2 rounds"), "{facts}");
    assert!(
        next.contains(
            "At most 2 retries; delays: 10 s, 20 s. Inferred from the 2 delays seen of this job"
        ),
        "{next}"
    );
    let act = page.section("act");
    assert!(act.contains("Both retries are used"), "{act}");
    assert!(act.contains("Start the retry count again"), "{act}");
    assert_eq!(
        page.attributes("form[action=\"/api/requeue\"] input[type=checkbox]", "name"),
        ["reset_retries"]
    );
}

#[test]
fn a_job_that_could_not_begin_has_no_attempt() {
    let rows = vec![
        because(
            5_000_001,
            "Enqueued",
            "2026-11-02T07:00:00.000Z",
            "Triggered by recurring job scheduler",
            r#"{"Queue":"reports"}"#,
        ),
        because(
            5_000_002,
            "Failed",
            "2026-11-02T07:00:03.400Z",
            "Can not change the state to 'Processing': target method was not found.",
            r#"{"ExceptionType":"System.TypeLoadException","ExceptionMessage":"Could not load type 'Bookstore.Jobs.OldReport' from assembly 'Bookstore.Jobs'."}"#,
        ),
        retry(
            5_000_003,
            "2026-11-02T07:00:03.400Z",
            1,
            10,
            "2026-11-02T07:00:29.400Z",
        ),
    ];
    let created = at("2026-11-02T07:00:00Z");
    let mut given = given(
        record(
            500_001,
            Some(StateName::Scheduled),
            Some(5_000_003),
            created,
            rows,
        ),
        "2026-11-02T07:00:10Z",
    );
    given.record.invocation = Invocation::parse(
        r#"{"Type":"Bookstore.Jobs.OldReport, Bookstore.Jobs","Method":"RunAsync","ParameterTypes":"[\"System.String\"]"}"#,
        Some(r#"["\"2026-10\""]"#),
    );
    let page = Page::of(given);
    assert_eq!(page.text("h1"), "OldReport.RunAsync");
    assert_eq!(page.text(".job-args"), "RunAsync(\"2026-10\")");
    assert!(page.attempts().is_empty());
    let outside = page.text("tr.is-outside");
    assert!(
        outside.contains("Failed before it could begin"),
        "{outside}"
    );
    assert!(outside.contains("target method was not found"), "{outside}");
    assert!(outside.contains("TypeLoadException"), "{outside}");
    assert_eq!(
        page.attributes("tr[data-planned-retry]", "data-backoff-ms"),
        ["26000"]
    );
    let next = page.section("next");
    assert!(next.contains("retry 1 of 10"), "{next}");
    let why = page.section("why");
    assert!(why.contains("Outside any attempt"), "{why}");
}

#[test]
fn a_job_without_state_offers_nothing() {
    let created = at("2026-11-02T07:00:00Z");
    let page = Page::of(given(
        record(1_400_001, None, None, created, Vec::new()),
        "2026-11-02T07:10:00Z",
    ));
    assert_eq!(page.text(".job-h .pill"), "No state");
    assert!(page.section("past").contains("Nothing yet"));
    assert!(page.texts("form").is_empty());
    assert_eq!(page.texts("button[aria-disabled=true]").len(), 4);
}

#[test]
fn a_state_whose_row_is_gone_still_ends_the_run() {
    let created = at("2026-11-02T07:00:00Z");
    let rows = vec![
        row(14_000_021, "Enqueued", "2026-11-02T07:00:00Z", "{}"),
        processing(14_000_022, "2026-11-02T07:01:00Z"),
    ];
    let page = Page::of(given(
        record(
            1_400_002,
            Some(StateName::Failed),
            Some(14_999_999),
            created,
            rows,
        ),
        "2026-11-02T07:10:00Z",
    ));
    assert_eq!(page.attempts(), [["1", "failed", "60000", "", ""]]);
    let row = page.text("tr[data-attempt]");
    assert!(row.contains("details no longer stored"), "{row}");
    assert_eq!(
        page.attributes(
            "form[action=\"/api/requeue\"] input[name=state_id]",
            "value"
        ),
        ["14999999"]
    );
}

#[test]
fn a_failure_without_data_and_a_job_without_a_type_are_shown() {
    let created = at("2026-11-02T07:00:00Z");
    let mut bare = failed(14_000_043, "2026-11-02T07:02:00Z");
    bare.data = StateData::default();
    let rows = vec![
        row(14_000_041, "Enqueued", "2026-11-02T07:00:00Z", "{}"),
        processing(14_000_042, "2026-11-02T07:01:00Z"),
        bare,
    ];
    let mut given = given(
        record(
            1_400_004,
            Some(StateName::Failed),
            Some(14_000_043),
            created,
            rows,
        ),
        "2026-11-02T07:10:00Z",
    );
    given.record.invocation = Invocation::parse("{}", Some("[]"));
    given.record.parameters = vec![
        ("RetryCount".into(), Some("3".into())),
        ("CurrentCulture".into(), None),
    ];
    given.record.duplicate_parameters = vec!["RetryCount".into()];
    let page = Page::of(given);
    assert_eq!(page.text("h1"), "unknown type");
    let row = page.text("tr[data-attempt]");
    assert!(row.contains("type and message are not stored"), "{row}");
    let parameters = page.section("params");
    assert!(
        parameters.contains("3 stored more than once; the newest counts"),
        "{parameters}"
    );
    assert!(
        parameters.contains("CurrentCulture no value"),
        "{parameters}"
    );
}
