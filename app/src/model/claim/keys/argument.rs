//! The text that an argument has inside a key.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The text of a stored argument: strings without their quotes, numbers as they are stored,
/// booleans as C# writes them into a text (`True`). `None` for null, objects and lists. What is not
/// JSON is taken as it is: old compatibility levels store dates so.
pub(super) fn text(stored: &str) -> Option<String> {
    match serde_json::from_str::<&RawValue>(stored) {
        Ok(value) => scalar(value),
        Err(_) if stored.trim_start().starts_with(['{', '[', '"']) => None,
        Err(_) => Some(stored.to_owned()),
    }
}

/// The text of a member of a stored argument; of members with the same name the last one, as .NET
/// reads it. Names differ in case where the application's serialiser writes camel case.
pub(super) fn member(stored: &str, path: &[String]) -> Option<String> {
    let mut value: &RawValue = serde_json::from_str(stored).ok()?;
    for name in path {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(value.get()).ok()?;
        value = members.get(name).copied().or_else(|| {
            members
                .iter()
                .find(|(stored, _)| stored.eq_ignore_ascii_case(name))
                .map(|(_, value)| *value)
        })?;
    }
    scalar(value)
}

fn scalar(value: &RawValue) -> Option<String> {
    let raw = value.get();
    match raw.as_bytes().first()? {
        b'"' => serde_json::from_str(raw).ok(),
        b'{' | b'[' | b'n' => None,
        b't' => Some("True".to_owned()),
        b'f' => Some("False".to_owned()),
        _ => Some(raw.to_owned()),
    }
}
