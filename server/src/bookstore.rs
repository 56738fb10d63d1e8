//! The Bookstore: a made-up shop whose jobs fill the demo database.
//!
//! [`prepare()`] makes a demo database or takes the one that is there. [`scenario()`] makes the rows, purely and deterministically; [`write()`] puts them into a new file;
//! [`keep_alive()`] lets the demo's servers go on sending heartbeats while it is shown.

mod catalogue;
mod claims;
mod faults;
mod fleet;
mod format;
mod job;
mod keep_alive;
mod life;
mod prepare;
mod recurring;
mod scenario;
mod special;
mod stage;
mod trace;
mod traffic;
mod write;

pub use claims::TABLE as CLAIMS_TABLE;
pub use job::{Claim, DemoJob, DemoState, IntendedAttempt, Intention, QueueRow};
pub use keep_alive::keep_alive;
pub use prepare::{Prepared, prepare};
pub use scenario::{HashRow, Scenario, ServerRow, SetRow, scenario};
pub use write::{DemoError, DemoLabel, label, write};

#[cfg(test)]
mod tests;
