//! What a page shows of what it must not run, cannot hold, or may not offer.

use super::cases::{failed, processing};
use super::fixture::{Page, given, record};
use crate::model::invocation::{Arguments, Invocation};
use crate::model::job::{QueueRow, Server};
use crate::model::state::{StateName, StateRow};
use crate::model::testing::{at, because, row};
use crate::ports::audit::AuditRow;

#[test]
fn stored_text_is_text_and_shows_what_it_hides() {
    let created = at("2026-11-02T07:00:00Z");
    let hostile = "</script><script>alert(1)</script>\u{202e}gnp.exe\u{1}";
    let data = serde_json::json!({
        "ExceptionType": format!("Bad.{hostile}"),
        "ExceptionMessage": hostile,
        "ExceptionDetails": hostile,
        hostile: hostile,
    });
    let rows = vec![
        because(1, "Enqueued", "2026-11-02T07:00:00Z", hostile, "{}"),
        row(
            2,
            "Processing",
            "2026-11-02T07:00:01Z",
            &serde_json::json!({"ServerId": hostile}).to_string(),
        ),
        because(
            3,
            "Failed",
            "2026-11-02T07:00:02Z",
            hostile,
            &data.to_string(),
        ),
        row(4, hostile, "2026-11-02T07:00:03Z", "[]"),
    ];
    let mut given = given(
        record(1, Some(StateName::parse(hostile)), Some(4), created, rows),
        "2026-11-02T07:10:00Z",
    );
    given.record.invocation = Invocation {
        type_name: Some(hostile.into()),
        method: Some(hostile.into()),
        parameter_types: vec![hostile.into()],
        arguments: Arguments::Values(vec![Some(hostile.into())]),
        own_queue: Some(hostile.into()),
    };
    given.record.parameters = vec![(hostile.into(), Some(hostile.into()))];
    given.record.duplicate_parameters = vec![hostile.into()];
    given.queues = vec![hostile.into()];
    let page = Page::of(given);
    assert!(page.texts("script").is_empty());
    assert!(page.section("why").contains("alert(1)"));
}

#[test]
fn a_long_history_is_capped_and_leads_on() {
    let created = at("2026-11-02T00:00:00Z");
    let start = at("2026-11-02T01:00:00Z");
    let rows: Vec<StateRow> = (0..400_i64)
        .map(|index| {
            let mut row = match index % 2 {
                0 => processing(1000 + index, "2026-11-02T01:00:00Z"),
                _ => failed(1000 + index, "2026-11-02T01:00:00Z"),
            };
            row.created_at = start + chrono::TimeDelta::seconds(index);
            row
        })
        .collect();
    let mut given = given(
        record(7, Some(StateName::Failed), Some(1399), created, rows),
        "2026-11-02T07:10:00Z",
    );
    given.record.states_total = 100_000;
    given.record.attempts_before = 49_800;
    let page = Page::of(given);
    assert_eq!(page.attempts().len(), 200);
    assert_eq!(page.attempts()[199][0], "50000");
    assert_eq!(page.texts("table.att").len(), 2);
    assert!(page.text(".att-old summary").starts_with("100 earlier"));
    let history = page.section("hist");
    assert!(
        history.contains("showing the newest 400 of 100,000 rows"),
        "{history}"
    );
    assert_eq!(
        page.attributes(".hist-p a", "href"),
        ["/s/main/jobs/7?history_before=1000#hist"]
    );
    assert!(
        page.texts("svg.tl title")[0].ends_with("Only the newest 12 attempts are drawn."),
        "{}",
        page.texts("svg.tl title")[0]
    );
}

#[test]
fn a_read_only_source_says_why_and_disables_all() {
    let created = at("2026-11-02T07:00:00Z");
    let rows = vec![
        row(1, "Enqueued", "2026-11-02T07:00:00Z", "{}"),
        processing(2, "2026-11-02T07:01:00Z"),
        failed(3, "2026-11-02T07:02:00Z"),
    ];
    let mut given = given(
        record(9, Some(StateName::Failed), Some(3), created, rows),
        "2026-11-02T07:10:00Z",
    );
    given.read_only = Some("its role may not write".into());
    let page = Page::of(given);
    assert!(page.texts("form").is_empty());
    assert_eq!(page.texts("button[aria-disabled=true]").len(), 4);
    let act = page.section("act");
    assert!(
        act.contains("This source is read-only: its role may not write"),
        "{act}"
    );
}

#[test]
fn a_job_that_waits_says_for_which_and_whether_it_ever_ends() {
    let created = at("2026-11-02T07:00:00Z");
    let with = |parent: Option<StateName>| {
        let rows = vec![row(
            1,
            "Awaiting",
            "2026-11-02T07:00:00Z",
            r#"{"ParentId":"41","Options":"1"}"#,
        )];
        let mut given = given(
            record(42, Some(StateName::Awaiting), Some(1), created, rows),
            "2026-11-02T07:10:00Z",
        );
        given.parent_state = parent;
        Page::of(given).section("next")
    };
    let waiting = with(Some(StateName::Processing));
    assert!(
        waiting.contains("Waits for job 41, which is now Processing."),
        "{waiting}"
    );
    assert!(waiting.contains("When that one finishes"), "{waiting}");
    let missed = with(Some(StateName::Succeeded));
    assert!(missed.contains("it was missed"), "{missed}");
    let gone = with(None);
    assert!(gone.contains("does not exist any more"), "{gone}");
}

