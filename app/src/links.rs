//! Every URL of the product, made in one place, so that a sub-path holds everywhere.

use std::fmt::Write as _;

use crate::model::state::{Instant, ListState};
use crate::ports::jobs::{Anchor, JobFilter};

pub mod claims;

/// Makes URLs below a base path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links {
    base: String,
}

impl Links {
    /// `base` is empty, or a path that begins with `/` and does not end with one.
    pub fn new(base: &str) -> Self {
        Self {
            base: base.trim_end_matches('/').to_owned(),
        }
    }

    /// The base path: empty, or `/ops/redrive`.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The entry: goes to the first source.
    pub fn root(&self) -> String {
        format!("{}/", self.base)
    }

    /// An embedded file; `name` carries its hash.
    pub fn asset(&self, name: &str) -> String {
        format!("{}/assets/{name}", self.base)
    }

    /// Where an action's form is sent, for example `requeue`.
    pub fn action(&self, slug: &str) -> String {
        format!("{}/api/{slug}", self.base)
    }

    /// The pages of one source.
    pub fn source(&self, source: &str) -> SourceLinks {
        SourceLinks {
            prefix: format!("{}/s/{}", self.base, escape(source)),
        }
    }
}

/// URLs of the pages of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLinks {
    prefix: String,
}

impl SourceLinks {
    /// The overview.
    pub fn overview(&self) -> String {
        self.prefix.clone()
    }

    /// The list of a state, unfiltered.
    pub fn state(&self, state: ListState) -> String {
        format!("{}/jobs?state={}", self.prefix, state.slug())
    }

    /// A list with its filter; `limit` only where it is not the default.
    pub fn jobs(&self, filter: &JobFilter, cursor: Option<&Cursor>, limit: Option<u32>) -> String {
        let mut query = Query::default();
        query.filter(filter);
        if let Some(limit) = limit {
            query.push("limit", &limit.to_string());
        }
        if let Some(cursor) = cursor {
            query.push(cursor.parameter(), &cursor.encode(filter));
        }
        format!("{}/jobs{}", self.prefix, query.text)
    }

    /// One job.
    pub fn job(&self, id: i64) -> String {
        format!("{}/jobs/{id}", self.prefix)
    }

    /// The stack trace of a failure of a job, whole, as plain text.
    pub fn trace(&self, job: i64, state: i64) -> String {
        format!("{}/jobs/{job}/trace/{state}", self.prefix)
    }

    /// The servers.
    pub fn servers(&self) -> String {
        format!("{}/servers", self.prefix)
    }

    /// The stream that keeps a page current; `list` with the highest id of a state row that the
    /// page knows of, where it shows a list.
    pub fn events(&self, list: Option<(ListState, i64)>) -> String {
        let mut query = Query::default();
        if let Some((list, since)) = list {
            query.push("list", list.slug());
            query.push("since", &since.to_string());
        }
        format!("{}/events{}", self.prefix, query.text)
    }

    /// The overview's charts, without a page around them.
    pub fn charts(&self) -> String {
        format!("{}/charts", self.prefix)
    }

    /// What operators did.
    pub fn audit(&self) -> String {
        format!("{}/audit", self.prefix)
    }

    /// A page of the audit: only of `job` where one is given, older than the row `before`.
    pub fn audit_page(&self, job: Option<i64>, before: Option<uuid::Uuid>) -> String {
        let mut query = Query::default();
        query.push_some("job", job.map(|id| id.to_string()).as_deref());
        query.push_some("before", before.map(|id| id.to_string()).as_deref());
        format!("{}/audit{}", self.prefix, query.text)
    }
}

/// Where a page of a list lies, as it travels in URLs: opaque, and valid for its filter alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cursor {
    /// Rows older than this job.
    After(i64),
    /// Rows newer than this job.
    Before(i64),
}

/// Why a cursor could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    /// It was not made by Redrive.
    #[error("this page marker is damaged")]
    Garbage,
    /// It was made for a list with another filter or order.
    #[error("this page marker belongs to a list with other filters")]
    Foreign,
}

