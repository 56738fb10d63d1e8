//! A visit: who asks for what, and the frame around the answer.

use std::convert::Infallible;

use app::actions::{Action, Outcome, Seen};
use app::components::shell::flash::Flash;
use app::components::shell::{Chrome, CountsView, Env, Section, SourceChip};
use app::links::{Links, Shown};
use app::model::state::Instant;
use app::pages::document::{self, PageContext};
use app::pages::messages;
use app::ports::error::StoreError;
use app::ports::source::{Access, NumbersIn, SourceInfo};
use axum::Json;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use leptos::prelude::AnyView;
use serde_json::json;
use uuid::Uuid;

use super::security::Nonce;
use super::state::AppState;
use crate::config::Environment;
use crate::source::{Snapshot, SourceHandle};

mod claims;
pub mod faults;

/// Outcomes that a page reports at most: as many as one request may act on.
const MOST_REPORTED: usize = 100;

/// One request, as far as its answer depends on it.
pub struct Visit {
    state: AppState,
    nonce: String,
    json: bool,
    source: Option<SourceHandle>,
    flash: Option<Flash>,
    watched: Option<Shown>,
    now: Instant,
}

impl FromRequestParts<AppState> for Visit {
    type Rejection = Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &AppState,
    ) -> Result<Self, Self::Rejection> {
        let nonce = parts.extensions.get::<Nonce>().map(|nonce| nonce.0.clone());
        let accept = parts
            .headers
            .get(header::ACCEPT)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let json = accept.contains("application/json") && !accept.contains("text/html");
        Ok(Self {
            state: state.clone(),
            nonce: nonce.unwrap_or_default(),
            json,
            source: None,
            flash: None,
            watched: None,
            now: state.clock().now(),
        })
    }
}

/// A visit to a page of a source: `/s/{source}/...`. An unknown source is answered at once.
pub struct SourceVisit {
    /// The visit.
    pub visit: Visit,
    /// The source.
    pub source: SourceHandle,
}

impl FromRequestParts<AppState> for SourceVisit {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &AppState,
    ) -> Result<Self, Self::Rejection> {
        let Ok(visit) = Visit::from_request_parts(parts, state).await;
        let name = match RawPathParams::from_request_parts(parts, state).await {
            Ok(params) => params
                .iter()
                .find(|(key, _)| *key == "source")
                .map(|(_, value)| value.to_owned())
                .unwrap_or_default(),
            Err(_) => String::new(),
        };
        match state.source(&name).cloned() {
            Some(source) => Ok(Self {
                visit: visit.of(&source),
                source,
            }),
            None => Err(visit.no_such_source(&name)),
        }
    }
}

impl Visit {
    /// The visit is about this source.
    #[must_use]
    pub fn of(mut self, source: &SourceHandle) -> Self {
        self.source = Some(source.clone());
        self
    }

    /// The page reports this outcome.
    #[must_use]
    pub fn with_flash(mut self, flash: Option<Flash>) -> Self {
        self.flash = flash;
        self
    }

    /// The page shows this list.
    #[must_use]
    pub fn watching(mut self, shown: Option<Shown>) -> Self {
        self.watched = shown;
        self
    }

    /// Makes URLs.
    pub fn links(&self) -> &Links {
        self.state.links()
    }

    /// The moment of the visit.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Whether the answer is for a program.
    pub fn wants_json(&self) -> bool {
        self.json
    }

    /// Why nothing can be changed in the source; `None` where it can.
    pub fn read_only(&self) -> Option<String> {
        self.source
            .as_ref()
            .and_then(|source| read_only(source, &source.live.borrow()))
    }

    /// What the pieces of a page need to know of the page they stand on.
    pub fn context(&self) -> PageContext {
        PageContext {
            links: self.state.links().clone(),
            sprite: self.state.assets().sprite.as_str().into(),
            now: self.now,
        }
    }

    /// The source as pages show it.
    pub fn chip(&self, source: &SourceHandle) -> SourceChip {
        chip(source, &source.live.borrow())
    }

    /// The source's jobs by state, where they were counted.
    pub fn counts(&self, source: &SourceHandle) -> Option<CountsView> {
        counts(&source.live.borrow(), self.now)
    }

    /// A page.
    pub fn page(
        self,
        status: StatusCode,
        title: &str,
        section: Section,
        view: impl FnOnce() -> AnyView,
    ) -> Response {
        self.answer(status, title, section, None, view)
    }

