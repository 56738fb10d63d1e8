//! Saying what became of an action: JSON to programs, a page to browsers.

use app::actions::{Action, Outcome, Seen};
use app::links::Links;
use app::ports::error::StoreError;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::frame::{Visit, faults};
use crate::source::SourceHandle;

/// One action that was tried.
pub(super) struct Acted {
    pub(super) audit: Uuid,
    pub(super) seen: Seen,
    /// What became of it; an error where the store could not say, and nothing was changed.
    pub(super) outcome: Result<Outcome, StoreError>,
}

/// Programs get JSON. Browsers are sent back to the page they came from, with the ids of the audit
/// rows from which that page names the outcomes. An outcome that left no audit row (a read-only
/// source has none) is named on a page of its own. Where nothing could be asked of the database,
/// the answer is its error.
pub(super) async fn answer(
    visit: Visit,
    source: &SourceHandle,
    action: &Action,
    acted: &[Acted],
    several: bool,
    back: &str,
) -> Response {
    if let Some(cause) = all_failed(acted) {
        let jobs: Vec<_> = acted.iter().map(|one| one.seen.job).collect();
        return visit.not_acted(action, &jobs, cause);
    }
    let status = match acted {
        [one] if !several => one.outcome.as_ref().map_or(StatusCode::OK, status),
        _ => StatusCode::OK,
    };
    if visit.wants_json() {
        let body = match acted {
            [one] if !several => to_json(one),
            all => Value::Array(all.iter().map(to_json).collect()),
        };
        return (status, Json(body)).into_response();
    }
    let audits: Vec<Uuid> = acted.iter().map(|one| one.audit).collect();
    let failed = acted.iter().any(|one| one.outcome.is_err());
    if failed || !all_recorded(source, &audits).await {
        let outcomes = acted
            .iter()
            .map(|one| (one.seen.clone(), one.outcome.clone()))
            .collect();
        return visit.outcomes(status, action, outcomes);
    }
    let links = visit.links();
    see_other(
        return_page(links, &source.config.name, acted, several, back),
        &audits,
    )
}

/// Sends the browser to a page, which names the outcomes by these audit rows.
pub(super) fn see_other(page: String, audits: &[Uuid]) -> Response {
    let mut location = page;
    for audit in audits {
        location.push(if location.contains('?') { '&' } else { '?' });
        location.push_str("done=");
        location.push_str(&audit.simple().to_string());
    }
    match HeaderValue::from_str(&location) {
        Ok(location) => (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response(),
        Err(_) => StatusCode::NO_CONTENT.into_response(),
    }
}

/// Why the store could act on none of the jobs; `None` where it could on some.
fn all_failed(acted: &[Acted]) -> Option<&StoreError> {
    let (first, rest) = acted.split_first()?;
    let cause = first.outcome.as_ref().err()?;
    rest.iter().all(|one| one.outcome.is_err()).then_some(cause)
}

/// Whether the audit has a row of each.
pub(super) async fn all_recorded(source: &SourceHandle, audits: &[Uuid]) -> bool {
    let rows = source.store.audit_rows(audits).await;
    rows.is_ok_and(|rows| rows.len() == audits.len())
}

/// The page that the form names, if it is one of this source; else the job's, or the list.
fn return_page(links: &Links, source: &str, acted: &[Acted], several: bool, back: &str) -> String {
    page_of(links, source, back).unwrap_or_else(|| match acted {
        [one] if !several => links.source(source).job(one.seen.job),
        _ => links
            .source(source)
            .jobs(&app::ports::jobs::JobFilter::default(), None, None),
    })
}

/// The page that a form names, if it is one of this source.
pub(super) fn page_of(links: &Links, source: &str, back: &str) -> Option<String> {
    let own = format!("{}/", links.source(source).overview());
    let safe = back.starts_with(&own)
        && !back.contains("//")
        && back
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'\\' && byte != b'#');
    safe.then(|| without_done(back))
}

/// Outcomes of earlier actions are not named again.
fn without_done(url: &str) -> String {
    let Some((path, query)) = url.split_once('?') else {
        return url.to_owned();
    };
    let kept: Vec<_> = query
        .split('&')
        .filter(|pair| !pair.starts_with("done="))
        .collect();
    if kept.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{}", kept.join("&"))
    }
}

