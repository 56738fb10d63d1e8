//! `/s/{source}/jobs/{job}/trace/{state}`: the stack trace of one failure, whole.

use app::components::shell::Section;
use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::super::frame::SourceVisit;

/// Plain text, since a trace of a megabyte is for an editor rather than for a page.
pub async fn show(
    SourceVisit { visit, source }: SourceVisit,
    Path((_, job, state)): Path<(String, String, String)>,
) -> Response {
    let (Ok(id), Ok(state)) = (job.parse(), state.parse()) else {
        return visit.no_such_job(&job, None, None);
    };
    match source.store.failure_details(id, state).await {
        Ok(Some(details)) => (
            [(header::CONTENT_TYPE, "text/plain; charset=utf-8")],
            details,
        )
            .into_response(),
        Ok(None) => visit.no_such_trace(id, state),
        Err(error) => visit.failed(Section::Jobs(None), &error),
    }
}
