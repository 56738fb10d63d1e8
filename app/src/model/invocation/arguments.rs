//! The arguments of a call.

use serde_json::Value;

use crate::model::json::{self, Shown};

/// What stands for the rest that is not shown.
const ELLIPSIS: char = '\u{2026}';

/// The arguments of a call, as far as the store loaded them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arguments {
    /// One entry per parameter: JSON text, or `None` where the stored entry is null (injected
    /// parameters, such as cancellation tokens, are null).
    Values(Vec<Option<String>>),
    /// The first characters of the stored array; the rest was not read.
    Cut(String),
    /// Not read, because of their size.
    TooLarge,
    /// The stored text is not an array; its first characters.
    Corrupt(String),
}

/// One argument for the job's page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentView {
    /// The parameter's type without namespaces, where it is known.
    pub type_name: Option<String>,
    /// The value laid out over lines; `null` where the stored entry is null. `None` where there is
    /// a parameter but no stored entry.
    pub value: Option<Shown>,
}

impl Arguments {
    /// Characters kept of a stored text that is not an array.
    const CORRUPT_CHARS: usize = 300;

    /// Reads the whole stored array: each entry null, or a string that holds JSON.
    pub fn parse(stored: &str) -> Self {
        // Very old rows hold an empty text where there are none; Hangfire's own migration of such
        // rows left an empty object in some places.
        if stored.trim().is_empty() || stored.trim() == "{}" {
            return Self::Values(Vec::new());
        }
        match serde_json::from_str(stored) {
            Ok(Value::Array(entries)) => Self::Values(
                entries
                    .into_iter()
                    .map(|entry| match entry {
                        Value::Null => None,
                        Value::String(text) => Some(text),
                        other => Some(other.to_string()),
                    })
                    .collect(),
            ),
            _ => Self::Corrupt(json::cut(stored, Self::CORRUPT_CHARS).text),
        }
    }

    /// All arguments in one line: `42, "invoice-paid", null`, at most `max_chars` characters and
    /// the sign that there is more. Of cut arguments, what can be read of them.
    pub fn line(&self, max_chars: usize) -> String {
        let (text, more) = match self {
            Self::Values(values) => (joined(values, max_chars), false),
            Self::Cut(head) => (joined(&entries(head), max_chars), true),
            Self::TooLarge => (String::new(), true),
            Self::Corrupt(head) => (head.clone(), false),
        };
        let shown = json::cut(&text, max_chars);
        let mut line = one_line(&shown.text);
        if shown.cut || more {
            line.push(ELLIPSIS);
        }
        line
    }
}

/// The values one after the other; not many more characters than are asked for, since one value
/// can be a megabyte.
fn joined(values: &[Option<String>], max_chars: usize) -> String {
    let mut text = String::new();
    let mut room = max_chars.saturating_add(1);
    for (index, value) in values.iter().enumerate() {
        if room == 0 {
            break;
        }
        if index > 0 {
            text.push_str(", ");
        }
        let value = value.as_deref().unwrap_or("null");
        let end = value
            .char_indices()
            .nth(room)
            .map_or(value.len(), |(end, _)| end);
        let value = value.get(..end).unwrap_or_default();
        text.push_str(value);
        room = room.saturating_sub(value.chars().count());
    }
    text
}

fn one_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

/// The entries of a JSON array of strings and nulls that was cut off: the last one as far as it
/// can be read.
fn entries(head: &str) -> Vec<Option<String>> {
    let mut entries = Vec::new();
    let mut rest = head.trim_start().strip_prefix('[').unwrap_or(head);
    loop {
        rest = rest.trim_start_matches([',', ' ', '\n', '\r', '\t']);
        if let Some(inner) = rest.strip_prefix('"') {
            let (text, after) = string(inner);
            entries.push(Some(text));
            rest = after;
        } else if rest.is_empty() || rest.starts_with(']') {
            return entries;
        } else {
            let end = rest.find([',', ']']).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            entries.push((!"null".starts_with(word.trim_end())).then(|| word.to_owned()));
            rest = after;
        }
    }
}

/// A JSON string's text up to its closing quote, or to the end where it was cut off.
fn string(inner: &str) -> (String, &str) {
    let mut escaped = false;
    let mut end = inner.len();
    for (at, c) in inner.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == '"' {
            end = at;
            break;
        }
    }
    let (raw, after) = inner.split_at(end);
    (unescaped(raw), after.strip_prefix('"').unwrap_or_default())
}

/// Undoes JSON escapes; an escape that was cut off at the end is left out.
fn unescaped(raw: &str) -> String {
    // The longest cut-off escape is a pair of surrogates: `\ud83d\udcd`.
    let mut cuts = raw
        .char_indices()
        .map(|(at, _)| at)
        .chain([raw.len()])
        .rev()
        .take(12);
    cuts.find_map(|end| {
        let text = raw.get(..end)?;
        serde_json::from_str::<String>(&format!("\"{text}\"")).ok()
    })
    .unwrap_or_else(|| raw.to_owned())
}
