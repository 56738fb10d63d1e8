//! Small pieces that the sections of this page share.

use leptos::prelude::*;

use crate::components::time;
use crate::model::state::Instant;

/// A section: its question, what it covers, its content.
pub fn section(
    id: &'static str,
    question: &'static str,
    coverage: Option<AnyView>,
    content: AnyView,
) -> AnyView {
    view! {
        <section class="sec" aria-labelledby=id>
            <header class="sec-h"><h2 id=id>{question}</h2>{coverage}</header>
            {content}
        </section>
    }
    .into_any()
}

/// An instant, exact and relative: `29 Nov 2026, 18:44:21 UTC, 3 min ago`.
pub fn when(at: Instant) -> impl IntoView + use<> {
    view! { {time::exact(at)} <span class="sub">", " {time::ago(at)}</span> }
}

/// The time of day, with its date where that is another day than `beside`.
pub fn clock(at: Instant, beside: Instant) -> impl IntoView + use<> {
    let date = (at.date_naive() != beside.date_naive())
        .then(|| view! { <span class="sub">{at.format("%-d\u{a0}%b ").to_string()}</span> });
    view! { <span class="nw">{date} {time::clock(at)}</span> }
}

/// The first `most` characters of a stored text, and whether it was cut.
pub fn cut(text: &str, most: usize) -> (&str, bool) {
    let end = text.char_indices().nth(most).map(|(at, _)| at);
    (
        end.map_or(text, |end| text.get(..end).unwrap_or(text)),
        end.is_some(),
    )
}

/// A stored text in one line of at most `most` characters, with `…` where it was cut.
pub fn line(text: &str, most: usize) -> String {
    let (part, cut) = cut(text, most);
    let mut one: String = part
        .chars()
        .map(|c| {
            if matches!(c, '\n' | '\r' | '\t') {
                ' '
            } else {
                c
            }
        })
        .collect();
    if cut {
        one.push('\u{2026}');
    }
    one
}

/// A server's id without the last part where that is a GUID: `mail-02:4412`.
pub fn short_server(id: &str) -> String {
    let short = match id.rsplit_once(':') {
        Some((rest, guid)) if guid.len() == 36 && rest.contains(':') => rest,
        _ => id,
    };
    line(short, 60)
}
