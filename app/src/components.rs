//! Shared pieces of pages. Only [`relative`] is compiled for the browser too.

#[cfg(feature = "ssr")]
pub mod coverage;
#[cfg(feature = "ssr")]
pub mod icon;
#[cfg(feature = "ssr")]
pub mod number;
pub mod relative;
#[cfg(feature = "ssr")]
pub mod shell;
#[cfg(feature = "ssr")]
pub mod state;
#[cfg(feature = "ssr")]
pub mod text;
#[cfg(feature = "ssr")]
pub mod time;
