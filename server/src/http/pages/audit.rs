//! `/s/{source}/audit`: what operators did.

use app::components::shell::Section;
use app::pages::audit::{AuditPage, audit_page};
use axum::http::StatusCode;
use axum::response::Response;
use axum_extra::extract::Query;
use serde::Deserialize;
use uuid::Uuid;

use super::super::frame::SourceVisit;

/// Rows on a page.
const ROWS: u32 = 50;

/// What the URL may say.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct AuditQuery {
    job: String,
    before: String,
}

/// The audit, newest first.
pub async fn show(
    SourceVisit { visit, source }: SourceVisit,
    Query(query): Query<AuditQuery>,
) -> Response {
    let job = match query.job.trim() {
        "" => None,
        text => match text.parse() {
            Ok(job) => Some(job),
            Err(_) => return visit.malformed("“job” must be a job's id"),
        },
    };
    let before = match query.before.trim() {
        "" => None,
        text => match Uuid::parse_str(text) {
            Ok(before) => Some(before),
            Err(_) => return visit.malformed("“before” must be the id of an action"),
        },
    };
    // One more than shown tells whether older ones follow.
    let mut rows = match source.store.audit(job, before, ROWS + 1).await {
        Ok(rows) => rows,
        Err(error) => return visit.failed(Section::Audit, &error),
    };
    let has_older = rows.len() > ROWS as usize;
    rows.truncate(ROWS as usize);
    let page = AuditPage {
        source: visit.chip(&source),
        rows: Ok(rows),
        job,
        has_older,
        newest: before.is_none(),
    };
    visit.page(StatusCode::OK, "Audit", Section::Audit, move || {
        audit_page(page)
    })
}
