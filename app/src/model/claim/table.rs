//! What a claims table is: told by the configuration, or detected.

use std::fmt;

use super::ClaimStatus;
use super::keys::KeyRule;

/// A claims table as the configuration describes it, or as it was detected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimsTable {
    /// Its short name in URLs and on pages; the table's own name where the configuration gives
    /// none. Unique within the source.
    pub name: String,
    /// Schema, on `PostgreSQL` (`public` where nothing is said); unused on `SQLite`.
    pub schema: String,
    /// The table's name as the catalogue has it.
    pub table: String,
    /// Its columns.
    pub columns: Columns,
    /// The status value that means sending, as text (`0`, `Sending`).
    pub sending: String,
    /// The status value that means sent.
    pub sent: String,
    /// A Sending claim older than this is stale, in milliseconds.
    pub cutoff_ms: i64,
    /// Sent claims older than this may be purged, in milliseconds.
    pub retention_ms: i64,
    /// Whether they are purged by themselves, now and then: only where the configuration says so.
    pub purge: bool,
    /// How long the provider remembers a key, in milliseconds from its first use; `None` where it
    /// is not known.
    pub window_ms: Option<i64>,
    /// How the owning job claims.
    pub way: ClaimWay,
    /// How keys map to jobs.
    pub keys: Vec<KeyRule>,
    /// Full names (or last parts) of exception types that prove that nothing was sent, when the
    /// run that held the claim failed with one.
    pub nothing_sent_on: Vec<String>,
    /// How the provider is asked.
    pub provider: Option<ProviderRule>,
    /// Whether it was found by its shape instead of being configured.
    pub detected: bool,
}

/// The columns, named as the catalogue has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// The idempotency key.
    pub key: String,
    /// The status.
    pub status: String,
    /// The claim time, where there is one.
    pub claimed_at: Option<String>,
    /// The provider's message id, where there is one.
    pub provider_id: Option<String>,
}

/// How the owning job claims: it decides what *Reclaim* does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClaimWay {
    /// It inserts a row and skips where one exists: reclaim = release and requeue.
    #[default]
    InsertFirst,
    /// It takes a stale row itself: reclaim = requeue alone.
    SelfReclaim,
    /// It goes on only with the claim time that it was handed: reclaim = conditional update and
    /// requeue with the job parameter `Redrive.Claim`.
    HandOver,
}

impl ClaimWay {
    /// The word in the configuration.
    pub fn slug(self) -> &'static str {
        match self {
            Self::InsertFirst => "insert-first",
            Self::SelfReclaim => "self-reclaim",
            Self::HandOver => "hand-over",
        }
    }
}

/// How the provider is asked whether it knows a key.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderRule {
    /// URL with `{key}` in place of the (percent-encoded) key. Answers 200 where the key is known,
    /// 404 where it is not; anything else says nothing.
    pub url: String,
    /// Value of the `Authorization` header. Never shown.
    pub authorization: Option<String>,
    /// JSON pointer to the message id in the answer, `/messageId` where nothing is said.
    pub message_id: String,
    /// Whether the look-up remembers for ever, so that a denial proves that nothing was sent even
    /// after the window.
    pub permanent: bool,
}

impl fmt::Debug for ProviderRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderRule")
            .field("permanent", &self.permanent)
            .finish_non_exhaustive()
    }
}

impl ClaimsTable {
    /// Cut-off where nothing is said: the article's ten minutes.
    pub const CUTOFF_MS: i64 = 10 * 60_000;
    /// Retention where nothing is said.
    pub const RETENTION_MS: i64 = 30 * 24 * 3_600_000;

    /// What a stored status value means; NULL is an empty text.
    pub fn status(&self, stored: &str) -> ClaimStatus {
        if stored == self.sending {
            ClaimStatus::Sending
        } else if stored == self.sent {
            ClaimStatus::Sent
        } else {
            ClaimStatus::Other(stored.to_owned())
        }
    }
}

/// A part that a usual claims table has and this one lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lack {
    /// No column for the claim time: no age, so nothing is ever stale; no reclaim, release or
    /// purge.
    ClaimTime,
    /// No column for the provider's message id: marking as sent cannot keep it.
    ProviderId,
    /// Nothing makes the key unique: insert-first does not protect, and no reclaim or release is
    /// offered.
    UniqueKey,
}

/// A claims table as the catalogue has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Its description.
    pub table: ClaimsTable,
    /// What it lacks.
    pub lacks: Vec<Lack>,
    /// The type of its key, status and claim-time columns, as the database writes it in a cast
    /// (`PostgreSQL`), or as declared (`SQLite`).
    pub types: ColumnTypes,
    /// Statement that would make the index by which stale claims are found, where there is none.
    pub missing_index: Option<String>,
    /// Whether it lives in the source's own database, so that claim and job change in one
    /// transaction.
    pub with_jobs: bool,
    /// Why it cannot be written, in words, where it cannot.
    pub read_only: Option<String>,
}

/// Types of columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnTypes {
    /// Of the key.
    pub key: String,
    /// Of the status.
    pub status: String,
    /// Of the claim time.
    pub claimed_at: Option<String>,
}

impl Shape {
    /// Whether it lacks this part.
    pub fn lacks(&self, part: Lack) -> bool {
        self.lacks.contains(&part)
    }
}
