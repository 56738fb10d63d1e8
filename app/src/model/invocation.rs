//! What a job calls: its type, method and arguments, from the stored data alone.
//!
//! Types are never loaded, so a job whose class no longer exists still has a name.

mod arguments;
mod type_name;

use serde_json::Value;

use super::json;

pub use arguments::{ArgumentView, Arguments};
pub use type_name::TypeName;

/// What a job without a stored type is called.
pub(super) const UNKNOWN_TYPE: &str = "unknown type";

/// What a job calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The type's name as stored, with assembly: `Bookstore.Jobs.ImportJob, Bookstore.Jobs`.
    pub type_name: Option<String>,
    /// The method's name.
    pub method: Option<String>,
    /// Names of the parameters' types as stored; empty where they are not known.
    pub parameter_types: Vec<String>,
    /// The arguments.
    pub arguments: Arguments,
    /// The job's own queue, where it has one.
    pub own_queue: Option<String>,
}

impl Invocation {
    /// Reads stored invocation data: the long form (`Type`, `Method`, `ParameterTypes` and
    /// `Arguments` as JSON text, `Queue`) or the short one (`t`, `m`, `p`, `a`, `q`). The arguments
    /// column, where there is one, wins over the copy inside. What is missing or corrupt is left
    /// out, never an error.
    pub fn parse(json: &str, arguments_column: Option<&str>) -> Self {
        let stored: Value = serde_json::from_str(json).unwrap_or(Value::Null);
        let member = |long: &str, short: &str| {
            stored
                .get(long)
                .or_else(|| stored.get(short))
                .filter(|value| !value.is_null())
        };
        let text = |long: &str, short: &str| {
            member(long, short)
                .and_then(Value::as_str)
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        let arguments = match (arguments_column, member("Arguments", "a")) {
            (Some(column), _) => Arguments::parse(column),
            (None, Some(Value::String(inner))) => Arguments::parse(inner),
            (None, Some(other)) => Arguments::parse(&other.to_string()),
            (None, None) => Arguments::Values(Vec::new()),
        };
        Self {
            type_name: text("Type", "t"),
            method: text("Method", "m"),
            parameter_types: match member("ParameterTypes", "p") {
                Some(Value::String(inner)) => parameter_types(inner),
                Some(list) => strings(list),
                None => Vec::new(),
            },
            arguments,
            own_queue: text("Queue", "q"),
        }
    }

    /// Puts together what a list row read by itself. `parameter_types` is the stored JSON array,
    /// as text. Empty texts count as missing.
    pub fn from_parts(
        type_name: Option<&str>,
        method: Option<&str>,
        parameter_types: Option<&str>,
        own_queue: Option<&str>,
        arguments: Arguments,
    ) -> Self {
        let text = |part: Option<&str>| part.filter(|text| !text.is_empty()).map(str::to_owned);
        Self {
            type_name: text(type_name),
            method: text(method),
            parameter_types: parameter_types.map_or_else(Vec::new, self::parameter_types),
            arguments,
            own_queue: text(own_queue),
        }
    }

    /// The type's name in its parts; `None` where none is stored.
    pub fn parsed_type(&self) -> Option<TypeName> {
        self.type_name
            .as_deref()
            .filter(|name| !name.is_empty())
            .map(TypeName::parse)
    }

    /// The type without namespace and assembly: `ImportJob`, `Importer<OrderLine>.Nested`; `unknown
    /// type` where none is stored.
    pub fn short_type(&self) -> String {
        self.parsed_type()
            .map_or_else(|| UNKNOWN_TYPE.to_owned(), |name| name.short())
    }

    /// The type with its namespace, without assembly; `unknown type` where none is stored.
    pub fn full_type(&self) -> String {
        self.parsed_type()
            .map_or_else(|| UNKNOWN_TYPE.to_owned(), |name| name.full())
    }

    /// The type's namespace, where it has one.
    pub fn namespace(&self) -> Option<String> {
        self.parsed_type().and_then(|name| name.namespace)
    }

    /// The job's name: `ImportJob.RunAsync`.
    pub fn display_name(&self) -> String {
        match self.method.as_deref() {
            Some(method) if !method.is_empty() => format!("{}.{method}", self.short_type()),
            _ => self.short_type(),
        }
    }

    /// The call in one line: `SendAsync(42, "invoice-paid", null)`. The arguments take at most
    /// `max_chars` characters.
    pub fn call_line(&self, max_chars: usize) -> String {
        format!(
            "{}({})",
            self.method.as_deref().unwrap_or("?"),
            self.arguments.line(max_chars)
        )
    }

    /// The parameters' types without namespaces: `String`, `List<OrderLine>`.
    pub fn short_parameter_types(&self) -> Vec<String> {
        self.parameter_types
            .iter()
            .map(|name| TypeName::parse(name).short())
            .collect()
    }

    /// Each argument for the job's page, its JSON laid out over lines, at most `max_chars`
    /// characters of each. Types and values are matched by position; after the method was changed
    /// there may be more of one than of the other, and then a type or a value is missing. Empty
    /// where the arguments are not whole.
    pub fn argument_views(&self, max_chars: usize) -> Vec<ArgumentView> {
        let Arguments::Values(values) = &self.arguments else {
            return Vec::new();
        };
        let types = self.short_parameter_types();
        (0..values.len().max(types.len()))
            .map(|index| ArgumentView {
                type_name: types.get(index).cloned(),
                value: values
                    .get(index)
                    .map(|value| json::pretty(value.as_deref().unwrap_or("null"), max_chars)),
            })
            .collect()
    }
}

/// The parameter types of the long form: a JSON array as text; none where it is not one.
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

#[cfg(test)]
mod tests;
