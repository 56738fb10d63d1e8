//! Acting on jobs.

use async_trait::async_trait;
use uuid::Uuid;

use crate::actions::{Outcome, Request};

/// Acts on jobs of one source. Each action is one guarded transaction; it happens once or says why
/// not. An action that was begun comes to its end even where the caller's future is dropped.
#[async_trait]
pub trait ActionStore: Send + Sync {
    /// Does what is asked and writes the audit row `audit` in the same transaction. Outcomes other
    /// than done change nothing but the audit. Never fails: a database that goes away before the
    /// commit is [`Outcome::Busy`], during it [`Outcome::Unknown`] unless the audit row could be
    /// looked up.
    async fn act(&self, audit: Uuid, request: &Request) -> Outcome;
}
