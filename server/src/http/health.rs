//! `/healthz` and `/readyz`.

use axum::extract::State;
use axum::http::StatusCode;

use super::state::AppState;

/// The process runs and answers.
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// Fails only when no source answers.
pub async fn readyz(State(state): State<AppState>) -> (StatusCode, String) {
    let mut lines = Vec::new();
    let mut ready = false;
    for source in state.sources() {
        let snapshot = source.live.borrow();
        let name = &source.config.name;
        if snapshot.answers() {
            ready = true;
            lines.push(format!("{name}: ok\n"));
        } else {
            let why = snapshot.trouble.as_deref().unwrap_or("not looked at yet");
            lines.push(format!("{name}: {why}\n"));
        }
    }
    let status = if ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, lines.concat())
}
