//! `/s/{source}/jobs`: lists of jobs.

use app::components::shell::Section;
use app::links::Cursor;
use app::pages::jobs::{JobsPage, jobs_page, title};
use app::ports::error::StoreError;
use app::ports::jobs::Anchor;
use axum::http::StatusCode;
use axum::response::Response;
use axum_extra::extract::Query;

use super::super::frame::{SourceVisit, flash};
use super::super::query::{DEFAULT_LIMIT, ListQuery};

/// A list. A query that runs into its limit costs the rows, not the page.
pub async fn show(
    SourceVisit { visit, source }: SourceVisit,
    Query(query): Query<ListQuery>,
) -> Response {
    let request = match query.read() {
        Ok(request) => request,
        Err(why) => return visit.malformed(&why),
    };
    // What comes after this moment is new to the page, but for what its rows show already.
    let known = source.live.borrow().collecting.highest;
    let (list, flash) = tokio::join!(
        source
            .store
            .list(&request.filter, request.anchor, request.limit),
        flash(&source, &query.done),
    );
    let section = Section::Jobs(request.filter.state);
    let status = match &list {
        Ok(_) => StatusCode::OK,
        Err(StoreError::TimedOut(_)) if !visit.wants_json() => StatusCode::GATEWAY_TIMEOUT,
        Err(error) => return visit.failed(section, error),
    };
    let rows = list.iter().flat_map(|list| &list.rows);
    let known = rows.filter_map(|row| row.state.id).fold(known, i64::max);
    let state = request.filter.state;
    let page = JobsPage {
        source: visit.chip(&source),
        cursor: match request.anchor {
            Anchor::Start => None,
            Anchor::OlderThan(id) => Some(Cursor::After(id)),
            Anchor::NewerThan(id) => Some(Cursor::Before(id)),
        },
        limit: (request.limit != DEFAULT_LIMIT).then_some(request.limit),
        list,
        counts: visit.counts(&source),
        queues: source.live.borrow().queues.as_ref().clone(),
        filter: request.filter,
    };
    let title = title(page.filter.state);
    visit
        .with_flash(flash)
        .watching(state, known)
        .page(status, title, section, move || jobs_page(page))
}
