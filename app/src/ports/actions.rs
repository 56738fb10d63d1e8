//! Acting on jobs.

use async_trait::async_trait;
use uuid::Uuid;

use super::error::StoreError;
use crate::actions::{Outcome, Request};

/// Acts on jobs of one source. Each action is one guarded transaction; it happens once or says why
/// not. An action that was begun comes to its end even where the caller's future is dropped.
#[async_trait]
pub trait ActionStore: Send + Sync {
    /// Does what is asked and writes the audit row `audit` in the same transaction. Outcomes other
    /// than done change nothing but the audit. A database that goes away during the commit is
    /// [`Outcome::Unknown`] unless the audit row could be looked up.
    ///
    /// # Errors
    /// As the database's, where it could not be asked, or broke off, before the commit. Nothing
    /// was changed then, and nothing stands in the audit.
    async fn act(&self, audit: Uuid, request: &Request) -> Result<Outcome, StoreError>;
}
