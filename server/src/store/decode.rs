//! From stored JSON text to the model, for both dialects. Nothing here fails: one odd value must
//! never cost the page.

use app::model::invocation::{Arguments, Invocation};
use serde_json::Value;

/// Characters of arguments and messages that a list shows.
pub const LIST_CHARS: usize = 300;
/// Characters of exception details that a job's page shows.
pub const DETAILS_CHARS: usize = 64_000;
/// Stored values larger than this many bytes are not read for a list.
pub const LIST_BYTES: i64 = 65_536;
/// Arguments larger than this many bytes are not read for a job's page.
pub const ARGUMENTS_BYTES: i64 = 1_048_576;

/// What a job calls, from the long form that Hangfire stores (`Type`, `Method`, `ParameterTypes`,
/// `Queue`) or the short one (`t`, `m`, `p`, `q`). The arguments come from their own column.
pub fn invocation(json: &str, arguments: Arguments) -> Invocation {
    let stored: Value = serde_json::from_str(json).unwrap_or(Value::Null);
    let text = |long: &str, short: &str| {
        stored
            .get(long)
            .or_else(|| stored.get(short))
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let parameter_types = match stored.get("ParameterTypes").or_else(|| stored.get("p")) {
        Some(Value::String(inner)) => self::parameter_types(inner),
        Some(list @ Value::Array(_)) => strings(list),
        _ => Vec::new(),
    };
    Invocation {
        type_name: text("Type", "t"),
        method: text("Method", "m"),
        parameter_types,
        arguments,
        own_queue: text("Queue", "q").filter(|queue| !queue.is_empty()),
    }
}

/// The parameter types of the long form: an array as JSON text.
pub fn parameter_types(json: &str) -> Vec<String> {
    serde_json::from_str(json)
        .map(|list: Value| strings(&list))
        .unwrap_or_default()
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array()
        .into_iter()
        .flatten()
        .map(|entry| {
            entry
                .as_str()
                .map_or_else(|| entry.to_string(), str::to_owned)
        })
        .collect()
}

/// The whole arguments column: an array whose entries are null or strings that hold JSON.
pub fn arguments(json: &str) -> Arguments {
    // Very old rows hold an empty text where there are none.
    if json.trim().is_empty() {
        return Arguments::Values(Vec::new());
    }
    match serde_json::from_str(json) {
        Ok(Value::Array(entries)) => Arguments::Values(
            entries
                .into_iter()
                .map(|entry| match entry {
                    Value::Null => None,
                    Value::String(text) => Some(text),
                    other => Some(other.to_string()),
                })
                .collect(),
        ),
        // What Hangfire's own migration left of an empty text in a column of another kind.
        Ok(Value::Object(fields)) if fields.is_empty() => Arguments::Values(Vec::new()),
        _ => Arguments::Corrupt(head(json, LIST_CHARS)),
    }
}

/// The arguments of a list row, of which at most the first [`LIST_CHARS`] characters and one more
/// were read.
pub fn list_arguments(first: Option<&str>) -> Arguments {
    match first {
        None => Arguments::TooLarge,
        Some(text) if text.chars().nth(LIST_CHARS).is_some() => {
            Arguments::Cut(head(text, LIST_CHARS))
        }
        Some(text) => arguments(text),
    }
}

/// The first characters of a text.
pub fn head(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

/// The jobs that wait for a job: `(id, options)` from its `Continuations` parameter.
pub fn continuations(json: &str) -> Vec<(i64, i32)> {
    let Ok(Value::Array(entries)) = serde_json::from_str(json) else {
        return Vec::new();
    };
    entries.iter().filter_map(continuation).collect()
}

fn continuation(entry: &Value) -> Option<(i64, i32)> {
    let job = match entry.get("JobId")? {
        Value::String(text) => text.parse().ok()?,
        other => other.as_i64()?,
    };
    let options = match entry.get("Options") {
        Some(Value::Number(number)) => number.as_i64().and_then(|n| i32::try_from(n).ok()),
        Some(Value::String(text)) => match text.as_str() {
            "OnAnyFinishedState" => Some(0),
            "OnlyOnSucceededState" => Some(1),
            "OnlyOnDeletedState" => Some(2),
            number => number.parse().ok(),
        },
        _ => None,
    };
    Some((job, options.unwrap_or(0)))
}

/// `(number, of)` of a retry's reason, such as `Retry attempt 1 of 3: no answer`.
pub fn retry_reason(reason: &str) -> Option<(u32, u32)> {
    let rest = reason.strip_prefix("Retry attempt ")?;
    let (number, rest) = rest.split_once(" of ")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    Some((number.parse().ok()?, rest.get(..digits)?.parse().ok()?))
}

/// What the data of a server's row says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ServerData {
    /// Number of workers.
    pub workers: Option<i64>,
    /// The queues.
    pub queues: Option<Vec<String>>,
    /// The stored text of its start.
    pub started: Option<String>,
}

/// Reads the data of a server's row. Queues are an array, or an object that holds one in
/// `$values`, as older serializer settings write it.
pub fn server_data(json: &str) -> ServerData {
    let stored: Value = serde_json::from_str(json).unwrap_or(Value::Null);
    let queues = stored.get("Queues").and_then(|queues| {
        let list = queues.get("$values").unwrap_or(queues);
        list.is_array().then(|| strings(list))
    });
    let workers = stored.get("WorkerCount").and_then(|count| {
        count
            .as_i64()
            .or_else(|| count.as_str().and_then(|text| text.parse().ok()))
    });
    let started = stored
        .get("StartedAt")
        .and_then(Value::as_str)
        .map(str::to_owned);
    ServerData {
        workers,
        queues,
        started,
    }
}

#[cfg(test)]
mod tests;
