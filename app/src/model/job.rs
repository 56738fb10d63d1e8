//! Jobs: the light row of a list, and one job whole.

use super::invocation::Invocation;
use super::state::{Instant, StateName, StateRow};
use super::timeline::ObservedDelay;

/// The current state of a job, as the store found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentState {
    /// Its name. `None` while the job is being created: official dashboards never list it.
    pub name: Option<StateName>,
    /// Id of its row, as the job points to it; on `SQLite` the newest row of that name. `None`
    /// where there is none.
    pub id: Option<i64>,
    /// When it began; `None` where its row is missing.
    pub since: Option<Instant>,
    /// Why, in words.
    pub reason: Option<String>,
    /// Hangfire is changing the job right now (`SQLite` only): a newer row of another name is
    /// there, or no row fits. Actions answer busy.
    pub unsettled: bool,
}

/// A job in a list: light columns only.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRow {
    /// The job's id.
    pub id: i64,
    /// Its state.
    pub state: CurrentState,
    /// What it calls. Arguments are cut to their first 300 characters by the store.
    pub invocation: Invocation,
    /// Stored size of the arguments in bytes, where the store left them out for it.
    pub arguments_bytes: Option<i64>,
    /// Its queue: the job's own, else its last `Enqueued` row's.
    pub queue: Option<String>,
    /// The server of its last `Processing` row.
    pub server: Option<String>,
    /// Attempts so far: its `Processing` rows, counted up to [`JobRow::ATTEMPTS_CAP`].
    pub attempts: u32,
    /// `(number, of)` of the newest retry that a reason names.
    pub retry: Option<(u32, u32)>,
    /// Exception type of its last `Failed` row.
    pub exception_type: Option<String>,
    /// First 300 characters of that row's message.
    pub exception_message: Option<String>,
    /// Stored size in bytes of that row's data, where the store left it unread for it: type and
    /// message are then not known to the list.
    pub failure_bytes: Option<i64>,
    /// When the planned run is due (scheduled and retrying jobs).
    pub due_at: Option<Instant>,
    /// When the row was created.
    pub created_at: Instant,
    /// When it expires.
    pub expire_at: Option<Instant>,
}

impl JobRow {
    /// Lists count attempts no further than this.
    pub const ATTEMPTS_CAP: u32 = 100;
}

/// A row of the job's queue table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueRow {
    /// Its id.
    pub id: i64,
    /// The queue.
    pub queue: String,
    /// When a worker took it; `None` while it waits. Taken does not mean running.
    pub fetched_at: Option<Instant>,
}

/// One job whole.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRecord {
    /// The job's id.
    pub id: i64,
    /// Its state.
    pub state: CurrentState,
    /// What it calls, arguments whole up to the store's cap.
    pub invocation: Invocation,
    /// Stored size of the arguments in bytes, where the store left them out for it.
    pub arguments_bytes: Option<i64>,
    /// When it was created.
    pub created_at: Instant,
    /// When it expires; `None` for never.
    pub expire_at: Option<Instant>,
    /// Its parameters, by name; of duplicates the newest, which is what Hangfire means.
    pub parameters: Vec<(String, Option<String>)>,
    /// Names of parameters that are stored more than once.
    pub duplicate_parameters: Vec<String>,
    /// Its rows in the queue table.
    pub queue_rows: Vec<QueueRow>,
    /// The newest state rows that fit the page, ordered by id.
    pub states: Vec<StateRow>,
    /// How many state rows the job has.
    pub states_total: i64,
    /// How many `Processing` rows lie before the first of `states`.
    pub attempts_before: u32,
    /// Jobs that wait for this one, from its `Continuations` parameter.
    pub continuations: Vec<Continuation>,
}

/// A job that waits for another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Continuation {
    /// The waiting job's id.
    pub job: i64,
    /// When it is released: 0 on any finish, 1 on success only, 2 on delete only.
    pub options: i32,
    /// Its current state; `None` where the job is gone.
    pub state: Option<StateName>,
}

/// A server of the job system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its id, usually `host:pid:guid`.
    pub id: String,
    /// Number of workers, where stored.
    pub workers: Option<i64>,
    /// The queues it serves; `None` where they are not stored or unreadable.
    pub queues: Option<Vec<String>>,
    /// When it started, where readable.
    pub started_at: Option<Instant>,
    /// The stored text of its start, where it is not a date.
    pub started_raw: Option<String>,
    /// Its last heartbeat.
    pub heartbeat_at: Instant,
    /// Age of the heartbeat in milliseconds, by the database's clock (`SQLite`: the host's).
    pub heartbeat_age_ms: i64,
    /// Jobs in Processing whose last `Processing` row names it.
    pub processing: i64,
}

impl Server {
    /// A heartbeat older than this is shown as quiet.
    pub const QUIET_MS: i64 = 60_000;
}

/// A delay that some job's policy chose, with what that job calls: jobs of the same type and
/// method have the same policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedDelay {
    /// The job.
    pub job: i64,
    /// The type's name as stored.
    pub type_name: String,
    /// The method's name.
    pub method: String,
    /// The delay.
    pub delay: ObservedDelay,
}

/// What happened to one job, light: for judging many jobs at once.
#[derive(Debug, Clone, PartialEq)]
pub struct JobHistory {
    /// The job's id.
    pub id: i64,
    /// Its state.
    pub state: CurrentState,
    /// What it calls; arguments as in [`JobCall`].
    pub invocation: Invocation,
    /// When it was created.
    pub created_at: Instant,
    /// Its newest state rows, ordered by id, without exception details.
    pub states: Vec<StateRow>,
    /// Whether older rows exist.
    pub older_rows: bool,
    /// How many `Processing` rows lie before the first of `states`.
    pub attempts_before: u32,
}

/// What a job calls, by which it is found behind a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobCall {
    /// The job's id.
    pub id: i64,
    /// The call.
    pub invocation: Invocation,
}
