//! Everything of Redrive that touches the world: databases, sockets, the clock, the command line.

pub mod bookstore;
pub mod check;
pub mod cli;
pub mod clock;
pub mod collector;
pub mod config;
pub mod cron;
pub mod http;
pub mod lifecycle;
pub mod source;
pub mod store;

#[cfg(test)]
mod testing;