    /// There is no source of that name.
    pub fn no_such_source(self, name: &str) -> Response {
        let names: Vec<_> = self
            .state
            .sources()
            .iter()
            .map(|source| source.config.name.clone())
            .collect();
        let message = format!(
            "there is no source “{name}”; there are: {}",
            names.join(", ")
        );
        if self.json {
            return error(StatusCode::NOT_FOUND, "unknown_source", &message);
        }
        let chips = self.chips();
        let name = name.to_owned();
        self.answer(
            StatusCode::NOT_FOUND,
            "No such source",
            Section::None,
            None,
            move || messages::no_such_source(&name, &chips),
        )
    }

    /// There is no such page.
    pub fn no_such_page(self, path: &str) -> Response {
        if self.json {
            return error(StatusCode::NOT_FOUND, "not_found", "there is no such page");
        }
        let path = path.to_owned();
        self.answer(
            StatusCode::NOT_FOUND,
            "No such page",
            Section::None,
            None,
            move || messages::no_such_page(&path),
        )
    }

    /// There is no such job; with the nearest ones that exist.
    pub fn no_such_job(self, text: &str, older: Option<i64>, newer: Option<i64>) -> Response {
        if self.json {
            let message = format!("there is no job {text}");
            return error(StatusCode::NOT_FOUND, "unknown_job", &message);
        }
        let text = text.to_owned();
        let source = self.source_name();
        self.answer(
            StatusCode::NOT_FOUND,
            "No such job",
            Section::Jobs(None),
            None,
            move || messages::no_such_job(&source, &text, older, newer),
        )
    }

    /// The job has no failure of that id, or it keeps no trace.
    pub fn no_such_trace(self, job: i64, state: i64) -> Response {
        let why = format!(
            "Job {job} has no stack trace at state row {state}: the job, the row or its details \
             are not there."
        );
        if self.json {
            return error(StatusCode::NOT_FOUND, "unknown_trace", &why);
        }
        self.answer(
            StatusCode::NOT_FOUND,
            "No such trace",
            Section::None,
            None,
            move || messages::no_such_thing("There is no such stack trace", &why),
        )
    }

    /// The request cannot be meant.
    pub fn malformed(self, why: &str) -> Response {
        if self.json {
            return error(StatusCode::BAD_REQUEST, "malformed", why);
        }
        let why = why.to_owned();
        self.answer(
            StatusCode::BAD_REQUEST,
            "Not understood",
            Section::None,
            None,
            move || messages::malformed(&why),
        )
    }

    /// The request came from another site.
    pub fn cross_site(self) -> Response {
        let why = "This request was made by another site's page, or a proxy in between does not \
                   pass the Host header on unchanged. Nothing was changed.";
        if self.json {
            return error(StatusCode::FORBIDDEN, "cross_site", why);
        }
        self.answer(
            StatusCode::FORBIDDEN,
            "Refused",
            Section::None,
            None,
            move || messages::refused(why),
        )
    }

    /// Outcomes of actions that left no audit row, on a page of their own.
    pub fn outcomes(
        self,
        status: StatusCode,
        action: &Action,
        outcomes: Vec<(Seen, Result<Outcome, StoreError>)>,
    ) -> Response {
        let (action, source) = (action.clone(), self.source_name());
        let title = action.label();
        self.answer(status, title, Section::None, None, move || {
            messages::outcomes(&source, &action, &outcomes)
        })
    }

    fn source_name(&self) -> String {
        self.source
            .as_ref()
            .map(|source| source.config.name.clone())
            .unwrap_or_default()
    }

    fn chips(&self) -> Vec<SourceChip> {
        self.state
            .sources()
            .iter()
            .map(|source| chip(source, &source.live.borrow()))
            .collect()
    }

