//! `/metrics`: what is known of each source, as Prometheus reads it. Nothing is asked of a database:
//! all of it is what the background looks saw last.

mod collected;
mod family;
mod live;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use prometheus::{TEXT_FORMAT, TextEncoder};

use super::state::AppState;
use crate::source::{Snapshot, SourceHandle};

/// A source as it was last seen.
struct Seen<'a> {
    source: &'a SourceHandle,
    live: Snapshot,
}

/// `GET /metrics`
pub async fn show(State(state): State<AppState>) -> Response {
    let seen: Vec<Seen<'_>> = state
        .sources()
        .iter()
        .map(|source| Seen {
            source,
            live: source.live.borrow().clone(),
        })
        .collect();
    let mut families = live::families(&seen);
    families.extend(collected::families(&seen));
    // A metric without series is left out: the format has no words for it.
    families.retain(|family| !family.get_metric().is_empty());
    match TextEncoder::new().encode_to_string(&families) {
        Ok(text) => ([(header::CONTENT_TYPE, TEXT_FORMAT)], text).into_response(),
        Err(error) => {
            tracing::error!(%error, "metrics could not be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

impl Seen<'_> {
    fn name(&self) -> &str {
        &self.source.config.name
    }
}
