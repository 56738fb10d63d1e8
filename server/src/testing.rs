//! What tests need: recorded rows, and databases to load them into.

pub mod fixture;
pub mod peer;
pub mod pgbouncer;
pub mod postgres;
pub mod sqlite;
