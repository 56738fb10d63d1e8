//! What pages ask of a timeline.

use super::build::planned_retry;
use super::{Decision, Event, History, Timeline};
use crate::model::attempt::{Attempt, Failure, PlannedRetry, Release};
use crate::model::reason;
use crate::model::state::StateRow;

/// How many automatic retries a job has had, and may have in all.
///
/// Hangfire never resets the count when a job is requeued: one whose retries are used up gets
/// exactly one run from the next requeue, unless the count is reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryBudget {
    /// Retries planned so far.
    pub used: u32,
    /// The policy's maximum.
    pub of: u32,
}

impl RetryBudget {
    /// Automatic retries that are left.
    pub fn left(self) -> u32 {
        self.of.saturating_sub(self.used)
    }

    /// Whether every retry is used.
    pub fn is_spent(self) -> bool {
        self.left() == 0
    }

    /// Runs that a requeue gives at most, if each of them fails: the requeued one and the retries
    /// that are left.
    pub fn runs_after_requeue(self) -> u32 {
        self.left().saturating_add(1)
    }
}

/// A delay that a policy was seen to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservedDelay {
    /// Number of the retry, from 1.
    pub retry: u32,
    /// The policy's maximum of retries.
    pub of: u32,
    /// The delay, in milliseconds.
    pub backoff_ms: i64,
}

impl ObservedDelay {
    /// The delay that a state row plans; `None` for rows that plan no retry, or do not say when.
    pub fn of_row(row: &StateRow) -> Option<Self> {
        let (retry, of) = reason::retry(row.reason.as_deref())?;
        let backoff_ms = planned_retry(row, retry, of).backoff_ms?;
        Some(Self {
            retry,
            of,
            backoff_ms,
        })
    }
}

impl Timeline {
    /// The attempts, in order.
    pub fn attempts(&self) -> impl DoubleEndedIterator<Item = &Attempt> {
        self.events.iter().filter_map(|event| match event {
            Event::Attempt(attempt) => Some(attempt),
            _ => None,
        })
    }

    /// How many attempts the job has had so far, those before the rows given included.
    pub fn attempts_so_far(&self) -> u32 {
        self.attempts()
            .next_back()
            .map_or(self.attempts_before, |attempt| attempt.number)
    }

    /// A count as the page shows it: `3`, or `3+` where older rows are gone.
    pub fn count_label(&self, count: u32) -> String {
        match self.history {
            History::Trimmed => format!("{count}+"),
            History::Whole | History::Paged => count.to_string(),
        }
    }

    /// The failures, of attempts or outside any, in order.
    pub fn failures(&self) -> impl DoubleEndedIterator<Item = &Failure> {
        self.events.iter().filter_map(Event::failure)
    }

    /// What somebody decided: to run it again, or at once.
    pub fn decisions(&self) -> impl DoubleEndedIterator<Item = &Decision> {
        self.events.iter().filter_map(|event| match event {
            Event::Decision(decision) => Some(decision),
            _ => None,
        })
    }

    /// The planned retries, in order.
    pub fn retries(&self) -> impl DoubleEndedIterator<Item = &PlannedRetry> {
        self.failures().filter_map(|failure| failure.retry.as_ref())
    }

    /// The retry that is planned and has not begun.
    pub fn pending_retry(&self) -> Option<&PlannedRetry> {
        self.retries()
            .next_back()
            .filter(|retry| retry.release == Release::Pending)
    }

    /// The job's retries, by its `RetryCount` parameter and the newest maximum that a reason names;
    /// `None` where no reason ever named one. Without the parameter Hangfire counts from 0: it was
    /// reset, or on `SQLite` has expired.
    pub fn retry_budget(&self, retry_count: Option<u32>) -> Option<RetryBudget> {
        let newest = self.retries().next_back()?;
        Some(RetryBudget {
            used: retry_count.unwrap_or(0),
            of: newest.of,
        })
    }

    /// The delays that the policy chose, where the rows say so.
    pub fn observed_delays(&self) -> Vec<ObservedDelay> {
        self.retries()
            .filter_map(|retry| {
                Some(ObservedDelay {
                    retry: retry.number,
                    of: retry.of,
                    backoff_ms: retry.backoff_ms?,
                })
            })
            .collect()
    }
}
