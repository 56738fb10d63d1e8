//! `/s/{source}/jobs`: lists of jobs.

use app::components::shell::Section;
use app::links::{Cursor, Order, Place, Shown, Watched};
use app::model::state::ListState;
use app::pages::jobs::{ByChange, JobsPage, Ordering, WhyById, jobs_page, title};
use app::ports::error::StoreError;
use app::ports::failures::{ChangedAnchor, Indexed};
use app::ports::jobs::{Anchor, JobPage};
use axum::http::StatusCode;
use axum::response::Response;
use axum_extra::extract::Query;

use super::super::frame::{SourceVisit, flash};
use super::super::query::{DEFAULT_LIMIT, ListQuery, ListRequest};
use crate::source::Store;

/// A list. A query that runs into its limit costs the rows, not the page.
pub async fn show(
    SourceVisit { visit, source }: SourceVisit,
    Query(query): Query<ListQuery>,
) -> Response {
    let request = match query.read() {
        Ok(request) => request,
        Err(why) => return visit.malformed(&why),
    };
    // What comes after this moment is new to the page, but for what its rows show already.
    let (row, job) = {
        let live = source.live.borrow();
        let arrivals = live.collecting.arrivals.as_ref();
        let job = arrivals.map_or(0, |arrivals| arrivals.newest_job());
        (live.collecting.highest, job)
    };
    let (listed, flash) = tokio::join!(
        list(source.store.as_ref(), &request),
        flash(&source, &query.done),
    );
    let section = Section::Jobs(request.filter.state);
    let status = match &listed.list {
        Ok(_) => StatusCode::OK,
        Err(StoreError::TimedOut(_)) if !visit.wants_json() => StatusCode::GATEWAY_TIMEOUT,
        Err(error) => return visit.failed(section, error),
    };
    let rows = || listed.list.iter().flat_map(|list| &list.rows);
    let row = rows().filter_map(|row| row.state.id).fold(row, i64::max);
    let shown = match request.filter.state {
        Some(state) => Some(Watched::Of(state)),
        None => Some(rows().map(|row| row.id).fold(job, i64::max))
            .filter(|job| *job > 0)
            .map(|job| Watched::All { job }),
    };
    let shown = shown.map(|list| Shown { list, row });
    let page = JobsPage {
        source: visit.chip(&source),
        cursor: listed.cursor,
        limit: (request.limit != DEFAULT_LIMIT).then_some(request.limit),
        asked: request.order,
        ordering: listed.ordering,
        list: listed.list,
        counts: visit.counts(&source),
        queues: source.live.borrow().queues.as_ref().clone(),
        filter: request.filter,
    };
    let title = title(page.filter.state);
    visit
        .with_flash(flash)
        .watching(shown)
        .page(status, title, section, move || jobs_page(page))
}

struct Listed {
    list: Result<JobPage, StoreError>,
    ordering: Ordering,
    cursor: Option<Cursor>,
}

/// In the order of change where that is wanted and to be had, else by id.
async fn list(store: &dyn Store, request: &ListRequest) -> Listed {
    let is_indexed = matches!(
        request.filter.state,
        Some(ListState::Failed | ListState::Retrying)
    );
    let own = request.cursor.map(|cursor| cursor.place().order());
    let wants = request.order.or(own).unwrap_or(if is_indexed {
        Order::Changed
    } else {
        Order::Id
    });
    let why = match wants {
        Order::Id => None,
        Order::Changed if !is_indexed => Some(WhyById::NoIndex),
        Order::Changed => {
            let anchor = changed_anchor(request.cursor);
            match store.changed(&request.filter, anchor, request.limit).await {
                Ok(Indexed::NotReady(why)) => Some(WhyById::NotReady(why)),
                Ok(Indexed::Ready(found)) => {
                    return Listed {
                        list: Ok(found.page),
                        ordering: Ordering::Changed(ByChange {
                            ends: found.ends,
                            matching: found.matching,
                        }),
                        cursor: request.cursor,
                    };
                }
                Err(error) => {
                    return Listed {
                        list: Err(error),
                        ordering: Ordering::Changed(ByChange {
                            ends: None,
                            matching: None,
                        }),
                        cursor: request.cursor,
                    };
                }
            }
        }
    };
    // A place in the order of change says nothing in that of ids.
    let cursor = request
        .cursor
        .filter(|cursor| cursor.place().order() == Order::Id);
    Listed {
        list: store
            .list(&request.filter, id_anchor(cursor), request.limit)
            .await,
        ordering: Ordering::Id(why),
        cursor,
    }
}

fn changed_anchor(cursor: Option<Cursor>) -> ChangedAnchor {
    match cursor {
        Some(Cursor::After(Place::Changed(key))) => ChangedAnchor::OlderThan(key),
        Some(Cursor::Before(Place::Changed(key))) => ChangedAnchor::NewerThan(key),
        _ => ChangedAnchor::Start,
    }
}

fn id_anchor(cursor: Option<Cursor>) -> Anchor {
    match cursor {
        Some(Cursor::After(Place::Id(id))) => Anchor::OlderThan(id),
        Some(Cursor::Before(Place::Id(id))) => Anchor::NewerThan(id),
        _ => Anchor::Start,
    }
}
