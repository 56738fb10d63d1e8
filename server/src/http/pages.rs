//! The pages: each reads its URL, asks the store, and hands the model to `app`.

pub mod audit;
pub mod job;
pub mod jobs;
pub mod overview;
pub mod servers;
pub mod trace;
