//! Asking the provider whether it knows a key.

use std::time::Duration;

use app::links::escape;
use app::model::claim::evidence::Answer;
use app::model::claim::table::ProviderRule;
use axum::http::{StatusCode, header};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response, Url};
use serde_json::Value;

/// An answer that is not there after this time tells nothing.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Answers are read up to this size, in bytes.
const LARGEST: usize = 64 * 1024;
/// Stands for the key where a URL is tried.
const PLACE: &str = "redrive-key";

/// Asks providers. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Provider {
    client: Client,
}

impl Provider {
    /// A client with the system's certificates, which follows no redirects.
    ///
    /// # Errors
    /// Where the system has no certificates that could be read.
    pub fn new() -> Result<Self, reqwest::Error> {
        Self::build(TIMEOUT, Client::builder())
    }

    fn build(timeout: Duration, builder: ClientBuilder) -> Result<Self, reqwest::Error> {
        // Another part of the program may have chosen it already: it is the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = builder
            .timeout(timeout)
            .redirect(Policy::none())
            .user_agent(concat!("redrive/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { client })
    }

    /// Asks by key. Whatever happens is an answer: 200 with a JSON object means that the key is
    /// known, 404 that it is not, and all else tells nothing. What was asked, and with which
    /// authorization, is in no answer.
    pub async fn ask(&self, rule: &ProviderRule, key: &str) -> Answer {
        match self.asked(rule, key).await {
            Ok(answer) => answer,
            Err(why) => Answer::NotKnown(why),
        }
    }

    async fn asked(&self, rule: &ProviderRule, key: &str) -> Result<Answer, String> {
        let url = address(&rule.url, key).ok_or_else(|| {
            "The key cannot stand in the provider's URL, so it was not asked.".to_owned()
        })?;
        let mut request = self
            .client
            .get(url)
            .header(header::ACCEPT, "application/json");
        if let Some(authorization) = &rule.authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        let response = request.send().await.map_err(|error| words(&error))?;
        match response.status() {
            StatusCode::OK => known(response, &rule.message_id).await,
            StatusCode::NOT_FOUND => Ok(Answer::Denied),
            status if status.is_redirection() => Err(format!(
                "The provider answered with a redirect ({}), which is not followed.",
                status.as_u16()
            )),
            status => Err(format!(
                "The provider answered with status {}.",
                status.as_u16()
            )),
        }
    }
}

/// The URL with the key in its place; `None` where the key would change what the URL means, as
/// `..` does.
fn address(template: &str, key: &str) -> Option<Url> {
    if key.is_empty() {
        return None;
    }
    let key = escape(key);
    let url = Url::parse(&template.replace("{key}", &key)).ok()?;
    let meant = Url::parse(&template.replace("{key}", PLACE)).ok()?;
    (meant.as_str().replace(PLACE, &key) == url.as_str()).then_some(url)
}

async fn known(mut response: Response, pointer: &str) -> Result<Answer, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| words(&error))? {
        body.extend_from_slice(&chunk);
        if body.len() > LARGEST {
            return Err("The provider answered with more than 64 kB.".to_owned());
        }
    }
    match serde_json::from_slice::<Value>(&body) {
        Ok(answer @ Value::Object(_)) => Ok(Answer::Known(match answer.pointer(pointer) {
            Some(Value::String(id)) if !id.is_empty() => Some(id.clone()),
            Some(Value::Number(id)) => Some(id.to_string()),
            _ => None,
        })),
        _ => Err(
            "The provider answered with status 200 and something that is no JSON object."
                .to_owned(),
        ),
    }
}

