//! Purging old Sent claims by hand.

use app::actions::claim::ClaimOutcome;
use app::components::shell::Section;
use app::model::claim::table::{Lack, Shape};
use app::ports::claims::Purge;
use app::ports::error::StoreError;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::super::super::frame::Visit;
use super::super::super::state::AppState;
use super::super::answer::{all_recorded, see_other};
use super::READ_ONLY;
use super::answer::{page, status};
use super::form::{self, Sent, Target};
use crate::source::SourceHandle;
use crate::source::claims::look::{PURGE_BATCH, oldest_kept};

/// The action's name for people.
const LABEL: &str = "Purge Sent claims";

/// `POST /api/purge-claims`: Sent claims past the table's retention go, whatever their number was
/// when the page was drawn; Sending ones never.
pub async fn purge_claims(State(state): State<AppState>, visit: Visit, form: Sent) -> Response {
    let (
        visit,
        Target {
            form,
            source,
            shape,
        },
    ) = match form::target(&state, visit, form).await {
        Ok(found) => found,
        Err(answer) => return *answer,
    };
    if let Err(why) = form.check_reason() {
        return visit.malformed(&why);
    }
    if let Some(why) = why_not(&source, &shape) {
        let outcome = ClaimOutcome::Refused { why: why.clone() };
        let status = status(&outcome);
        if visit.wants_json() {
            let table = &shape.table.name;
            let body = json!({ "outcome": "refused", "claims": table, "why": why });
            return (status, Json(body)).into_response();
        }
        return visit.claim_outcomes(status, LABEL, vec![(shape.table.name.clone(), outcome)]);
    }
    let audit = state.clock().new_id();
    let purge = Purge {
        before: oldest_kept(&shape.table, source.now(state.clock().now())),
        batch: PURGE_BATCH,
        actor: state.actor(),
        // Also written down where nothing was left to purge.
        reason: Some(form.reason().unwrap_or_else(|| "by hand".to_owned())),
    };
    let (before, of, table) = (purge.before, source.clone(), shape.table.name.clone());
    let task = tokio::spawn(async move { of.store.purge_claims(audit, &shape, &purge).await });
    let rows = match task.await {
        Ok(Ok(rows)) => rows,
        Ok(Err(error)) => return visit.failed(Section::Claims, &error),
        Err(error) => {
            let broken = StoreError::Internal(format!("the purge broke off: {error}"));
            return visit.failed(Section::Claims, &broken);
        }
    };
    tracing::info!(source = source.config.name, claims = table, %audit, rows, "an operator purged");
    let notes = vec![format!(
        "{rows} Sent claims that were claimed before {} UTC were purged.",
        before.format("%Y-%m-%d %H:%M:%S")
    )];
    if visit.wants_json() {
        let body = json!({
            "outcome": "done",
            "claims": table,
            "purged": rows,
            "before": before,
            "notes": notes,
            "audit": audit.to_string(),
        });
        return (StatusCode::OK, Json(body)).into_response();
    }
    if !all_recorded(&source, &[audit]).await {
        let outcome = ClaimOutcome::Done {
            claim: None,
            job: None,
            notes,
        };
        return visit.claim_outcomes(StatusCode::OK, LABEL, vec![(table, outcome)]);
    }
    see_other(page(&visit, &source, &form), &[audit])
}

fn why_not(source: &SourceHandle, shape: &Shape) -> Option<String> {
    if source.config.read_only {
        return Some(READ_ONLY.to_owned());
    }
    if shape.lacks(Lack::ClaimTime) {
        return Some(
            "The table keeps no claim time, so nobody can say which claims are old. Nothing was \
             changed."
                .to_owned(),
        );
    }
    shape.read_only.clone()
}
