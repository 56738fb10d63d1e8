//! From stored JSON text to the model, for both dialects. Nothing here fails: one odd value must
//! never cost the page.

use app::model::continuation::readable_continuations;
use app::model::invocation::{Arguments, Invocation};
use app::model::reason;
use serde_json::Value;

pub use app::model::invocation::parameter_types;

/// Characters of arguments and messages that a list shows.
pub const LIST_CHARS: usize = 300;
/// Characters of exception details that a job's page shows.
pub const DETAILS_CHARS: usize = 64_000;
/// Stored values larger than this many bytes are not read for a list.
pub const LIST_BYTES: i64 = 65_536;
/// Arguments larger than this many bytes are not read for a job's page.
pub const ARGUMENTS_BYTES: i64 = 1_048_576;

/// What a job calls. The arguments come from their own column.
pub fn invocation(json: &str, arguments: Arguments) -> Invocation {
    Invocation {
        arguments,
        ..Invocation::parse(json, Some("[]"))
    }
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
    Arguments::parse(json)
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

/// The jobs that wait for a job: `(id, options)` from its `Continuations` parameter, as far as it
/// can be read.
pub fn continuations(json: &str) -> Vec<(i64, i32)> {
    readable_continuations(json)
        .iter()
        .map(|entry| (entry.job, entry.options))
        .collect()
}

/// `(number, of)` of a retry's reason, such as `Retry attempt 1 of 3: no answer`.
pub fn retry_reason(reason: &str) -> Option<(u32, u32)> {
    reason::retry(Some(reason))
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
