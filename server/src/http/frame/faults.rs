//! Answers where the store could not.

use app::actions::Action;
use app::components::shell::Section;
use app::pages::messages;
use app::ports::error::StoreError;
use axum::http::StatusCode;
use axum::response::Response;

use super::{Visit, error};

/// Seconds after which a page about a database that is away asks again by itself.
const RETRY_SECONDS: u32 = 5;

/// The status of a store's error, and its word in JSON answers.
pub fn words(cause: &StoreError) -> (StatusCode, &'static str) {
    match cause {
        StoreError::Away(_) => (StatusCode::SERVICE_UNAVAILABLE, "database_away"),
        StoreError::Absent(_) => (StatusCode::SERVICE_UNAVAILABLE, "no_database"),
        StoreError::TimedOut(_) => (StatusCode::GATEWAY_TIMEOUT, "query_limit"),
        StoreError::Unreadable(_) | StoreError::Forbidden(_) => {
            (StatusCode::SERVICE_UNAVAILABLE, "not_readable")
        }
        StoreError::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
    }
}

fn title(cause: &StoreError) -> &'static str {
    match cause {
        StoreError::Away(_) => "Database away",
        StoreError::Absent(_) => "No database",
        StoreError::TimedOut(_) => "Took too long",
        _ => "Cannot be read",
    }
}

impl Visit {
    /// The store could not answer.
    pub fn failed(self, section: Section, cause: &StoreError) -> Response {
        let (status, word) = words(cause);
        let source = self.source_name();
        tracing::warn!(source, error = %cause, "a page could not be answered");
        if self.json {
            return error(status, word, &cause.to_string());
        }
        let refresh =
            matches!(cause, StoreError::Away(_) | StoreError::Absent(_)).then_some(RETRY_SECONDS);
        let view = messages::store_error(&source, cause, refresh);
        self.answer(status, title(cause), section, refresh, view)
    }

    /// The store could not act on any of these jobs. The page does not ask again by itself: only
    /// the operator may.
    pub fn not_acted(self, action: &Action, jobs: &[i64], cause: &StoreError) -> Response {
        let (status, word) = words(cause);
        if self.json {
            let message = format!("nothing was changed: {cause}");
            return error(status, word, &message);
        }
        let view = messages::not_acted(&self.source_name(), action, jobs, cause);
        self.answer(status, title(cause), Section::None, None, view)
    }
}
