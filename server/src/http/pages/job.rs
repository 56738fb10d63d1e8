//! `/s/{source}/jobs/{id}`: one job.

use app::actions::found::Limits;
use app::components::shell::Section;
use app::model::job::JobRecord;
use app::model::state::StateName;
use app::pages::job::{Given, JobPage, job_page, parent_of};
use app::ports::error::StoreError;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use axum_extra::extract::Query;
use chrono::TimeDelta;
use serde::Deserialize;

use super::super::frame::{SourceVisit, flash};
use super::judged;
use crate::source::SourceHandle;

/// State rows that a page shows at most; older ones are a link away.
const STATES: u32 = 200;
/// Lines of the audit that a page shows.
const AUDIT: u32 = 50;

/// What the URL may say.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct JobQuery {
    history_before: Option<String>,
    done: Vec<String>,
}

/// One job whole.
pub async fn show(
    SourceVisit { visit, source }: SourceVisit,
    Path((_, text)): Path<(String, String)>,
    Query(query): Query<JobQuery>,
) -> Response {
    let section = Section::Jobs(None);
    let Ok(id) = text.parse::<i64>() else {
        return visit.no_such_job(&text, None, None);
    };
    let before = match query.history_before.as_deref().map(str::parse::<i64>) {
        None => None,
        Some(Ok(before)) => Some(before),
        Some(Err(_)) => return visit.malformed("“history_before” must be the id of a state row"),
    };
    let store = &source.store;
    let (record, neighbours, audit, older, flash) = tokio::join!(
        store.job(id, STATES),
        store.neighbours(id),
        store.audit(Some(id), None, AUDIT),
        async {
            match before {
                Some(before) => store.states_before(id, before, STATES).await.map(Some),
                None => Ok(None),
            }
        },
        flash(&source, &query.done),
    );
    let neighbours = neighbours.unwrap_or_default();
    let visit = visit.with_flash(flash);
    let record = match record {
        Ok(Some(record)) => record,
        Ok(None) => return visit.no_such_job(&text, neighbours.0, neighbours.1),
        Err(error) => return visit.failed(section, &error),
    };
    let (older, parent_state) = match (older, parent_state(&source, &record).await) {
        (Ok(older), Ok(parent_state)) => (older, parent_state),
        (Err(error), _) | (_, Err(error)) => return visit.failed(section, &error),
    };
    let claims = judged::of_job(&visit, &source, &record.invocation).await;
    let snapshot = source.live.borrow().clone();
    let skew = snapshot.info.as_ref().map_or(0, |info| info.clock_skew_ms);
    let page = JobPage::new(Given {
        links: visit.links().clone(),
        source: source.config.name.clone(),
        record,
        recent_delays: snapshot.delays.clone(),
        servers: snapshot.servers.as_ref().clone(),
        queues: snapshot.queues.as_ref().clone(),
        audit: audit.unwrap_or_default(),
        read_only: visit.read_only(),
        limits: Limits::default(),
        parent_state,
        neighbours,
        older: before.zip(older),
        claims,
        now: visit.now() + TimeDelta::milliseconds(skew),
    });
    let title = page.title();
    let section = Section::Jobs(page.list());
    visit.page(StatusCode::OK, &title, section, move || job_page(page))
}

/// The state of the job that this one waits for.
async fn parent_state(
    source: &SourceHandle,
    record: &JobRecord,
) -> Result<Option<StateName>, StoreError> {
    match parent_of(record) {
        Some(parent) => Ok(source
            .store
            .job(parent, 1)
            .await?
            .and_then(|job| job.state.name)),
        None => Ok(None),
    }
}
