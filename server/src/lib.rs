//! Everything of Redrive that touches the world: databases, sockets, the clock, the command line.

pub mod bookstore;
pub mod clock;
pub mod store;

#[cfg(test)]
mod testing;
