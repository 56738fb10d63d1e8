//! The rows of one demo job, and beside them what its author meant by them.

use app::model::attempt::Outcome;
use app::model::state::{Instant, StateName};

use super::format::Call;

/// One demo job with its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct DemoJob {
    /// What it shows, for people and tests.
    pub story: &'static str,
    /// Its id.
    pub id: i64,
    /// What it calls.
    pub call: Call,
    /// When it was created.
    pub created_at: Instant,
    /// Its state.
    pub state: StateName,
    /// When it expires; `None` for never.
    pub expire_at: Option<Instant>,
    /// Its parameters, in the order of writing.
    pub parameters: Vec<(&'static str, String)>,
    /// Its state rows, in the order of writing.
    pub states: Vec<DemoState>,
    /// Its rows in the queue table.
    pub queue_rows: Vec<QueueRow>,
    /// When it is due, for scheduled and retrying jobs.
    pub due_at: Option<Instant>,
    /// The attempts that its author meant.
    pub intention: Intention,
}

/// A state row.
#[derive(Debug, Clone, PartialEq)]
pub struct DemoState {
    /// Its id.
    pub id: i64,
    /// The state.
    pub name: StateName,
    /// Why.
    pub reason: Option<String>,
    /// When it was written.
    pub at: Instant,
    /// Its data, in the order in which Hangfire writes it.
    pub data: Vec<(&'static str, String)>,
}

impl DemoState {
    /// A value of the data.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.data
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value.as_str())
    }
}

/// A row of the queue table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueRow {
    /// The queue.
    pub queue: String,
    /// When a worker took it.
    pub fetched_at: Option<Instant>,
}

/// What the author of a job meant, told apart from its rows: the check on whoever reads them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Intention {
    /// The attempts, in order.
    pub attempts: Vec<IntendedAttempt>,
    /// Failures outside any attempt.
    pub failures_outside: usize,
}

/// One attempt as it was meant.
#[derive(Debug, Clone, PartialEq)]
pub struct IntendedAttempt {
    /// Its round, from 1.
    pub round: u32,
    /// How it ended. Running also where its server is gone.
    pub outcome: Outcome,
    /// How long it waited, in milliseconds; `None` where that is not recorded.
    pub waited_ms: Option<i64>,
    /// How long it ran, in milliseconds; `None` for lost and running attempts.
    pub ran_ms: Option<i64>,
    /// The retry planned after it: number, of, backoff in milliseconds.
    pub retry: Option<(u32, u32, i64)>,
    /// Whether somebody released that retry before it was due.
    pub by_hand: bool,
}

/// A row of the claims table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The idempotency key.
    pub key: String,
    /// Whether it was sent; otherwise it is still Sending.
    pub sent: bool,
    /// When it was claimed, to the microsecond.
    pub claimed_at: Instant,
    /// The seventh decimal of that time, which .NET keeps.
    pub claimed_ticks: i64,
    /// The provider's message id.
    pub message_id: Option<String>,
}