fn status(outcome: &Outcome) -> StatusCode {
    match outcome {
        Outcome::Done { .. } => StatusCode::OK,
        Outcome::Moved { .. } | Outcome::Busy { .. } => StatusCode::CONFLICT,
        Outcome::Gone => StatusCode::NOT_FOUND,
        Outcome::Refused { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        Outcome::Unknown { .. } => StatusCode::SERVICE_UNAVAILABLE,
    }
}

fn to_json(acted: &Acted) -> Value {
    let outcome = match &acted.outcome {
        Ok(outcome) => outcome,
        Err(cause) => {
            let (_, word) = faults::words(cause);
            return json!({
                "error": word,
                "message": format!("nothing was changed: {cause}"),
                "job": acted.seen.job,
            });
        }
    };
    let mut body = json!({
        "outcome": outcome.slug(),
        "job": acted.seen.job,
        "audit": acted.audit.to_string(),
    });
    let more = match outcome {
        Outcome::Done {
            state,
            state_id,
            notes,
        } => {
            json!({ "state": state.as_str(), "state_id": state_id, "notes": notes })
        }
        Outcome::Moved { from, to, at, why } => json!({
            "from": from.as_str(),
            "to": to.as_ref().map(app::model::state::StateName::as_str),
            "at": at,
            "why": why,
        }),
        Outcome::Gone => json!({}),
        Outcome::Busy { since, why } => json!({ "since": since, "why": why }),
        Outcome::Refused { why } | Outcome::Unknown { why } => json!({ "why": why }),
    };
    if let (Value::Object(body), Value::Object(more)) = (&mut body, more) {
        body.extend(more);
    }
    body
}

#[cfg(test)]
mod tests {
    use app::model::state::StateName;

    use super::*;

    fn acted(outcome: Outcome) -> Acted {
        let seen = Seen {
            job: 42,
            state: StateName::Failed,
            state_id: 9,
        };
        Acted {
            audit: Uuid::nil(),
            seen,
            outcome: Ok(outcome),
        }
    }

    #[test]
    fn the_answer_of_a_done_action_is_the_documented_one() {
        let done = Outcome::Done {
            state: StateName::Enqueued,
            state_id: 977,
            notes: Vec::new(),
        };
        let body = to_json(&acted(done));
        assert_eq!(body["outcome"], "done");
        assert_eq!((&body["job"], &body["state_id"]), (&json!(42), &json!(977)));
        assert_eq!(body["state"], "Enqueued");
    }

    #[test]
    fn what_never_began_says_so_beside_what_is_done() {
        let away = Acted {
            outcome: Err(StoreError::Away("cut".into())),
            ..acted(Outcome::Gone)
        };
        assert_eq!(
            to_json(&away),
            json!({
                "error": "database_away",
                "message": "nothing was changed: the database does not answer: cut",
                "job": 42,
            })
        );
        let cause = StoreError::Away("cut".into());
        let both = [acted(Outcome::Gone), away];
        assert_eq!(all_failed(&both), None);
        assert_eq!(all_failed(&both[1..]), Some(&cause));
    }

    #[test]
    fn a_form_cannot_send_the_browser_elsewhere() {
        let links = Links::new("/ops");
        let gone = [acted(Outcome::Gone)];
        let page = |back: &str| return_page(&links, "prod", &gone, false, back);
        assert_eq!(
            page("/ops/s/prod/jobs?state=failed"),
            "/ops/s/prod/jobs?state=failed"
        );
        assert_eq!(
            page("/ops/s/prod/jobs?state=failed&done=1"),
            "/ops/s/prod/jobs?state=failed"
        );
        for evil in [
            "https://evil.example/",
            "//evil.example/s/prod/",
            "/ops/s/other/jobs",
            "/ops/s/prod//evil.example",
            "/ops/s/prod/\\evil",
            "/ops/s/prod/a\r\nX: y",
            "",
        ] {
            assert_eq!(page(evil), "/ops/s/prod/jobs/42", "{evil:?}");
        }
    }
}
