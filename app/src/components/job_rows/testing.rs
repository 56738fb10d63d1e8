//! Rows for tests.

use crate::model::invocation::{Arguments, Invocation};
use crate::model::job::{CurrentState, JobRow};
use crate::model::state::{Instant, StateName};

/// 27 Nov 2026, 14:05:48 UTC: the moment of every page in these tests.
pub(crate) fn now() -> Instant {
    chrono::DateTime::from_timestamp(1_795_788_348, 0).unwrap()
}

/// A job whose current state, of id `10 * id`, began 17 seconds before [`now`].
pub(crate) fn row(id: i64, state: &str) -> JobRow {
    JobRow {
        id,
        state: CurrentState {
            name: Some(StateName::parse(state)),
            id: Some(10 * id),
            since: Some(now() - chrono::TimeDelta::seconds(17)),
            reason: None,
            unsettled: false,
        },
        invocation: Invocation {
            type_name: Some("Bookstore.Jobs.ImportJob, Bookstore.Jobs".into()),
            method: Some("RunAsync".into()),
            parameter_types: Vec::new(),
            arguments: Arguments::Values(vec![Some("118".into()), Some("\"HB-1\"".into())]),
            own_queue: None,
        },
        arguments_bytes: None,
        queue: Some("suppliers".into()),
        server: Some("app-01:5120:aaaa".into()),
        attempts: 1,
        retry: None,
        exception_type: Some("System.TimeoutException".into()),
        exception_message: Some("Supplier did not answer".into()),
        failure_bytes: None,
        due_at: None,
        created_at: now() - chrono::TimeDelta::minutes(5),
        expire_at: None,
    }
}
