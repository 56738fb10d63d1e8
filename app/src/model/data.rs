//! The data of a state row: a flat JSON object whose values are strings, by Hangfire's habit.

use chrono::{DateTime, NaiveDateTime};
use serde_json::Value;

use super::state::Instant;

/// Data of a state row. Keys are found without case; what is missing or unreadable is `None`,
/// never an error, because one odd row must not cost the operator the page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StateData {
    pairs: Vec<(String, String)>,
    corrupt: bool,
}

impl StateData {
    /// Reads stored JSON text. Values that are not strings are kept as their JSON text; `null`
    /// values are left out. Anything but an object gives empty data marked corrupt.
    pub fn parse(json: &str) -> Self {
        match serde_json::from_str(json) {
            Ok(Value::Object(map)) => Self {
                pairs: map
                    .into_iter()
                    .filter_map(|(key, value)| match value {
                        Value::Null => None,
                        Value::String(text) => Some((key, text)),
                        other => Some((key, other.to_string())),
                    })
                    .collect(),
                corrupt: false,
            },
            Ok(Value::Null) => Self::default(),
            _ => Self {
                pairs: Vec::new(),
                corrupt: true,
            },
        }
    }

    /// Reads a nullable column: no value is empty data.
    pub fn parse_column(json: Option<&str>) -> Self {
        json.map_or_else(Self::default, Self::parse)
    }

    /// Whether the stored text was there but was not a JSON object.
    pub fn is_corrupt(&self) -> bool {
        self.corrupt
    }

    /// The value of a key, found without case.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.pairs
            .iter()
            .find(|(k, _)| k.eq_ignore_ascii_case(key))
            .map(|(_, v)| v.as_str())
    }

    /// Cuts every value to its first `chars` characters, and marks those cut with an ellipsis,
    /// except `ExceptionDetails`: of these the stored length is returned where they were cut.
    pub fn cut(&mut self, chars: usize) -> Option<i64> {
        let mut details = None;
        for (key, value) in &mut self.pairs {
            let Some((end, _)) = value.char_indices().nth(chars) else {
                continue;
            };
            if key.eq_ignore_ascii_case("ExceptionDetails") {
                details = i64::try_from(value.chars().count()).ok();
                value.truncate(end);
            } else {
                value.truncate(end);
                value.push('…');
            }
        }
        details
    }

    /// Leaves a key out, found without case.
    pub fn remove(&mut self, key: &str) {
        self.pairs.retain(|(k, _)| !k.eq_ignore_ascii_case(key));
    }

    /// A value read as an instant; see [`parse_date`].
    pub fn date(&self, key: &str) -> Option<Instant> {
        self.get(key).and_then(parse_date)
    }

    /// A value read as a whole number, rounded where a fraction is stored.
    pub fn millis(&self, key: &str) -> Option<i64> {
        let text = self.get(key)?;
        text.parse().ok().or_else(|| {
            let number: f64 = text.parse().ok()?;
            #[expect(clippy::cast_possible_truncation, reason = "bounded just before")]
            (number.abs() < 9e15).then(|| number.round() as i64)
        })
    }

    /// Every pair, in stored order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }
}

/// Reads a date the way Hangfire does (`JobHelper.DeserializeDateTime`): all digits are unix time,
/// in milliseconds where greater than 253402300799, else in seconds; anything else must be ISO 8601,
/// without a zone taken as UTC. `None` for what is neither, such as a local day-first date.
pub fn parse_date(text: &str) -> Option<Instant> {
    const LAST_SECOND_OF_9999: i64 = 253_402_300_799;
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        let number: i64 = text.parse().ok()?;
        return if number > LAST_SECOND_OF_9999 {
            DateTime::from_timestamp_millis(number)
        } else {
            DateTime::from_timestamp(number, 0)
        };
    }
    if let Ok(zoned) = DateTime::parse_from_rfc3339(text) {
        return Some(zoned.to_utc());
    }
    NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f")
        .ok()
        .map(|naive| naive.and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(rfc3339: &str) -> Instant {
        DateTime::parse_from_rfc3339(rfc3339).unwrap().to_utc()
    }

    #[test]
    fn both_date_formats_of_hangfire_are_read() {
        assert_eq!(
            parse_date("1774596640000"),
            Some(at("2026-03-27T07:30:40Z"))
        );
        assert_eq!(parse_date("1774596640"), Some(at("2026-03-27T07:30:40Z")));
        assert_eq!(
            parse_date("2024-05-01T10:00:00.1234567Z"),
            Some(at("2024-05-01T10:00:00.1234567Z"))
        );
        assert_eq!(
            parse_date("2024-05-01T10:00:00"),
            Some(at("2024-05-01T10:00:00Z"))
        );
    }

    #[test]
    fn long_values_are_cut_and_say_so() {
        let mut data =
            StateData::parse(r#"{"exceptiondetails":"äbcdef","Result":"äbcdef","Queue":"abc"}"#);
        assert_eq!(data.cut(3), Some(6));
        assert_eq!(data.get("ExceptionDetails"), Some("äbc"));
        assert_eq!(data.get("Result"), Some("äbc…"));
        assert_eq!(data.get("Queue"), Some("abc"));
        assert_eq!(
            StateData::parse(r#"{"ExceptionDetails":"abc"}"#).cut(3),
            None
        );
    }

    #[test]
    fn a_local_date_is_not_guessed_at() {
        assert_eq!(parse_date("27.03.2026 07:30:00"), None);
        assert_eq!(parse_date(""), None);
        assert_eq!(parse_date("99999999999999999999"), None);
    }

    #[test]
    fn keys_are_found_without_case_and_nulls_are_absent() {
        let data = StateData::parse(r#"{"serverId":"a","Queue":null,"PerformanceDuration":12}"#);
        assert_eq!(data.get("ServerId"), Some("a"));
        assert_eq!(data.get("Queue"), None);
        assert_eq!(data.millis("PerformanceDuration"), Some(12));
    }

    #[test]
    fn corrupt_json_is_marked_not_thrown() {
        assert!(StateData::parse("{\"a\":").is_corrupt());
        assert!(StateData::parse("[1]").is_corrupt());
        assert!(!StateData::parse("{}").is_corrupt());
        assert!(!StateData::parse_column(None).is_corrupt());
    }
}
