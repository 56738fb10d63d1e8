//! The line: a job's life as one line. Dotted where it waited in its queue, thin in backoff,
//! thick where it ran, a mark for each outcome, dashed where it is planned.

pub mod claim;
pub mod layout;
pub mod pieces;
#[cfg(test)]
mod tests;

mod view;

pub use view::lifeline;
