//! Retry policies: the delays they choose, and which one a job seems to have.

/// A span of delays, in milliseconds, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Band {
    /// The shortest delay.
    pub min_ms: i64,
    /// The longest delay.
    pub max_ms: i64,
}
