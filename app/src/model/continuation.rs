//! Job parameters that Hangfire writes itself: the jobs that wait for a job, and its retry count.

use serde_json::Value;

/// One entry of a parent's `Continuations` parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContinuationEntry {
    /// The waiting job.
    pub job: i64,
    /// When it is released: 0 on any finish, else flags, 1 for success and 2 for delete.
    pub options: i32,
}

/// Reads a `Continuations` parameter: `[{"JobId":"6","Options":1}]`. An empty text and `null` are
/// no entries. `None` where it is no array, or any entry cannot be read: whoever acts on the
/// entries must not miss one.
pub fn continuations(json: &str) -> Option<Vec<ContinuationEntry>> {
    let text = json.trim();
    if text.is_empty() || text == "null" {
        return Some(Vec::new());
    }
    stored(text)?.iter().map(entry).collect()
}

/// The entries of a `Continuations` parameter that can be read, for showing them.
pub fn readable_continuations(json: &str) -> Vec<ContinuationEntry> {
    stored(json)
        .unwrap_or_default()
        .iter()
        .filter_map(entry)
        .collect()
}

fn stored(json: &str) -> Option<Vec<Value>> {
    match serde_json::from_str(json) {
        Ok(Value::Array(entries)) => Some(entries),
        _ => None,
    }
}

fn entry(entry: &Value) -> Option<ContinuationEntry> {
    let job = match entry.get("JobId")? {
        Value::String(text) => text.trim().parse().ok()?,
        number => number.as_i64()?,
    };
    let options = options(entry.get("Options"))?;
    Some(ContinuationEntry { job, options })
}

/// A number, or a name as level 110 writes it; missing where it is 0, from level 170 on.
fn options(value: Option<&Value>) -> Option<i32> {
    match value {
        None | Some(Value::Null) => Some(0),
        Some(Value::Number(number)) => i32::try_from(number.as_i64()?).ok(),
        Some(Value::String(text)) => match text.trim() {
            "OnAnyFinishedState" => Some(0),
            "OnlyOnSucceededState" => Some(1),
            "OnlyOnDeletedState" => Some(2),
            number => number.parse().ok(),
        },
        Some(_) => None,
    }
}

/// Reads a `RetryCount` parameter: a number as JSON, quoted or not. `None` for anything else.
pub fn retry_count(value: &str) -> Option<u32> {
    value.trim().trim_matches('"').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::testing;

    #[test]
    fn recorded_continuations_are_read() {
        let of = |path: &str, id: i64| -> Vec<(i64, i32)> {
            let jobs = testing::jobs(path);
            let (_, value) = jobs[&id]
                .parameters
                .iter()
                .find(|(name, _)| name == "Continuations")
                .unwrap();
            continuations(value.as_deref().unwrap())
                .unwrap()
                .iter()
                .map(|entry| (entry.job, entry.options))
                .collect()
        };
        assert_eq!(of("continuations/rows.json", 1), [(2, 1), (3, 0), (4, 2)]);
        assert_eq!(of("continuations/rows.json", 14), [(15, 1)]);
        assert_eq!(of("shapes-110-full/rows.json", 20), [(21, 0)]);
        assert_eq!(of("shapes-170-full/rows.json", 20), [(21, 0)]);
    }

    #[test]
    fn options_may_be_missing_text_or_a_name() {
        let options: Vec<i32> = continuations(
            r#"[{"JobId":"1"},{"JobId":2,"Options":"2"},{"JobId":"3","Options":"OnlyOnSucceededState"},{"JobId":"4","Options":7},{"JobId":"5","Options":null}]"#,
        )
        .unwrap()
        .iter()
        .map(|entry| entry.options)
        .collect();
        assert_eq!(options, [0, 2, 1, 7, 0]);
    }

    #[test]
    fn what_cannot_be_read_is_refused_or_left_out() {
        for nothing in ["", " ", "null", "[]"] {
            assert_eq!(continuations(nothing), Some(Vec::new()));
        }
        let good = ContinuationEntry { job: 1, options: 2 };
        for bad in [
            r#"{"JobId":"x"}"#,
            r#"{"Options":1}"#,
            "7",
            r#"{"JobId":"3","Options":[]}"#,
            r#"{"JobId":"3","Options":"sometimes"}"#,
        ] {
            let json = format!(r#"[{bad},{{"JobId":"1","Options":2}}]"#);
            assert_eq!(continuations(&json), None, "{bad}");
            assert_eq!(readable_continuations(&json), [good], "{bad}");
        }
        for no_list in ["{", "{}", "7"] {
            assert_eq!(continuations(no_list), None);
            assert!(readable_continuations(no_list).is_empty());
        }
    }

    #[test]
    fn retry_counts_are_read() {
        assert_eq!(retry_count("3"), Some(3));
        assert_eq!(retry_count("\"3\""), Some(3));
        assert_eq!(retry_count("null"), None);
        assert_eq!(retry_count("-1"), None);
        assert_eq!(retry_count(""), None);
    }
}
