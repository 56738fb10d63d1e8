//! The overview of a source: is it working, what needs somebody.

use std::sync::Arc;

use leptos::prelude::*;

use super::messages::in_place;
use crate::charts::svg;
use crate::components::coverage::{Trust, coverage};
use crate::components::job_rows::{TableOptions, job_table};
use crate::components::message::{Tone, message};
use crate::components::number::{count, thousands};
use crate::components::shell::{CountsView, SourceChip, page_context};
use crate::components::time::kept::ago;
use crate::figures::{COUNTED, Collecting, Facts, hour_words};
use crate::links::SourceLinks;
use crate::model::insights::digest::Digest;
use crate::model::insights::findings::Findings;
use crate::model::insights::forecast::Forecast;
use crate::model::job::Server;
use crate::model::state::{Instant, ListState};
use crate::ports::error::StoreError;
use crate::ports::failures::FailureCauses;
use crate::ports::jobs::JobPage;

mod figures;
mod needs;
mod parts;
mod servers;
#[cfg(test)]
mod tests;

/// What the page shows.
#[derive(Debug)]
pub struct OverviewPage {
    /// The newest failed jobs.
    pub failures: Result<JobPage, StoreError>,
    /// Whether they are those that came last; else those of the highest ids.
    pub by_change: bool,
    /// Everything else.
    pub seen: Seen,
}

/// What the background looks saw, shared by all viewers.
#[derive(Debug)]
pub struct Seen {
    /// The source.
    pub source: SourceChip,
    /// Jobs by state, where they were counted.
    pub counts: Option<CountsView>,
    /// The servers.
    pub servers: Result<Arc<Vec<Server>>, StoreError>,
    /// Stale claims of all tables together, where they were counted.
    pub stale_claims: Option<i64>,
    /// A heartbeat older than this, in milliseconds, means that the server is gone.
    pub gone_ms: i64,
    /// The collector's numbers.
    pub digest: Current<Digest>,
    /// The retries of the next hour.
    pub forecast: Current<Forecast>,
    /// Failed jobs by cause.
    pub causes: Current<FailureCauses>,
    /// Faults that need somebody; `None` before the first round of checks.
    pub findings: Option<Arc<Findings>>,
    /// How far the collector has come.
    pub collecting: Collecting,
    /// Which reading the drawings are made from.
    pub version: Option<Instant>,
}

/// Something that is read in the background.
#[derive(Debug)]
pub struct Current<T> {
    /// What was read; `None` before the first time.
    pub value: Option<Arc<T>>,
    /// When it was last known to be current, by this host's clock.
    pub at: Option<Instant>,
    /// Why it could not be read the last time, in words.
    pub trouble: Option<String>,
}

impl<T> Default for Current<T> {
    fn default() -> Self {
        Self {
            value: None,
            at: None,
            trouble: None,
        }
    }
}

impl Seen {
    fn facts(&self) -> Facts<'_> {
        Facts {
            counts: self.counts.as_ref().map(|counts| &counts.counts),
            digest: self.digest.value.as_deref(),
            collected_at: self.digest.at,
            forecast: self.forecast.value.as_deref(),
            servers: self
                .servers
                .as_ref()
                .map_or(&[], |servers| servers.as_slice()),
            stale_claims: self.stale_claims,
        }
    }
}

/// The page.
pub fn overview_page(page: OverviewPage) -> AnyView {
    let OverviewPage {
        failures,
        by_change,
        seen,
    } = page;
    let links = page_context().links.source(&seen.source.name);
    let needs = needs::needs(&seen, &links);
    view! {
        <div class="page-h">
            <h1>"Overview"</h1>
            <p>{headline(&seen, needs.len())}</p>
            {age(&seen)}
        </div>
        {figures::strip(&seen, &links)}
        {collecting(&seen.collecting)}
        {needs::section(&seen, &needs, &links)}
        {drawings(&seen, &links)}
        <section class="sec" aria-labelledby="newest-h">
            <div class="sec-h">
                <h2 id="newest-h">"Newest failures"</h2>
                <p class="sub">{if by_change { "latest first" } else { "by job id" }}</p>
                <a class="newchip" href=links.overview() data-live-new="new">"+0 new"</a>
                <a class="sec-more" href=links.state(ListState::Failed)>"All failed jobs"</a>
            </div>
            {newest(&failures, by_change, &links)}
        </section>
    }
    .into_any()
}

