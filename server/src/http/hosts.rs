//! Which names a loopback address answers to.
//!
//! A page of another site can point a name of its own at a loopback address (DNS rebinding); its
//! scripts then share an origin with Redrive, and the guard against other sites' requests sees
//! nothing wrong. What such a page cannot choose is the port: its browser says the name together
//! with the port that it connects to, ours. So a foreign name with our own port is refused. A
//! proxy that passes on the name of its public address says that one's port, or none, and needs no
//! configuration, unless it listens on the same port number as Redrive.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::json;

/// HTTP's own port, which nobody writes.
const DEFAULT_PORT: u16 = 80;

/// The names that are answered on one address.
#[derive(Debug, Clone)]
pub struct Hosts {
    address: SocketAddr,
    names: Vec<String>,
}

impl Hosts {
    /// For the address that is listened on. `None` where any name may be meant: on other addresses
    /// than loopback ones names come and go, and who may reach them is the network's business.
    pub fn of(address: SocketAddr, names: Vec<String>) -> Option<Self> {
        let names = names.iter().map(|name| plain(name)).collect();
        address
            .ip()
            .is_loopback()
            .then_some(Self { address, names })
    }

    /// Whether a request with this `Host` may be meant for us.
    fn knows(&self, host: &HeaderValue) -> bool {
        let Some(authority) = host
            .to_str()
            .ok()
            .and_then(|it| it.parse::<Authority>().ok())
        else {
            return false;
        };
        if authority.port_u16().unwrap_or(DEFAULT_PORT) != self.address.port() {
            return true;
        }
        let name = plain(authority.host());
        match name.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(ip) => ip.is_loopback() || ip == self.address.ip(),
            Err(_) => {
                name == "localhost" || name.ends_with(".localhost") || self.names.contains(&name)
            }
        }
    }
}

/// A name without what does not matter: case, and the dot of the root.
fn plain(name: &str) -> String {
    name.trim().trim_end_matches('.').to_ascii_lowercase()
}

/// Refuses requests that are for somebody else.
pub fn guard(router: Router, hosts: Option<Hosts>) -> Router {
    match hosts {
        Some(hosts) => router.layer(from_fn_with_state(Arc::new(hosts), check)),
        None => router,
    }
}

async fn check(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Response {
    let named = request.headers().get_all(header::HOST);
    match named.iter().find(|host| !hosts.knows(host)) {
        Some(host) => refusal(host, request.headers().get(header::ACCEPT)),
        None => next.run(request).await,
    }
}

/// In plain text: whoever asks may be a page that must not learn anything.
fn refusal(host: &HeaderValue, accept: Option<&HeaderValue>) -> Response {
    let name = host
        .to_str()
        .ok()
        .and_then(|it| it.parse::<Authority>().ok());
    let name = name.map_or_else(|| "that name".to_owned(), |it| plain(it.host()));
    let why = format!(
        "Redrive does not answer to the name {name}: a page of another site may have pointed it at \
         this address. Nothing was changed. If it is the name of a proxy on the same port, start \
         Redrive with --host {name}, with REDRIVE_HOSTS={name}, or with hosts = [\"{name}\"] in \
         redrive.toml."
    );
    let json = accept.is_some_and(|accept| accept.as_bytes() == b"application/json");
    let status = StatusCode::MISDIRECTED_REQUEST;
    let mut response = if json {
        (
            status,
            Json(json!({ "error": "unknown_host", "message": why })),
        )
            .into_response()
    } else {
        (status, format!("{why}\n")).into_response()
    };
    response.headers_mut().insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::routing::get;
    use tower::ServiceExt as _;

    use super::*;

    fn hosts(address: &str) -> Hosts {
        Hosts::of(address.parse().unwrap(), vec!["Ops.example.com".into()]).unwrap()
    }

    fn knows(hosts: &Hosts, host: &str) -> bool {
        hosts.knows(&HeaderValue::from_str(host).unwrap())
    }

    #[test]
    fn a_foreign_name_with_our_own_port_is_not_ours() {
        let ours = hosts("127.0.0.1:7420");
        for known in [
            "127.0.0.1:7420",
            "127.8.8.8:7420",
            "[::1]:7420",
            "localhost:7420",
            "LOCALHOST.:7420",
            "redrive.localhost:7420",
            "ops.example.com:7420",
            // Proxies: their own port, or none.
            "redrive.example.com",
            "redrive.example.com:8443",
            "10.1.2.3:80",
        ] {
            assert!(knows(&ours, known), "{known}");
        }
        for foreign in [
            "evil.example:7420",
            "localhost.evil.example:7420",
            "10.1.2.3:7420",
            "127.0.0.1.evil.example:7420",
            "",
            "a b:7420",
        ] {
            assert!(!knows(&ours, foreign), "{foreign:?}");
        }
        // Port 80 is not written.
        assert!(!knows(&hosts("127.0.0.1:80"), "evil.example"));
        assert!(knows(&hosts("127.0.0.1:80"), "localhost"));
    }

    #[test]
    fn only_loopback_addresses_are_guarded() {
        assert!(Hosts::of("0.0.0.0:7420".parse().unwrap(), Vec::new()).is_none());
        assert!(Hosts::of("[::1]:7420".parse().unwrap(), Vec::new()).is_some());
    }

    #[tokio::test]
    async fn the_refusal_says_what_to_configure_and_the_page_is_not_made() {
        let router = Router::new().route("/", get(async || "secret"));
        let router = guard(router, Some(hosts("127.0.0.1:7420")));
        let ask = async |host: &str| {
            let request = Request::get("/").header(header::HOST, host);
            let request = request.body(Body::empty()).unwrap();
            let response = router.clone().oneshot(request).await.unwrap();
            let status = response.status();
            let body = to_bytes(response.into_body(), 10_000).await.unwrap();
            (status, String::from_utf8(body.to_vec()).unwrap())
        };
        let (status, body) = ask("evil.example:7420").await;
        assert_eq!(status, StatusCode::MISDIRECTED_REQUEST);
        assert!(
            body.contains("--host evil.example,") && !body.contains("secret"),
            "{body}"
        );
        assert_eq!(ask("localhost:7420").await.0, StatusCode::OK);
    }
}
