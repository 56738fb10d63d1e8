//! Jobs that wait for another one: what its delete makes of them.

use serde_json::Value;

use super::super::Outcome;
use super::super::found::FoundJob;
use super::refused;
use crate::model::continuation;
use crate::model::data::parse_date;
use crate::model::state::Instant;

/// A job that waits: its id, and the options as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Child {
    pub id: i64,
    pub options: i64,
}

/// What becomes of a waiting job when its parent is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is released and runs.
    Runs,
    /// Its condition was not met: it is deleted too.
    Deleted,
}

/// What the options of a continuation (0 on any finish, 1 on success only, 2 on delete only) mean
/// when the parent is deleted.
pub fn fate_on_delete(options: i64) -> Fate {
    if options == 0 || options & 2 != 0 {
        Fate::Runs
    } else {
        Fate::Deleted
    }
}

/// The jobs that wait for this one, from its parameter `Continuations`.
///
/// # Errors
/// [`Outcome::Refused`] where the parameter cannot be read.
pub(super) fn children(job: &FoundJob) -> Result<Vec<Child>, Outcome> {
    let Some(text) = job.parameter("Continuations") else {
        return Ok(Vec::new());
    };
    let unreadable = || {
        refused(format!(
            "Its parameter Continuations cannot be read, so the jobs that wait for #{} are not \
             known and would wait for ever.",
            job.id
        ))
    };
    continuation::continuations(text)
        .map(|entries| {
            entries
                .iter()
                .map(|entry| Child {
                    id: entry.job,
                    options: entry.options.into(),
                })
                .collect()
        })
        .ok_or_else(unreadable)
}

/// The ids of the jobs that wait for this one.
///
/// # Errors
/// As when acting: [`Outcome::Refused`] where the parameter cannot be read.
pub fn ids(job: &FoundJob) -> Result<Vec<i64>, Outcome> {
    Ok(children(job)?.iter().map(|child| child.id).collect())
}

/// The state that a waiting job is released into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    Enqueued {
        queue: String,
        reason: Option<String>,
    },
    Scheduled {
        due: Instant,
        reason: Option<String>,
    },
    Deleted {
        reason: Option<String>,
    },
}

/// Reads the state that an awaiting job is released into. `None` where it is missing, unreadable,
/// or of a kind that only the job's own code knows.
pub(super) fn next(child: &FoundJob) -> Option<Next> {
    let value: Value = serde_json::from_str(child.datum("NextState")?).ok()?;
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let reason = text("Reason");
    let kind = value.get("$type")?.as_str()?;
    match kind.split(',').next()?.trim() {
        "Hangfire.States.EnqueuedState" => Some(Next::Enqueued {
            queue: text("Queue").unwrap_or_else(|| "default".to_owned()),
            reason,
        }),
        "Hangfire.States.ScheduledState" => Some(Next::Scheduled {
            due: parse_date(&text("EnqueueAt")?)?,
            reason,
        }),
        "Hangfire.States.DeletedState" => Some(Next::Deleted { reason }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::data::StateData;
    use crate::model::state::{StateName, StateRow};

    fn parent(continuations: Option<&str>) -> FoundJob {
        let mut job = FoundJob::bare(5, Some(StateName::Failed));
        if let Some(value) = continuations {
            job.parameters = vec![("Continuations".to_owned(), Some(value.to_owned()))];
        }
        job
    }

    fn awaiting(next_state: &str) -> FoundJob {
        let mut job = FoundJob::bare(6, Some(StateName::Awaiting));
        let data = serde_json::json!({ "ParentId": "5", "NextState": next_state });
        job.current = Some(StateRow {
            id: 15,
            name: StateName::Awaiting,
            reason: None,
            created_at: Instant::UNIX_EPOCH,
            data: StateData::parse(&data.to_string()),
            details_chars: None,
        });
        job
    }

    #[test]
    fn both_ways_of_writing_the_options_are_read() {
        let job = parent(Some(
            r#"[{"JobId":"6","Options":1},{"JobId":"7"},{"JobId":8,"Options":"OnlyOnDeletedState"}]"#,
        ));
        let read: Vec<_> = children(&job)
            .unwrap()
            .iter()
            .map(|child| (child.id, fate_on_delete(child.options)))
            .collect();
        assert_eq!(read, [(6, Fate::Deleted), (7, Fate::Runs), (8, Fate::Runs)]);
        assert!(children(&parent(None)).unwrap().is_empty());
        assert!(children(&parent(Some("null"))).unwrap().is_empty());
    }

    #[test]
    fn an_unreadable_list_is_refused_not_skipped() {
        for bad in ["{", "{}", r#"[{"JobId":"x"}]"#, r#"[{"Options":1}]"#, "[7]"] {
            assert!(
                matches!(children(&parent(Some(bad))), Err(Outcome::Refused { .. })),
                "{bad}"
            );
        }
    }

    #[test]
    fn the_next_state_is_read_or_not_at_all() {
        assert_eq!(
            next(&awaiting(
                r#"{"$type":"Hangfire.States.EnqueuedState, Hangfire.Core","Queue":"reports","Reason":null}"#
            )),
            Some(Next::Enqueued {
                queue: "reports".to_owned(),
                reason: None
            })
        );
        assert_eq!(
            next(&awaiting(
                r#"{"$type":"Hangfire.States.ScheduledState, Hangfire.Core","EnqueueAt":"2026-11-29T20:00:00Z","Reason":"later"}"#
            )),
            Some(Next::Scheduled {
                due: parse_date("2026-11-29T20:00:00Z").unwrap(),
                reason: Some("later".to_owned())
            })
        );
        for bad in [
            "",
            "{",
            r#"{"Queue":"default"}"#,
            r#"{"$type":"Bookstore.Jobs.ParkedState, Bookstore.Jobs"}"#,
            r#"{"$type":"Hangfire.States.ScheduledState, Hangfire.Core","EnqueueAt":"soon"}"#,
        ] {
            assert_eq!(next(&awaiting(bad)), None, "{bad}");
        }
    }
}
