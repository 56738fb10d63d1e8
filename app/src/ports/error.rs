//! Why a store could not answer.

use std::time::Duration;

/// Why a store could not answer. Each one becomes its own page and its own words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The database does not answer: it is down, refuses us, or the connection broke.
    #[error("the database does not answer: {0}")]
    Away(String),
    /// There is no such database, so nothing could answer; in words, with where it was looked for.
    #[error("{0}")]
    Absent(String),
    /// The query ran into its time limit and was stopped on purpose.
    #[error("this took longer than {} s and was stopped", .0.as_secs())]
    TimedOut(Duration),
    /// The schema is not what we know how to read; in words, with what is missing.
    #[error("{0}")]
    Unreadable(String),
    /// The role may not do this; in words.
    #[error("{0}")]
    Forbidden(String),
    /// Anything else: a defect of ours, or of the database.
    #[error("the database answered with an error: {0}")]
    Internal(String),
}
