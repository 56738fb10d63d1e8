//! Claims, over recorded databases of both kinds: the page, the actions, and what forms may not
//! say; and beside a real server.

/// Runs checks on the recorded claims of either kind of database.
macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $name() {
                super::$name(super::Claims::on_sqlite().await).await;
            })+
        }
        mod postgres {
            $(#[tokio::test]
            async fn $name() {
                if let Some(claims) = super::Claims::on_postgres().await {
                    super::$name(claims).await;
                }
            })+
        }
    };
}

mod acts;
mod bulk;
mod database;
mod forms;
mod page;
mod peer;
mod provider;
mod purges;

use axum::Router;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::*;
use crate::config::ConfigFile;
use crate::source::claims::SourceClaims;
use crate::source::{Store, sampler};
use database::Database;

/// Four claims: 43 was sent; 44 to 46 are Sending for longer than ten minutes, and their jobs, 2 to
/// 4, say Succeeded because the retry skipped. The attempt that holds 44 failed with an exception
/// that proves that nothing was sent; the claim times of 45 and 46 are older than any attempt.
struct Claims {
    site: Site,
    database: Database,
    stop: CancellationToken,
}

impl Drop for Claims {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A provider that knows order 45, and is broken for 46; its URL.
async fn provider() -> String {
    async fn answer(Path(key): Path<String>) -> Response {
        match key.as_str() {
            "invoice-email:45" => r#"{"messageId": "msg-0045"}"#.into_response(),
            "invoice-email:46" => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = Router::new().route("/emails/{key}", get(answer));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    format!("http://{address}/emails/{{key}}")
}

/// What is configured of the recorded claims beside their table.
const RECORDED_RULES: &str = r#"
    retention = "1s"
    window = "1s"
    nothing_sent_on = ["SupplierUnavailableException"]
"#;

impl Claims {
    /// A copy of the recorded file.
    async fn on_sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::recorded_file(&folder).await;
        Self::over(database, folder, RECORDED_RULES, &provider().await).await
    }

    /// A database with the recorded rows; `None`, said loudly, where there is no server.
    async fn on_postgres() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::recorded_rows().await?;
        Some(Self::over(database, folder, RECORDED_RULES, &provider().await).await)
    }

    /// Everything that serving starts, over a database with the table `OutgoingEmails`; after the
    /// first look at it.
    async fn over(database: Database, folder: TempDir, rules: &str, provider: &str) -> Self {
        let text = format!(
            r#"
            [[source]]
            name = "main"
            database = "{url}"
            [[source.claims]]
            name = "emails"
            table = "OutgoingEmails"
            key = "IdempotencyKey"
            status = "Status"
            claimed_at = "ClaimedAtUtc"
            provider_id = "ProviderMessageId"
            sending = 0
            sent = 1
            {rules}
            [[source.claims.keys]]
            pattern = "invoice-email:{{0}}"
            type = "InvoiceEmailJob"
            [source.claims.provider]
            url = "{provider}"
            "#,
            url = database.url(),
        );
        let config = toml::from_str::<ConfigFile>(&text)
            .unwrap()
            .sources
            .remove(0);
        let clock: SharedClock = Arc::new(SystemClock);
        let store = database.store();
        let claims = Arc::new(SourceClaims::of(&config).unwrap());
        let (sender, mut live) = watch::channel(Snapshot::default());
        let stop = CancellationToken::new();
        tokio::spawn(sampler::run(
            store.clone(),
            claims.clone(),
            clock.clone(),
            sender,
            stop.clone(),
        ));
        live.wait_for(|seen| {
            let tables = seen.claims.as_ref();
            seen.info.is_some()
                && tables.is_some_and(|tables| tables.iter().all(|table| table.figures.is_some()))
        })
        .await
        .unwrap();
        while claims.why_not_yet().is_some() {
            claims.catch_up(store.as_ref()).await.unwrap();
        }
        let source = |name: &str, read_only| SourceHandle {
            config: Arc::new(SourceConfig {
                name: name.to_owned(),
                read_only,
                ..config.clone()
            }),
            store: store.clone(),
            demo: watch::channel(None).1,
            live: live.clone(),
            claims: claims.clone(),
        };
        let sources = vec![source("main", false), source("locked", true)];
        let state = AppState::new(Links::new(""), clock, "ada".into(), sources, stop.clone());
        Self {
            site: Site {
                base: "",
                state,
                folder,
            },
            database,
            stop,
        }
    }

    fn store(&self) -> &dyn Store {
        self.site.state.source("main").unwrap().store.as_ref()
    }

    /// Status and answer of an action, as a program gets it.
    async fn act(&self, action: &str, form: &[(&str, &str)]) -> (u16, Value) {
        let answer = self
            .post(action, form, &[("accept", "application/json")])
            .await;
        let body = serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{}", answer.body));
        (answer.status.as_u16(), body)
    }

    async fn post(&self, action: &str, form: &[(&str, &str)], headers: &[(&str, &str)]) -> Answer {
        let mut pairs = vec![("source", "main"), ("claims", "emails")];
        pairs.extend(form);
        let encoded: Vec<String> = pairs
            .iter()
            .map(|(name, value)| format!("{name}={}", app::links::escape(value)))
            .collect();
        self.site
            .post(&format!("/api/{action}"), &encoded.join("&"), headers)
            .await
    }

    /// The claim time of a key, as pages show it to forms.
    async fn time(&self, key: &str) -> String {
        let source = self.site.state.source("main").unwrap();
        let tables = source.claims_tables().await.unwrap();
        let shape = tables[0].shape.as_ref().unwrap();
        let mut rows = source.store.claim(shape, key).await.unwrap();
        rows.remove(0).claimed_at.unwrap().token
    }

    /// Status and message id of a claim, as they are stored.
    async fn row(&self, key: &str) -> Option<(i64, Option<String>)> {
        self.database.claim(key).await
    }
}

fn of<'a>(key: &'a str, time: &'a str) -> [(&'a str, &'a str); 2] {
    [("key", key), ("claimed_at", time)]
}

/// Keys and verdicts of the rows of a page, in their order.
fn rows(body: &str) -> Vec<(String, String)> {
    let attribute = |row: &str, name: &str| {
        let value = row.split(&format!("{name}=\"")).nth(1);
        value
            .and_then(|rest| rest.split('"').next())
            .unwrap_or("")
            .to_owned()
    };
    let rows = body.split("<tr").skip(1);
    rows.map(|row| row.split('>').next().unwrap_or_default())
        .filter(|row| row.contains("data-claim="))
        .map(|row| (attribute(row, "data-claim"), attribute(row, "data-verdict")))
        .collect()
}

const ORDER_43: &str = "invoice-email:43";
const ORDER_44: &str = "invoice-email:44";
const ORDER_45: &str = "invoice-email:45";
const ORDER_46: &str = "invoice-email:46";
