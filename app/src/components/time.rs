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

/// Times that the page's stream moves on, each by a name.
pub mod kept {
    use leptos::prelude::*;

    use super::{exact_text, machine};
    use crate::components::relative;
    use crate::components::shell::page_context;
    use crate::model::state::Instant;

    /// `2 s ago`.
    pub fn ago(name: &'static str, at: Instant) -> impl IntoView + use<> {
        let text = relative::ago((page_context().now - at).num_milliseconds().max(0));
        view! {
            <time class="t" data-live-at=name datetime=machine(at) title=exact_text(at)>{text}</time>
        }
    }

    /// `2 s`.
    pub fn since(name: &'static str, at: Instant) -> impl IntoView + use<> {
        let text = relative::span((page_context().now - at).num_milliseconds().max(0));
        view! {
            <time
                class="t"
                data-t="span"
                data-live-at=name
                datetime=machine(at)
                title=exact_text(at)
            >
                {text}
            </time>
        }
    }
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

/// The instant for machines, to the microsecond.
pub fn machine(at: Instant) -> String {
    let finer = !at.timestamp_subsec_nanos().is_multiple_of(1_000);
    let digits = if finer {
        SecondsFormat::Micros
    } else {
        SecondsFormat::AutoSi
    };
    at.to_rfc3339_opts(digits, true)
}

/// The instant for people, to the millisecond.
pub fn exact_text(at: Instant) -> String {
    at.format("%-d %b %Y, %H:%M:%S%.3f UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_get_no_more_than_microseconds() {
        let at = |nanos| chrono::DateTime::from_timestamp(1_795_788_348, nanos).unwrap();
        assert_eq!(machine(at(0)), "2026-11-27T14:05:48Z");
        assert_eq!(machine(at(700_000_000)), "2026-11-27T14:05:48.700Z");
        assert_eq!(machine(at(700_662_696)), "2026-11-27T14:05:48.700662Z");
        assert_eq!(exact_text(at(700_662_696)), "27 Nov 2026, 14:05:48.700 UTC");
    }
}
