//! From a filter to conditions: the one place that puts statements together from parts. Values are
//! always bound.
//!
//! Aliases: `j` is the job, `c` the row of its current state.

use app::model::state::{Instant, ListState};
use app::ports::jobs::JobFilter;
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use uuid::Uuid;

use super::layout::Layout;

/// A bound value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Text.
    Text(String),
    /// A whole number.
    Int(i64),
    /// An instant.
    At(Instant),
    /// Whole numbers.
    Ints(Vec<i64>),
    /// An id.
    Id(Uuid),
}

/// Conditions and their values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conditions {
    /// On the job's row alone: served while its table or index is walked.
    pub job: Vec<String>,
    /// On the row of its current state, one look-up by key away.
    pub current: Vec<String>,
    /// On its history: one look-up of all its state rows each.
    pub history: Vec<String>,
    /// The values, in the order of their numbers.
    pub values: Vec<Value>,
}

/// The last row of a name, or rather one value of it: the current state's row where it is one of
/// that name, else found in the history.
macro_rules! last {
    ($name:literal, $key:literal) => {
        concat!(
            "(CASE WHEN c.name = '",
            $name,
            "' THEN {key c.data ",
            $key,
            "} ELSE (SELECT {key t.data ",
            $key,
            "} FROM {s}.state t WHERE t.jobid = j.id AND t.name = '",
            $name,
            "' ORDER BY t.id + 0 DESC LIMIT 1) END)"
        )
    };
}

const LAST_QUEUE: &str = concat!(
    "COALESCE(NULLIF({key j.invocationdata Queue}, ''), ",
    last!("Enqueued", "Queue"),
    ")"
);
const LAST_SERVER: &str = last!("Processing", "ServerId");
const LAST_EXCEPTION: &str = last!("Failed", "ExceptionType");
const TYPE: &str = "{key j.invocationdata Type}";
const METHOD: &str = "{key j.invocationdata Method}";

impl Conditions {
    /// Conditions of a filter.
    pub fn of(filter: &JobFilter, layout: &Layout) -> Self {
        let mut built = Self::default();
        let invocation = |text: &str| Value::Text(layout.stored("job", "invocationdata", text));
        let data = |text: &str| Value::Text(layout.stored("state", "data", text));
        if let Some(state) = filter.state {
            built.state(state);
        }
        if let Some(name) = &filter.job_type {
            let value = built.bind(invocation(name));
            built.job.push(is_type(TYPE, &value));
        }
        if let Some(method) = &filter.method {
            let value = built.bind(invocation(method));
            built.job.push(format!("{METHOD} = {value}"));
        }
        if let Some(from) = filter.from {
            let value = built.bind(Value::At(from));
            built.current.push(format!("{{at c.createdat}} >= {value}"));
        }
        if let Some(to) = filter.to {
            let value = built.bind(Value::At(to));
            built.current.push(format!("{{at c.createdat}} < {value}"));
        }
        if let Some(queue) = &filter.queue {
            let value = built.bind(data(queue));
            built.last(
                filter.state == Some(ListState::Enqueued),
                format!("{LAST_QUEUE} = {value}"),
            );
        }
        if let Some(server) = &filter.server {
            let value = built.bind(data(server));
            built.last(
                filter.state == Some(ListState::Processing),
                format!("{LAST_SERVER} = {value}"),
            );
        }
        if let Some(exception) = &filter.exception {
            let value = built.bind(data(exception));
            built.last(
                filter.state == Some(ListState::Failed),
                is_type(LAST_EXCEPTION, &value),
            );
        }
        if let Some(attempts) = filter.attempts_min.filter(|&attempts| attempts > 0) {
            let value = built.bind(Value::Int(attempts.into()));
            built.history.push(format!(
                "(SELECT count(*) FROM (SELECT 1 FROM {{s}}.state t WHERE t.jobid = j.id \
                 AND t.name = 'Processing' LIMIT {value}) n) >= {value}"
            ));
        }
        built
    }

    fn state(&mut self, state: ListState) {
        let name = self.bind(Value::Text(state.stored().as_str().to_owned()));
        self.job.push(format!("j.statename = {name}"));
        match state {
            ListState::Retrying => self
                .current
                .push("c.reason LIKE 'Retry attempt %'".to_owned()),
            ListState::Scheduled => self
                .current
                .push("(c.reason LIKE 'Retry attempt %') IS NOT TRUE".to_owned()),
            _ => {}
        }
    }

    /// A condition on the last row of a name: where that is the current one, no history is needed.
    fn last(&mut self, is_current: bool, condition: String) {
        if is_current {
            self.current.push(condition);
        } else {
            self.history.push(condition);
        }
    }

    /// Whether any job is left out.
    pub fn are_any(&self) -> bool {
        !(self.job.is_empty() && self.current.is_empty() && self.history.is_empty())
    }

    /// Binds a value; gives its placeholder.
    pub fn bind(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("${}", self.values.len())
    }

    /// The values, bound to a statement.
    pub fn bound(
        self,
        mut query: Query<'_, Postgres, PgArguments>,
    ) -> Query<'_, Postgres, PgArguments> {
        for value in self.values {
            query = match value {
                Value::Text(text) => query.bind(text),
                Value::Int(number) => query.bind(number),
                Value::At(instant) => query.bind(instant),
                Value::Ints(numbers) => query.bind(numbers),
                Value::Id(id) => query.bind(id),
            };
        }
        query
    }
}

/// Whether a stored type is the one asked for: by its full name, with or without the assembly, or
/// by the last part of its name. Most types do not hold that text at all, which is found out first.
fn is_type(stored: &str, value: &str) -> String {
    format!(
        "(strpos({stored}, {value}) > 0 AND ({stored} = {value} \
         OR left({stored}, length({value}) + 1) = {value} || ',' \
         OR substring(split_part(split_part({stored}, ',', 1), '[', 1) from '[^.+]*$') = {value}))"
    )
}

/// Joins conditions for a WHERE clause.
pub fn all(conditions: &[&[String]]) -> String {
    let parts: Vec<&str> = conditions
        .iter()
        .flat_map(|some| some.iter().map(String::as_str))
        .collect();
    if parts.is_empty() {
        "true".to_owned()
    } else {
        parts.join(" AND ")
    }
}
