//! Jobs that wait for other jobs, and job parameters that Hangfire writes itself.

use serde_json::Value;

use super::data::parse_date;
use super::state::{Instant, StateName};

/// When a waiting job is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContinuationOptions {
    /// On any finish.
    OnAnyFinished,
    /// On success only.
    OnlyOnSucceeded,
    /// On delete only.
    OnlyOnDeleted,
    /// Flags that Hangfire does not define (yet).
    Other(i32),
}

impl ContinuationOptions {
    /// Reads a number, or a name as level 110 writes it. What is missing is 0, as Hangfire omits it
    /// from level 170 on; what cannot be read is `None`.
    fn read(value: Option<&Value>) -> Option<Self> {
        match value {
            None | Some(Value::Null) => Some(Self::OnAnyFinished),
            Some(Value::Number(number)) => Some(Self::from(i32::try_from(number.as_i64()?).ok()?)),
            Some(Value::String(text)) => Self::from_text(text),
            Some(_) => None,
        }
    }

    /// Reads a stored text: a number or a name. `None` for anything else.
    pub fn from_text(text: &str) -> Option<Self> {
        match text {
            "OnAnyFinishedState" => Some(Self::OnAnyFinished),
            "OnlyOnSucceededState" => Some(Self::OnlyOnSucceeded),
            "OnlyOnDeletedState" => Some(Self::OnlyOnDeleted),
            number => number.parse::<i32>().ok().map(Self::from),
        }
    }

    /// The number that Hangfire stores.
    pub fn number(self) -> i32 {
        match self {
            Self::OnAnyFinished => 0,
            Self::OnlyOnSucceeded => 1,
            Self::OnlyOnDeleted => 2,
            Self::Other(number) => number,
        }
    }

    /// Whether a parent that ended in this final state releases the waiting job. Options are
    /// flags: 0 stands for any finish.
    pub fn released_by(self, parent: &StateName) -> bool {
        let flag = match parent {
            StateName::Succeeded => 1,
            StateName::Deleted => 2,
            _ => return false,
        };
        self.number() == 0 || self.number() & flag != 0
    }
}

impl From<i32> for ContinuationOptions {
    fn from(number: i32) -> Self {
        match number {
            0 => Self::OnAnyFinished,
            1 => Self::OnlyOnSucceeded,
            2 => Self::OnlyOnDeleted,
            other => Self::Other(other),
        }
    }
}

/// One entry of a parent's `Continuations` parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContinuationEntry {
    /// The waiting job.
    pub job: i64,
    /// When it is released.
    pub options: ContinuationOptions,
}

/// Reads a `Continuations` parameter: `[{"JobId":"6","Options":1}]`. Entries that cannot be read
/// are left out; `None` where the text is not an array at all.
pub fn continuations(json: &str) -> Option<Vec<ContinuationEntry>> {
    let Ok(Value::Array(entries)) = serde_json::from_str(json) else {
        return None;
    };
    Some(
        entries
            .iter()
            .filter_map(|entry| {
                let job = match entry.get("JobId")? {
                    Value::String(text) => text.parse().ok()?,
                    number => number.as_i64()?,
                };
                let options = ContinuationOptions::read(entry.get("Options"))?;
                Some(ContinuationEntry { job, options })
            })
            .collect(),
    )
}

/// Reads a `RetryCount` parameter: a number as JSON, quoted or not. `None` for anything else.
pub fn retry_count(value: &str) -> Option<u32> {
    value.trim().trim_matches('"').parse().ok()
}

/// The state that a waiting job takes when it is released: `NextState` of an Awaiting row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextState {
    /// Its name, from the type's name: `Hangfire.States.EnqueuedState` is Enqueued.
    pub name: StateName,
    /// The queue, where one is named.
    pub queue: Option<String>,
    /// The reason, where there is one.
    pub reason: Option<String>,
    /// The due time of a Scheduled one.
    pub enqueue_at: Option<Instant>,
}

