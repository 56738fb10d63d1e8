//! Saying what became of an action on a claim.

use app::actions::claim::{ClaimOutcome, SeenClaim};
use app::model::claim::ClaimStatus;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::super::frame::Visit;
use super::super::answer::{all_recorded, page_of, see_other};
use super::form::ClaimForm;
use crate::source::SourceHandle;

/// One action that was tried.
pub(super) struct ActedOnClaim {
    pub(super) audit: Uuid,
    pub(super) seen: SeenClaim,
    pub(super) outcome: ClaimOutcome,
}

/// Programs get JSON. Browsers are sent back to the page they came from, which names the outcomes
/// by the audit; outcomes that left no audit row are named on a page of their own.
pub(super) async fn answer(
    visit: Visit,
    source: &SourceHandle,
    table: &str,
    label: &'static str,
    acted: &[ActedOnClaim],
    form: &ClaimForm,
) -> Response {
    let status = match acted {
        [one] if !form.several() => status(&one.outcome),
        _ => StatusCode::OK,
    };
    if visit.wants_json() {
        let body = match acted {
            [one] if !form.several() => to_json(table, one),
            all => Value::Array(all.iter().map(|one| to_json(table, one)).collect()),
        };
        return (status, Json(body)).into_response();
    }
    let audits: Vec<Uuid> = acted.iter().map(|one| one.audit).collect();
    if !all_recorded(source, &audits).await {
        let outcomes = acted
            .iter()
            .map(|one| (one.seen.key.clone(), one.outcome.clone()))
            .collect();
        return visit.claim_outcomes(status, label, outcomes);
    }
    see_other(page(&visit, source, form), &audits)
}

/// The page that the form names, if it is one of this source; else the table's.
pub(super) fn page(visit: &Visit, source: &SourceHandle, form: &ClaimForm) -> String {
    let (links, name) = (visit.links(), &source.config.name);
    page_of(links, name, &form.back).unwrap_or_else(|| {
        let view = app::links::claims::ClaimsView {
            table: Some(form.claims().to_owned()).filter(|name| !name.is_empty()),
            ..Default::default()
        };
        links.source(name).claims(&view, None)
    })
}

pub(super) fn status(outcome: &ClaimOutcome) -> StatusCode {
    match outcome {
        ClaimOutcome::Done { .. } => StatusCode::OK,
        ClaimOutcome::Moved { .. } | ClaimOutcome::Busy { .. } => StatusCode::CONFLICT,
        ClaimOutcome::Gone => StatusCode::NOT_FOUND,
        ClaimOutcome::Refused { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        ClaimOutcome::Unknown { .. } => StatusCode::SERVICE_UNAVAILABLE,
    }
}

fn to_json(table: &str, acted: &ActedOnClaim) -> Value {
    let outcome = &acted.outcome;
    let mut body = json!({
        "outcome": outcome.slug(),
        "claims": table,
        "key": acted.seen.key,
        "audit": acted.audit.to_string(),
    });
    let more = match outcome {
        ClaimOutcome::Done { claim, job, notes } => {
            let (status, claimed_at) = claim.as_ref().map_or((None, None), |(status, time)| {
                (
                    Some(status.slug()),
                    time.as_ref().map(|time| time.token.as_str()),
                )
            });
            let job = job.as_ref();
            json!({
                "status": status,
                "claimed_at": claimed_at,
                "job": job.map(|job| job.job),
                "state": job.map(|job| job.state.as_str()),
                "state_id": job.map(|job| job.state_id),
                "notes": notes,
            })
        }
        ClaimOutcome::Moved { now, why } => {
            let now = now.as_ref().as_ref();
            let time = now.and_then(|now| now.claimed_at.as_ref());
            json!({
                "from": ClaimStatus::Sending.slug(),
                "to": now.map(|now| now.status.slug()),
                "at": time.and_then(|time| time.at),
                "claimed_at": time.map(|time| time.token.as_str()),
                "provider_message_id": now.and_then(|now| now.provider_id.as_deref()),
                "why": why,
            })
        }
        ClaimOutcome::Gone => json!({}),
        ClaimOutcome::Busy { why }
        | ClaimOutcome::Refused { why }
        | ClaimOutcome::Unknown { why } => json!({ "why": why }),
    };
    if let (Value::Object(body), Value::Object(more)) = (&mut body, more) {
        body.extend(more);
    }
    body
}

#[cfg(test)]
mod tests {
    use app::actions::claim::Requeued;
    use app::model::claim::{Claim, ClaimTime};
    use app::model::state::StateName;

    use super::*;

    fn json_of(outcome: ClaimOutcome) -> Value {
        let seen = SeenClaim {
            key: "invoice-email:7".into(),
            claimed_at: Some("2026-11-29 19:45:04".into()),
        };
        to_json(
            "emails",
            &ActedOnClaim {
                audit: Uuid::nil(),
                seen,
                outcome,
            },
        )
    }

    #[test]
    fn a_done_action_says_what_became_of_claim_and_job() {
        let body = json_of(ClaimOutcome::Done {
            claim: None,
            job: Some(Box::new(Requeued {
                job: 42,
                state: StateName::Enqueued,
                state_id: 977,
            })),
            notes: vec!["The claim was released.".into()],
        });
        assert_eq!(
            body,
            json!({
                "outcome": "done",
                "claims": "emails",
                "key": "invoice-email:7",
                "audit": Uuid::nil().to_string(),
                "status": null,
                "claimed_at": null,
                "job": 42,
                "state": "Enqueued",
                "state_id": 977,
                "notes": ["The claim was released."],
            })
        );
    }

    #[test]
    fn a_lost_race_says_what_it_is_now() {
        let now = Claim {
            key: "invoice-email:7".into(),
            status: ClaimStatus::Sent,
            claimed_at: Some(ClaimTime::read("2026-11-29 19:45:04")),
            provider_id: Some("msg-1".into()),
        };
        let body = json_of(ClaimOutcome::Moved {
            now: Box::new(Some(now)),
            why: "It was sent.".into(),
        });
        assert_eq!(body["from"], "sending");
        assert_eq!(body["to"], "sent");
        assert_eq!(body["at"], "2026-11-29T19:45:04Z");
        assert_eq!(body["provider_message_id"], "msg-1");
        assert_eq!(body["why"], "It was sent.");
    }

    #[test]
    fn outcomes_have_the_statuses_of_job_actions() {
        let why = String::new;
        for (outcome, code) in [
            (ClaimOutcome::Gone, 404),
            (ClaimOutcome::Busy { why: why() }, 409),
            (ClaimOutcome::Refused { why: why() }, 422),
            (ClaimOutcome::Unknown { why: why() }, 503),
        ] {
            assert_eq!(status(&outcome).as_u16(), code);
        }
    }
}
