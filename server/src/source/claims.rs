//! Claims of a source: the index from keys to jobs, and the provider.

pub mod index;
pub mod provider;
