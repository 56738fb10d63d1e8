use uuid::Uuid;

use super::*;
use crate::components::job_rows::testing::now;
use crate::pages::document::testing::{attr, chip, rendered, texts};
use crate::ports::audit::AuditClaim;

fn row(id: u128, outcome: &str) -> AuditRow {
    AuditRow {
        id: Uuid::from_u128(id),
        at: now() - chrono::TimeDelta::seconds(40),
        actor: "ada".into(),
        authenticated: false,
        action: "requeue".into(),
        job: Some(42),
        seen: Some(("Failed".into(), 9)),
        before: Some(("Failed".into(), 9)),
        after: (outcome == "done").then(|| ("Enqueued".into(), 977)),
        reason: Some("supplier <b>is</b> back".into()),
        outcome: outcome.into(),
        note: String::new(),
        claim: None,
    }
}

fn page(rows: Vec<AuditRow>) -> AuditPage {
    AuditPage {
        source: chip("prod"),
        rows: Ok(rows),
        job: None,
        has_older: true,
        newest: true,
    }
}

#[test]
fn a_line_says_who_did_what_to_which_job_and_what_became_of_it() {
    let html = rendered(|| audit_page(page(vec![row(2, "done"), row(1, "moved")])));
    assert_eq!(
        attr(&html, "tr[data-audit]", "data-outcome"),
        ["done", "moved"]
    );
    assert_eq!(
        texts(&html, "tr[data-outcome=done] > *"),
        [
            "40 s ago",
            "ada not authenticated",
            "Requeued job 42",
            "Failed → Enqueued",
            "Done",
            "supplier <b>is</b> back",
        ]
    );
    assert_eq!(
        texts(&html, "tr[data-outcome=moved] > *")[2..5],
        [
            "Requeue job 42",
            "Failed, unchanged",
            "Not done, the job has changed"
        ]
    );
    assert_eq!(
        attr(&html, "tr[data-audit] a", "href"),
        ["/ops/s/prod/jobs/42"; 2]
    );
}

#[test]
fn older_lines_follow_the_last_one() {
    let html = rendered(|| audit_page(page(vec![row(2, "done"), row(1, "done")])));
    let older = Uuid::from_u128(1);
    assert_eq!(
        attr(&html, ".pager a[rel=next]", "href"),
        [format!("/ops/s/prod/audit?before={older}")]
    );
}

#[test]
fn an_empty_audit_says_why() {
    let headline = |page: AuditPage| texts(&rendered(|| audit_page(page)), ".msg h2").concat();
    assert_eq!(
        headline(page(Vec::new())),
        "Nobody has done anything here yet"
    );
    let mut of_job = page(Vec::new());
    of_job.job = Some(42);
    assert_eq!(headline(of_job), "Nothing was done to job 42 here");
    let mut read_only = page(Vec::new());
    read_only.source.read_only = Some("no rights".into());
    assert_eq!(headline(read_only), "Nothing can be done here");
}

fn claim_row(action: &str, outcome: &str, after: Option<&str>) -> AuditRow {
    AuditRow {
        action: action.into(),
        seen: None,
        before: None,
        after: None,
        claim: Some(AuditClaim {
            table: "mails".into(),
            key: Some("invoice-email:<42>".into()),
            seen: Some("2026-11-27 13:38:48+00".into()),
            before: Some("Sending since 2026-11-27 13:38:48+00".into()),
            after: after.map(str::to_owned),
        }),
        ..row(3, outcome)
    }
}

#[test]
fn a_claim_is_named_with_its_key_and_what_became_of_it() {
    let purge = AuditRow {
        job: None,
        note: "Purged 12 Sent claims.".into(),
        claim: Some(AuditClaim {
            table: "mails".into(),
            key: None,
            seen: None,
            before: None,
            after: None,
        }),
        ..claim_row("purge", "done", None)
    };
    let rows = vec![
        claim_row("release", "done", Some("deleted")),
        claim_row("mark-sent", "moved", None),
        purge,
    ];
    let html = rendered(|| audit_page(page(rows)));
    assert_eq!(
        texts(&html, "tr[data-audit] th"),
        [
            "Released claim invoice-email:<42> job 42",
            "Mark as sent: claim invoice-email:<42> job 42",
            "Purged claims of mails",
        ]
    );
    assert_eq!(
        texts(&html, "tr[data-audit] td:nth-child(4)"),
        [
            "Sending since 2026-11-27 13:38:48+00 → deleted",
            "Sending since 2026-11-27 13:38:48+00, unchanged",
            "",
        ]
    );
    assert_eq!(
        texts(&html, "tr[data-outcome=moved] b"),
        ["Not done, the claim has changed"]
    );
    assert_eq!(
        attr(&html, "tr[data-audit] th a.mono", "href")[0],
        "/ops/s/prod/claims?status=all&table=mails&key=invoice-email%3A%3C42%3E"
    );
}

#[test]
fn long_keys_are_cut() {
    let mut long = claim_row("release", "gone", None);
    long.claim.as_mut().unwrap().key = Some(format!("a\n{}", "k".repeat(10_000)));
    let html = rendered(|| audit_page(page(vec![long])));
    let words = texts(&html, "tr[data-audit] th").remove(0);
    assert!(words.chars().count() < 120, "{words}");
}
