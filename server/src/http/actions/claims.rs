//! Actions on claims: a form in, one guarded transaction for each claim, outcomes out.

use app::actions::claim::{ClaimAction, ClaimOutcome, ClaimRequest, SeenClaim};
use app::components::shell::Section;
use app::model::claim::table::Shape;
use app::ports::claims::ClaimStore;
use app::ports::error::StoreError;
use axum::extract::State;
use axum::response::Response;

use super::super::frame::Visit;
use super::super::state::AppState;
use crate::clock::SharedClock;
use crate::source::SourceHandle;
use crate::source::claims::judge;

mod answer;
mod ask;
mod form;
mod purge;

use answer::ActedOnClaim;
use form::{ClaimForm, Sent, Target};

pub use ask::ask_provider;
pub use purge::purge_claims;

/// Forms of claims may be this large, in bytes: keys are up to 10 kB each, and are encoded twice.
pub const LARGEST_FORM: usize = 8 * 1024 * 1024;

/// What a read-only source answers.
const READ_ONLY: &str = "This source is configured as read-only, so nothing was changed.";

/// `POST /api/reclaim`
pub async fn reclaim(state: State<AppState>, visit: Visit, form: Sent) -> Response {
    act(state, visit, form, |_| Ok(ClaimAction::Reclaim)).await
}

/// `POST /api/release`
pub async fn release(state: State<AppState>, visit: Visit, form: Sent) -> Response {
    act(state, visit, form, |_| Ok(ClaimAction::Release)).await
}

/// `POST /api/mark-sent`
pub async fn mark_sent(state: State<AppState>, visit: Visit, form: Sent) -> Response {
    act(state, visit, form, ClaimForm::mark_as_sent).await
}

async fn act(
    State(state): State<AppState>,
    visit: Visit,
    form: Sent,
    action: impl FnOnce(&ClaimForm) -> Result<ClaimAction, String>,
) -> Response {
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
    let asked = action(&form).and_then(|action| {
        let asked = form.asked()?;
        Ok((action, asked))
    });
    let (action, asked) = match asked {
        Ok(asked) => asked,
        Err(why) => return visit.malformed(&why),
    };
    let template = ClaimRequest {
        action,
        seen: SeenClaim {
            key: String::new(),
            claimed_at: None,
        },
        owners: Vec::new(),
        job: asked.job,
        reason: form.reason(),
        // What is unknown is settled one by one: several are never said to be delivered twice.
        may_deliver_twice: asked.may_deliver_twice && asked.seen.len() == 1,
        actor: state.actor(),
    };
    let label = template.action.label();
    let (clock, of, table) = (
        state.clock().clone(),
        source.clone(),
        shape.table.name.clone(),
    );
    // In a task of its own: what was asked of several claims is not left half done where the
    // browser goes away.
    let acting = tokio::spawn(async move {
        let requests = requests(&of, &shape, template, asked.seen).await?;
        Ok(act_on_all(&clock, &of, of.store.as_ref(), &shape, requests).await)
    });
    match acting.await {
        Ok(Ok(acted)) => answer::answer(visit, &source, &table, label, &acted, &form).await,
        Ok(Err(error)) => visit.failed(Section::Claims, &error),
        Err(error) => {
            let broken = StoreError::Internal(format!("the actions broke off: {error}"));
            visit.failed(Section::Claims, &broken)
        }
    }
}

/// A request for each claim, with the jobs behind it: the index is brought up to date first, and
/// the jobs are read in one read.
async fn requests(
    source: &SourceHandle,
    shape: &Shape,
    template: ClaimRequest,
    seen: Vec<SeenClaim>,
) -> Result<Vec<ClaimRequest>, StoreError> {
    if !source.config.read_only {
        source.claims.catch_up(source.store.as_ref()).await?;
    }
    let keys: Vec<String> = seen.iter().map(|seen| seen.key.clone()).collect();
    let owners = judge::owners(source, &shape.table, &keys).await?;
    let with = seen.into_iter().map(|seen| ClaimRequest {
        owners: owners.get(&seen.key).map_or_else(Vec::new, |owners| {
            owners.iter().map(|owner| owner.job).collect()
        }),
        seen,
        ..template.clone()
    });
    Ok(with.collect())
}

/// Acts on one claim after the other. A database that cannot be written at this moment is not asked
/// for the rest: each would wait as long as the first.
async fn act_on_all(
    clock: &SharedClock,
    source: &SourceHandle,
    store: &(impl ClaimStore + ?Sized),
    shape: &Shape,
    requests: Vec<ClaimRequest>,
) -> Vec<ActedOnClaim> {
    let mut all = Vec::with_capacity(requests.len());
    for request in requests {
        let audit = clock.new_id();
        let outcome = if source.config.read_only {
            ClaimOutcome::Refused {
                why: READ_ONLY.to_owned(),
            }
        } else if let Some(why) = source.claims.why_not_yet() {
            ClaimOutcome::Busy { why }
        } else {
            store.act_on_claim(audit, shape, &request).await
        };
        tracing::info!(
            source = source.config.name,
            claims = shape.table.name,
            action = request.action.slug(),
            %audit,
            outcome = outcome.slug(),
            "an operator acted on a claim"
        );
        all.push(ActedOnClaim {
            audit,
            seen: request.seen,
            outcome,
        });
    }
    all
}
