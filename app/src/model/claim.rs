//! Idempotency claims: rows of the application's own table that say "this effect, with this key,
//! is mine". A claim left in Sending by a run that died blocks its effect for ever, and the job
//! behind it may even end as Succeeded, because its retry found the claim and skipped.

pub mod evidence;
pub mod keys;
pub mod table;
#[cfg(test)]
pub(crate) mod testing;
pub mod time;
pub mod verdict;

use std::fmt;

pub use table::ClaimsTable;
pub use time::ClaimTime;

/// What a claim's status column says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ClaimStatus {
    /// Claimed, and not yet marked as sent.
    Sending,
    /// Marked as sent.
    Sent,
    /// A value that the table's description does not know, as text; it counts neither as sent nor
    /// as sending, and nothing is done with it. Empty for NULL.
    Other(String),
}

impl ClaimStatus {
    /// The word in hooks, CSS classes and JSON.
    pub fn slug(&self) -> &'static str {
        match self {
            Self::Sending => "sending",
            Self::Sent => "sent",
            Self::Other(_) => "other",
        }
    }
}

impl fmt::Display for ClaimStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sending => f.write_str("Sending"),
            Self::Sent => f.write_str("Sent"),
            Self::Other(value) if value.is_empty() => f.write_str("unknown (NULL)"),
            Self::Other(value) => write!(f, "unknown ({value})"),
        }
    }
}

/// One row of a claims table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Its idempotency key, whole.
    pub key: String,
    /// Its status.
    pub status: ClaimStatus,
    /// When it was claimed; `None` where the column is NULL or the table has none.
    pub claimed_at: Option<ClaimTime>,
    /// The provider's message id, where it is stored.
    pub provider_id: Option<String>,
}

impl Claim {
    /// When it was claimed, where that can be read.
    pub fn at(&self) -> Option<super::state::Instant> {
        self.claimed_at.as_ref().and_then(|time| time.at)
    }
}
