//! Ages of Sending claims, as bars over the buckets that are counted, with the marks that parts
//! them: the cut-off and the provider's window.

mod layout;
mod view;

pub use view::ages;

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Ages<'a> {
    /// Claims by bucket of [`crate::ports::claims::AGE_BUCKETS`].
    pub counts: &'a [i64],
    /// Claims without an age.
    pub ageless: i64,
    /// Claims at least this old are stale, in milliseconds.
    pub cutoff_ms: i64,
    /// How long the provider knows a key, in milliseconds, where that is known.
    pub window_ms: Option<i64>,
    /// The column that the age is counted from.
    pub column: Option<&'a str>,
}
