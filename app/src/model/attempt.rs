//! Attempts: one execution of a job each, from a `Processing` row to what ended it.

use super::state::{Instant, StateName};

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A `Succeeded` row followed.
    Succeeded,
    /// A `Failed` row followed.
    Failed,
    /// A `Deleted` row followed: deleted while it ran.
    Cancelled,
    /// Another `Processing` row followed: interrupted, and the job ran again, at least in part.
    Lost,
    /// Put back without success or failure: throttled, requeued while it ran, or moved to a state
    /// of another name, which is then named.
    PutBack(StateName),
    /// Nothing followed and the job is still Processing.
    Running,
    /// As `Running`, but the server that ran it is gone.
    Orphaned,
    /// Nothing followed, and the job is in a state that says nothing about this run.
    Unknown,
}

impl Outcome {
    /// The word in HTML hooks and CSS classes.
    pub fn slug(&self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
            Self::PutBack(_) => "put-back",
            Self::Running => "running",
            Self::Orphaned => "orphaned",
            Self::Unknown => "unknown",
        }
    }

    /// The word for people.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Cancelled => "Cancelled",
            Self::Lost => "Interrupted",
            Self::PutBack(_) => "Put back",
            Self::Running => "Running",
            Self::Orphaned => "Orphaned",
            Self::Unknown => "Unknown",
        }
    }
}

/// A measured span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Whole milliseconds, rounded half up, never negative. `None` where it was not recorded.
    pub ms: Option<i64>,
    /// How far the clocks of several hosts disagree, in milliseconds: the span came out negative by
    /// this much and is shown as 0. Zero where nothing is wrong.
    pub clocks_disagree_ms: i64,
}

impl Span {
    /// A span that was not recorded.
    pub const NOT_RECORDED: Self = Self {
        ms: None,
        clocks_disagree_ms: 0,
    };

    /// From one instant to another, by the microseconds of both, rounded half up to whole
    /// milliseconds. A negative span becomes 0 and says by how much the clocks disagree.
    pub fn between(from: Instant, to: Instant) -> Self {
        Self::of_ms(millis_between(from, to))
    }

    /// As [`Span::between`], from a due time: being early by up to `tolerance_ms` is 0 without a
    /// mark, because Hangfire's schedule counts whole seconds.
    pub fn since_due(due: Instant, to: Instant, tolerance_ms: i64) -> Self {
        let ms = millis_between(due, to);
        if (-tolerance_ms..0).contains(&ms) {
            Self::of_ms(0)
        } else {
            Self::of_ms(ms)
        }
    }

    /// A length in milliseconds; a negative one is shown as 0 and flagged.
    pub fn of_ms(ms: i64) -> Self {
        Self {
            ms: Some(ms.max(0)),
            clocks_disagree_ms: if ms < 0 { ms.saturating_neg() } else { 0 },
        }
    }
}

/// Milliseconds from one instant to another, rounded half up; negative where `to` is earlier.
pub fn millis_between(from: Instant, to: Instant) -> i64 {
    to.timestamp_micros()
        .saturating_sub(from.timestamp_micros())
        .saturating_add(500)
        .div_euclid(1000)
}

/// What a `Failed` row says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Id of the `Failed` row.
    pub state_id: i64,
    /// When the row was written.
    pub at: Instant,
    /// The row's own reason, for example that the target method was not found.
    pub reason: Option<String>,
    /// Full name of the exception's type, where stored.
    pub exception_type: Option<String>,
    /// The exception's message, where stored.
    pub message: Option<String>,
    /// Stack trace and inner exceptions; may be cut by the store, see
    /// [`Failure::details_chars`].
    pub details: Option<String>,
    /// Length of the stored details in characters, where the store cut them.
    pub details_chars: Option<i64>,
    /// The retry that was planned after this failure.
    pub retry: Option<PlannedRetry>,
}

/// What became of a planned retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// Still waiting for its due time, or for the scheduler.
    Pending,
    /// The scheduler released it at this instant, or it went straight into its queue.
    OnTime(Instant),
    /// Somebody enqueued it before the scheduler did.
    ByHand(Instant),
    /// The job went to another state first (deleted, for example).
    Dropped(Instant),
}

/// A retry that the retry filter planned after a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRetry {
    /// Id of the `Scheduled` (or `Enqueued`) row that plans it.
    pub state_id: i64,
    /// Number of the retry, from 1.
    pub number: u32,
    /// The policy's maximum of retries.
    pub of: u32,
    /// When it is due. `None` where the row does not say.
    pub due_at: Option<Instant>,
    /// The delay the policy chose, in milliseconds; 0 where it went straight to its queue. `None`
    /// where the row does not say.
    pub backoff_ms: Option<i64>,
    /// By how much the due time lies before the time it was planned at, in milliseconds: the
    /// backoff is then shown as 0. Zero where nothing is wrong.
    pub clocks_disagree_ms: i64,
    /// What became of it.
    pub release: Release,
}

impl PlannedRetry {
    /// A run may begin this much before its due time: Hangfire's schedule counts whole seconds.
    pub const EARLY_MS: i64 = 1000;

    /// From its due time to its release by the scheduler. `None` while it is pending, where it
    /// was released by hand or dropped, and where it had no due time.
    pub fn late(&self) -> Option<Span> {
        match self.release {
            Release::OnTime(at) => self
                .due_at
                .map(|due| Span::since_due(due, at, Self::EARLY_MS)),
            _ => None,
        }
    }
}

/// One execution of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Number over the job's life, from 1.
    pub number: u32,
    /// Number of its round, from 1.
    pub round: u32,
    /// Id of the `Processing` row.
    pub processing_id: i64,
    /// Id of the row that ended it, where there is one.
    pub ended_by: Option<i64>,
    /// The server that ran it, as the row names it.
    pub server: Option<String>,
    /// The worker that ran it, as the row names it.
    pub worker: Option<String>,
    /// When it began to wait: its `Enqueued` row, or the due time of a delayed job that went
    /// straight from Scheduled to Processing. `None` after a lost attempt: not recorded.
    pub queued_at: Option<Instant>,
    /// Time of the `Processing` row.
    pub started_at: Instant,
    /// Time of the row that ended it.
    pub ended_at: Option<Instant>,
    /// From `queued_at` to `started_at`.
    pub waited: Span,
    /// How long it ran; `None` for lost and running attempts.
    pub ran: Span,
    /// A `PerformanceDuration` that belongs to another worker's run, in milliseconds: more than
    /// 10 ms longer than the rows' own span, which `ran` then shows.
    pub reported_ms: Option<i64>,
    /// How it ended.
    pub outcome: Outcome,
    /// The row that ended it is missing: the outcome was taken from the job's own state.
    pub row_missing: bool,
    /// What the `Failed` row says, for failed attempts whose row is there.
    pub failure: Option<Failure>,
}

impl Attempt {
    /// The retry planned after this attempt failed.
    pub fn retry(&self) -> Option<&PlannedRetry> {
        self.failure
            .as_ref()
            .and_then(|failure| failure.retry.as_ref())
    }
}
