//! Shared pieces of pages. Only [`relative`] is compiled for the browser too.

#[cfg(feature = "ssr")]
pub mod coverage;
#[cfg(feature = "ssr")]
pub mod icon;
#[cfg(feature = "ssr")]
pub mod job_rows;
#[cfg(feature = "ssr")]
pub mod message;
#[cfg(feature = "ssr")]
pub mod number;
#[cfg(feature = "ssr")]
pub mod pager;
#[cfg(feature = "ssr")]
pub mod pips;
pub mod relative;
#[cfg(feature = "ssr")]
pub mod server_rows;
#[cfg(feature = "ssr")]
pub mod shell;
#[cfg(feature = "ssr")]
pub mod state;
#[cfg(feature = "ssr")]
pub mod text;
#[cfg(feature = "ssr")]
pub mod time;
