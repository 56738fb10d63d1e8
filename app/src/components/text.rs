//! Stored text, made safe to look at. Job data comes from strangers: bidirectional overrides can
//! turn a line around, and control characters hide what is there.

use std::borrow::Cow;
use std::fmt::Write as _;

use leptos::prelude::*;

/// The text with every invisible character replaced by a mark, for attributes and titles, where
/// no elements can stand: `‹U+202E›`, `‹ESC›`. Tabs and line ends stay.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            let _ = write!(out, "\u{2039}{}\u{203a}", name(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The text for a block of its own. Invisible characters keep their place, so that copying gives
/// what is stored, but each lies isolated in a `span.ctl` that shows its name.
pub fn visible(text: &str) -> AnyView {
    if !text.chars().any(is_hidden) {
        return text.to_owned().into_any();
    }
    let mut pieces = Vec::new();
    let mut plain = String::new();
    for c in text.chars() {
        if is_hidden(c) {
            if !plain.is_empty() {
                pieces.push(std::mem::take(&mut plain).into_any());
            }
            // A NUL cannot stand in HTML.
            let raw = if c == '\0' {
                String::new()
            } else {
                c.to_string()
            };
            pieces.push(view! { <span class="ctl" data-c=name(c)>{raw}</span> }.into_any());
        } else {
            plain.push(c);
        }
    }
    if !plain.is_empty() {
        pieces.push(plain.into_any());
    }
    pieces.into_any()
}

/// [`visible`] inside a line of ours: isolated, so that its direction ends with it.
pub fn stored(text: &str) -> impl IntoView + use<> {
    view! { <bdi>{visible(text)}</bdi> }
}

/// The first `chars` characters, with an ellipsis where more follow.
pub fn cut(text: &str, chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(chars) {
        Some((end, _)) => {
            let mut short = text.get(..end).unwrap_or(text).to_owned();
            short.push('\u{2026}');
            Cow::Owned(short)
        }
        None => Cow::Borrowed(text),
    }
}

/// The last part of a .NET type name, without its namespace and assembly:
/// `Bookstore.Jobs.ImportJob, Bookstore.Jobs` is `ImportJob`. Nested types keep their outer one,
/// generic arguments are left out.
pub fn short_type(name: &str) -> &str {
    let head = name.split(['`', '[', ',']).next().unwrap_or(name).trim();
    match head.rsplit('.').next() {
        Some(last) if !last.is_empty() => last,
        _ => name,
    }
}

/// The name of a hidden character: `ESC`, `U+202E`.
fn name(c: char) -> String {
    const CONTROLS: [&str; 32] = [
        "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR",
        "SO", "SI", "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB",
        "ESC", "FS", "GS", "RS", "US",
    ];
    match (CONTROLS.get(c as usize), c) {
        (Some(known), _) => (*known).to_owned(),
        (None, '\x7f') => "DEL".to_owned(),
        _ => format!("U+{:04X}", u32::from(c)),
    }
}

fn is_hidden(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(shown("Grüße, 日本\t\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn controls_are_shown() {
        assert_eq!(shown("a\0b\x1b[31mc\x7f"), "a‹NUL›b‹ESC›[31mc‹DEL›");
        assert_eq!(shown("a\u{85}b"), "a‹U+0085›b");
    }

    #[test]
    fn what_turns_text_around_is_shown() {
        assert_eq!(shown("invoice\u{202e}fdp.exe"), "invoice‹U+202E›fdp.exe");
        assert_eq!(shown("a\u{200b}b"), "a‹U+200B›b");
        assert_eq!(shown("\u{2067}"), "‹U+2067›");
    }

    #[test]
    fn elements_keep_what_is_stored_and_name_it() {
        assert_eq!(
            visible("a\u{202e}<b>").to_html(),
            "a<span data-c=\"U+202E\" class=\"ctl\">\u{202e}</span>&lt;b&gt;<!>"
        );
        assert_eq!(visible("plain & simple").to_html(), "plain &amp; simple");
    }

    #[test]
    fn cutting_counts_characters() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöü", 2), "äö…");
    }

    #[test]
    fn types_are_shortened() {
        let import = "Bookstore.Jobs.ImportJob, Bookstore.Jobs, Version=1.0.0.0";
        assert_eq!(short_type(import), "ImportJob");
        assert_eq!(
            short_type("System.Collections.Generic.List`1[[System.Int32]]"),
            "List"
        );
        assert_eq!(short_type("Plain"), "Plain");
        assert_eq!(short_type("App.Outer+Inner"), "Outer+Inner");
        assert_eq!(short_type("Odd."), "Odd.");
        assert_eq!(short_type(""), "");
    }
}
