//! The collector's numbers, summed for reading: what pages and metrics ask for. The rows are what a
//! store answers; the modules make of them what pages show.

pub mod digest;
pub mod endings;
pub mod fewer;
pub mod findings;
pub mod fit;
pub mod forecast;
pub mod kinds;
pub mod recovery;
pub mod span;
pub mod times;

use super::collect::{AttemptSums, DelaySums, RecoverySums, RoundEnd, RoundSums};
use super::rates::Rate;
use super::state::Instant;

/// What pages call a job type: a class and its method.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobKind {
    /// The class, with its namespace, as it is counted.
    pub job_type: String,
    /// The method.
    pub method: String,
}

/// Which of the numbers are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The first hour, counted from 1970.
    pub from: i64,
    /// The hour after the last.
    pub to: i64,
    /// Only this class.
    pub job_type: Option<String>,
    /// Only this method.
    pub method: Option<String>,
    /// Only this queue. Recovery and delays are not counted by queue: they leave it out of account.
    pub queue: Option<String>,
}

/// What the numbers are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// The first hour of which anything is counted; `None` where nothing is.
    pub since: Option<i64>,
    /// The highest id of a state row that is counted.
    pub watermark: i64,
    /// How often the database turned out to be another one.
    pub epoch: u32,
    /// When the numbers were last written.
    pub as_of: Instant,
}

/// First attempts that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstAttemptsRow {
    /// Of which jobs.
    pub kind: JobKind,
    /// The first slot of the step ([`super::rates::slot`]).
    pub slot: i64,
    /// Those that succeeded, of all.
    pub rate: Rate,
}

/// Rounds that finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundsRow {
    /// The first hour of the step.
    pub hour: i64,
    /// Of which jobs.
    pub kind: JobKind,
    /// Whether they began with a requeue.
    pub later: bool,
    /// How they finished.
    pub end: RoundEnd,
    /// With which attempt.
    pub number: u32,
    /// The sums.
    pub sums: RoundSums,
}

/// Attempts that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptsRow {
    /// Of which jobs.
    pub kind: JobKind,
    /// Whether their round began with a requeue.
    pub later: bool,
    /// The number within the round, from 1; 0 without a number.
    pub number: u32,
    /// [`super::attempt::Outcome::slug`].
    pub outcome: String,
    /// The sums.
    pub sums: AttemptSums,
}

/// Finished rounds by what their attempts failed with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryRow {
    /// Of which jobs.
    pub kind: JobKind,
    /// The exception's type; empty where none was stored.
    pub exception: String,
    /// The sums.
    pub sums: RecoverySums,
}

/// Delays that were planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DelaysRow {
    /// Of which jobs.
    pub kind: JobKind,
    /// The policy's maximum of retries.
    pub of: u32,
    /// The number of the retry.
    pub retry: u32,
    /// The sums.
    pub sums: DelaySums,
}

/// Rounds that have begun and not finished, at this moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pending {
    /// By kind, and whether they began with a requeue.
    pub rounds: Vec<(JobKind, bool, i64)>,
    /// By kind and by the exception that their attempts failed with so far.
    pub recovery: Vec<(JobKind, String, i64)>,
}

/// A retry that is planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueRetry {
    /// Of which job.
    pub job: i64,
    /// Of which kind.
    pub kind: JobKind,
    /// When it comes due.
    pub due: Instant,
    /// Its number, and the policy's maximum, where the reason tells.
    pub number: Option<(u32, u32)>,
}
