//! Claims for the tests, as the recorded tables have them.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use scraper::Html;

use super::super::*;
use crate::components::job_rows::testing::now;
use crate::model::attempt::Outcome;
use crate::model::claim::ClaimTime;
use crate::model::claim::evidence::{FirstSend, Holder};
use crate::model::claim::keys::Match;
use crate::model::claim::table::{ClaimWay, ColumnTypes, Columns, ProviderRule};
use crate::model::state::StateName;
use crate::model::timeline::{Context, Timeline};
use crate::pages::document::testing::{chip, rendered};

pub(super) const MINUTE: i64 = 60_000;

pub(super) fn table() -> ClaimsTable {
    ClaimsTable {
        name: "mails".into(),
        schema: "public".into(),
        table: "OutgoingEmails".into(),
        columns: Columns {
            key: "IdempotencyKey".into(),
            status: "Status".into(),
            claimed_at: Some("ClaimedAtUtc".into()),
            provider_id: Some("ProviderMessageId".into()),
        },
        sending: "0".into(),
        sent: "1".into(),
        cutoff_ms: 10 * MINUTE,
        retention_ms: ClaimsTable::RETENTION_MS,
        purge: false,
        window_ms: Some(30 * MINUTE),
        way: ClaimWay::InsertFirst,
        keys: Vec::new(),
        nothing_sent_on: Vec::new(),
        provider: Some(ProviderRule {
            url: "https://ops:secret@mail.example/v1/messages?key={key}&token=s3cr3t".into(),
            authorization: Some("Bearer hush".into()),
            message_id: "/messageId".into(),
            permanent: false,
        }),
        detected: false,
    }
}

pub(super) fn shape() -> Shape {
    Shape {
        table: table(),
        lacks: Vec::new(),
        types: ColumnTypes {
            key: "text".into(),
            status: "integer".into(),
            claimed_at: Some("timestamp with time zone".into()),
        },
        missing_index: None,
        with_jobs: true,
        read_only: None,
    }
}

pub(super) fn figures() -> ClaimFigures {
    ClaimFigures {
        sending: 63,
        stale: 17,
        sent: 441_716,
        other: Vec::new(),
        ages: vec![31, 8, 5, 2, 4, 5, 3, 2, 1, 1, 1],
        ageless: 0,
        purgeable: (12_408, Some(now() - TimeDelta::days(41))),
        just_sent: vec![Claim {
            key: "invoice-email:7019".into(),
            status: ClaimStatus::Sent,
            claimed_at: Some(ClaimTime::read("2026-11-27 14:05:26.1+00")),
            provider_id: Some("msg-4570d2f1".into()),
        }],
        as_of: now() - TimeDelta::seconds(2),
    }
}

pub(super) fn view_of(table: ClaimsTable) -> TableView {
    TableView {
        shape: Ok(Shape {
            table: table.clone(),
            ..shape()
        }),
        table,
        figures: FiguresView::Counted {
            figures: Arc::new(figures()),
            age_ms: 2_000,
        },
        last_purge: None,
    }
}

pub(super) fn owner(job: i64, state: StateName) -> Owner {
    Owner {
        job,
        by: Match::Rule,
        name: "InvoiceEmailJob.SendAsync".into(),
        state: Some(state.clone()),
        created_at: now() - TimeDelta::minutes(40),
        timeline: Timeline::build(
            &[],
            &Context::whole(now() - TimeDelta::minutes(40), Some(state)),
        ),
    }
}

/// A claim made so many minutes ago by attempt 1 of job 42, whose server beats but does not run
/// it any more.
pub(super) fn claim(key: &str, minutes: i64, judgement: Judgement) -> JudgedClaim {
    let at = now() - TimeDelta::minutes(minutes);
    let closes = at + TimeDelta::minutes(30);
    JudgedClaim {
        claim: Claim {
            key: key.into(),
            status: ClaimStatus::Sending,
            claimed_at: Some(ClaimTime::read(
                at.format("%Y-%m-%d %H:%M:%S+00").to_string(),
            )),
            provider_id: None,
        },
        owners: vec![owner(42, StateName::Succeeded)],
        evidence: Some(Evidence {
            age_ms: Some(minutes * MINUTE),
            stale: minutes > 10,
            holder: Some(Holder {
                job: 42,
                attempt: 1,
                server: Some("mail-01:2210:7ec4b9ef-8d0f-4b1c-9f5e-2f0d9a1c6a11".into()),
                heartbeat_age_ms: Some(9_000),
                alive: true,
                outcome: Outcome::Failed,
                failure: Some((
                    Some("System.TimeoutException".into()),
                    Some("no answer in 30 s".into()),
                )),
            }),
            running: None,
            skipped: Vec::new(),
            first_send: Some(FirstSend {
                at,
                from: "the claim".into(),
            }),
            window_closes: Some(closes),
        }),
        verdict: Some(Verdict {
            judgement,
            why: "Because the test says so.".into(),
        }),
        asked: None,
        offers: Deed::ALL
            .into_iter()
            .map(|deed| ClaimOffer {
                deed,
                why_not: (judgement == Judgement::Running)
                    .then(|| "mail-01 is alive and runs it".into()),
            })
            .collect(),
    }
}

pub(super) fn stale_rows() -> ClaimRows {
    ClaimRows {
        rows: vec![
            claim("invoice-email:6902", 1_563, Judgement::Unknown),
            claim("invoice-email:6975", 27, Judgement::Safe),
            claim("order-export:551188", 15, Judgement::Running),
        ],
        has_before: false,
        has_after: true,
    }
}

pub(super) fn page(list: Result<ClaimRows, StoreError>) -> ClaimsPage {
    ClaimsPage {
        source: chip("prod"),
        search: None,
        dialect: Dialect::Postgres,
        tables: vec![view_of(table())],
        chosen: 0,
        view: ClaimsView::default(),
        cursor: None,
        list,
    }
}

pub(super) fn html(page: ClaimsPage) -> Html {
    rendered(|| claims_page(page))
}

pub(super) fn timed_out() -> StoreError {
    StoreError::TimedOut(Duration::from_secs(5))
}
