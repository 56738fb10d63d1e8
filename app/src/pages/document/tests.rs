use leptos::prelude::*;
use scraper::Html;
use uuid::Uuid;

use super::testing::{attr, chip, chrome, texts};
use super::*;
use crate::components::job_rows::testing::now;
use crate::components::shell::flash::Flash;
use crate::pages::messages;
use crate::ports::audit::{AuditClaim, AuditRow};
use crate::ports::error::StoreError;

fn html(chrome: Chrome) -> Html {
    Html::parse_document(&render(chrome, || view! { <h1>"Here"</h1> }.into_any()))
}

fn audit(action: &str, outcome: &str) -> AuditRow {
    AuditRow {
        id: Uuid::nil(),
        at: now(),
        actor: "ada".into(),
        authenticated: false,
        action: action.into(),
        job: Some(42),
        seen: Some(("Failed".into(), 9)),
        before: Some(("Failed".into(), 9)),
        after: (outcome == "done").then(|| ("Deleted".into(), 977)),
        reason: None,
        outcome: outcome.into(),
        note: "Nothing else was changed.".into(),
        claim: None,
    }
}

#[test]
fn a_document_is_whole_and_its_scripts_carry_the_nonce() {
    let text = render(chrome(), || view! { <h1>"Here"</h1> }.into_any());
    assert!(
        text.starts_with("<!DOCTYPE html><html lang=\"en\""),
        "{text}"
    );
    let html = Html::parse_document(&text);
    assert_eq!(texts(&html, "title"), ["Failed jobs · prod · Redrive"]);
    assert_eq!(texts(&html, "main h1"), ["Here"]);
    assert_eq!(attr(&html, "script", "nonce"), ["n0nce"; 3]);
    assert_eq!(attr(&html, "html", "data-events"), ["/ops/s/prod/events"]);
    assert_eq!(
        attr(&html, "script[type=module]", "data-wasm"),
        ["/ops/assets/app.wasm"]
    );
    assert!(
        attr(&html, "[style]", "style").is_empty(),
        "no inline style"
    );
    assert_eq!(attr(&html, "body", "class"), ["env-prod"]);
}

#[test]
fn every_url_lies_below_the_base_path() {
    let html = html(chrome());
    for name in [
        "href",
        "src",
        "action",
        "formaction",
        "data-js",
        "data-wasm",
        "data-events",
    ] {
        for url in attr(&html, &format!("[{name}]"), name) {
            assert!(
                url.starts_with("/ops/") || url.starts_with('#'),
                "{name}={url}"
            );
        }
    }
}

#[test]
fn without_the_browser_half_nothing_is_loaded() {
    let mut chrome = chrome();
    chrome.assets.app_js = String::new();
    chrome.assets.app_wasm = String::new();
    assert_eq!(
        attr(&html(chrome), "script[type=module]", "src"),
        ["/ops/assets/live.js"]
    );
}

#[test]
fn who_acts_and_where_is_always_said() {
    let mut chrome = chrome();
    chrome.sources.push(chip("staging"));
    let html = html(chrome);
    assert_eq!(texts(&html, ".who-t"), ["You act as ada not authenticated"]);
    assert_eq!(texts(&html, "button.source .source-env"), ["PROD"]);
    assert_eq!(
        attr(&html, ".sources-l a", "href"),
        ["/ops/s/prod", "/ops/s/staging"]
    );
}

#[test]
fn a_hostile_title_stays_in_the_title() {
    let mut chrome = chrome();
    chrome.title = "</title><script>alert(1)</script>\u{202e}".into();
    let html = html(chrome);
    assert_eq!(
        texts(&html, "title"),
        ["</title><script>alert(1)</script>‹U+202E› · prod · Redrive"]
    );
    assert_eq!(attr(&html, "script", "src").len(), 3);
}

#[test]
fn an_outcome_is_named_in_words() {
    let bar = |row: AuditRow| {
        let mut chrome = chrome();
        chrome.flash = Some(Flash::Known(Box::new(row)));
        html(chrome)
    };
    let done = bar(audit("delete", "done"));
    assert_eq!(attr(&done, ".flash", "data-outcome"), ["done"]);
    assert!(texts(&done, ".flash p")[0].starts_with("Deleted job 42: Failed → Deleted"));
    assert_eq!(
        attr(&done, ".flash form", "action"),
        ["/ops/api/undo-delete"]
    );
    assert_eq!(attr(&done, ".flash input[name=state_id]", "value"), ["977"]);

    for (outcome, words) in [
        ("moved", "the job has changed"),
        ("gone", "no longer exists"),
        ("busy", "try again"),
        ("refused", "Refused"),
        ("unknown", "Unknown whether it happened"),
    ] {
        let html = bar(audit("requeue", outcome));
        assert!(texts(&html, ".flash p")[0].contains(words), "{outcome}");
        assert!(attr(&html, ".flash form", "action").is_empty(), "{outcome}");
    }
}

