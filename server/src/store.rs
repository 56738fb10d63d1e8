//! The stores: one implementation of each port per dialect.

#[cfg(test)]
mod contract;
pub mod decode;
pub mod postgres;
pub mod sqlite;
mod task;
