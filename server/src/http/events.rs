//! `/s/{source}/events`: what keeps an open page current. A stream is made of the snapshot that
//! the background looks publish, and asks no database: viewers cost no queries.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use app::components::time::machine;
use app::figures::{Collecting, figures};
use app::links::{Shown, Watched};
use app::model::state::ListState;
use axum::extract::{Query, State};
use axum::http::{HeaderName, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::frame::SourceVisit;
use super::state::AppState;
use crate::source::Snapshot;

/// Nothing is sent more often than this.
const PACE: Duration = Duration::from_secs(1);
/// A comment is sent when nothing else was for so long, so that proxies keep the connection.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Proxies that hold answers back until they are whole let this one through.
const UNBUFFERED: (HeaderName, HeaderValue) = (
    HeaderName::from_static("x-accel-buffering"),
    HeaderValue::from_static("no"),
);

/// What the page shows beside the figures.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct EventsQuery {
    list: String,
    since: String,
    job: String,
}

impl EventsQuery {
    /// The list, and what the page knows of it.
    fn read(&self) -> Result<Option<Shown>, String> {
        if self.list.is_empty() {
            return Ok(None);
        }
        let list = if self.list == Watched::ALL {
            let job = id("job", "a job", &self.job)?;
            Watched::All { job }
        } else {
            let state = ListState::from_slug(&self.list)
                .ok_or_else(|| format!("there is no list \u{201c}{}\u{201d}", self.list))?;
            Watched::Of(state)
        };
        let row = id("since", "a state row", &self.since)?;
        Ok(Some(Shown { list, row }))
    }
}

fn id(name: &str, of: &str, text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| {
        format!("\u{201c}{name}\u{201d} must be the id of {of}, not \u{201c}{text}\u{201d}")
    })
}

/// The stream: the first event at once, the next ones when something has changed, until the page
/// is closed or the program stops.
pub async fn stream(
    SourceVisit { visit, source }: SourceVisit,
    State(state): State<AppState>,
    Query(query): Query<EventsQuery>,
) -> Response {
    let shown = match query.read() {
        Ok(shown) => shown,
        Err(why) => return visit.malformed(&why),
    };
    let feed = Feed {
        live: source.live,
        stop: state.stop().clone(),
        shown,
        sent: None,
    };
    let events = stream::unfold(feed, |mut feed| async move {
        let event = feed.next().await?;
        Some((Ok::<_, Infallible>(event), feed))
    });
    let stream = Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT));
    ([UNBUFFERED], stream).into_response()
}

/// One page's stream.
struct Feed {
    live: watch::Receiver<Snapshot>,
    stop: CancellationToken,
    shown: Option<Shown>,
    /// What was sent last, and when.
    sent: Option<(String, Instant)>,
}

impl Feed {
    /// The next event; `None` where there will be none.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((_, at)) = &self.sent {
                let at = *at + PACE;
                let changed = async {
                    let changed = self.live.changed().await;
                    sleep_until(at).await;
                    changed
                };
                tokio::select! {
                    () = self.stop.cancelled() => return None,
                    changed = changed => changed.ok()?,
                }
            }
            if self.stop.is_cancelled() {
                return None;
            }
            let snapshot = self.live.borrow_and_update().clone();
            let data = payload(&snapshot, self.shown).to_string();
            let is_new = self.sent.as_ref().is_none_or(|(sent, _)| *sent != data);
            self.sent = Some((data.clone(), Instant::now()));
            if is_new {
                return Some(Event::default().event("snapshot").data(data));
            }
        }
    }
}

/// What a page is told.
fn payload(snapshot: &Snapshot, shown: Option<Shown>) -> Value {
    let mut named = Map::new();
    for figure in figures(&snapshot.facts()) {
        let (numerator, denominator) = figure.value.parts();
        named.insert(
            figure.name.to_owned(),
            json!({
                "text": figure.text,
                "value": figure.value.number(),
                "numerator": numerator,
                "denominator": denominator,
                "more": figure.more,
                "bad": figure.bad,
                "as_of": figure.as_of.map(machine),
            }),
        );
    }
    let times: BTreeMap<_, _> = snapshot
        .times()
        .into_iter()
        .map(|(name, at)| (name, at.map(machine)))
        .collect();
    let progress = &snapshot.collecting;
    let collecting = Collecting::from(progress);
    let arrivals = progress.arrivals.as_ref();
    let new = arrivals.zip(shown).map(|(arrivals, shown)| {
        let new = arrivals.since(shown);
        json!({ "jobs": new.jobs, "at_least": new.at_least })
    });
    json!({
        "figures": named,
        "times": times,
        "watermark": collecting.watermark,
        "collecting": { "percent": collecting.percent(), "words": collecting.words() },
        "new": new,
        "charts": snapshot.insights.version(),
        "trouble": snapshot.trouble,
    })
}