impl Cursor {
    fn parameter(&self) -> &'static str {
        match self {
            Self::After(_) => "after",
            Self::Before(_) => "before",
        }
    }

    /// The position in the list.
    pub fn anchor(self) -> Anchor {
        match self {
            Self::After(id) => Anchor::OlderThan(id),
            Self::Before(id) => Anchor::NewerThan(id),
        }
    }

    fn encode(self, filter: &JobFilter) -> String {
        let (Self::After(id) | Self::Before(id)) = self;
        format!("1.{id}.{:08x}", fingerprint(filter))
    }

    /// Reads the text of an `after` parameter.
    ///
    /// # Errors
    /// [`CursorError`] where it is not a cursor, or one of another list.
    pub fn after(text: &str, filter: &JobFilter) -> Result<Self, CursorError> {
        decode(text, filter).map(Self::After)
    }

    /// Reads the text of a `before` parameter.
    ///
    /// # Errors
    /// [`CursorError`] where it is not a cursor, or one of another list.
    pub fn before(text: &str, filter: &JobFilter) -> Result<Self, CursorError> {
        decode(text, filter).map(Self::Before)
    }
}

fn decode(text: &str, filter: &JobFilter) -> Result<i64, CursorError> {
    let mut parts = text.split('.');
    let (Some("1"), Some(id), Some(print), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(CursorError::Garbage);
    };
    let id = id.parse().map_err(|_| CursorError::Garbage)?;
    let print = u32::from_str_radix(print, 16).map_err(|_| CursorError::Garbage)?;
    if print == fingerprint(filter) {
        Ok(id)
    } else {
        Err(CursorError::Foreign)
    }
}

fn fingerprint(filter: &JobFilter) -> u32 {
    let mut query = Query::default();
    query.filter(filter);
    fingerprint_of(&query)
}

/// FNV-1a over a filter as it stands in the URL: the same in every process and version.
fn fingerprint_of(query: &Query) -> u32 {
    query.text.bytes().fold(0x811c_9dc5, |hash: u32, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[derive(Default)]
struct Query {
    text: String,
}

impl Query {
    fn push(&mut self, key: &str, value: &str) {
        let mark = if self.text.is_empty() { '?' } else { '&' };
        let _ = write!(self.text, "{mark}{key}={}", escape(value));
    }

    fn push_some(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.push(key, value);
        }
    }

    fn filter(&mut self, filter: &JobFilter) {
        self.push_some("state", filter.state.map(ListState::slug));
        self.push_some("queue", filter.queue.as_deref());
        self.push_some("type", filter.job_type.as_deref());
        self.push_some("method", filter.method.as_deref());
        self.push_some("server", filter.server.as_deref());
        self.push_some("exception", filter.exception.as_deref());
        self.push_some("from", filter.from.map(rfc3339).as_deref());
        self.push_some("to", filter.to.map(rfc3339).as_deref());
        self.push_some(
            "attempts_min",
            filter.attempts_min.map(|n| n.to_string()).as_deref(),
        );
    }
}

fn rfc3339(instant: Instant) -> String {
    instant.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true)
}

/// Percent-encodes everything but the unreserved characters of RFC 3986.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed() -> JobFilter {
        JobFilter {
            state: Some(ListState::Failed),
            ..JobFilter::default()
        }
    }

    #[test]
    fn every_url_lies_below_the_base_path() {
        let links = Links::new("/ops/redrive/");
        assert_eq!(links.root(), "/ops/redrive/");
        assert_eq!(links.action("requeue"), "/ops/redrive/api/requeue");
        assert_eq!(links.source("prod").job(42), "/ops/redrive/s/prod/jobs/42");
        assert_eq!(Links::new("").root(), "/");
    }

    #[test]
    fn values_in_urls_are_escaped() {
        let filter = JobFilter {
            queue: Some("a&b=\"<é".into()),
            ..failed()
        };
        assert_eq!(
            Links::new("").source("p q").jobs(&filter, None, None),
            "/s/p%20q/jobs?state=failed&queue=a%26b%3D%22%3C%C3%A9"
        );
    }

    #[test]
    fn a_cursor_belongs_to_its_filter() {
        let text = Cursor::After(77).encode(&failed());
        assert_eq!(Cursor::after(&text, &failed()), Ok(Cursor::After(77)));
        let other = JobFilter {
            queue: Some("mail".into()),
            ..failed()
        };
        assert_eq!(Cursor::after(&text, &other), Err(CursorError::Foreign));
        for garbage in [
            "",
            "1",
            "1.x.0",
            "2.77.00000000",
            "1.77.zz",
            "1.77.0.0",
            "9223372036854775808",
        ] {
            assert_eq!(
                Cursor::before(garbage, &failed()),
                Err(CursorError::Garbage),
                "{garbage}"
            );
        }
    }
}
