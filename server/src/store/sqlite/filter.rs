//! The filter builder: the one place where a list's SQL is put together. Every value is bound.

use app::model::state::ListState;
use app::ports::jobs::JobFilter;
use sqlx::{QueryBuilder, Sqlite};

use super::{sql::member, ticks};

/// A column of the row that says the job's current state.
macro_rules! current {
    ($column:literal) => {
        concat!(
            "(SELECT s.",
            $column,
            " FROM State s WHERE s.JobId = j.Id AND s.Name = j.StateName \
             COLLATE NOCASE ORDER BY s.Id DESC LIMIT 1)"
        )
    };
}

/// A member of the data of the job's last row of a name.
macro_rules! last {
    ($name:literal, $member:literal) => {
        concat!(
            "(SELECT ",
            member!("s.Data", $member),
            " FROM State s WHERE s.JobId = j.Id \
             AND s.Name = '",
            $name,
            "' ORDER BY s.Id DESC LIMIT 1)"
        )
    };
}

/// The type's name `t` without assembly and without the arguments of a generic.
macro_rules! plain {
    () => {
        "substr(t, 1, min(instr(t || '[', '['), instr(t || ',', ',')) - 1)"
    };
}

/// Whether the current state is a planned retry.
const IS_RETRY: &str = concat!(
    "coalesce(substr(",
    current!("Reason"),
    ", 1, 14), '') = 'Retry attempt '"
);

/// The job's own queue, else its last Enqueued row's.
const QUEUE: &str = concat!(
    "coalesce(nullif(",
    member!("j.InvocationData", "Queue"),
    ", ''), ",
    last!("Enqueued", "Queue"),
    ")"
);

const TYPE: &str = member!("j.InvocationData", "Type");
const METHOD: &str = member!("j.InvocationData", "Method");
const EXCEPTION: &str = last!("Failed", "ExceptionType");
/// Versions up to 1.4 wrote `ServerName`.
const SERVER: &str = concat!(
    "coalesce(",
    last!("Processing", "ServerId"),
    ", ",
    last!("Processing", "ServerName"),
    ")"
);

/// Adds the conditions of a filter on the job `j`, joined by AND, never empty.
pub(super) fn push(query: &mut QueryBuilder<Sqlite>, filter: &JobFilter) {
    query.push("TRUE");
    if let Some(state) = filter.state {
        query
            .push(" AND j.StateName = ")
            .push_bind(state.stored().as_str().to_owned());
        match state {
            ListState::Retrying => {
                query.push(" AND ").push(IS_RETRY);
            }
            ListState::Scheduled => {
                query.push(" AND NOT ").push(IS_RETRY);
            }
            _ => {}
        }
    }
    if let Some(name) = &filter.job_type {
        push_name(query, TYPE, name);
    }
    for (expression, value) in [
        (METHOD, &filter.method),
        (QUEUE, &filter.queue),
        (SERVER, &filter.server),
    ] {
        if let Some(value) = value {
            query
                .push(" AND ")
                .push(expression)
                .push(" = ")
                .push_bind(value.clone());
        }
    }
    if let Some(name) = &filter.exception {
        push_name(query, EXCEPTION, name);
    }
    if let Some(from) = filter.from {
        query
            .push(concat!(" AND ", current!("CreatedAt"), " >= "))
            .push_bind(ticks::ticks(from));
    }
    if let Some(to) = filter.to {
        query
            .push(concat!(" AND ", current!("CreatedAt"), " < "))
            .push_bind(ticks::ticks(to));
    }
    if let Some(least) = filter.attempts_min {
        query
            .push(
                " AND (SELECT count(*) FROM (SELECT 1 FROM State s WHERE s.JobId = j.Id \
                 AND s.Name = 'Processing' LIMIT ",
            )
            .push_bind(i64::from(least))
            .push(")) >= ")
            .push_bind(i64::from(least));
    }
}

/// A type is meant by its name as stored, by its full name without the assembly, or by the last
/// part of its name with the arguments of a generic left aside.
fn push_name(query: &mut QueryBuilder<Sqlite>, expression: &str, name: &str) {
    // Outside brackets, the first comma begins the assembly.
    let mut depth = 0_i32;
    let mut has_assembly = false;
    for c in name.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => has_assembly = true,
            _ => {}
        }
    }
    let length = i64::try_from(name.chars().count()).unwrap_or(i64::MAX - 1);
    // The LIMIT keeps the planner from putting the expression in the place of each `t`.
    query
        .push(" AND EXISTS (SELECT 1 FROM (SELECT ")
        .push(expression)
        .push(" AS t LIMIT 1) WHERE t = ")
        .push_bind(name.to_owned());
    if depth == 0 && !has_assembly {
        query
            .push(" OR substr(t, 1, ")
            .push_bind(length + 1)
            .push(") = ")
            .push_bind(format!("{name},"));
    }
    if !name.contains(['.', '+', '[', ',']) {
        query
            .push(concat!(" OR ", plain!(), " = "))
            .push_bind(name.to_owned())
            .push(concat!(" OR substr(", plain!(), ", "))
            .push_bind(-length - 1)
            .push(") IN (")
            .push_bind(format!(".{name}"))
            .push(", ")
            .push_bind(format!("+{name}"))
            .push(")");
    }
    query.push(")");
}
