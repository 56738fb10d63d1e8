//! What every store must do, whatever its dialect. Each dialect loads the same rows and runs the
//! same checks; what is right is computed here from the rows by straightforward code.

pub mod claims;
pub mod histories;
pub mod insights;
mod jobs;
pub mod lists;
pub mod odd;
pub mod recurring;
pub mod reference;

use std::sync::Arc;

use app::ports::jobs::JobStore;

use crate::testing::fixture::Fixture;

/// A store whose database holds exactly the rows of a fixture.
pub struct Seeded {
    /// The store.
    pub store: Arc<dyn JobStore>,
    /// What is in it.
    pub rows: Fixture,
}

/// Recorded folders that hold Hangfire's rows, small ones and the large `mixed`.
pub const FOLDERS: [&str; 14] = [
    "article",
    "claims/reclaimed",
    "claims/stale",
    "continuations",
    "mixed",
    "operators",
    "policies",
    "recurring",
    "renamed",
    "shapes-110-full",
    "shapes-170-full",
    "shapes-180-simple",
    "stuck",
    "workers",
];

/// Everything that can be read of recorded rows is what they say.
pub async fn reads(seeded: &Seeded) {
    lists::states(seeded).await;
    lists::rows(seeded).await;
    lists::paging(seeded).await;
    lists::filters(seeded).await;
    jobs::records(seeded).await;
    jobs::neighbours(seeded).await;
    jobs::history_in_pages(seeded).await;
    jobs::counts(seeded).await;
    jobs::servers(seeded).await;
    jobs::queues(seeded).await;
    jobs::delays(seeded).await;
}
