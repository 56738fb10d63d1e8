//! What an action writes: small steps that each dialect's executor translates.

use crate::model::state::{Instant, StateName};

/// The data of a new state row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateValue {
    /// A JSON object of these strings.
    Object(Vec<(&'static str, String)>),
    /// The stored data of the state row of this id, as it is.
    CopyOf(i64),
}

/// One step. Steps are done in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Deletes a member of a set, if it is there.
    RemoveFromSet {
        /// The set's key.
        key: &'static str,
        /// The member.
        value: String,
    },
    /// Adds a member to a set, or gives it this score if it is there.
    AddToSet {
        /// The set's key.
        key: &'static str,
        /// The member.
        value: String,
        /// Its score.
        score: i64,
    },
    /// Inserts a row into `counter`.
    Count {
        /// The counter's key.
        key: String,
        /// By how much.
        delta: i64,
        /// When the row expires; `None` for never.
        expire_at: Option<Instant>,
    },
    /// Inserts a state row at [`Plan::at`] and makes it the job's state.
    State {
        /// The job.
        job: i64,
        /// The state.
        name: StateName,
        /// The row's reason, at most 100 characters.
        reason: Option<String>,
        /// The row's data.
        data: StateValue,
    },
    /// Sets when a job expires; `None` for never. On `SQLite` the same goes for its parameters and
    /// state rows, those just written included.
    Expire {
        /// The job.
        job: i64,
        /// When.
        at: Option<Instant>,
    },
    /// Inserts a queue row that no worker has taken.
    InsertQueueRow {
        /// The job.
        job: i64,
        /// The queue.
        queue: String,
    },
    /// Deletes a queue row.
    DeleteQueueRow {
        /// The row.
        id: i64,
    },
    /// Moves a queue row that no worker has taken to another queue.
    MoveQueueRow {
        /// The row.
        id: i64,
        /// The queue.
        queue: String,
    },
    /// Sets a parameter that is there, in each row of that name.
    SetParameter {
        /// The job.
        job: i64,
        /// The parameter.
        name: &'static str,
        /// Its value, JSON text.
        value: String,
    },
}

/// What a decided action writes, in order, in one transaction together with its audit row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The job acted on.
    pub job: i64,
    /// Its state afterwards. The last [`Write::State`] of this job gives the new state's id.
    pub state: StateName,
    /// The time that the new rows bear.
    pub at: Instant,
    /// The steps.
    pub writes: Vec<Write>,
    /// What is changed, in sentences.
    pub notes: Vec<String>,
}

impl Plan {
    /// Whether a job comes into a queue, so that sleeping workers should be woken.
    pub fn enqueues(&self) -> bool {
        self.writes.iter().any(|write| {
            matches!(
                write,
                Write::InsertQueueRow { .. } | Write::MoveQueueRow { .. }
            )
        })
    }
}
