//! The embedded files: style sheet, scripts, WASM, icons.

use app::links::Links;
use app::pages::document::Assets;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// One embedded file, as the build script leaves it.
struct Asset {
    /// Its name in the repository, for example `theme.js`.
    name: &'static str,
    /// Its name in URLs, with the hash of its content.
    hashed: &'static str,
    plain: &'static [u8],
    br: &'static [u8],
    gz: &'static [u8],
}

static ASSETS: &[Asset] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The URLs of the files that every page refers to. Those of the browser's half are empty where it
/// was not built: pages are complete without it.
pub fn urls(links: &Links) -> Assets {
    let url = |name: &str| {
        ASSETS
            .iter()
            .find(|asset| asset.name == name)
            .map(|asset| links.asset(asset.hashed))
            .unwrap_or_default()
    };
    Assets {
        css: url("redrive.css"),
        theme_js: url("theme.js"),
        start_js: url("start.js"),
        live_js: url("live.js"),
        app_js: url("app.js"),
        app_wasm: url("app.wasm"),
        sprite: url("sprite.svg"),
        favicon: url("favicon.svg"),
    }
}

/// Serves an embedded file. Its name carries its hash, so it never changes: cached for a year.
pub async fn serve(Path(name): Path<String>, request: HeaderMap) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.hashed == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let accepted = request
        .get(header::ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let (body, coding) = if accepts(accepted, "br") {
        (asset.br, Some("br"))
    } else if accepts(accepted, "gzip") {
        (asset.gz, Some("gzip"))
    } else {
        (asset.plain, None)
    };
    let mut headers = vec![
        fixed(header::CONTENT_TYPE, content_type(asset.name)),
        fixed(header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        fixed(header::VARY, "accept-encoding"),
    ];
    headers.extend(coding.map(|coding| fixed(header::CONTENT_ENCODING, coding)));
    (HeaderMap::from_iter(headers), body).into_response()
}

fn accepts(accepted: &str, coding: &str) -> bool {
    accepted.split(',').any(|item| {
        let mut parts = item.split(';').map(str::trim);
        parts.next() == Some(coding) && !parts.any(|part| matches!(part, "q=0" | "q=0.0"))
    })
}

fn fixed(name: HeaderName, value: &'static str) -> (HeaderName, HeaderValue) {
    (name, HeaderValue::from_static(value))
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coding_with_quality_zero_is_refused() {
        assert!(accepts("gzip, deflate, br", "br"));
        assert!(accepts("br;q=0.5", "br"));
        assert!(!accepts("br;q=0, gzip", "br"));
        assert!(!accepts("", "gzip"));
    }
}
