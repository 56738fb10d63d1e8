//! What every store must do with claims, whatever its dialect. Each dialect makes a [`Bench`] with
//! the jobs of [`jobs::rows`] for every check, and runs all of them.

pub mod acts;
pub mod answers;
pub mod at_once;
pub mod detection;
pub mod jobs;
pub mod keys;
pub mod lists;
pub mod numbers;
pub mod purges;
pub mod races;
pub mod shapes;

use app::model::claim::keys::{KeyPattern, KeyRule};
use app::model::claim::table::{ClaimsTable, Columns, Shape};
use app::model::state::Instant;
use app::ports::audit::AuditStore;
use app::ports::claims::ClaimStore;
use app::ports::histories::HistoryStore;
use app::ports::jobs::JobStore;
use async_trait::async_trait;
use chrono::TimeDelta;

use crate::clock::{Clock as _, SystemClock};
use crate::store::usual;

/// What the checks ask of a store.
pub trait Stores: ClaimStore + JobStore + AuditStore + HistoryStore {}

impl<T: ClaimStore + JobStore + AuditStore + HistoryStore> Stores for T {}

/// A database with Hangfire's tables and our own, for the length of a check.
#[async_trait]
pub trait Bench: Send + Sync {
    /// The store on it.
    fn store(&self) -> &dyn Stores;

    /// Runs statements of the SQL that both dialects understand.
    async fn execute(&self, sql: &str);

    /// The schema of tables that are made without one.
    fn schema(&self) -> &'static str;

    /// The type of a claim time's column, as EF Core makes it.
    fn time_type(&self) -> &'static str;

    /// An instant as a literal for such a column, as EF Core writes it.
    fn at(&self, instant: Instant) -> String;
}

/// The time by the system's clock, which is the one of the test databases too.
pub fn now() -> Instant {
    SystemClock.now()
}

/// This many milliseconds ago.
pub fn ago(ms: i64) -> Instant {
    now() - TimeDelta::milliseconds(ms)
}

/// Milliseconds of a minute.
pub const MINUTE: i64 = 60_000;
/// Milliseconds of a day.
pub const DAY: i64 = 24 * 60 * MINUTE;

/// A text as an SQL literal.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// `OutgoingEmails`, as EF Core makes it: Pascal case, the status a number.
pub async fn make_emails(bench: &dyn Bench) {
    let time = bench.time_type();
    bench
        .execute(&format!(
            "CREATE TABLE \"OutgoingEmails\" (\"IdempotencyKey\" text NOT NULL UNIQUE, \
             \"Status\" integer NOT NULL, \"ClaimedAtUtc\" {time}, \"ProviderMessageId\" text)"
        ))
        .await;
}

/// A row of it.
pub async fn email(
    bench: &dyn Bench,
    key: &str,
    status: i64,
    at: Option<Instant>,
    id: Option<&str>,
) {
    emails(bench, &[(key, status, at, id)]).await;
}

/// A row of [`emails`]: key, status, claim time, provider's message id.
pub type Email<'a> = (&'a str, i64, Option<Instant>, Option<&'a str>);

/// Rows of it.
pub async fn emails(bench: &dyn Bench, rows: &[Email<'_>]) {
    let rows: Vec<String> = rows
        .iter()
        .map(|(key, status, at, id)| {
            format!(
                "({}, {status}, {}, {})",
                literal(key),
                at.map_or_else(|| "NULL".to_owned(), |at| bench.at(at)),
                id.map_or_else(|| "NULL".to_owned(), literal)
            )
        })
        .collect();
    bench
        .execute(&format!(
            "INSERT INTO \"OutgoingEmails\" \
             (\"IdempotencyKey\", \"Status\", \"ClaimedAtUtc\", \"ProviderMessageId\") VALUES {}",
            rows.join(", ")
        ))
        .await;
}

/// Its description: `invoice-email:{0}` is argument 0 of `InvoiceEmailJob.SendAsync`.
pub fn described(bench: &dyn Bench) -> ClaimsTable {
    let columns = Columns {
        key: "IdempotencyKey".to_owned(),
        status: "Status".to_owned(),
        claimed_at: Some("ClaimedAtUtc".to_owned()),
        provider_id: Some("ProviderMessageId".to_owned()),
    };
    let words = ("0".to_owned(), "1".to_owned());
    let schema = bench.schema().to_owned();
    let mut table = usual::detected(schema, "OutgoingEmails".to_owned(), columns, words);
    "emails".clone_into(&mut table.name);
    table.keys = vec![KeyRule {
        pattern: KeyPattern::parse("invoice-email:{0}").unwrap(),
        job_type: "InvoiceEmailJob".to_owned(),
        methods: vec!["SendAsync".to_owned()],
    }];
    table.detected = false;
    table
}

/// Its shape.
pub async fn shape(bench: &dyn Bench) -> Shape {
    bench.store().shape(&described(bench)).await.unwrap()
}
