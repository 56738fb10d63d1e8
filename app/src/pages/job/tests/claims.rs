//! What a job's page says of its claims.

use super::fixture::{Page, Recorded};
use crate::model::claim::table::{ClaimWay, ClaimsTable, Columns};
use crate::model::claim::verdict::{Judgement, Verdict};
use crate::model::claim::{Claim, ClaimStatus, ClaimTime};
use crate::pages::claims::JudgedClaim;
use crate::pages::job::JobClaim;

fn table() -> ClaimsTable {
    ClaimsTable {
        name: "mails".into(),
        schema: "public".into(),
        table: "OutgoingEmails".into(),
        columns: Columns {
            key: "IdempotencyKey".into(),
            status: "Status".into(),
            claimed_at: Some("ClaimedAtUtc".into()),
            provider_id: None,
        },
        sending: "0".into(),
        sent: "1".into(),
        cutoff_ms: ClaimsTable::CUTOFF_MS,
        retention_ms: ClaimsTable::RETENTION_MS,
        purge: false,
        window_ms: None,
        way: ClaimWay::InsertFirst,
        keys: Vec::new(),
        nothing_sent_on: Vec::new(),
        provider: None,
        detected: true,
    }
}

fn claim(key: &str, warning: Option<&str>) -> JobClaim {
    JobClaim {
        table: table(),
        judged: JudgedClaim {
            claim: Claim {
                key: key.into(),
                status: ClaimStatus::Sending,
                claimed_at: Some(ClaimTime::read("2026-11-02 10:00:00+00")),
                provider_id: None,
            },
            owners: Vec::new(),
            evidence: None,
            verdict: Some(Verdict {
                judgement: Judgement::Unknown,
                why: "Nobody can say.".into(),
            }),
            asked: None,
            offers: Vec::new(),
        },
        warning: warning.map(str::to_owned),
    }
}

fn page(claims: Result<Vec<JobClaim>, String>) -> Page {
    let mut given = Recorded::open("article/rows.json").given(2, "2026-11-29T20:00:00Z");
    given.claims = claims;
    Page::of(given)
}

#[test]
fn a_job_without_claims_says_nothing_of_them() {
    let page = page(Ok(Vec::new()));
    assert_eq!(page.texts("[aria-labelledby=claim]").len(), 0);
}

#[test]
fn its_claim_is_named_with_verdict_and_a_way_to_it() {
    let page = page(Ok(vec![claim("invoice-email:<42>", None)]));
    let words = page.section("claim");
    assert!(
        words.starts_with("Its claim invoice-email:<42> in mails Sending Outcome unknown"),
        "{words}"
    );
    assert!(words.contains("Nobody can say."), "{words}");
    assert_eq!(page.attributes("[data-claim]", "data-verdict"), ["unknown"]);
    assert_eq!(
        page.attributes("[data-claim] > a", "href"),
        ["/s/main/claims?status=all&table=mails&key=invoice-email%3A%3C42%3E"]
    );
}

#[test]
fn a_requeue_is_warned_of_what_it_would_meet() {
    let page = page(Ok(vec![claim(
        "k",
        Some("A requeued run would only skip."),
    )]));
    let notes = page.texts("form[action='/api/requeue'] .note");
    assert!(
        notes.contains(&"A requeued run would only skip.".to_owned()),
        "{notes:?}"
    );
    let deleting = page.texts("form[action='/api/delete'] .note").join(" ");
    assert!(!deleting.contains("only skip"), "{deleting}");
}

#[test]
fn claims_that_cannot_be_read_do_not_cost_the_page() {
    let page = page(Err("it took longer than 5 s".into()));
    assert!(page.section("claim").contains("it took longer than 5 s"));
    assert_eq!(page.attempts().len(), 1);
}
