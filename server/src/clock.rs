//! The one place that asks the system for the time and for randomness.

use std::sync::Arc;

use app::model::state::Instant;
use uuid::Uuid;

/// Tells the time. Injected everywhere, so that tests can choose it.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Instant;

    /// A new UUID v7 of this moment: ids that sort by time.
    fn new_id(&self) -> Uuid {
        let now = self.now();
        let seconds = u64::try_from(now.timestamp()).unwrap_or_default();
        let stamp =
            uuid::Timestamp::from_unix(uuid::NoContext, seconds, now.timestamp_subsec_nanos());
        Uuid::new_v7(stamp)
    }
}

/// A shared clock.
pub type SharedClock = Arc<dyn Clock>;

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the place that may")]
    fn now(&self) -> Instant {
        chrono::Utc::now()
    }
}
