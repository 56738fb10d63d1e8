//! The interactive pieces. Each is small, and only makes better what works without it.

pub mod selection;
pub mod theme;
pub mod times;