/// The parts that a page replaces while it is open, alone.
pub fn overview_parts(seen: &Seen) -> AnyView {
    let links = page_context().links.source(&seen.source.name);
    let needs = needs::summary(&needs::needs(seen, &links));
    view! { <div data-needs=needs>{drawings(seen, &links)}</div> }.into_any()
}

fn drawings(seen: &Seen, links: &SourceLinks) -> AnyView {
    let version = seen.version.map(|at| at.to_rfc3339());
    view! {
        <div data-charts=links.charts() data-version=version>
            {svg::hatch()}
            <div class="cols ov-c">
                <div class="c7">{parts::rate(seen, links)}</div>
                <div class="c5">{parts::spread(seen, links)}</div>
            </div>
            <div class="cols ov-3">
                <div class="c4">{parts::due(seen, links)}</div>
                <div class="c4">{parts::finished(seen, links)}</div>
                <div class="c4">{servers::servers(seen, links)}</div>
            </div>
        </div>
    }
    .into_any()
}

fn age(seen: &Seen) -> Option<AnyView> {
    seen.counts.as_ref().map(|counts| {
        let trust = if counts.counts.exact {
            Trust::Exact
        } else {
            Trust::Estimate
        };
        coverage(trust, ago(COUNTED, counts.counts.as_of)).into_any()
    })
}

fn headline(seen: &Seen, needs: usize) -> AnyView {
    let finished = seen.digest.value.as_ref().and_then(|digest| {
        let (hour, spread) = digest.last_hour()?;
        let finished = count(spread.finished(), "job");
        Some(format!("{finished} finished {}. ", hour_words(*hour)))
    });
    let jobs = seen.counts.as_ref().map_or_else(
        || "Jobs are not counted yet. ".to_owned(),
        |counts| {
            format!(
                "{} in the database, {} with a worker. ",
                count(counts.total(), "job"),
                thousands(counts.of(ListState::Processing)),
            )
        },
    );
    let needs = match needs {
        0 => match needs::unanswered(seen) {
            None => "Nothing needs you.".to_owned(),
            Some(unanswered) => format!("Nothing that is known needs you: {unanswered}."),
        },
        1 => "One thing needs you.".to_owned(),
        n => format!("{n} things need you."),
    };
    view! { {jobs} {finished} <b>{needs}</b> }.into_any()
}

/// What the collector is at, where it has not counted everything.
fn collecting(collecting: &Collecting) -> Option<AnyView> {
    let words = collecting.words()?;
    let bar = collecting.percent().map(|percent| {
        view! { <progress max="100" value=percent.to_string() aria-label="History read"></progress> }
    });
    Some(
        view! {
            <p class="collecting" data-live-collecting="">
                {bar} <span>{words}</span>
            </p>
        }
        .into_any(),
    )
}

fn newest(failures: &Result<JobPage, StoreError>, by_change: bool, links: &SourceLinks) -> AnyView {
    match failures {
        Ok(list) if list.rows.is_empty() => message(
            Tone::Good,
            "s-succeeded",
            "Nothing rests in Failed",
            "The failed list was read just now and is empty.",
            Vec::new(),
        )
        .into_any(),
        Ok(list) => {
            let options = TableOptions {
                state: Some(ListState::Failed),
                caption: "Newest failed jobs".to_owned(),
                tick: false,
                by_change,
            };
            job_table(&list.rows, links, &options)
        }
        Err(cause) => in_place(cause),
    }
}
