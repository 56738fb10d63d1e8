//! Answers about claims that have no page of their own.

use app::actions::claim::ClaimOutcome;
use app::components::shell::Section;
use app::pages::messages;
use axum::http::StatusCode;
use axum::response::Response;

use super::{Visit, error};

impl Visit {
    /// The source has no claims table of that name.
    pub fn no_such_claims(self, name: &str, names: &[String]) -> Response {
        let why = if names.is_empty() {
            "No claims table is known in this source.".to_owned()
        } else {
            format!(
                "There is no claims table “{name}” in this source; there are: {}.",
                names.join(", ")
            )
        };
        if self.json {
            return error(StatusCode::NOT_FOUND, "unknown_claims", &why);
        }
        let status = StatusCode::NOT_FOUND;
        self.answer(status, "No such claims", Section::Claims, None, move || {
            messages::no_such_thing("There is no such claims table", &why)
        })
    }

    /// Outcomes of actions on claims that left no audit row, by key, on a page of their own.
    pub fn claim_outcomes(
        self,
        status: StatusCode,
        label: &'static str,
        outcomes: Vec<(String, ClaimOutcome)>,
    ) -> Response {
        let source = self.source_name();
        self.answer(status, label, Section::Claims, None, move || {
            messages::claims::outcomes(&source, label, &outcomes)
        })
    }
}
