//! The web side: URLs to pages, forms to actions.

pub mod actions;
pub mod assets;
pub mod events;
pub mod frame;
pub mod health;
pub mod hosts;
pub mod metrics;
pub mod pages;
pub mod query;
pub mod router;
pub mod security;
pub mod state;

#[cfg(test)]
mod tests;
