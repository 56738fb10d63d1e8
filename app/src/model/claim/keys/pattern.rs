//! Patterns of keys.

use super::argument;
use crate::model::invocation::{Arguments, Invocation};

/// A key with places for arguments: `invoice-email:{0}`, `order:{1.OrderId}`. Doubled braces stand
/// for themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPattern {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Argument { index: usize, path: Vec<String> },
}

/// Why a pattern cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PatternError(pub String);

impl KeyPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// Where a brace is not closed or stands alone, a place is not the number of an argument, or
    /// there is no place at all; in a sentence.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let wrong = |why: &str| Err(PatternError(format!("The key pattern \"{text}\" {why}.")));
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, braces) = rest.split_at(at);
            literal.push_str(before);
            if let Some(after) = braces.strip_prefix("{{") {
                literal.push('{');
                rest = after;
            } else if let Some(after) = braces.strip_prefix("}}") {
                literal.push('}');
                rest = after;
            } else if let Some(inside) = braces.strip_prefix('{') {
                let Some((place, after)) = inside.split_once('}') else {
                    return wrong("opens a brace that it does not close; write {{ for a brace");
                };
                if !literal.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut literal)));
                }
                match argument_of(place) {
                    Ok(part) => parts.push(part),
                    Err(why) => return wrong(&why),
                }
                rest = after;
            } else {
                return wrong("closes a brace that it does not open; write }} for a brace");
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        if !parts
            .iter()
            .any(|part| matches!(part, Part::Argument { .. }))
        {
            return wrong(
                "names no argument, so that every job would have the same key; write its place, \
                 as in invoice-email:{0}",
            );
        }
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The key of a job: strings without quotes, numbers as they are stored. `None` where an
    /// argument is missing, null, an object or a list, or was not read.
    pub fn key(&self, invocation: &Invocation) -> Option<String> {
        let Arguments::Values(values) = &invocation.arguments else {
            return None;
        };
        let mut key = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => key.push_str(text),
                Part::Argument { index, path } => {
                    let stored = values.get(*index)?.as_deref()?;
                    key.push_str(&if path.is_empty() {
                        argument::text(stored)?
                    } else {
                        argument::member(stored, path)?
                    });
                }
            }
        }
        Some(key)
    }
}

/// `0`, or `1.Order.Id`.
fn argument_of(place: &str) -> Result<Part, String> {
    let mut names = place.split('.');
    let number = names.next().unwrap_or_default();
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let Some(index) = number.parse().ok().filter(|_| digits) else {
        return Err(format!(
            "has the place {{{place}}}; a place begins with the number of an argument, counted \
             from 0, as in {{0}} or {{1.OrderId}}"
        ));
    };
    let path: Vec<String> = names.map(str::to_owned).collect();
    if path.iter().any(String::is_empty) {
        return Err(format!(
            "has the place {{{place}}}, in which a name between the dots is missing"
        ));
    }
    Ok(Part::Argument { index, path })
}
