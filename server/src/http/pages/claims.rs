//! `/s/{source}/claims`: claims with what is known of them.

use app::components::shell::Section;
use app::links::claims::{ClaimCursor, ClaimList, ClaimsView, parse_cutoff};
use app::model::claim::table::{ClaimsTable, Shape};
use app::model::state::Instant;
use app::pages::claims::{
    ClaimRows, ClaimsPage, FiguresView, LastPurge, TableView, claims_page, title,
};
use app::ports::claims::{ClaimAnchor, Wanted};
use app::ports::error::StoreError;
use app::ports::source::Dialect;
use axum::http::StatusCode;
use axum::response::Response;
use axum_extra::extract::Query;
use serde::Deserialize;

use super::super::frame::faults;
use super::super::frame::{SourceVisit, Visit, flash};
use super::super::query::{MAX_LIMIT, number};
use super::judged::Judging;
use crate::source::SourceHandle;
use crate::source::claims::look::Watched;

/// Rows on a page unless the URL says otherwise: each carries its evidence and a dialog, so that
/// one weighs as much as two of a list of jobs.
const ROWS: u32 = 25;

/// What the URL may say. Empty values count as missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ClaimsQuery {
    status: String,
    #[serde(alias = "claims")]
    table: String,
    cutoff: String,
    key: Option<String>,
    limit: String,
    after: String,
    before: String,
    done: Vec<String>,
}

/// Where a page lies in which view.
struct Asked {
    view: ClaimsView,
    cursor: Option<ClaimCursor>,
    limit: u32,
}

impl ClaimsQuery {
    fn read(&self) -> Result<Asked, String> {
        let list = match self.status.trim() {
            "" => ClaimList::default(),
            text => ClaimList::parse(text).ok_or_else(|| {
                let known: Vec<_> = ClaimList::ALL.iter().map(|list| list.slug()).collect();
                format!("there is no list “{text}”; there are {}", known.join(", "))
            })?,
        };
        let cutoff_ms = match self.cutoff.trim() {
            "" => None,
            text => Some(parse_cutoff(text).ok_or_else(|| {
                format!(
                    "“cutoff” must be a duration between a second and ten years, such as 90s, \
                     10min, 2h or 30d, not “{text}”"
                )
            })?),
        };
        let limit = number("limit", &self.limit)?;
        if limit.is_some_and(|limit| !(1..=MAX_LIMIT).contains(&limit)) {
            return Err(format!("“limit” may be 1 to {MAX_LIMIT}"));
        }
        let table = self.table.trim();
        let view = ClaimsView {
            list,
            table: (!table.is_empty()).then(|| table.to_owned()),
            cutoff_ms,
            key: self.key.clone(),
            limit: limit.filter(|limit| *limit != ROWS),
        };
        let cursor = match (self.after.as_str(), self.before.as_str()) {
            ("", "") => None,
            (after, "") => Some(ClaimCursor::after(after, &view)),
            ("", before) => Some(ClaimCursor::before(before, &view)),
            _ => return Err("give “after” or “before”, not both".to_owned()),
        };
        let cursor = cursor
            .transpose()
            .map_err(|error| format!("{error}: start from the first page"))?;
        Ok(Asked {
            view,
            cursor,
            limit: limit.unwrap_or(ROWS),
        })
    }
}

/// The claims of a table.
pub async fn show(
    SourceVisit { visit, source }: SourceVisit,
    Query(query): Query<ClaimsQuery>,
) -> Response {
    let asked = match query.read() {
        Ok(asked) => asked,
        Err(why) => return visit.malformed(&why),
    };
    let watched = match source.claims_tables().await {
        Ok(watched) => watched,
        Err(error) => return visit.failed(Section::Claims, &error),
    };
    let chosen = match &asked.view.table {
        None => 0,
        Some(name) => match watched.iter().position(|seen| seen.table.name == *name) {
            Some(chosen) => chosen,
            None => return visit.no_such_claims(name, &names(&watched)),
        },
    };
    let (list, flash) = tokio::join!(
        async {
            match watched.get(chosen).map(|seen| (&seen.table, &seen.shape)) {
                None => Ok(ClaimRows::default()),
                Some((_, Err(why))) => Err(StoreError::Unreadable(why.clone())),
                Some((table, Ok(shape))) => rows(&visit, &source, table, shape, &asked).await,
            }
        },
        flash(&source, &query.done),
    );
    let status = match &list {
        Ok(_) => StatusCode::OK,
        Err(error @ (StoreError::Away(_) | StoreError::Absent(_))) => {
            return visit.failed(Section::Claims, error);
        }
        Err(error) if visit.wants_json() => return visit.failed(Section::Claims, error),
        Err(error) => faults::words(error).0,
    };
    let now = source.now(visit.now());
    let page = ClaimsPage {
        source: visit.chip(&source),
        dialect: dialect(&source),
        tables: watched
            .iter()
            .map(|seen| {
                let last_purge = source.claims.last_purge(&seen.table.name);
                table_view(now, seen, last_purge)
            })
            .collect(),
        chosen,
        view: asked.view,
        cursor: asked.cursor,
        list,
        search: source.claims.why_not_all(),
    };
    let title = title(&page.view);
    visit
        .with_flash(flash)
        .page(status, &title, Section::Claims, move || claims_page(page))
}

async fn rows(
    visit: &Visit,
    source: &SourceHandle,
    table: &ClaimsTable,
    shape: &Shape,
    asked: &Asked,
) -> Result<ClaimRows, StoreError> {
    let (now, cutoff_ms) = (
        source.now(visit.now()),
        asked.view.cutoff_ms.unwrap_or(table.cutoff_ms),
    );
    let wanted = match &asked.view.key {
        Some(key) => Wanted::Key(key.clone()),
        None => Wanted::Page {
            filter: asked.view.list.filter(now, cutoff_ms),
            anchor: asked
                .cursor
                .clone()
                .map_or(ClaimAnchor::Start, ClaimCursor::anchor),
            limit: asked.limit,
        },
    };
    let (page, judging) = Judging::with_claims(visit, source, shape, &wanted, now).await?;
    Ok(ClaimRows {
        rows: page
            .rows
            .into_iter()
            .map(|claim| judging.claim(claim, cutoff_ms))
            .collect(),
        has_before: page.has_before,
        has_after: page.has_after,
    })
}

fn names(watched: &[Watched]) -> Vec<String> {
    watched.iter().map(|seen| seen.table.name.clone()).collect()
}

fn dialect(source: &SourceHandle) -> Dialect {
    if source.config.is_postgres() {
        Dialect::Postgres
    } else {
        Dialect::Sqlite
    }
}

fn table_view(now: Instant, seen: &Watched, last_purge: Option<LastPurge>) -> TableView {
    TableView {
        table: seen.table.clone(),
        shape: seen
            .shape
            .as_ref()
            .map(|shape| shape.as_ref().clone())
            .map_err(String::clone),
        figures: match &seen.figures {
            None => FiguresView::NotYet,
            Some(Err(why)) => FiguresView::Failed(why.clone()),
            Some(Ok(figures)) => FiguresView::Counted {
                age_ms: (now - figures.as_of).num_milliseconds().max(0),
                figures: figures.clone(),
            },
        },
        last_purge,
    }
}
