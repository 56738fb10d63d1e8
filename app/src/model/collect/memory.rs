//! What must be known of a job between two batches.

use serde::{Deserialize, Serialize};

use super::{Gauge, counted_name};
use crate::model::invocation::{Invocation, UNKNOWN_TYPE};
use crate::model::state::{Instant, ListState, StateName};

/// What a job's own row says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The type, with its namespace.
    pub job_type: String,
    /// The method; empty where none is stored.
    pub method: String,
    /// The job's own queue.
    pub queue: Option<String>,
    /// When it was created; `None` where the job is gone, or does not say.
    pub created_at: Option<Instant>,
    /// The id of the row of its current state; `None` where there is none, or where the job is
    /// just changing.
    pub current_row: Option<i64>,
}

impl Job {
    /// A job by what it calls.
    pub fn of(
        invocation: &Invocation,
        created_at: Option<Instant>,
        current_row: Option<i64>,
    ) -> Self {
        Self {
            job_type: invocation.full_type(),
            method: invocation.method.clone().unwrap_or_default(),
            queue: invocation.own_queue.clone(),
            created_at,
            current_row,
        }
    }
}

impl Job {
    /// A job whose own row is gone, or never was.
    pub(super) fn unknown() -> Self {
        Self {
            job_type: UNKNOWN_TYPE.to_owned(),
            method: String::new(),
            queue: None,
            created_at: None,
            current_row: None,
        }
    }
}

/// Since when an attempt has been waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Queued {
    /// By its own `Enqueued` row.
    Row(Instant),
    /// By the due time of a job that may go straight from Scheduled to Processing.
    Due(Instant),
}

/// The attempt that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Open {
    pub(super) started_at: Instant,
    pub(super) waited_ms: Option<i64>,
}

/// An exception type that attempts of the round failed with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Met {
    pub(super) exception: String,
    /// Number of the first attempt that did.
    pub(super) at: u32,
}

/// The current round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Round {
    /// Its number, from 1; 0 before the first one.
    pub(super) number: u32,
    /// Whether its beginning is known.
    pub(super) known: bool,
    pub(super) finished: bool,
    /// Its attempts so far that carry a number.
    pub(super) attempts: u32,
    pub(super) backoff_ms: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) met: Vec<Met>,
}

/// What is remembered of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    pub(super) job_type: String,
    pub(super) method: String,
    pub(super) own_queue: Option<String>,
    pub(super) last_queue: Option<String>,
    /// Whether every row since its creation was seen.
    pub(super) whole: bool,
    pub(super) attempts: u32,
    pub(super) first_ended: bool,
    pub(super) round: Round,
    pub(super) open: Option<Open>,
    pub(super) queued: Option<Queued>,
    /// Name of the last row's state.
    pub(super) previous: Option<String>,
    /// The list that the job is in by its last row.
    pub(super) list: Option<String>,
    /// The time of the last row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) changed_at: Option<Instant>,
    /// The server of the last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) server: Option<String>,
    /// What the last failure was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) exception: Option<String>,
    /// Whether the last row is a failure, to which a planned retry would belong.
    pub(super) just_failed: bool,
    /// The time of a `Failed` row that ends the round unless a planned retry comes next.
    pub(super) rests_since: Option<Instant>,
    /// What tells its failures from each other; the newest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) failures: Vec<u64>,
    pub(super) last_row: i64,
}

impl Memory {
    /// Of a job of which no row was seen yet.
    pub fn new(job: &Job) -> Self {
        Self {
            job_type: counted_name(&job.job_type),
            method: counted_name(&job.method),
            own_queue: job.queue.as_deref().map(counted_name),
            last_queue: None,
            whole: false,
            attempts: 0,
            first_ended: false,
            round: Round::default(),
            open: None,
            queued: None,
            previous: None,
            list: None,
            changed_at: None,
            server: None,
            exception: None,
            just_failed: false,
            rests_since: None,
            failures: Vec::new(),
            last_row: 0,
        }
    }

    /// The id of the last row seen.
    pub fn last_row(&self) -> i64 {
        self.last_row
    }

    /// How many attempts the job has had, as far as its rows were seen.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Whether the round ends with the last row, a `Failed` one, if no planned retry follows.
    pub fn is_undecided(&self) -> bool {
        self.rests_since.is_some()
    }

    /// Whether the job is in a state that expires. What is remembered of it can be read again from
    /// its rows while they are there.
    pub fn is_final(&self) -> bool {
        self.previous
            .as_deref()
            .is_some_and(|name| StateName::parse(name).is_final())
    }

    /// What of it is counted at this moment.
    pub fn gauges(&self) -> Vec<Gauge> {
        let mut gauges = Vec::new();
        if let Some(list) = &self.list {
            gauges.push(Gauge::Jobs {
                state: list.clone(),
            });
        }
        let pending = self.round.known
            && !self.round.finished
            && self.previous.as_deref() != Some(StateName::Deleted.as_str());
        if pending {
            gauges.push(Gauge::PendingRounds {
                job_type: self.job_type.clone(),
                method: self.method.clone(),
                later: self.is_later(),
            });
            for met in &self.round.met {
                gauges.push(Gauge::PendingRecovery {
                    job_type: self.job_type.clone(),
                    method: self.method.clone(),
                    exception: met.exception.clone(),
                });
            }
        }
        gauges
    }

    /// Whether the current round began with a requeue.
    pub(super) fn is_later(&self) -> bool {
        self.round.number > 1 || !self.whole
    }

    /// The queue that attempts are counted under.
    pub(super) fn queue(&self) -> String {
        self.own_queue
            .as_ref()
            .or(self.last_queue.as_ref())
            .cloned()
            .unwrap_or_default()
    }
}

/// The word under which a job is counted by its state.
pub(super) fn list(name: &StateName, reason: Option<&str>) -> String {
    ListState::of(name, reason).map_or_else(|| counted_name(name.as_str()), |l| l.slug().to_owned())
}
