//! States: the names Hangfire gives them, and the rows of its `state` table.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::data::StateData;

/// An instant, kept to the microsecond. `PostgreSQL` stores microseconds; `SQLite` rows hold .NET
/// ticks (100 ns) and are cut to it.
pub type Instant = DateTime<Utc>;

/// The name of a state, as Hangfire writes it. Names are compared without case; names of custom
/// states are legal and kept as they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StateName {
    /// In a queue, waiting for a worker.
    Enqueued,
    /// Waiting for a due time (a delayed job, or a planned retry).
    Scheduled,
    /// A worker has taken it.
    Processing,
    /// Waiting for a parent job to finish.
    Awaiting,
    /// Finished; expires.
    Succeeded,
    /// Failed; never expires by itself.
    Failed,
    /// Deleted; expires.
    Deleted,
    /// A state that Hangfire itself does not define.
    Other(String),
}

impl StateName {
    /// Reads a stored name. Never fails: what is unknown becomes [`StateName::Other`].
    pub fn parse(name: &str) -> Self {
        const KNOWN: [StateName; 7] = [
            StateName::Enqueued,
            StateName::Scheduled,
            StateName::Processing,
            StateName::Awaiting,
            StateName::Succeeded,
            StateName::Failed,
            StateName::Deleted,
        ];
        KNOWN
            .into_iter()
            .find(|known| known.as_str().eq_ignore_ascii_case(name))
            .unwrap_or_else(|| Self::Other(name.to_owned()))
    }

    /// The name as Hangfire stores it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Enqueued => "Enqueued",
            Self::Scheduled => "Scheduled",
            Self::Processing => "Processing",
            Self::Awaiting => "Awaiting",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Deleted => "Deleted",
            Self::Other(name) => name,
        }
    }

    /// Whether Hangfire lets a job in this state expire.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Succeeded | Self::Deleted)
    }
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One row of the `state` table.
#[derive(Debug, Clone, PartialEq)]
pub struct StateRow {
    /// The row's id; history is ordered by it, never by time.
    pub id: i64,
    /// The state's name.
    pub name: StateName,
    /// Why the job came into this state, in words; often missing.
    pub reason: Option<String>,
    /// When the row was written, by the clock of the host that wrote it.
    pub created_at: Instant,
    /// The state's own data; empty where the stored JSON is missing or corrupt.
    pub data: StateData,
    /// Length of the stored `ExceptionDetails` in characters, where the store cut them in `data`;
    /// `None` where they are whole.
    pub details_chars: Option<i64>,
}

/// The states a list of jobs can be asked for; the words of the URL.
///
/// `Retrying` is not a state of Hangfire's: it is `Scheduled` with the reason of a planned retry,
/// and is not part of `Scheduled` here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ListState {
    /// In a queue.
    Enqueued,
    /// Delayed, not by a retry.
    Scheduled,
    /// Delayed by a planned retry.
    Retrying,
    /// Taken by a worker.
    Processing,
    /// Waiting for a parent.
    Awaiting,
    /// Finished well.
    Succeeded,
    /// Resting in Failed.
    Failed,
    /// Deleted.
    Deleted,
}

impl ListState {
    /// Every listed state, in the order of the tabs.
    pub const ALL: [Self; 8] = [
        Self::Enqueued,
        Self::Scheduled,
        Self::Retrying,
        Self::Processing,
        Self::Awaiting,
        Self::Succeeded,
        Self::Failed,
        Self::Deleted,
    ];

    /// The word in URLs and CSS classes, for example `failed`.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Enqueued => "enqueued",
            Self::Scheduled => "scheduled",
            Self::Retrying => "retrying",
            Self::Processing => "processing",
            Self::Awaiting => "awaiting",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Deleted => "deleted",
        }
    }

    /// Reads the word of a URL, without case. `None` for anything else.
    pub fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|state| state.slug().eq_ignore_ascii_case(slug))
    }

    /// The word for people, for example `Failed`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Retrying => "Retrying",
            other => match other.stored() {
                StateName::Enqueued => "Enqueued",
                StateName::Scheduled => "Scheduled",
                StateName::Processing => "Processing",
                StateName::Awaiting => "Awaiting",
                StateName::Succeeded => "Succeeded",
                StateName::Failed => "Failed",
                _ => "Deleted",
            },
        }
    }

    /// The name of the state that the database stores for it.
    pub fn stored(self) -> StateName {
        match self {
            Self::Enqueued => StateName::Enqueued,
            Self::Scheduled | Self::Retrying => StateName::Scheduled,
            Self::Processing => StateName::Processing,
            Self::Awaiting => StateName::Awaiting,
            Self::Succeeded => StateName::Succeeded,
            Self::Failed => StateName::Failed,
            Self::Deleted => StateName::Deleted,
        }
    }

    /// The list a job belongs to. `None` for states of other names, which no list holds.
    pub fn of(state: &StateName, reason: Option<&str>) -> Option<Self> {
        Some(match state {
            StateName::Enqueued => Self::Enqueued,
            StateName::Scheduled if reason.is_some_and(|r| r.starts_with("Retry attempt ")) => {
                Self::Retrying
            }
            StateName::Scheduled => Self::Scheduled,
            StateName::Processing => Self::Processing,
            StateName::Awaiting => Self::Awaiting,
            StateName::Succeeded => Self::Succeeded,
            StateName::Failed => Self::Failed,
            StateName::Deleted => Self::Deleted,
            StateName::Other(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_without_case_and_never_lost() {
        assert_eq!(StateName::parse("failed"), StateName::Failed);
        assert_eq!(
            StateName::parse("Throttled"),
            StateName::Other("Throttled".into())
        );
        assert_eq!(StateName::parse("Throttled").as_str(), "Throttled");
    }

    #[test]
    fn retrying_is_scheduled_with_the_reason_of_a_retry() {
        let of = |reason| ListState::of(&StateName::Scheduled, reason);
        assert_eq!(
            of(Some("Retry attempt 2 of 3: no")),
            Some(ListState::Retrying)
        );
        assert_eq!(of(Some("later, please")), Some(ListState::Scheduled));
        assert_eq!(of(None), Some(ListState::Scheduled));
        assert_eq!(
            ListState::of(&StateName::Other("Parked".into()), None),
            None
        );
    }

    #[test]
    fn slugs_read_back() {
        for state in ListState::ALL {
            assert_eq!(ListState::from_slug(state.slug()), Some(state));
        }
        assert_eq!(ListState::from_slug("FAILED"), Some(ListState::Failed));
        assert_eq!(ListState::from_slug("burnt"), None);
    }
}
