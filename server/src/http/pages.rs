//! The pages: each reads its URL, asks the store, and hands the model to `app`.

pub mod attempts;
pub mod audit;
pub mod claims;
pub mod job;
pub mod jobs;
mod judged;
pub mod overview;
pub mod policy;
pub mod servers;
pub mod trace;
