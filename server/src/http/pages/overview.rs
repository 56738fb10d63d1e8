//! `/s/{source}`: the overview, and `/s/{source}/charts`: its drawings alone.

use std::sync::Arc;

use app::components::shell::Section;
use app::figures::Collecting;
use app::links::{Shown, Watched};
use app::model::state::ListState;
use app::pages::document;
use app::pages::overview::{Current, OverviewPage, Seen, overview_page, overview_parts};
use app::ports::error::StoreError;
use app::ports::failures::{ChangedAnchor, Indexed};
use app::ports::jobs::{Anchor, JobFilter, JobPage};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use axum_extra::extract::Query;
use serde::Deserialize;

use super::super::frame::{SourceVisit, Visit, flash};
use crate::source::insights::Reading;
use crate::source::{SERVER_GONE_MS, SourceHandle, Store};

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
    // What comes after this moment is new to the page, but for what its rows show already.
    let known = source.live.borrow().collecting.highest;
    let ((failures, by_change), seen, flash) = tokio::join!(
        newest(source.store.as_ref(), &failed),
        seen(&visit, &source),
        flash(&source, &query.done),
    );
    for error in [failures.as_ref().err(), seen.servers.as_ref().err()] {
        if let Some(error @ (StoreError::Away(_) | StoreError::Absent(_))) = error {
            return visit.failed(Section::Overview, error);
        }
    }
    let rows = failures.iter().flat_map(|list| &list.rows);
    let shown = Shown {
        list: Watched::Of(ListState::Failed),
        row: rows.filter_map(|row| row.state.id).fold(known, i64::max),
    };
    let visit = visit.with_flash(flash).watching(Some(shown));
    visit.page(StatusCode::OK, "Overview", Section::Overview, move || {
        overview_page(OverviewPage {
            failures,
            by_change,
            seen,
        })
    })
}

/// The failures that came last, where the index knows them; else those of the highest ids.
async fn newest(store: &dyn Store, failed: &JobFilter) -> (Result<JobPage, StoreError>, bool) {
    match store.changed(failed, ChangedAnchor::Start, FAILURES).await {
        Ok(Indexed::Ready(found)) => (Ok(found.page), true),
        Ok(Indexed::NotReady(_)) => (store.list(failed, Anchor::Start, FAILURES).await, false),
        Err(error) => (Err(error), true),
    }
}

/// The drawings as they are now, for a page that is open. Asks no database.
pub async fn charts(SourceVisit { visit, source }: SourceVisit) -> Response {
    let seen = seen(&visit, &source).await;
    let page = visit.context();
    Html(document::fragment(page, || overview_parts(&seen))).into_response()
}

/// What the background looks saw; before the first one the servers are asked for now.
async fn seen(visit: &Visit, source: &SourceHandle) -> Seen {
    let snapshot = source.live.borrow().clone();
    let servers = if snapshot.info.is_some() {
        Ok(snapshot.servers.clone())
    } else {
        source.store.servers().await.map(Arc::new)
    };
    let skew = source.now(visit.now()) - visit.now();
    let insights = &snapshot.insights;
    Seen {
        source: visit.chip(source),
        counts: visit.counts(source),
        servers,
        stale_claims: snapshot.stale_claims(),
        gone_ms: SERVER_GONE_MS,
        digest: current(&insights.digest, skew),
        forecast: current(&insights.forecast, skew),
        causes: current(&insights.causes, skew),
        findings: insights.findings.clone(),
        collecting: Collecting::from(&snapshot.collecting),
        version: insights.version(),
    }
}

fn current<T>(reading: &Reading<T>, skew: chrono::TimeDelta) -> Current<T> {
    Current {
        value: reading.value.clone(),
        at: reading.at.map(|at| at - skew),
        trouble: reading.trouble.clone(),
    }
}
