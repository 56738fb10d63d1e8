//! `/s/{source}/attempts`: rates, distributions, recovery, delays; each table as CSV too.

mod csv;
mod query;

use app::components::shell::Section;
use app::links::attempts::{AttemptsView, Sheet};
use app::model::collect::position::Position;
use app::model::rates::SLOT_SECONDS;
use app::pages::attempts::{
    AttemptsPage, Collecting, Given, Plan, Rows, attempts_page, not_collected, not_collected_title,
    not_kept,
};
use app::ports::error::StoreError;
use app::ports::insights::InsightStore;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use axum_extra::extract::Query;

use super::super::frame::faults;
use super::super::frame::{SourceVisit, Visit};
use crate::collector::Progress;
use crate::source::SourceHandle;
use query::AttemptsQuery;

/// The page.
pub async fn show(
    SourceVisit { visit, source }: SourceVisit,
    Query(query): Query<AttemptsQuery>,
) -> Response {
    let view = match query.read() {
        Ok(view) => view,
        Err(why) => return visit.malformed(&why),
    };
    let collecting = collecting(&source.live.borrow().collecting);
    let page = match read(&visit, &source, view, collecting.clone()).await {
        Ok(Some(page)) => page,
        Ok(None) => return empty(visit, &source, collecting),
        Err(StoreError::Forbidden(why)) if !visit.wants_json() => {
            let name = source.config.name.clone();
            return visit.page(StatusCode::OK, "Attempts", Section::Attempts, move || {
                not_kept(&name, &why)
            });
        }
        Err(error) => return visit.failed(Section::Attempts, &error),
    };
    let status = match page.error() {
        None => StatusCode::OK,
        Some(error) if visit.wants_json() => return visit.failed(Section::Attempts, error),
        Some(error @ (StoreError::Away(_) | StoreError::Absent(_))) => {
            return visit.failed(Section::Attempts, error);
        }
        Some(error) => faults::words(error).0,
    };
    visit.page(status, "Attempts", Section::Attempts, move || {
        attempts_page(page)
    })
}

/// One table of the page, as CSV.
pub async fn sheet(
    SourceVisit { visit, source }: SourceVisit,
    Path((_, file)): Path<(String, String)>,
    Query(query): Query<AttemptsQuery>,
) -> Response {
    let Some(sheet) = file.strip_suffix(".csv").and_then(Sheet::parse) else {
        return visit.no_such_page(&format!("attempts/{file}"));
    };
    let view = match query.read() {
        Ok(view) => view,
        Err(why) => return visit.malformed(&why),
    };
    let collecting = collecting(&source.live.borrow().collecting);
    let table = match read(&visit, &source, view, collecting.clone()).await {
        Ok(Some(page)) => page.sheet(sheet),
        Ok(None) => return empty(visit, &source, collecting),
        Err(error) => Err(error),
    };
    match table {
        Ok(table) => csv::answer(&source.config.name, sheet.slug(), &table),
        Err(error) => visit.failed(Section::Attempts, &error),
    }
}

/// Nothing was ever counted.
fn empty(visit: Visit, source: &SourceHandle, collecting: Collecting) -> Response {
    let name = source.config.name.clone();
    let title = not_collected_title(&collecting);
    visit.page(StatusCode::OK, title, Section::Attempts, move || {
        not_collected(&name, &collecting)
    })
}

/// Reads all that a view needs, at once; `None` where nothing was ever counted.
async fn read(
    visit: &Visit,
    source: &SourceHandle,
    view: AttemptsView,
    collecting: Collecting,
) -> Result<Option<AttemptsPage>, StoreError> {
    let store: &dyn InsightStore = source.store.as_ref();
    let now = source.now(visit.now());
    let Some(coverage) = store.coverage().await? else {
        return Ok(None);
    };
    if coverage.since.is_none() {
        return Ok(None);
    }
    let plan = Plan::of(&view, now, coverage.since);
    let whole = plan.span.hours();
    let usual_step = whole_slots(plan.usual.to - plan.usual.from);
    let (first, usual, lately, rounds, attempts, recovery, delays, pending, queues) = tokio::join!(
        store.first_attempts(&plan.shown, plan.steps.length),
        store.first_attempts(&plan.usual, usual_step),
        store.first_attempts(&plan.lately, 1),
        store.rounds(&plan.shown, whole),
        store.attempts(&plan.shown),
        store.recovery(&plan.shown),
        store.delays(&plan.shown),
        store.pending(),
        store.counted_queues(),
    );
    Ok(Some(AttemptsPage::new(Given {
        source: visit.chip(source),
        view,
        now,
        coverage,
        collecting,
        queues: queues.unwrap_or_default(),
        plan,
        rows: Rows {
            first,
            usual,
            lately,
            rounds,
            attempts,
            recovery,
            delays,
            pending,
        },
    })))
}

/// So many hours in slots, so that they are one step.
fn whole_slots(hours: i64) -> i64 {
    hours.saturating_mul(app::model::collect::HOUR_SECONDS / SLOT_SECONDS)
}

/// How far the collector has come, as pages say it.
fn collecting(progress: &Progress) -> Collecting {
    Collecting {
        read: progress.position.as_ref().map(watermark),
        highest: progress.highest,
        caught_up: progress.caught_up,
        trouble: progress.trouble.clone(),
    }
}

fn watermark(position: &Position) -> i64 {
    position.watermark
}
