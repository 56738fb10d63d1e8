//! Actions: plain forms in, one guarded transaction each, outcomes out.

use app::actions::{Action, Enqueue, Outcome, Request, Seen};
use app::components::shell::Section;
use app::model::state::StateName;
use app::ports::actions::ActionStore;
use app::ports::error::StoreError;
use axum::extract::State;
use axum::response::Response;
use axum_extra::extract::{Form, FormRejection};
use serde::Deserialize;

use super::frame::Visit;
use super::state::AppState;
use crate::clock::SharedClock;
use crate::source::SourceHandle;

mod answer;
pub mod claims;

use answer::Acted;

/// Several jobs at once, but no more than this: the answer comes within one request.
const MOST_ITEMS: usize = 100;
/// Reasons longer than this are refused rather than cut.
const LONGEST_REASON: usize = 2_000;

/// What the forms send.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ActionForm {
    source: String,
    job: String,
    state: String,
    state_id: String,
    /// `job:state_id:state`, once per job, instead of the three fields above.
    item: Vec<String>,
    reason: String,
    queue: String,
    reset_retries: String,
    /// The page to go back to; only pages of the same source are followed.
    back: String,
}

type Sent = Result<Form<ActionForm>, FormRejection>;

/// `POST /api/requeue`
pub async fn requeue(state: State<AppState>, visit: Visit, form: Sent) -> Response {
    act(state, visit, form, |form| Action::Requeue(form.enqueue())).await
}

/// `POST /api/enqueue-now`
pub async fn enqueue_now(state: State<AppState>, visit: Visit, form: Sent) -> Response {
    act(state, visit, form, |form| {
        Action::EnqueueNow(form.enqueue())
    })
    .await
}

/// `POST /api/delete`
pub async fn delete(state: State<AppState>, visit: Visit, form: Sent) -> Response {
    act(state, visit, form, |_| Action::Delete).await
}

/// `POST /api/undo-delete`
pub async fn undo_delete(state: State<AppState>, visit: Visit, form: Sent) -> Response {
    act(state, visit, form, |_| Action::UndoDelete).await
}

async fn act(
    State(state): State<AppState>,
    visit: Visit,
    form: Sent,
    action: impl FnOnce(&ActionForm) -> Action,
) -> Response {
    let form = match form {
        Ok(Form(form)) => form,
        Err(rejection) => return visit.malformed(&rejection.body_text()),
    };
    let action = action(&form);
    let Some(source) = state.source(&form.source).cloned() else {
        return visit.no_such_source(&form.source);
    };
    let visit = visit.of(&source);
    let requests = match form.requests(&state, &action) {
        Ok(requests) => requests,
        Err(why) => return visit.malformed(&why),
    };
    // In a task of its own: what was asked of several jobs is not left half done where the browser
    // goes away.
    let (clock, of) = (state.clock().clone(), source.clone());
    let acting =
        tokio::spawn(async move { act_on_all(&clock, &of, of.store.as_ref(), requests).await });
    let acted = match acting.await {
        Ok(acted) => acted,
        Err(error) => {
            let broken = StoreError::Internal(format!("the actions broke off: {error}"));
            return visit.failed(Section::None, &broken);
        }
    };
    let several = !form.item.is_empty();
    answer::answer(visit, &source, &action, &acted, several, &form.back).await
}

/// Acts on one job after the other. A database that does not answer is not asked for the rest: each
/// would wait as long as the first.
async fn act_on_all(
    clock: &SharedClock,
    source: &SourceHandle,
    store: &dyn ActionStore,
    requests: Vec<Request>,
) -> Vec<Acted> {
    let mut all = Vec::with_capacity(requests.len());
    let mut silent = None;
    for request in requests {
        let acted = match silent.clone() {
            None => act_once(clock, source, store, &request).await,
            Some(cause) => Acted {
                audit: clock.new_id(),
                seen: request.seen,
                outcome: Err(cause),
            },
        };
        if let Err(cause) = &acted.outcome
            && !matches!(cause, StoreError::Internal(_))
        {
            silent = Some(cause.clone());
        }
        all.push(acted);
    }
    all
}

