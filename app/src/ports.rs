//! What the pages and actions need from the world, as narrow traits. `server` implements each one
//! once per dialect and holds them to one contract suite.

pub mod actions;
pub mod audit;
pub mod claims;
pub mod collector;
pub mod error;
pub mod failures;
pub mod health;
pub mod histories;
pub mod insights;
pub mod jobs;
pub mod recurring;
pub mod source;