/// Why there is no answer. The error's own words hold the URL, and with it maybe a secret.
fn words(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        "The provider did not answer within 5 s.".to_owned()
    } else if error.is_connect() {
        "The provider cannot be reached.".to_owned()
    } else {
        "The provider's answer broke off or is no HTTP.".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::extract::{Path, State};
    use axum::http::HeaderMap;
    use axum::response::{IntoResponse, Redirect, Response};
    use axum::routing::get;
    use tokio::net::TcpListener;

    use super::*;

    const AUTHORIZATION: &str = "Bearer t0ken";

    async fn answer(
        State(long): State<String>,
        Path(key): Path<String>,
        headers: HeaderMap,
    ) -> Response {
        assert_eq!(headers[header::AUTHORIZATION], AUTHORIZATION);
        match key.as_str() {
            "known" => r#"{"messageId": "msg-1", "at": 1}"#.into_response(),
            "number" => r#"{"messageId": 17}"#.into_response(),
            "silent" => "{}".into_response(),
            "a/b?c#d é" => r#"{"messageId": "odd"}"#.into_response(),
            "moved" => Redirect::temporary("/emails/known").into_response(),
            "broken" => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            "page" => "<html>Please log in</html>".into_response(),
            "list" => "[]".into_response(),
            "empty" => StatusCode::OK.into_response(),
            "huge" => format!("{{\"messageId\": \"{}\"}}", "x".repeat(LARGEST)).into_response(),
            "slow" => std::future::pending().await,
            key if key == long => r#"{"messageId": "long"}"#.into_response(),
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    }

    fn rule(url: String) -> ProviderRule {
        ProviderRule {
            url,
            authorization: Some(AUTHORIZATION.to_owned()),
            message_id: "/messageId".to_owned(),
            permanent: false,
        }
    }

    fn provider(timeout: Duration) -> Provider {
        Provider::build(timeout, Client::builder().no_proxy()).unwrap()
    }

    /// A provider that listens, and a rule to ask it.
    async fn listening(long: &str) -> ProviderRule {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new()
            .route("/emails/{key}", get(answer))
            .fallback(async || StatusCode::IM_A_TEAPOT)
            .with_state(long.to_owned());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        rule(format!("http://{address}/emails/{{key}}"))
    }

    #[tokio::test]
    async fn what_it_says_is_told_apart() {
        let long = "k\"\n</script>".repeat(900);
        assert!(long.len() > 10_000);
        let rule = listening(&long).await;
        let provider = provider(TIMEOUT);
        let known = |id: &str| Answer::Known(Some(id.to_owned()));
        for (key, answer) in [
            ("known", known("msg-1")),
            ("number", known("17")),
            ("silent", Answer::Known(None)),
            ("a/b?c#d é", known("odd")),
            (&long, known("long")),
            ("invoice-email:7", Answer::Denied),
            ("...", Answer::Denied),
        ] {
            assert_eq!(provider.ask(&rule, key).await, answer, "{key}");
        }
        for (key, words) in [
            ("moved", "redirect (307)"),
            ("broken", "status 500"),
            ("page", "no JSON object"),
            ("list", "no JSON object"),
            ("empty", "no JSON object"),
            ("huge", "more than 64 kB"),
            ("", "cannot stand"),
            (".", "cannot stand"),
            ("..", "cannot stand"),
        ] {
            let Answer::NotKnown(why) = provider.ask(&rule, key).await else {
                panic!("{key}");
            };
            assert!(why.contains(words), "{key}: {why}");
        }
    }

    #[tokio::test]
    async fn one_that_is_slow_or_down_says_nothing() {
        let mut rule = listening("").await;
        let slow = provider(Duration::from_millis(50)).ask(&rule, "slow").await;
        assert_eq!(
            slow,
            Answer::NotKnown("The provider did not answer within 5 s.".to_owned())
        );
        // Bound and dropped: nobody listens there.
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
        rule.url = format!("http://{}/{{key}}", free.local_addr().unwrap());
        drop(free);
        let refused = provider(TIMEOUT).ask(&rule, "known").await;
        assert_eq!(
            refused,
            Answer::NotKnown("The provider cannot be reached.".to_owned())
        );
    }

    #[tokio::test]
    async fn one_that_speaks_no_http_says_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            tokio::io::AsyncWriteExt::write_all(&mut socket, b"SSH-2.0-nonsense\r\n")
                .await
                .unwrap();
        });
        let rule = rule(format!("http://{address}/{{key}}"));
        let Answer::NotKnown(why) = provider(TIMEOUT).ask(&rule, "known").await else {
            panic!("known")
        };
        assert!(why.contains("no HTTP"), "{why}");
    }
}
