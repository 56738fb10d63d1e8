//! From state rows to numbers, row by row.
//!
//! Rows arrive in batches, in the order of their ids; what must be known of a job between two
//! batches is its [`Memory`]. What rows add to the numbers are [`Increments`]. The rules are the
//! same as those of [`super::timeline::Timeline`], which sees whole histories: the tests hold the
//! two against each other.
//!
//! | number | one is counted |
//! |---|---|
//! | attempt | when the row that ends it comes; in the hour of that row |
//! | first attempt | once per job: its earliest attempt that succeeded, failed or was lost |
//! | finished round | at its first success, or where a `Failed` row rests: no planned retry follows right after it |
//! | recovery | with the finished round, for each exception type that its attempts failed with |
//! | delay | when a retry is planned |
//!
//! Attempts that were put back or cancelled carry no number. A round whose beginning is not
//! known, because older rows are gone, is never counted as finished, and its attempts carry no
//! number either.

pub mod batch;
mod failure;
mod fold;
pub mod hash;
mod histogram;
mod increments;
mod memory;
pub mod position;
#[cfg(test)]
mod tests;

pub use failure::{Failure, FailureGroup, Stray, server_number};
pub use histogram::{BOUNDS_MS, Histogram};
pub use increments::{
    AttemptKey, AttemptSums, DelayKey, DelaySums, FirstKey, FirstSums, Gauge, Increments,
    RecoveryKey, RecoverySums, RoundEnd, RoundKey, RoundSums, Sums,
};
pub use memory::{Job, Memory};

use super::state::Instant;

/// Attempts and rounds are counted by the hour.
pub const HOUR_SECONDS: i64 = 3_600;
/// Planned delays are counted by the day.
pub const DAY_SECONDS: i64 = 86_400;
/// Names longer than this are counted under their first characters.
pub const NAME_CHARS: usize = 300;
/// So are names with more bytes than this: a key of an index holds three of them.
pub const NAME_BYTES: usize = 600;
/// Attempts with a number beyond this are counted under it.
pub const LAST_NUMBER: u32 = 1_000;

/// The hour that an instant lies in, counted from 1970.
pub fn hour(at: Instant) -> i64 {
    at.timestamp().div_euclid(HOUR_SECONDS)
}

/// The day that an instant lies in, counted from 1970.
pub fn day(at: Instant) -> i64 {
    at.timestamp().div_euclid(DAY_SECONDS)
}

/// A name as it is counted: whole, or its first characters and an ellipsis. The one character
/// that `PostgreSQL` cannot store is replaced.
pub fn counted_name(name: &str) -> String {
    let name = name.replace('\0', "\u{fffd}");
    let chars = name.char_indices().nth(NAME_CHARS).map(|(end, _)| end);
    let bytes = (name.len() > NAME_BYTES).then(|| name.floor_char_boundary(NAME_BYTES));
    match chars.into_iter().chain(bytes).min() {
        Some(end) => format!("{}\u{2026}", &name[..end]),
        None => name,
    }
}
