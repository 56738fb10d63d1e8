//! The texts that Hangfire stores, as version 1.8 writes them at compatibility level 180.

use app::model::state::Instant;
use serde::Serialize;

/// A type of .NET's core library, by its assembly-qualified name.
pub(super) fn core(name: &str) -> String {
    format!(
        "{name}, System.Private.CoreLib, Version=10.0.0.0, Culture=neutral, \
         PublicKeyToken=7cec85d7bea7798e"
    )
}

/// A type of the Bookstore, by its assembly-qualified name.
pub(super) fn own(name: &str) -> String {
    format!("{name}, Bookstore.Jobs, Version=1.0.0.0, Culture=neutral, PublicKeyToken=null")
}

/// What a job calls, with everything that its stored form needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Assembly-qualified name of the type.
    pub type_name: String,
    /// The method.
    pub method: &'static str,
    /// Assembly-qualified names of the parameters' types.
    pub parameter_types: Vec<String>,
    /// One entry per parameter: the value as JSON text; `None` for injected ones.
    pub arguments: Vec<Option<String>>,
    /// The job's own queue.
    pub own_queue: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Invocation<'a> {
    r#type: &'a str,
    method: &'a str,
    parameter_types: String,
    arguments: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<&'a str>,
}

impl Call {
    /// The column `Arguments`: a JSON array whose entries are JSON texts themselves.
    pub fn arguments_column(&self) -> String {
        json(&self.arguments)
    }

    /// The column `InvocationData`, in its long form.
    pub fn invocation_column(&self) -> String {
        json(&Invocation {
            r#type: &self.type_name,
            method: self.method,
            parameter_types: json(&self.parameter_types),
            arguments: self.arguments_column(),
            queue: self.own_queue,
        })
    }
}

/// JSON text of a value that has one. (Strings, and lists and maps of them, always do.)
pub(super) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A flat JSON object in the order of its pairs, every value a string.
pub fn object<K: AsRef<str>>(pairs: &[(K, String)]) -> String {
    let members: Vec<String> = pairs
        .iter()
        .map(|(key, value)| format!("{}:{}", json(key.as_ref()), json(value)))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// A date inside state data: unix milliseconds, as text.
pub(super) fn date(at: Instant) -> String {
    at.timestamp_millis().to_string()
}

/// The reason of a planned retry: messages of more than 50 characters are cut to 49 and an ellipsis.
pub(super) fn retry_reason(number: u32, of: u32, message: &str) -> String {
    let shown = if message.chars().count() > 50 {
        let cut: String = message.chars().take(49).collect();
        format!("{cut}…")
    } else {
        message.to_owned()
    };
    format!("Retry attempt {number} of {of}: {shown}")
}

/// A `DateTime` as EF Core keeps it on `SQLite`: up to seven decimals, none where they are zero.
pub fn ef_date(at: Instant, extra_ticks: i64) -> String {
    let fraction = at.timestamp_subsec_micros();
    let digits = format!("{fraction:06}{extra_ticks}");
    let digits = digits.trim_end_matches('0');
    let seconds = at.format("%Y-%m-%d %H:%M:%S");
    if digits.is_empty() {
        seconds.to_string()
    } else {
        format!("{seconds}.{digits}")
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn at(rfc3339: &str) -> Instant {
        DateTime::parse_from_rfc3339(rfc3339).unwrap().to_utc()
    }

    #[test]
    fn a_call_is_stored_as_hangfire_stores_it() {
        // `claims/sqlite/claims.db`, job 2, recorded from a real server.
        let call = Call {
            type_name: own("Bookstore.Jobs.InvoiceEmailJob"),
            method: "SendAndDieAsync",
            parameter_types: vec![core("System.Int32"), core("System.String")],
            arguments: vec![Some("44".into()), Some("\"before\"".into())],
            own_queue: None,
        };
        assert_eq!(call.arguments_column(), r#"["44","\"before\""]"#);
        assert_eq!(
            call.invocation_column(),
            r#"{"Type":"Bookstore.Jobs.InvoiceEmailJob, Bookstore.Jobs, Version=1.0.0.0, Culture=neutral, PublicKeyToken=null","Method":"SendAndDieAsync","ParameterTypes":"[\"System.Int32, System.Private.CoreLib, Version=10.0.0.0, Culture=neutral, PublicKeyToken=7cec85d7bea7798e\",\"System.String, System.Private.CoreLib, Version=10.0.0.0, Culture=neutral, PublicKeyToken=7cec85d7bea7798e\"]","Arguments":"[\"44\",\"\\\"before\\\"\"]"}"#
        );
    }

    #[test]
    fn dates_are_those_of_the_recorded_rows() {
        assert_eq!(date(at("2026-11-29T19:45:04.246Z")), "1795981504246");
        assert_eq!(
            ef_date(at("2026-11-29T19:45:04.633531Z"), 4),
            "2026-11-29 19:45:04.6335314"
        );
        assert_eq!(
            ef_date(at("2026-11-29T19:20:05.156554Z"), 0),
            "2026-11-29 19:20:05.156554"
        );
        assert_eq!(
            ef_date(at("2026-11-29T19:20:05Z"), 0),
            "2026-11-29 19:20:05"
        );
    }

    #[test]
    fn a_long_message_is_cut_in_the_reason() {
        assert_eq!(
            retry_reason(
                1,
                10,
                "The type `Bookstore.Jobs.SupplierInvoiceJobs` does not contain it"
            ),
            "Retry attempt 1 of 10: The type `Bookstore.Jobs.SupplierInvoiceJobs` doe…"
        );
        let fifty = "x".repeat(50);
        assert_eq!(
            retry_reason(2, 3, &fifty),
            format!("Retry attempt 2 of 3: {fifty}")
        );
    }
}
