//! What is right, from the rows, by plain loops: a second implementation.

use app::model::data::parse_date;
use app::model::state::{Instant, ListState};
use app::ports::jobs::JobFilter;

use crate::testing::fixture::{Fixture, Job, State};

/// One job with its rows at hand.
pub struct Known<'a> {
    pub job: &'a Job,
    pub states: Vec<&'a State>,
}

/// Every job, newest first.
pub fn newest_first(rows: &Fixture) -> Vec<Known<'_>> {
    let mut by_job: std::collections::HashMap<i64, Vec<&State>> = std::collections::HashMap::new();
    for state in &rows.states {
        by_job.entry(state.jobid).or_default().push(state);
    }
    rows.jobs
        .iter()
        .rev()
        .map(|job| Known {
            job,
            states: by_job.remove(&job.id).unwrap_or_default(),
        })
        .collect()
}

impl Known<'_> {
    /// The row of the current state: the one the job points to. `SQLite` does not keep that
    /// pointer; there it is the newest row of the job's state. Recorded rows agree on both.
    pub fn current(&self) -> Option<&State> {
        self.states
            .iter()
            .find(|state| Some(state.id) == self.job.stateid)
            .copied()
    }

    pub fn last(&self, name: &str) -> Option<&State> {
        self.states
            .iter()
            .rev()
            .find(|state| state.name == name)
            .copied()
    }

    pub fn attempts(&self) -> usize {
        self.states
            .iter()
            .filter(|state| state.name == "Processing")
            .count()
    }

    pub fn own_queue(&self) -> Option<&str> {
        self.job.invocationdata.get("Queue")?.as_str()
    }

    pub fn queue(&self) -> Option<&str> {
        self.own_queue()
            .or_else(|| self.last("Enqueued")?.get("Queue"))
    }

    pub fn server(&self) -> Option<&str> {
        self.last("Processing")?.get("ServerId")
    }

    pub fn exception(&self) -> Option<&str> {
        self.last("Failed")?.get("ExceptionType")
    }

    pub fn type_name(&self) -> Option<&str> {
        self.job.invocationdata.get("Type")?.as_str()
    }

    pub fn method(&self) -> Option<&str> {
        self.job.invocationdata.get("Method")?.as_str()
    }

    pub fn due(&self) -> Option<Instant> {
        let current = self.current().filter(|state| state.name == "Scheduled")?;
        parse_date(current.get("EnqueueAt")?)
    }

    pub fn list(&self) -> Option<ListState> {
        let retrying = self
            .current()
            .and_then(|state| state.reason.as_deref())
            .is_some_and(|reason| reason.starts_with("Retry attempt "));
        Some(match self.job.statename.as_deref()? {
            "Enqueued" => ListState::Enqueued,
            "Scheduled" if retrying => ListState::Retrying,
            "Scheduled" => ListState::Scheduled,
            "Processing" => ListState::Processing,
            "Awaiting" => ListState::Awaiting,
            "Succeeded" => ListState::Succeeded,
            "Failed" => ListState::Failed,
            "Deleted" => ListState::Deleted,
            _ => return None,
        })
    }

    pub fn fits(&self, filter: &JobFilter) -> bool {
        let since = self.current().map(|state| state.createdat);
        filter.state.is_none_or(|state| self.list() == Some(state))
            && is(filter.queue.as_deref(), self.queue())
            && is(filter.server.as_deref(), self.server())
            && is(filter.method.as_deref(), self.method())
            && is_type(filter.job_type.as_deref(), self.type_name())
            && is_type(filter.exception.as_deref(), self.exception())
            && filter.from.is_none_or(|from| since >= Some(from))
            && filter
                .to
                .is_none_or(|to| since.is_some_and(|since| since < to))
            && filter
                .attempts_min
                .is_none_or(|least| self.attempts() >= usize::try_from(least).unwrap())
    }
}

fn is(wanted: Option<&str>, found: Option<&str>) -> bool {
    wanted.is_none() || wanted == found
}

/// By full name without the assembly, or by the last part of the name.
fn is_type(wanted: Option<&str>, found: Option<&str>) -> bool {
    let Some(wanted) = wanted else { return true };
    let Some(found) = found else { return false };
    let full = without_assembly(found);
    wanted == found || wanted == full || wanted == last_part(full)
}

/// The assembly begins at the first comma outside brackets.
pub fn without_assembly(name: &str) -> &str {
    let mut depth = 0;
    for (at, character) in name.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => return &name[..at],
            _ => {}
        }
    }
    name
}

/// What stands after the last dot or plus, type arguments left aside.
pub fn last_part(full: &str) -> &str {
    let plain = full.split('[').next().unwrap();
    plain.rsplit(['.', '+']).next().unwrap()
}

/// Ids of the jobs that fit, newest first.
pub fn ids(rows: &Fixture, filter: &JobFilter) -> Vec<i64> {
    newest_first(rows)
        .iter()
        .filter(|known| known.fits(filter))
        .map(|known| known.job.id)
        .collect()
}

/// The same, latest change first.
pub fn changed_ids(rows: &Fixture, filter: &JobFilter) -> Vec<i64> {
    let known = newest_first(rows);
    let mut fit: Vec<(Option<Instant>, i64)> = known
        .iter()
        .filter(|known| known.fits(filter))
        .map(|known| (known.current().map(|state| state.createdat), known.job.id))
        .collect();
    fit.sort_unstable();
    fit.into_iter().rev().map(|(_, id)| id).collect()
}