/// Acts on one job. What was begun comes to its end even if the browser goes away.
async fn act_once(
    clock: &SharedClock,
    source: &SourceHandle,
    store: &dyn ActionStore,
    request: &Request,
) -> Acted {
    let audit = clock.new_id();
    let seen = request.seen.clone();
    let (name, job) = (&source.config.name, seen.job);
    let outcome = if source.config.read_only {
        Ok(Outcome::Refused {
            why: "This source is configured as read-only, so nothing was changed.".to_owned(),
        })
    } else {
        store.act(audit, request).await
    };
    match &outcome {
        Ok(outcome) => {
            let outcome = outcome.slug();
            tracing::info!(source = name, job, %audit, outcome, "an operator acted");
        }
        Err(error) => {
            tracing::warn!(source = name, job, %audit, %error, "an operator could not act");
        }
    }
    Acted {
        audit,
        seen,
        outcome,
    }
}

impl ActionForm {
    fn enqueue(&self) -> Enqueue {
        let queue = self.queue.trim();
        Enqueue {
            queue: (!queue.is_empty()).then(|| queue.to_owned()),
            reset_retries: matches!(self.reset_retries.as_str(), "on" | "true" | "1"),
        }
    }

    fn requests(&self, state: &AppState, action: &Action) -> Result<Vec<Request>, String> {
        let reason = self.reason.trim();
        if reason.chars().count() > LONGEST_REASON {
            return Err(format!(
                "the reason may have {LONGEST_REASON} characters at most"
            ));
        }
        let queue = match action {
            Action::Requeue(enqueue) | Action::EnqueueNow(enqueue) => enqueue.queue.as_deref(),
            _ => None,
        };
        if let Some(queue) = queue.filter(|queue| !is_queue_name(queue)) {
            return Err(format!(
                "“{queue}” cannot be a queue: Hangfire allows lower-case letters, digits, _ and -"
            ));
        }
        let requests = self.seen()?.into_iter().map(|seen| Request {
            action: action.clone(),
            seen,
            reason: (!reason.is_empty()).then(|| reason.to_owned()),
            actor: state.actor(),
        });
        Ok(requests.collect())
    }

    fn seen(&self) -> Result<Vec<Seen>, String> {
        if self.item.is_empty() {
            return Ok(vec![seen(&self.job, &self.state, &self.state_id)?]);
        }
        if self.item.len() > MOST_ITEMS {
            return Err(format!("at most {MOST_ITEMS} jobs can be acted on at once"));
        }
        let mut all: Vec<Seen> = Vec::with_capacity(self.item.len());
        for item in &self.item {
            let mut parts = item.splitn(3, ':');
            let (Some(job), Some(state_id), Some(state)) =
                (parts.next(), parts.next(), parts.next())
            else {
                return Err(format!("“{item}” is not of the form job:state_id:state"));
            };
            let one = seen(job, state, state_id)?;
            if !all.contains(&one) {
                all.push(one);
            }
        }
        Ok(all)
    }
}

fn seen(job: &str, state: &str, state_id: &str) -> Result<Seen, String> {
    let number = |name: &str, text: &str| {
        text.trim()
            .parse()
            .map_err(|_| format!("“{name}” must be the number that the page named, not “{text}”"))
    };
    let (state, state_id) = (state.trim(), state_id.trim());
    // A job without a state shows none; the action then says why it may not be done.
    let state_id = if state.is_empty() && state_id.is_empty() {
        "0"
    } else {
        state_id
    };
    Ok(Seen {
        job: number("job", job)?,
        state: StateName::parse(state),
        state_id: number("state_id", state_id)?,
    })
}

fn is_queue_name(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
    (1..=100).contains(&name.len()) && name.chars().all(legal)
}

#[cfg(test)]
mod tests;
