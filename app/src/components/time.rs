//! Times: relative in lists, exact on a job's own page, the whole instant always at hand. The
//! browser keeps relative ones ticking and can show exact ones in its own zone.

use chrono::SecondsFormat;
use leptos::prelude::*;

use super::relative;
use super::shell::page_context;
use crate::model::state::Instant;

/// `17 s ago`, `in 4 min`.
pub fn ago(at: Instant) -> impl IntoView + use<> {
    let text = relative::ago((page_context().now - at).num_milliseconds());
    view! { <time class="t" datetime=machine(at) title=exact_text(at)>{text}</time> }
}

/// `17 s`: how long ago, for sentences that say the rest.
pub fn since(at: Instant) -> impl IntoView + use<> {
    let text = relative::span((page_context().now - at).num_milliseconds());
    view! { <time class="t" data-t="span" datetime=machine(at) title=exact_text(at)>{text}</time> }
}

/// `27 Nov 2026, 14:05:31 UTC`.
pub fn exact(at: Instant) -> impl IntoView + use<> {
    let text = at.format("%-d %b %Y, %H:%M:%S UTC").to_string();
    view! { <time data-t="exact" datetime=machine(at) title=exact_text(at)>{text}</time> }
}

/// `14:05:31.200`, for tables whose rows lie close together.
pub fn clock(at: Instant) -> impl IntoView + use<> {
    let text = at.format("%H:%M:%S%.3f").to_string();
    view! { <time class="nw" data-t="clock" datetime=machine(at) title=exact_text(at)>{text}</time> }
}

/// The instant for machines.
pub fn machine(at: Instant) -> String {
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// The instant for people, to the millisecond.
pub fn exact_text(at: Instant) -> String {
    at.format("%-d %b %Y, %H:%M:%S%.3f UTC").to_string()
}
