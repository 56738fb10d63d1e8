//! Spans and keys in words.

use leptos::prelude::*;

use crate::components::text::{cut, shown, visible};

/// Characters of a key that a row shows; the rest is in its title and, whole, in the forms.
const KEY: usize = 120;
/// Characters of a key that a title or a dialog shows.
const KEY_LONG: usize = 600;

/// A span in its two largest units: `48 s`, `27 min 49 s`, `1 h 34 min`, `3 d 4 h`.
pub fn span(ms: i64) -> String {
    let s = ms.max(0) / 1_000;
    match s {
        ..60 => format!("{s} s"),
        60..3_600 => format!("{} min {:02} s", s / 60, s % 60),
        3_600..172_800 => format!("{} h {:02} min", s / 3_600, s % 3_600 / 60),
        _ => format!("{} d {} h", s / 86_400, s % 86_400 / 3_600),
    }
}

/// A key in one line, cut in view, with more of it in its title.
pub fn key(key: &str) -> AnyView {
    let title = shown(&cut(key, KEY_LONG)).into_owned();
    let line: String = cut(key, KEY)
        .chars()
        .map(|c| {
            if matches!(c, '\n' | '\r' | '\t') {
                ' '
            } else {
                c
            }
        })
        .collect();
    view! { <b class="mono cut" title=title><bdi>{visible(&line)}</bdi></b> }.into_any()
}

/// A key as a dialog shows it: over several lines, cut only where it is very long.
pub fn key_long(key: &str) -> AnyView {
    view! { <bdi class="mono key-long">{visible(&cut(key, KEY_LONG))}</bdi> }.into_any()
}

/// A key in words for labels: `invoice-email:42`, cut short.
pub fn key_label(key: &str) -> String {
    shown(&cut(key, KEY)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_its_two_largest_units() {
        assert_eq!(span(-5), "0 s");
        assert_eq!(span(48_999), "48 s");
        assert_eq!(span(1_669_000), "27 min 49 s");
        assert_eq!(span(60_000), "1 min 00 s");
        assert_eq!(span(5_640_000), "1 h 34 min");
        assert_eq!(span(93_780_000), "26 h 03 min");
        assert_eq!(span(3 * 86_400_000 + 4 * 3_600_000 + 5), "3 d 4 h");
    }
}