#[test]
fn an_outcome_of_a_claim_is_named_in_words() {
    let bar = |action: &str, outcome: &str, after: Option<&str>| {
        let mut chrome = chrome();
        chrome.flash = Some(Flash::Known(Box::new(AuditRow {
            seen: None,
            after: None,
            claim: Some(AuditClaim {
                table: "mails".into(),
                key: Some("invoice-email:42".into()),
                seen: None,
                before: Some("Sending since 2026-11-27 13:38:48+00".into()),
                after: after.map(str::to_owned),
            }),
            ..audit(action, outcome)
        })));
        html(chrome)
    };
    let sent = bar("mark-sent", "done", Some("Sent as msg-1"));
    assert_eq!(
        texts(&sent, ".flash b"),
        [
            "Marked as sent: claim invoice-email:42, job 42: Sending since 2026-11-27 13:38:48+00 → \
             Sent as msg-1"
        ]
    );
    assert!(attr(&sent, ".flash form", "action").is_empty());
    for (outcome, words) in [
        (
            "moved",
            "Release claim invoice-email:42, job 42: Not done, the claim has changed",
        ),
        (
            "gone",
            "Release claim invoice-email:42, job 42: Not done, the claim is not there any more",
        ),
        ("refused", "Release claim invoice-email:42, job 42: Refused"),
    ] {
        assert_eq!(texts(&bar("release", outcome, None), ".flash b"), [words]);
    }
}

#[test]
fn stale_claims_are_counted_in_the_navigation() {
    let mut chrome = chrome();
    chrome.stale_claims = Some(1_017);
    let counted = html(chrome);
    assert_eq!(
        texts(&counted, ".nav a[href='/ops/s/prod/claims?status=stale']"),
        ["Claims 1,017 stale"]
    );
    assert_eq!(texts(&counted, ".tabbar .tab-n"), ["1,017 stale"]);
    let mut chrome = self::chrome();
    chrome.stale_claims = Some(0);
    assert_eq!(
        texts(
            &html(chrome),
            ".nav .n.warn:not([hidden]), .tab-n:not([hidden])"
        ),
        Vec::<String>::new()
    );
}

#[test]
fn several_outcomes_are_summed_up_and_listed() {
    let mut chrome = chrome();
    let rows = vec![audit("requeue", "done"), audit("requeue", "moved")];
    chrome.flash = Some(Flash::Several(rows));
    let html = html(chrome);
    assert!(texts(&html, ".flash p")[0].starts_with("Requeue: 1 of 2 done"));
    assert_eq!(texts(&html, ".flash li").len(), 2);
    assert_eq!(attr(&html, ".flash li", "data-outcome"), ["done", "moved"]);
}

#[test]
fn a_database_that_is_away_is_named_and_asked_again() {
    let cause = StoreError::Away("connection refused".into());
    let page = messages::store_error("prod", &cause, Some(5));
    let html = Html::parse_document(&render(chrome(), page));
    assert_eq!(texts(&html, "h1"), ["The database does not answer"]);
    assert!(texts(&html, ".msg p")[0].ends_with("This page asks again every 5 s."));
}

#[test]
fn a_missing_file_is_no_outage() {
    let cause = StoreError::Absent("there is no file /var/nosuch.db".into());
    let page = messages::store_error("prod", &cause, Some(5));
    let html = Html::parse_document(&render(chrome(), page));
    assert_eq!(texts(&html, "h1"), ["There is no such database"]);
    let words = &texts(&html, ".msg p")[0];
    for said in [
        "there is no file /var/nosuch.db.",
        "--database",
        "redrive demo",
    ] {
        assert!(words.contains(said), "{words}");
    }
    assert!(!words.contains("Nothing is lost"), "{words}");
}

#[test]
fn a_missing_job_leads_to_its_neighbours() {
    let page = || messages::no_such_job("prod", "99\u{202e}", Some(42), None);
    let html = Html::parse_document(&render(chrome(), page));
    assert_eq!(
        attr(&html, ".msg-a a", "href"),
        ["/ops/s/prod/jobs/42", "/ops/s/prod/jobs"]
    );
    assert_eq!(attr(&html, ".msg .ctl", "data-c"), ["U+202E"]);
}
