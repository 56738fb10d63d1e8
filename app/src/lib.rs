//! The face and the contract of Redrive.
//!
//! Compiled twice: into the server (feature `ssr`) and into WASM (feature `hydrate`). Nothing in
//! here knows SQL, the web server's state or the clock; see `ARCHITECTURE.md` for the rule.

#[cfg(test)]
extern crate self as app;

pub mod actions;
#[cfg(feature = "ssr")]
pub mod charts;
pub mod components;
#[cfg(feature = "ssr")]
pub mod figures;
pub mod islands;
#[cfg(feature = "ssr")]
pub mod links;
pub mod model;
#[cfg(feature = "ssr")]
pub mod pages;
#[cfg(feature = "ssr")]
pub mod ports;

/// Begins the browser's half: `start.js` calls this once, and then wakes every island of the page.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    leptos::mount::hydrate_islands();
}