    fn answer(
        self,
        status: StatusCode,
        title: &str,
        section: Section,
        refresh: Option<u32>,
        view: impl FnOnce() -> AnyView,
    ) -> Response {
        let snapshot = self
            .source
            .as_ref()
            .map(|source| source.live.borrow().clone());
        let chrome = Chrome {
            links: self.state.links().clone(),
            assets: self.state.assets().clone(),
            nonce: self.nonce.clone(),
            title: title.to_owned(),
            section,
            source: self
                .source
                .as_ref()
                .zip(snapshot.as_ref())
                .map(|(source, snapshot)| chip(source, snapshot)),
            sources: self.chips(),
            counts: snapshot
                .as_ref()
                .and_then(|snapshot| counts(snapshot, self.now)),
            stale_claims: self.source.as_ref().and_then(SourceHandle::stale_claims),
            first_attempt: snapshot
                .as_ref()
                .and_then(|snapshot| snapshot.insights.digest.value.as_ref())
                .map(|digest| digest.first.day),
            foot: snapshot.as_ref().map(foot).unwrap_or_default(),
            actor: self.state.actor(),
            now: self.now,
            events: self.source.as_ref().map(|source| {
                let links = self.state.links().source(&source.config.name);
                links.events(self.watched)
            }),
            demo: self
                .source
                .as_ref()
                .and_then(|source| source.demo.borrow().clone()),
            flash: self.flash,
        };
        let mut response = (status, Html(document::render(chrome, view))).into_response();
        if let Some(seconds) = refresh {
            // Browsers then ask for the page again by themselves, scripts or not.
            response
                .headers_mut()
                .insert(header::REFRESH, seconds.into());
        }
        response
    }
}

/// An error for programs.
fn error(status: StatusCode, word: &str, message: &str) -> Response {
    (status, Json(json!({ "error": word, "message": message }))).into_response()
}

/// What the audit says of the actions that led here, by the ids in the URL.
pub async fn flash(source: &SourceHandle, done: &[String]) -> Option<Flash> {
    let ids: Vec<Uuid> = done
        .iter()
        .filter_map(|id| Uuid::parse_str(id).ok())
        .collect();
    let first = ids.first()?;
    let reported = ids.get(..MOST_REPORTED).unwrap_or(&ids);
    let mut rows = source.store.audit_rows(reported).await.unwrap_or_default();
    match (rows.len(), first) {
        (0, id) => Some(Flash::Missing(*id)),
        (1, _) => rows.pop().map(|row| Flash::Known(Box::new(row))),
        _ => Some(Flash::Several(rows)),
    }
}

/// The counts of a snapshot, with their age.
fn counts(snapshot: &Snapshot, now: Instant) -> Option<CountsView> {
    snapshot.counts.as_ref().map(|counts| CountsView {
        age_ms: (now - counts.as_of).num_milliseconds().max(0),
        counts: counts.as_ref().clone(),
    })
}

fn chip(source: &SourceHandle, snapshot: &Snapshot) -> SourceChip {
    let config = &source.config;
    SourceChip {
        name: config.name.clone(),
        label: config.label().to_owned(),
        env: match config.environment {
            Environment::Prod => Env::Prod,
            Environment::Staging => Env::Staging,
            Environment::Dev => Env::Dev,
        },
        dialect: if config.is_postgres() {
            "PostgreSQL"
        } else {
            "SQLite"
        }
        .to_owned(),
        read_only: read_only(source, snapshot),
    }
}

fn read_only(source: &SourceHandle, snapshot: &Snapshot) -> Option<String> {
    if source.config.read_only {
        return Some("It is configured as read-only.".to_owned());
    }
    match snapshot.info.as_deref()?.access {
        Access::ReadWrite => None,
        Access::ReadOnly { ref why, .. } => Some(why.clone()),
    }
}

/// What the foot of the navigation says of the database.
fn foot(snapshot: &Snapshot) -> Vec<String> {
    let Some(SourceInfo {
        dialect,
        server_version,
        schema_version,
        clock_skew_ms,
        numbers,
        ..
    }) = snapshot.info.as_deref()
    else {
        return snapshot.trouble.iter().cloned().collect();
    };
    let system = format!("{} {server_version}", dialect.label());
    let mut lines = vec![match schema_version {
        Some(version) => format!("{system}, schema {version}"),
        None => system,
    }];
    if matches!(numbers, NumbersIn::File(_)) {
        lines.push("its numbers go to a file of Redrive's host".to_owned());
    }
    if clock_skew_ms.abs() >= 1_000 {
        let seconds = clock_skew_ms.abs() / 1_000;
        let which = if *clock_skew_ms > 0 {
            "ahead of"
        } else {
            "behind"
        };
        lines.push(format!("its clock is {seconds} s {which} this host's"));
    }
    lines
}
