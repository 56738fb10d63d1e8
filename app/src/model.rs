//! Pure types and logic: jobs, states, attempts, retry policies. No clock, no I/O.

pub mod attempt;
pub mod claim;
pub mod collect;
pub mod continuation;
pub mod data;
pub mod health;
pub mod insights;
pub mod invocation;
pub mod job;
pub mod json;
pub mod policy;
pub mod rates;
pub mod reason;
pub mod recurring;
pub mod stack;
pub mod state;
#[cfg(test)]
pub(crate) mod testing;
pub mod timeline;
pub mod words;
