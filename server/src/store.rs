//! The stores: one implementation of each port per dialect.

pub mod postgres;
pub mod sqlite;
