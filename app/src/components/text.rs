//! Stored text, made safe to look at. Job data comes from strangers: bidirectional overrides can
//! turn a line around, and control characters hide what is there.

use std::borrow::Cow;
use std::fmt::Write as _;

use leptos::prelude::*;

/// The text with every invisible character shown: C0 and C1 controls as control pictures or code
/// points, bidirectional controls and other zero-width characters as `‹U+202E›`. Tabs and line
/// ends stay. Use it for every text that comes from a database.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\0'..='\x1f' if is_hidden(c) => {
                out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or(c));
            }
            '\x7f' => out.push('\u{2421}'),
            c if is_hidden(c) => {
                let _ = write!(out, "\u{2039}U+{:04X}\u{203a}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Stored text inside a line of ours: shown, and isolated so that its direction ends with it.
pub fn stored(text: &str) -> impl IntoView + use<> {
    let text = shown(text).into_owned();
    view! { <bdi>{text}</bdi> }
}

/// The last part of a .NET type name, without its namespace and assembly:
/// `Bookstore.Jobs.ImportJob, Bookstore.Jobs` is `ImportJob`. Nested types keep their outer one,
/// generic arguments are left out.
pub fn short_type(name: &str) -> &str {
    let name = name.split(['`', '[', ',']).next().unwrap_or(name).trim();
    name.rsplit('.').next().unwrap_or(name)
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
        assert_eq!(
            shown("a\0b\x1b[31mc\x7f"),
            "a\u{2400}b\u{241b}[31mc\u{2421}"
        );
        assert_eq!(shown("a\u{85}b"), "a\u{2039}U+0085\u{203a}b");
    }

    #[test]
    fn what_turns_text_around_is_shown() {
        assert_eq!(
            shown("invoice\u{202e}fdp.exe"),
            "invoice\u{2039}U+202E\u{203a}fdp.exe"
        );
        assert_eq!(shown("a\u{200b}b"), "a\u{2039}U+200B\u{203a}b");
        assert_eq!(shown("\u{2067}"), "\u{2039}U+2067\u{203a}");
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
        assert_eq!(short_type(""), "");
    }
}