impl NextState {
    /// Reads the stored JSON. `None` where it is no object or names no type.
    pub fn parse(json: &str) -> Option<Self> {
        let stored: Value = serde_json::from_str(json).ok()?;
        let type_name = stored.get("$type")?.as_str()?;
        let class = type_name
            .split(',')
            .next()?
            .trim()
            .rsplit(['.', '+'])
            .next()?;
        let name = class.strip_suffix("State").unwrap_or(class);
        let text = |key: &str| {
            stored
                .get(key)
                .and_then(Value::as_str)
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        Some(Self {
            name: StateName::parse(name),
            queue: text("Queue"),
            reason: text("Reason"),
            enqueue_at: text("EnqueueAt").as_deref().and_then(parse_date),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::testing;

    #[test]
    fn recorded_continuations_are_read() {
        let jobs = testing::jobs("continuations/rows.json");
        let of = |id: i64| {
            let (_, value) = jobs[&id]
                .parameters
                .iter()
                .find(|(name, _)| name == "Continuations")
                .unwrap();
            continuations(value.as_deref().unwrap()).unwrap()
        };
        let entry = |job, options| ContinuationEntry { job, options };
        assert_eq!(
            of(1),
            [
                entry(2, ContinuationOptions::OnlyOnSucceeded),
                entry(3, ContinuationOptions::OnAnyFinished),
                entry(4, ContinuationOptions::OnlyOnDeleted),
            ]
        );
        assert_eq!(of(14), [entry(15, ContinuationOptions::OnlyOnSucceeded)]);
    }

    #[test]
    fn options_may_be_missing_text_or_a_name() {
        let options = |json: &str| -> Vec<i32> {
            continuations(json)
                .unwrap()
                .into_iter()
                .map(|entry| entry.options.number())
                .collect()
        };
        assert_eq!(
            options(
                r#"[{"JobId":"1"},{"JobId":2,"Options":"2"},{"JobId":"3","Options":"OnlyOnSucceededState"},{"JobId":"4","Options":7},{"JobId":"5","Options":null}]"#
            ),
            [0, 2, 1, 7, 0]
        );
        assert_eq!(
            options(r#"[{"JobId":"x"},{"Options":1},7,{"JobId":"1","Options":[]}]"#),
            [0_i32; 0]
        );
        assert_eq!(continuations("{}"), None);
        assert_eq!(continuations(""), None);
    }

    #[test]
    fn options_are_flags() {
        let released = |options: i32| {
            let options = ContinuationOptions::from(options);
            (
                options.released_by(&StateName::Succeeded),
                options.released_by(&StateName::Deleted),
            )
        };
        assert_eq!(released(0), (true, true));
        assert_eq!(released(1), (true, false));
        assert_eq!(released(2), (false, true));
        assert_eq!(released(3), (true, true));
        assert!(!ContinuationOptions::OnAnyFinished.released_by(&StateName::Failed));
    }

    #[test]
    fn retry_counts_are_read() {
        assert_eq!(retry_count("3"), Some(3));
        assert_eq!(retry_count("\"3\""), Some(3));
        assert_eq!(retry_count("null"), None);
        assert_eq!(retry_count("-1"), None);
        assert_eq!(retry_count(""), None);
    }

    #[test]
    fn the_next_state_is_read_at_every_level() {
        let recorded = |path: &str, job: i64| {
            let jobs = testing::jobs(path);
            NextState::parse(jobs[&job].rows[0].data.get("NextState").unwrap()).unwrap()
        };
        let enqueued = NextState {
            name: StateName::Enqueued,
            queue: Some("default".into()),
            reason: None,
            enqueue_at: None,
        };
        assert_eq!(recorded("continuations/rows.json", 2), enqueued);
        assert_eq!(recorded("shapes-110-full/rows.json", 21), enqueued);
        let scheduled = NextState::parse(
            r#"{"$type":"Hangfire.States.ScheduledState, Hangfire.Core","EnqueueAt":"2026-11-02T07:00:29Z","Reason":"later"}"#,
        )
        .unwrap();
        assert_eq!(scheduled.name, StateName::Scheduled);
        assert_eq!(scheduled.reason.as_deref(), Some("later"));
        assert_eq!(
            scheduled.enqueue_at,
            Some(testing::at("2026-11-02T07:00:29"))
        );
        assert_eq!(NextState::parse("{}"), None);
        assert_eq!(NextState::parse("not json"), None);
        assert_eq!(NextState::parse(r#"{"$type":7}"#), None);
    }
}
