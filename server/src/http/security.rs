//! What every response says to the browser about what it may do.

use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use tower_http::csrf::ProtectionError;

use super::frame::Visit;

/// A value that scripts of one response carry, so that no other script runs.
#[derive(Debug, Clone)]
pub struct Nonce(pub String);

impl Nonce {
    fn random() -> Self {
        Self(format!("{:032x}", rand::random::<u128>()))
    }
}

/// Mints the nonce, runs the handler, and adds the security headers to its response.
pub async fn headers(mut request: Request, next: Next) -> Response {
    let nonce = Nonce::random();
    request.extensions_mut().insert(nonce.clone());
    let mut response = next.run(request).await;

    let is_page = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
    let headers = response.headers_mut();
    if is_page {
        if let Ok(policy) = HeaderValue::from_str(&policy(&nonce)) {
            headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("same-origin"),
    );
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(
        "cross-origin-opener-policy",
        HeaderValue::from_static("same-origin"),
    );
    headers.insert(
        "permissions-policy",
        HeaderValue::from_static("camera=(), geolocation=(), microphone=(), payment=()"),
    );
    response
}

/// Gives a refused cross-site request a page that names the cause.
pub async fn explain_refusal(visit: Visit, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    match response.extensions().get::<ProtectionError>() {
        Some(_) => visit.cross_site(),
        None => response,
    }
}

fn policy(Nonce(nonce): &Nonce) -> String {
    format!(
        "default-src 'none'; script-src 'nonce-{nonce}' 'strict-dynamic' 'wasm-unsafe-eval'; \
         style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_allows_no_inline_style_or_script() {
        let policy = policy(&Nonce("abc".into()));
        assert!(policy.starts_with("default-src 'none'; script-src 'nonce-abc' "));
        assert!(!policy.contains("unsafe-inline"));
        assert!(!policy.contains("'unsafe-eval'"));
    }

    #[test]
    fn nonces_differ() {
        assert_ne!(Nonce::random().0, Nonce::random().0);
    }
}
