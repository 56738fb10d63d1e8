//! Stored JSON for reading: laid out over lines, without changing a single value.

use serde::de::IgnoredAny;

/// Text for a page, and whether it is all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The text.
    pub text: String,
    /// Whether the end was cut off.
    pub cut: bool,
}

/// Lays JSON text out over lines with two spaces of indent. Numbers, escapes and the order of keys
/// stay as they are stored: reading and writing them again would turn `12.50` into `12.5`. Text
/// that is not JSON is shown as it is. At most `max_chars` characters.
pub fn pretty(text: &str, max_chars: usize) -> Shown {
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        return cut(text, max_chars);
    }
    let mut out = Out {
        text: String::new(),
        room: max_chars,
        cut: false,
    };
    let mut depth = 0_usize;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if out.cut {
            break;
        }
        match c {
            '"' => {
                out.push('"');
                string(&mut rest, &mut out);
            }
            '{' | '[' => {
                out.push(c);
                while rest.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(end) = rest.next_if(|c| matches!(c, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    out.line(depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                out.line(depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                out.line(depth);
            }
            ':' => {
                out.push(c);
                out.push(' ');
            }
            c if c.is_ascii_whitespace() => {}
            c => out.push(c),
        }
    }
    Shown {
        text: out.text,
        cut: out.cut,
    }
}

/// The first `max_chars` characters.
pub fn cut(text: &str, max_chars: usize) -> Shown {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => Shown {
            text: text.get(..end).unwrap_or_default().to_owned(),
            cut: true,
        },
        None => Shown {
            text: text.to_owned(),
            cut: false,
        },
    }
}

/// The rest of a string, its closing quote included.
fn string(rest: &mut impl Iterator<Item = char>, out: &mut Out) {
    let mut escaped = false;
    for c in rest {
        out.push(c);
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == '"' {
            return;
        }
    }
}

struct Out {
    text: String,
    room: usize,
    cut: bool,
}

impl Out {
    fn push(&mut self, c: char) {
        if self.room == 0 {
            self.cut = true;
        } else {
            self.room -= 1;
            self.text.push(c);
        }
    }

    fn line(&mut self, depth: usize) {
        self.push('\n');
        for _ in 0..depth {
            self.push(' ');
            self.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_laid_out_and_nothing_in_it_changed() {
        let shown = pretty(
            r#"{"z": 12.50,"a":[1, 2],"none":[ ],"s":"a,b:{\"x\"}","big":12345678901234567890123}"#,
            1_000,
        );
        assert_eq!(
            shown.text,
            "{\n  \"z\": 12.50,\n  \"a\": [\n    1,\n    2\n  ],\n  \"none\": [],\n  \
             \"s\": \"a,b:{\\\"x\\\"}\",\n  \"big\": 12345678901234567890123\n}"
        );
        assert!(!shown.cut);
        assert_eq!(pretty("3", 10).text, "3");
        assert_eq!(pretty("\"a\"", 10).text, "\"a\"");
    }

    #[test]
    fn what_is_not_json_stays_as_it_is() {
        assert_eq!(
            pretty("2026-11-08T05:11:18", 100).text,
            "2026-11-08T05:11:18"
        );
        assert_eq!(pretty("{\"a\":", 100).text, "{\"a\":");
        assert_eq!(pretty("", 100).text, "");
    }

    #[test]
    fn the_end_is_cut_and_said_so() {
        assert_eq!(
            pretty("[1,2]", 4),
            Shown {
                text: "[\n  ".into(),
                cut: true
            }
        );
        assert!(!pretty("[1]", 8).cut);
        assert_eq!(
            cut("b\u{f6}ker", 2),
            Shown {
                text: "b\u{f6}".into(),
                cut: true
            }
        );
        assert!(!cut("b\u{f6}", 2).cut);
        let deep = "[".repeat(100_000);
        assert_eq!(pretty(&deep, 3).text, "[[[");
    }
}
