//! The pages: each takes a plain model and makes HTML of it. A handler fills the model.

pub mod attempts;
pub mod audit;
pub mod claims;
pub mod document;
pub mod job;
pub mod jobs;
pub mod messages;
pub mod overview;
pub mod policy;
pub mod servers;
