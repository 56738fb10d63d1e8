//! What both dialects know of the index of failed jobs: which groups a filter means, and whether
//! the index can be used.

use app::model::collect::{FailureGroup, counted_name, server_number};
use app::model::invocation::TypeName;
use app::model::state::{Instant, ListState};
use app::ports::failures::NotReady;
use app::ports::jobs::JobFilter;
use chrono::{DateTime, TimeDelta};

pub mod page;
#[cfg(test)]
mod tests;

/// A row that nobody has read for so long means that the index is not up to date. Hosts whose clocks
/// are behind, and busy moments, are no reason yet.
const LAG: TimeDelta = TimeDelta::seconds(30);

/// The instant of microseconds since 1970; 1970 where no calendar holds it.
pub fn micros(micros: i64) -> Instant {
    DateTime::from_timestamp_micros(micros).unwrap_or_default()
}

/// What one look at the collector's position tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// How far the rows were read.
    pub watermark: i64,
    /// The highest id in the table.
    pub highest: i64,
    /// Whether the index holds every job.
    pub indexed: bool,
    /// The time of the oldest row that was not read.
    pub waiting_since: Option<Instant>,
}

impl Reach {
    /// Why the index cannot be used at this moment, if it cannot.
    pub fn not_ready(self, now: Instant) -> Option<NotReady> {
        if !self.indexed {
            return Some(NotReady::Reading {
                watermark: self.watermark,
                highest: self.highest.max(self.watermark),
            });
        }
        let since = self.waiting_since?;
        (since < now - LAG).then_some(NotReady::Behind { since })
    }
}

/// What a filter asks of rows and groups of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// `failed` or `retrying`.
    pub list: ListState,
    /// The number of the server.
    pub server: Option<i64>,
    /// Microseconds since 1970: not before.
    pub from: Option<i64>,
    /// The same: before.
    pub to: Option<i64>,
    /// At least so many attempts, where groups do not tell them apart.
    pub attempts: Option<i64>,
    /// Whether jobs must be looked at for their type or method: names are kept shortened.
    pub calls: bool,
    /// Whether only some groups are meant.
    pub by_group: bool,
}

impl Wanted {
    /// Of a filter; `None` where its state is another one, of which there is no index.
    pub fn of(filter: &JobFilter) -> Option<Self> {
        let list = filter
            .state
            .filter(|state| matches!(state, ListState::Failed | ListState::Retrying))?;
        let attempts = filter.attempts_min.filter(|least| *least > 0);
        let calls = filter.job_type.is_some() || filter.method.is_some();
        Some(Self {
            list,
            server: filter
                .server
                .as_deref()
                .map(|id| server_number(&counted_name(id))),
            from: filter.from.map(|at| at.timestamp_micros()),
            to: filter.to.map(|at| at.timestamp_micros()),
            attempts: attempts
                .filter(|least| *least > FailureGroup::MOST_ATTEMPTS)
                .map(i64::from),
            calls,
            by_group: calls
                || attempts.is_some()
                || filter.queue.is_some()
                || filter.exception.is_some(),
        })
    }
}

/// A row of the table of groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGroup {
    /// Its id.
    pub id: i64,
    /// As in [`FailureGroup`], and all that follow.
    pub job_type: String,
    /// The method.
    pub method: Option<String>,
    /// The queue.
    pub queue: Option<String>,
    /// The exception's type.
    pub exception: Option<String>,
    /// The attempts.
    pub attempts: i64,
    /// How many jobs it has.
    pub jobs: i64,
}

impl StoredGroup {
    /// Whether jobs of this group may fit a filter. What is said of types and methods may be too
    /// much; all else is exact but for names that were cut.
    pub fn may_fit(&self, filter: &JobFilter) -> bool {
        let least = filter.attempts_min.unwrap_or(0);
        let is = |wanted: &Option<String>, stored: &Option<String>| {
            wanted
                .as_ref()
                .is_none_or(|wanted| stored.as_ref() == Some(&counted_name(wanted)))
        };
        self.attempts >= i64::from(least.min(FailureGroup::MOST_ATTEMPTS))
            && is(&filter.queue, &self.queue)
            && is(&filter.method, &self.method)
            && filter.exception.as_ref().is_none_or(|wanted| {
                let stored = self.exception.as_ref();
                stored.is_some_and(|stored| is_named(stored, &counted_name(wanted)))
            })
            && filter
                .job_type
                .as_ref()
                .is_none_or(|wanted| may_be_type(&self.job_type, wanted))
    }

    /// Whether a group that may fit does, with all its jobs.
    fn fits_whole(&self, filter: &JobFilter) -> bool {
        let is_whole = |asked: &Option<String>, stored: Option<&str>| {
            asked.is_none() || !stored.is_some_and(is_cut)
        };
        is_whole(&filter.queue, self.queue.as_deref())
            && is_whole(&filter.method, self.method.as_deref())
            && is_whole(&filter.exception, self.exception.as_deref())
            && filter
                .job_type
                .as_ref()
                .is_none_or(|wanted| is_type(&self.job_type, wanted))
    }
}

fn is_cut(counted: &str) -> bool {
    counted.ends_with('\u{2026}')
}

/// Whether the type that is counted under `counted` is the one asked for, whatever its assembly. Only
/// of plain names that is certain.
fn is_type(counted: &str, wanted: &str) -> bool {
    let is_plain = |name: &str| !name.contains(['+', '[', ',', '`', '<', ' ']);
    let last = counted.rsplit('.').next();
    is_plain(counted)
        && is_plain(wanted)
        && !is_cut(counted)
        && (counted == wanted || last == Some(wanted))
}

/// How many jobs fit a filter, where the groups tell it. `groups` are those that may fit.
pub fn matching(wanted: &Wanted, filter: &JobFilter, groups: &[StoredGroup]) -> Option<i64> {
    let rows_tell_more = [wanted.server, wanted.from, wanted.to, wanted.attempts]
        .iter()
        .any(Option::is_some);
    let all_fit = || groups.iter().all(|group| group.fits_whole(filter));
    (!rows_tell_more && all_fit()).then(|| groups.iter().map(|group| group.jobs).sum())
}

/// Whether a stored name is meant: as it is, without its assembly, or by the last part of its name.
fn is_named(stored: &str, wanted: &str) -> bool {
    let full = without_assembly(stored);
    let plain = full.split('[').next().unwrap_or_default();
    let last = plain.rsplit(['.', '+']).next().unwrap_or_default();
    !wanted.is_empty() && (stored == wanted || full == wanted || last == wanted)
}

/// The assembly begins at the first comma outside brackets.
fn without_assembly(name: &str) -> &str {
    let mut depth = 0_i32;
    for (at, c) in name.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => return name.get(..at).unwrap_or(name),
            _ => {}
        }
    }
    name
}

/// Whether a type that is counted under `counted` may be the one asked for. Counted names are
/// written for people (`App.Importer<App.Line>`), those asked for as they are stored.
fn may_be_type(counted: &str, wanted: &str) -> bool {
    if counted == counted_name(&TypeName::parse(wanted).full()) {
        return true;
    }
    // Whole names alone hold these.
    if wanted.contains(['.', '+', '[', ',']) {
        return false;
    }
    let name = wanted.rsplit_once('`').map_or(wanted, |(name, _)| name);
    // What compilers invent may hold these signs in a name (`<>c__DisplayClass1`).
    let signs = ['<', '>', ' '];
    let mut parts = counted.split(['.', '<', '>', ',', ' ', '[']);
    is_cut(counted)
        || parts.any(|part| part == name)
        || (name.contains(signs) && counted.contains(name))
}
