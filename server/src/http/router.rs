//! Which URL goes where.

use axum::Router;
use axum::extract::{DefaultBodyLimit, OriginalUri, State};
use axum::http::{Method, Uri};
use axum::middleware;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use tower_http::compression::CompressionLayer;
use tower_http::csrf::CsrfLayer;
use tower_http::trace::TraceLayer;

use super::frame::Visit;
use super::state::AppState;
use super::{actions, assets, events, health, metrics, pages, security};

/// Everything, below the base path.
pub fn router(state: AppState) -> Router {
    let base = state.links().base().to_owned();
    let inner = routes();
    let routes = if base.is_empty() {
        inner
    } else {
        // `/ops/redrive` alone goes to `/ops/redrive/`; nothing outside of it is served.
        let root = state.links().root();
        Router::new()
            .route(
                &base,
                get(move || async move { Redirect::permanent(&root) }),
            )
            .nest(&format!("{base}/"), inner)
    };
    routes
        .fallback(not_found)
        .layer(CsrfLayer::new())
        .layer(middleware::from_fn_with_state(
            state.clone(),
            security::explain_refusal,
        ))
        .layer(CompressionLayer::new())
        .layer(middleware::from_fn(security::headers))
        .layer(TraceLayer::new_for_http())
        .with_state(state)
}

fn routes() -> Router<AppState> {
    Router::new()
        .route("/", get(first_source))
        .route("/s/{source}", get(pages::overview::show))
        .route("/s/{source}/jobs", get(pages::jobs::show))
        .route("/s/{source}/jobs/{job}", get(pages::job::show))
        .route(
            "/s/{source}/jobs/{job}/trace/{state}",
            get(pages::trace::show),
        )
        .route("/s/{source}/attempts", get(pages::attempts::show))
        .route("/s/{source}/attempts/{file}", get(pages::attempts::sheet))
        .route("/s/{source}/claims", get(pages::claims::show))
        .route("/s/{source}/charts", get(pages::overview::charts))
        .route("/s/{source}/events", get(events::stream))
        .route("/s/{source}/policy", get(pages::policy::show))
        .route("/s/{source}/servers", get(pages::servers::show))
        .route("/s/{source}/audit", get(pages::audit::show))
        .route("/api/requeue", post(actions::requeue))
        .route("/api/enqueue-now", post(actions::enqueue_now))
        .route("/api/delete", post(actions::delete))
        .route("/api/undo-delete", post(actions::undo_delete))
        .merge(claim_actions())
        .route("/assets/{name}", get(assets::serve))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(metrics::show))
}

fn claim_actions() -> Router<AppState> {
    use actions::claims;
    Router::new()
        .route("/api/reclaim", post(claims::reclaim))
        .route("/api/release", post(claims::release))
        .route("/api/mark-sent", post(claims::mark_sent))
        .route("/api/ask-provider", post(claims::ask_provider))
        .route("/api/purge-claims", post(claims::purge_claims))
        .layer(DefaultBodyLimit::max(claims::LARGEST_FORM))
}

/// `/` goes to the first source.
async fn first_source(State(state): State<AppState>) -> Response {
    match state.sources().first() {
        Some(first) => {
            Redirect::to(&state.links().source(&first.config.name).overview()).into_response()
        }
        None => axum::http::StatusCode::NOT_FOUND.into_response(),
    }
}

/// An address with a slash too many at its end goes to the one without.
async fn not_found(visit: Visit, method: Method, OriginalUri(uri): OriginalUri) -> Response {
    match without_slash(&uri) {
        Some(there) if method == Method::GET => Redirect::permanent(&there).into_response(),
        _ => visit.no_such_page(uri.path()),
    }
}

/// Never an address that a browser would take for another host's (`//host`).
fn without_slash(uri: &Uri) -> Option<String> {
    let path = uri.path().strip_suffix('/')?;
    let is_here = path
        .strip_prefix('/')
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', '\\']));
    let query = uri
        .query()
        .map(|query| format!("?{query}"))
        .unwrap_or_default();
    is_here.then(|| format!("{path}{query}"))
}
