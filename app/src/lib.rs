//! The face and the contract of Redrive.
//!
//! Compiled twice: into the server (feature `ssr`) and into WASM (feature `hydrate`). Nothing in
//! here knows SQL, the web server's state or the clock; see `ARCHITECTURE.md` for the rule.

pub mod actions;
#[cfg(feature = "ssr")]
pub mod links;
pub mod model;
#[cfg(feature = "ssr")]
pub mod ports;
