//! The stores: one implementation of each port per dialect.

pub(crate) mod astray;
pub mod claim_facts;
pub mod claim_list;
pub mod claim_note;
#[cfg(test)]
pub(crate) mod contract;
pub mod decode;
pub(crate) mod failures;
pub(crate) mod insights;
pub mod kept;
pub mod postgres;
pub mod read_times;
pub(crate) mod recurring;
pub(crate) mod rollups;
pub mod sqlite;
mod task;
pub mod usual;
