//! A rate over time: a line with the band that it surely lies in, against what is usual.

mod layout;
mod view;

pub use view::rate_line;

use crate::model::rates::Rate;
use crate::model::state::Instant;

/// One step of the line.
#[derive(Debug, Clone, PartialEq)]
pub struct RatePoint {
    /// When the step begins.
    pub at: Instant,
    /// The rate in it.
    pub rate: Rate,
    /// Where the jobs behind it are found.
    pub href: Option<String>,
}

/// What is drawn.
#[derive(Debug, Clone)]
pub struct RateLine<'a> {
    /// The steps in the order of time, 200 at most; those of nothing are gaps.
    pub points: &'a [RatePoint],
    /// When the last step ends.
    pub end: Instant,
    /// What is usual.
    pub usual: Rate,
    /// When a fall began, where there is one.
    pub fallen_since: Option<Instant>,
    /// What the drawing shows: `First-attempt success`.
    pub subject: &'a str,
    /// What is found.
    pub finding: &'a str,
    /// What is counted, for the table: `First attempts`.
    pub counted: &'a str,
    /// What the points lead to, where they do: `failed jobs of that time`.
    pub leads_to: &'a str,
}
