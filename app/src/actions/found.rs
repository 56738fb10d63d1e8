//! What was found of a job when an action is decided: inside the transaction, or for the page.

use std::collections::BTreeMap;

use crate::model::job::{JobRecord, QueueRow, Server};
use crate::model::state::{Instant, StateName, StateRow};

/// Times that a source may set otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A server whose heartbeat is older than this is gone, in milliseconds.
    pub server_timeout_ms: i64,
    /// A queue row that was taken longer ago than this is handed out again by the job system
    /// itself, in milliseconds.
    pub invisibility_ms: i64,
    /// So many relatives are taken along in one transaction, and no more.
    pub relatives: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            server_timeout_ms: 5 * 60_000,
            invisibility_ms: 30 * 60_000,
            relatives: 1_000,
        }
    }
}

/// One job, as found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundJob {
    /// Its id.
    pub id: i64,
    /// Its state; `None` while it is being created.
    pub state: Option<StateName>,
    /// The id of its state row, as the job points to it (on `SQLite` the newest row of that name).
    pub state_id: Option<i64>,
    /// The job system is changing it at this moment (`SQLite` only).
    pub unsettled: bool,
    /// The row of its state. `None` where it is missing.
    pub current: Option<StateRow>,
    /// The newest row older than the current one that is not `Deleted`: what a deleted job was.
    pub before: Option<StateRow>,
    /// The queue of its newest `Enqueued` row.
    pub last_queue: Option<String>,
    /// The job's own queue, where it has one.
    pub own_queue: Option<String>,
    /// When it was created.
    pub created_at: Instant,
    /// When it expires; `None` for never.
    pub expire_at: Option<Instant>,
    /// Its parameters, by name; of duplicates the newest.
    pub parameters: Vec<(String, Option<String>)>,
    /// Its rows in the queue table, by id.
    pub queue_rows: Vec<QueueRow>,
}

impl FoundJob {
    /// A job of which only the id and the state are known.
    pub fn bare(id: i64, state: Option<StateName>) -> Self {
        Self {
            id,
            state,
            state_id: None,
            unsettled: false,
            current: None,
            before: None,
            last_queue: None,
            own_queue: None,
            created_at: Instant::UNIX_EPOCH,
            expire_at: None,
            parameters: Vec::new(),
            queue_rows: Vec::new(),
        }
    }

    /// What a page has read of a job. History beyond the rows that it shows is not looked at.
    pub fn from_record(record: &JobRecord) -> Self {
        let current = record
            .state
            .id
            .and_then(|id| record.states.iter().find(|row| row.id == id));
        let before = record
            .states
            .iter()
            .rev()
            .filter(|row| record.state.id.is_some_and(|id| row.id < id))
            .find(|row| row.name != StateName::Deleted);
        let last_queue = record
            .states
            .iter()
            .rev()
            .find(|row| row.name == StateName::Enqueued)
            .and_then(|row| row.data.get("Queue"));
        Self {
            id: record.id,
            state: record.state.name.clone(),
            state_id: record.state.id,
            unsettled: record.state.unsettled,
            current: current.cloned(),
            before: before.cloned(),
            last_queue: last_queue.map(str::to_owned),
            own_queue: record.invocation.own_queue.clone(),
            created_at: record.created_at,
            expire_at: record.expire_at,
            parameters: record.parameters.clone(),
            queue_rows: record.queue_rows.clone(),
        }
    }

    /// When its state began; `None` where its row is missing.
    pub fn since(&self) -> Option<Instant> {
        self.current.as_ref().map(|row| row.created_at)
    }

    /// A parameter's value, where it is stored and not null. Names are case-sensitive.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters
            .iter()
            .find(|(stored, _)| stored == name)
            .and_then(|(_, value)| value.as_deref())
    }

    /// A value of its current state's data.
    pub fn datum(&self, key: &str) -> Option<&str> {
        self.current.as_ref().and_then(|row| row.data.get(key))
    }

    /// The job it waits for, where it is Awaiting.
    pub fn parent(&self) -> Option<i64> {
        (self.state == Some(StateName::Awaiting))
            .then(|| self.datum("ParentId"))
            .flatten()
            .and_then(|id| id.trim().parse().ok())
    }
}

/// A server, as far as actions look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundServer {
    /// Its id.
    pub id: String,
    /// Age of its heartbeat in milliseconds, by the database's clock (`SQLite`: the host's).
    pub heartbeat_age_ms: i64,
    /// The queues it serves; `None` where they are not known.
    pub queues: Option<Vec<String>>,
}

impl From<&Server> for FoundServer {
    fn from(server: &Server) -> Self {
        Self {
            id: server.id.clone(),
            heartbeat_age_ms: server.heartbeat_age_ms,
            queues: server.queues.clone(),
        }
    }
}

/// Everything that an action is decided from.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The time, by the database's clock (`SQLite`: the host's). Every row written bears it.
    pub now: Instant,
    /// The source's limits.
    pub limits: Limits,
    /// The job.
    pub job: FoundJob,
    /// When the state that the operator saw began, where its row is still there.
    pub seen_since: Option<Instant>,
    /// Other jobs that [`super::decide::wanted`] asked for: children, their children, a parent.
    /// `None` for those that do not exist.
    pub relatives: BTreeMap<i64, Option<FoundJob>>,
    /// Every server.
    pub servers: Vec<FoundServer>,
}

impl Found {
    /// What a page knows. Children are known by their state alone, a parent not at all: what hangs
    /// on them is decided when somebody acts.
    pub fn from_page(record: &JobRecord, servers: &[Server], now: Instant, limits: Limits) -> Self {
        let relatives = record.continuations.iter().map(|child| {
            let job = child
                .state
                .as_ref()
                .map(|state| FoundJob::bare(child.job, Some(state.clone())));
            (child.job, job)
        });
        Self {
            now,
            limits,
            job: FoundJob::from_record(record),
            seen_since: None,
            relatives: relatives.collect(),
            servers: servers.iter().map(FoundServer::from).collect(),
        }
    }
}
