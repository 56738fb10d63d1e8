//! Every URL of the product, made in one place, so that a sub-path holds everywhere.

use std::fmt::Write as _;

use crate::model::state::{Instant, ListState};
use crate::ports::failures::ChangedKey;
use crate::ports::jobs::JobFilter;

pub mod attempts;
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
        self.jobs_in(None, filter, cursor, limit)
    }

    /// The same in an order; `None` leaves it to the list.
    pub fn jobs_in(
        &self,
        order: Option<Order>,
        filter: &JobFilter,
        cursor: Option<&Cursor>,
        limit: Option<u32>,
    ) -> String {
        let mut query = Query::default();
        query.filter(filter);
        query.push_some("order", order.map(Order::slug));
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

    /// The stream that keeps a page current, with what the page knows of the list that it shows.
    pub fn events(&self, shown: Option<Shown>) -> String {
        let mut query = Query::default();
        if let Some(Shown { list, row }) = shown {
            let list = match list {
                Watched::Of(state) => state.slug(),
                Watched::All { job } => {
                    query.push("job", &job.to_string());
                    Watched::ALL
                }
            };
            query.push("list", list);
            query.push("since", &row.to_string());
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

/// What a page knows of the list that it shows: what comes after that is new to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// The list.
    pub list: Watched,
    /// The highest id of a state row that the page knows of.
    pub row: i64,
}

/// A list of which new jobs are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    /// Jobs that come into a state.
    Of(ListState),
    /// Jobs of every state, which are new when they are created.
    All {
        /// The highest id of a job that the page knows of.
        job: i64,
    },
}

impl Watched {
    /// The word of the list of all jobs in URLs.
    pub const ALL: &str = "all";
}

/// The order of a list of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By job id, newest first.
    Id,
    /// By the beginning of the current state, latest first.
    Changed,
}

impl Order {
    /// The word in URLs.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Changed => "changed",
        }
    }

    /// Reads the word of a URL.
    pub fn from_slug(slug: &str) -> Option<Self> {
        [Self::Id, Self::Changed]
            .into_iter()
            .find(|order| order.slug() == slug)
    }
}

/// The place of a row in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the order of ids.
    Id(i64),
    /// In the order of change.
    Changed(ChangedKey),
}

impl Place {
    /// The order that it is a place in.
    pub fn order(self) -> Order {
        match self {
            Self::Id(_) => Order::Id,
            Self::Changed(_) => Order::Changed,
        }
    }
}

/// Where a page of a list lies, as it travels in URLs: opaque, and valid for its filter and order
/// alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cursor {
    /// Rows older than this one.
    After(Place),
    /// Rows newer than this one.
    Before(Place),
}

/// Why a cursor could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    /// It was not made by Redrive.
    #[error("this page marker is damaged")]
    Garbage,
    /// It was made for a list with another filter or order.
    #[error("this page marker belongs to a list with other filters or in another order")]
    Foreign,
}

impl Cursor {
    fn parameter(&self) -> &'static str {
        match self {
            Self::After(_) => "after",
            Self::Before(_) => "before",
        }
    }

    /// The row that it names.
    pub fn place(self) -> Place {
        let (Self::After(place) | Self::Before(place)) = self;
        place
    }

    fn encode(self, filter: &JobFilter) -> String {
        let print = fingerprint(filter);
        match self.place() {
            Place::Id(id) => format!("1.{id}.{print:08x}"),
            Place::Changed(ChangedKey { changed_at, job }) => {
                format!("2.{}.{job}.{print:08x}", changed_at.timestamp_micros())
            }
        }
    }

    /// Reads the text of an `after` parameter. Where no order is asked for, it is the cursor's own.
    ///
    /// # Errors
    /// [`CursorError`] where it is not a cursor, or one of another list.
    pub fn after(
        text: &str,
        filter: &JobFilter,
        order: Option<Order>,
    ) -> Result<Self, CursorError> {
        decode(text, filter, order).map(Self::After)
    }

    /// Reads the text of a `before` parameter, in the same way.
    ///
    /// # Errors
    /// [`CursorError`] where it is not a cursor, or one of another list.
    pub fn before(
        text: &str,
        filter: &JobFilter,
        order: Option<Order>,
    ) -> Result<Self, CursorError> {
        decode(text, filter, order).map(Self::Before)
    }
}

fn decode(text: &str, filter: &JobFilter, order: Option<Order>) -> Result<Place, CursorError> {
    let (place, print) = read(text).ok_or(CursorError::Garbage)?;
    let is_of_order = order.is_none_or(|order| order == place.order());
    if print == fingerprint(filter) && is_of_order {
        Ok(place)
    } else {
        Err(CursorError::Foreign)
    }
}

/// The place and the fingerprint in a cursor's text.
fn read(text: &str) -> Option<(Place, u32)> {
    let parts: Vec<&str> = text.split('.').collect();
    let (place, print) = match parts.as_slice() {
        ["1", id, print] => (Place::Id(id.parse().ok()?), print),
        ["2", micros, job, print] => {
            let key = ChangedKey {
                changed_at: Instant::from_timestamp_micros(micros.parse().ok()?)?,
                job: job.parse().ok()?,
            };
            (Place::Changed(key), print)
        }
        _ => return None,
    };
    Some((place, u32::from_str_radix(print, 16).ok()?))
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
    fn a_cursor_belongs_to_its_filter_and_order() {
        let by_id = Cursor::After(Place::Id(77));
        let key = ChangedKey {
            changed_at: Instant::from_timestamp_micros(1_793_600_000_000_001).unwrap(),
            job: 77,
        };
        let by_change = Cursor::After(Place::Changed(key));
        let texts = [by_id, by_change].map(|cursor| cursor.encode(&failed()));
        assert!(texts[0].starts_with("1.77."), "{texts:?}");
        assert!(texts[1].starts_with("2.1793600000000001.77."), "{texts:?}");
        let read = |text: &str, order| Cursor::after(text, &failed(), order);
        for (text, cursor, own, other) in [
            (&texts[0], by_id, Order::Id, Order::Changed),
            (&texts[1], by_change, Order::Changed, Order::Id),
        ] {
            assert_eq!(read(text, None), Ok(cursor));
            assert_eq!(read(text, Some(own)), Ok(cursor));
            assert_eq!(read(text, Some(other)), Err(CursorError::Foreign));
            let filter = JobFilter {
                queue: Some("mail".into()),
                ..failed()
            };
            assert_eq!(
                Cursor::after(text, &filter, None),
                Err(CursorError::Foreign)
            );
        }
        for garbage in [
            "",
            "1",
            "1.x.0",
            "2.77.00000000",
            "2.x.77.00000000",
            "2.9223372036854775807.77.00000000",
            "3.77.00000000",
            "1.77.zz",
            "1.77.0.0",
            "9223372036854775808",
        ] {
            assert_eq!(
                Cursor::before(garbage, &failed(), None),
                Err(CursorError::Garbage),
                "{garbage}"
            );
        }
    }

    #[test]
    fn an_order_stands_in_the_url_where_it_is_asked_for() {
        let links = Links::new("").source("prod");
        assert_eq!(
            links.jobs_in(Some(Order::Id), &failed(), None, Some(10)),
            "/s/prod/jobs?state=failed&order=id&limit=10"
        );
        for order in [Order::Id, Order::Changed] {
            assert_eq!(Order::from_slug(order.slug()), Some(order));
        }
        assert_eq!(Order::from_slug("size"), None);
    }
}
