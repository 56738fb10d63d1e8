//! `/s/{source}`: the overview.

use app::components::shell::Section;
use app::model::state::ListState;
use app::pages::overview::{OverviewPage, overview_page};
use app::ports::error::StoreError;
use app::ports::jobs::{Anchor, JobFilter};
use axum::http::StatusCode;
use axum::response::Response;
use axum_extra::extract::Query;
use serde::Deserialize;

use super::super::frame::{SourceVisit, flash};
use crate::source::SERVER_GONE_MS;

/// Failed jobs that the overview shows.
const FAILURES: u32 = 10;

/// What the URL may say.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct OverviewQuery {
    done: Vec<String>,
}

/// What is broken now.
pub async fn show(
    SourceVisit { visit, source }: SourceVisit,
    Query(query): Query<OverviewQuery>,
) -> Response {
    let failed = JobFilter {
        state: Some(ListState::Failed),
        ..JobFilter::default()
    };
    let (failures, servers, flash) = tokio::join!(
        source.store.list(&failed, Anchor::Start, FAILURES),
        source.store.servers(),
        flash(&source, &query.done),
    );
    if let Err(error @ (StoreError::Away(_) | StoreError::Absent(_))) = &servers {
        return visit.failed(Section::Overview, error);
    }
    let page = OverviewPage {
        source: visit.chip(&source),
        counts: visit.counts(&source),
        failures,
        servers,
        stale_claims: source.stale_claims(),
        gone_ms: SERVER_GONE_MS,
    };
    let visit = visit.with_flash(flash);
    visit.page(StatusCode::OK, "Overview", Section::Overview, move || {
        overview_page(page)
    })
}
