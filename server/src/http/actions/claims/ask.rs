//! Asking the provider about one claim.

use app::actions::Actor;
use app::actions::claim::{ClaimOutcome, SeenClaim};
use app::components::shell::Section;
use app::model::claim::evidence::{Answer, Asked};
use app::model::claim::table::Shape;
use app::ports::error::StoreError;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use uuid::Uuid;

use super::super::super::frame::Visit;
use super::super::super::state::AppState;
use super::super::answer::see_other;
use super::READ_ONLY;
use super::answer::{ActedOnClaim, answer, page};
use super::form::{self, Sent, Target};
use crate::clock::SharedClock;
use crate::source::SourceHandle;

/// The action's name for people.
const LABEL: &str = "Ask the provider";

/// `POST /api/ask-provider`: nothing is changed but what is known.
pub async fn ask_provider(State(state): State<AppState>, visit: Visit, form: Sent) -> Response {
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
    let seen = form.asked().and_then(|asked| {
        <[SeenClaim; 1]>::try_from(asked.seen)
            .map_err(|_| "the provider is asked about one claim at a time".to_owned())
    });
    let seen = match seen {
        Ok([seen]) => seen,
        Err(why) => return visit.malformed(&why),
    };
    let audit = state.clock().new_id();
    let asking = Asking {
        clock: state.clock().clone(),
        source: source.clone(),
        actor: state.actor(),
        audit,
    };
    let (table, asked_of) = (shape.table.name.clone(), seen.clone());
    // What was asked is written down, also where the browser goes away.
    let task = tokio::spawn(async move { asking.ask(&shape, &asked_of).await });
    let asked = match task.await {
        Ok(Ok(asked)) => asked,
        Ok(Err(error)) => return visit.failed(Section::Claims, &error),
        Err(error) => {
            let broken = StoreError::Internal(format!("the question broke off: {error}"));
            return visit.failed(Section::Claims, &broken);
        }
    };
    match asked {
        Ok(asked) if visit.wants_json() => to_json(&table, &seen, audit, &asked),
        Ok(_) => see_other(page(&visit, &source, &form), &[audit]),
        Err(outcome) => {
            let acted = [ActedOnClaim {
                audit,
                seen,
                outcome,
            }];
            answer(visit, &source, &table, LABEL, &acted, &form).await
        }
    }
}

struct Asking {
    clock: SharedClock,
    source: SourceHandle,
    actor: Actor,
    audit: Uuid,
}

impl Asking {
    /// The answer, which is written down; or why nothing was asked.
    async fn ask(
        &self,
        shape: &Shape,
        seen: &SeenClaim,
    ) -> Result<Result<Asked, ClaimOutcome>, StoreError> {
        let refused = |why: &str| {
            Ok(Err(ClaimOutcome::Refused {
                why: why.to_owned(),
            }))
        };
        let source = &self.source;
        if source.config.read_only {
            return refused(READ_ONLY);
        }
        let (Some(provider), Some(rule)) = (&source.claims.provider, &shape.table.provider) else {
            return refused(
                "No look-up is configured for this table: give it a [source.claims.provider] in \
                 redrive.toml.",
            );
        };
        // Only what is claimed is asked about.
        if source.store.claim(shape, &seen.key).await?.is_empty() {
            return Ok(Err(ClaimOutcome::Gone));
        }
        let answer = provider.ask(rule, &seen.key).await;
        let asked = Asked {
            at: source.now(self.clock.now()),
            answer,
        };
        let table = &shape.table.name;
        tracing::info!(
            source = source.config.name,
            claims = table,
            audit = %self.audit,
            answer = word(&asked.answer),
            "the provider was asked"
        );
        source
            .store
            .record_answer(self.audit, table, seen, &asked, &self.actor)
            .await?;
        Ok(Ok(asked))
    }
}

fn word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Known(_) => "known",
        Answer::Denied => "denied",
        Answer::NotKnown(_) => "not-known",
    }
}

fn to_json(table: &str, seen: &SeenClaim, audit: Uuid, asked: &Asked) -> Response {
    let (message_id, why) = match &asked.answer {
        Answer::Known(id) => (id.as_deref(), None),
        Answer::Denied => (None, None),
        Answer::NotKnown(why) => (None, Some(why)),
    };
    let body = json!({
        "outcome": "done",
        "claims": table,
        "key": seen.key,
        "answer": word(&asked.answer),
        "at": asked.at,
        "provider_message_id": message_id,
        "why": why,
        "audit": audit.to_string(),
    });
    (StatusCode::OK, Json(body)).into_response()
}
