//! What a number covers and how old it is.

use leptos::prelude::*;

/// How far a number can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Each one was counted.
    Exact,
    /// Estimated.
    Estimate,
    /// Counted over a part.
    Partial,
}

impl Trust {
    fn class(self) -> &'static str {
        match self {
            Self::Exact => "cov-k exact",
            Self::Estimate => "cov-k est",
            Self::Partial => "cov-k hist",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Estimate => "estimate",
            Self::Partial => "partial",
        }
    }
}

/// The mark and words of a section's coverage: a filled square for exact, a ring for an estimate,
/// a half square for partial; `words` say of what, or how old: `exact, 2 s ago`.
pub fn coverage(trust: Trust, words: impl IntoView) -> impl IntoView {
    view! {
        <p class="cov">
            <span class=trust.class()></span>
            <span>{trust.label()}", "{words}</span>
        </p>
    }
}
