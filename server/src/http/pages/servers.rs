//! `/s/{source}/servers`.

use app::components::shell::Section;
use app::pages::servers::{ServersPage, servers_page};
use axum::http::StatusCode;
use axum::response::Response;

use super::super::frame::SourceVisit;
use crate::source::SERVER_GONE_MS;

/// Every server, with its heartbeat.
pub async fn show(SourceVisit { visit, source }: SourceVisit) -> Response {
    let servers = match source.store.servers().await {
        Ok(servers) => servers,
        Err(error) => return visit.failed(Section::Servers, &error),
    };
    let page = ServersPage {
        source: visit.chip(&source),
        servers: Ok(servers),
        gone_ms: SERVER_GONE_MS,
    };
    visit.page(StatusCode::OK, "Servers", Section::Servers, move || {
        servers_page(page)
    })
}