#[test]
fn a_job_in_a_queue_that_nobody_serves_says_so() {
    let created = at("2026-11-02T07:00:00Z");
    let rows = vec![row(
        1,
        "Enqueued",
        "2026-11-02T07:00:00Z",
        r#"{"Queue":"mail"}"#,
    )];
    let with = |queues: Option<&str>, heartbeat_age_ms: i64| {
        let mut given = given(
            record(
                42,
                Some(StateName::Enqueued),
                Some(1),
                created,
                rows.clone(),
            ),
            "2026-11-02T07:10:00Z",
        );
        given.record.queue_rows = vec![QueueRow {
            id: 1,
            queue: "mail".into(),
            fetched_at: None,
        }];
        given.servers = queues
            .map(|queue| Server {
                id: "app-1:10:aaaa".into(),
                workers: Some(5),
                queues: Some(vec![queue.into()]),
                started_at: None,
                started_raw: None,
                heartbeat_at: created,
                heartbeat_age_ms,
                processing: 0,
            })
            .into_iter()
            .collect();
        Page::of(given).section("next")
    };
    let served = with(Some("mail"), 2_000);
    assert!(
        served.contains("1 live server serves this queue"),
        "{served}"
    );
    for unserved in [
        with(None, 0),
        with(Some("default"), 2_000),
        // Six minutes without a heartbeat: gone.
        with(Some("mail"), 360_000),
    ] {
        assert!(
            unserved.contains("No live server serves this queue"),
            "{unserved}"
        );
    }
}

#[test]
fn an_audited_requeue_names_who_and_why() {
    let created = at("2026-11-02T07:00:00Z");
    let rows = vec![
        row(1, "Enqueued", "2026-11-02T07:00:00Z", "{}"),
        processing(2, "2026-11-02T07:01:00Z"),
        failed(3, "2026-11-02T07:02:00Z"),
        because(
            4,
            "Enqueued",
            "2026-11-02T08:00:00Z",
            "Requeued by ada via Redrive: supplier is\u{2026}",
            "{}",
        ),
    ];
    let mut given = given(
        record(9, Some(StateName::Enqueued), Some(4), created, rows),
        "2026-11-02T08:10:00Z",
    );
    let bare = Page::of(given.clone()).text("tr.is-op");
    assert!(
        bare.contains("ada requeued it: \u{201c}supplier is\u{2026}\u{201d} Round 2 begins."),
        "{bare}"
    );
    given.audit = vec![AuditRow {
        id: uuid::Uuid::nil(),
        at: created,
        actor: "ada".into(),
        authenticated: false,
        action: "requeue".into(),
        job: Some(9),
        seen: Some(("Failed".into(), 3)),
        before: Some(("Failed".into(), 3)),
        after: Some(("Enqueued".into(), 4)),
        reason: Some("supplier is back, ticket 77".into()),
        outcome: "done".into(),
        note: String::new(),
        claim: None,
    }];
    let page = Page::of(given);
    let audited = page.text("tr.is-op");
    assert!(
        audited.contains("ada requeued it: \u{201c}supplier is back, ticket 77\u{201d}"),
        "{audited}"
    );
    assert_eq!(page.attributes("tr.is-op a", "href"), ["/s/main/audit"]);
}

#[test]
fn arguments_that_were_not_loaded_say_their_size() {
    let created = at("2026-11-02T07:00:00Z");
    let mut given = given(
        record(9, None, None, created, Vec::new()),
        "2026-11-02T08:10:00Z",
    );
    given.record.invocation.arguments = Arguments::TooLarge;
    given.record.arguments_bytes = Some(20_971_520);
    let arguments = Page::of(given).section("args");
    assert!(arguments.contains("20 MB, not loaded."), "{arguments}");
}

#[test]
fn a_cut_trace_says_how_long_it_is_and_leads_to_all_of_it() {
    let created = at("2026-11-02T07:00:00Z");
    let frame = "   at Bookstore.Jobs.ReportJobs.Deeper(Int32 depth)\n";
    let details = format!("System.Exception: no\n{}", frame.repeat(1_000));
    let data = serde_json::json!({
        "ExceptionType": "System.Exception",
        "ExceptionMessage": "no",
        "ExceptionDetails": details,
    });
    let rows = vec![
        processing(2, "2026-11-02T07:00:01Z"),
        because(3, "Failed", "2026-11-02T07:00:02Z", "no", &data.to_string()),
    ];
    let given = given(
        record(7, Some(StateName::Failed), Some(3), created, rows),
        "2026-11-02T07:10:00Z",
    );
    let why = Page::of(given);
    // 21 characters of the first line, and a thousand frames of 52.
    assert!(
        why.section("why")
            .contains("Cut: the first 20,000 of 52,021 characters, about 52 kB."),
        "{}",
        why.section("why").chars().take(300).collect::<String>()
    );
    assert_eq!(
        why.attributes(".ex > p a", "href"),
        ["/s/main/jobs/7/trace/3"]
    );
}
