//! Attempts: which job type lost ground, how many tries each takes, which exceptions are worth
//! retrying, what fewer retries would cost, and whether delays fit their policy.

mod exceptions;
mod fewer;
mod fits;
mod head;
mod kinds;
mod messages;
mod multiples;
mod rate;
mod scope;
pub mod sheet;
#[cfg(test)]
mod tests;
mod times;
mod words;

use leptos::prelude::*;

use crate::charts::svg::hatch;
use crate::components::coverage::{Trust, coverage};
use crate::components::relative;
use crate::components::shell::{SourceChip, page_context};
use crate::links::SourceLinks;
use crate::links::attempts::{AttemptsView, Sheet};
use crate::model::insights::fewer::Fewer;
use crate::model::insights::fit::{PolicyFit, fits};
use crate::model::insights::kinds::{Given as KindRows, Kinds};
use crate::model::insights::recovery::{self, ExceptionNumbers};
use crate::model::insights::span::{SLOTS_AN_HOUR, Span, Steps, USUAL_HOURS, hour_start};
use crate::model::insights::times::{self as percentiles, Times};
use crate::model::insights::{
    AttemptsRow, Coverage, DelaysRow, FirstAttemptsRow, JobKind, Pending, RecoveryRow, RoundsRow,
    Scope,
};
use crate::model::rates::slot;
use crate::model::state::Instant;
use crate::ports::error::StoreError;

/// Steps of the rate over time, at most.
const STEPS: i64 = 48;
/// A fall is told from so many hours: the window of a day at most, the week before it, and half an
/// hour for which it must hold.
const FALL_HOURS: i64 = USUAL_HOURS + 24 + 1;

/// How far the collector has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collecting {
    /// The highest id of a state row that is counted; `None` before the first look, and while
    /// another process collects.
    pub read: Option<i64>,
    /// The highest id in the table.
    pub highest: i64,
    /// Whether all that could be seen is counted.
    pub caught_up: bool,
    /// Why it stands still, in words.
    pub trouble: Option<String>,
}

/// What must be read for a page, made of its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The hours that are shown.
    pub span: Span,
    /// How they are cut.
    pub steps: Steps,
    /// The slot at whose end a fall is looked for.
    pub at_slot: i64,
    /// The scope of the hours that are shown.
    pub shown: Scope,
    /// The scope of what is usual.
    pub usual: Scope,
    /// The scope that a fall is told from.
    pub lately: Scope,
}

impl Plan {
    /// What a view needs; `since` is the first hour of which anything is counted.
    pub fn of(view: &AttemptsView, now: Instant, since: Option<i64>) -> Self {
        let span = view.asked.span(now, since);
        let steps = span.steps(STEPS);
        let last = span.to.saturating_mul(SLOTS_AN_HOUR).saturating_sub(1);
        let at_slot = slot(now).min(last);
        let end = at_slot.div_euclid(SLOTS_AN_HOUR).saturating_add(1);
        let scope = |from: i64, to: i64| Scope {
            from,
            to,
            job_type: view.job_type.clone(),
            method: view.method.clone(),
            queue: view.queue.clone(),
        };
        let usual = span.usual();
        Self {
            span,
            steps,
            at_slot,
            shown: scope(span.from, span.to),
            usual: scope(usual.from, usual.to),
            lately: scope(end.saturating_sub(FALL_HOURS), end),
        }
    }
}

/// Rows as the port answers them.
#[derive(Debug)]
pub struct Rows {
    /// First attempts of [`Plan::shown`], by [`Plan::steps`].
    pub first: Result<Vec<FirstAttemptsRow>, StoreError>,
    /// First attempts of [`Plan::usual`], in one step.
    pub usual: Result<Vec<FirstAttemptsRow>, StoreError>,
    /// First attempts of [`Plan::lately`], by slot.
    pub lately: Result<Vec<FirstAttemptsRow>, StoreError>,
    /// Finished rounds, in one step.
    pub rounds: Result<Vec<RoundsRow>, StoreError>,
    /// Attempts that ended.
    pub attempts: Result<Vec<AttemptsRow>, StoreError>,
    /// Rounds by exception.
    pub recovery: Result<Vec<RecoveryRow>, StoreError>,
    /// Planned delays.
    pub delays: Result<Vec<DelaysRow>, StoreError>,
    /// What has begun and not finished.
    pub pending: Result<Pending, StoreError>,
}

/// What a page is made of.
#[derive(Debug)]
pub struct Given {
    /// The source.
    pub source: SourceChip,
    /// What the URL asks for.
    pub view: AttemptsView,
    /// The moment, by the database's clock.
    pub now: Instant,
    /// What the numbers are made of.
    pub coverage: Coverage,
    /// How far the collector has come.
    pub collecting: Collecting,
    /// Queues that can be chosen.
    pub queues: Vec<String>,
    /// What was read for.
    pub plan: Plan,
    /// What was read.
    pub rows: Rows,
}

/// What the page shows.
#[derive(Debug)]
pub struct AttemptsPage {
    source: SourceChip,
    view: AttemptsView,
    now: Instant,
    coverage: Coverage,
    collecting: Collecting,
    queues: Vec<String>,
    plan: Plan,
    kinds: Result<Kinds, StoreError>,
    times: Result<Vec<Times>, StoreError>,
    exceptions: Result<Vec<(String, ExceptionNumbers)>, StoreError>,
    fits: Result<Vec<PolicyFit>, StoreError>,
    fewer: Result<Option<(JobKind, Fewer)>, StoreError>,
}

impl AttemptsPage {
    /// Sums the rows. A part that could not be read costs its own section alone.
    pub fn new(given: Given) -> Self {
        let Given {
            view, plan, rows, ..
        } = given;
        let kinds = kinds(&view, &plan, &rows);
        let fewer = fewer(kinds.as_ref(), &rows);
        let pending: Vec<(JobKind, String, i64)> = rows
            .pending
            .as_ref()
            .map(|pending| {
                let all = pending.recovery.iter();
                all.filter(|(kind, ..)| takes(&view, kind))
                    .cloned()
                    .collect()
            })
            .unwrap_or_default();
        let spent = rows
            .rounds
            .as_ref()
            .map_or_else(|_| recovery::Spent::new(), |rounds| recovery::spent(rounds));
        Self {
            kinds,
            times: rows.attempts.map(|rows| percentiles::times(&rows)),
            exceptions: rows
                .recovery
                .map(|rows| recovery::exceptions(&rows, &pending, &spent)),
            fits: rows.delays.map(|rows| fits(&rows)),
            fewer,
            source: given.source,
            view,
            now: given.now,
            coverage: given.coverage,
            collecting: given.collecting,
            queues: given.queues,
            plan,
        }
    }

    /// The error of the part that says most, where it could not be read: the page's status.
    pub fn error(&self) -> Option<&StoreError> {
        self.kinds.as_ref().err()
    }

    /// Whether everything that could be seen is counted.
    fn whole(&self) -> bool {
        self.collecting.caught_up || self.collecting.read.is_none()
    }

    /// A section's coverage: how far it can be trusted, since when, and how old it is.
    fn coverage(&self, trust: Trust) -> AnyView {
        let from = self.plan.span.from.max(self.coverage.since.unwrap_or(0));
        let short = self.plan.span.to.saturating_sub(from) <= 48;
        let since = hour_start(from).map(|at| {
            if short {
                words::moment(at, self.now)
            } else {
                words::day(at, self.now)
            }
        });
        let age = relative::ago((self.now - self.coverage.as_of).num_milliseconds().max(0));
        let trust = match trust {
            Trust::Exact if !self.whole() => Trust::Partial,
            trust => trust,
        };
        let words = match since {
            Some(since) => format!("since {since}, {age}"),
            None => age,
        };
        coverage(trust, words).into_any()
    }

    /// Lists of the jobs behind its numbers.
    fn behind<'a>(&'a self, links: &'a SourceLinks) -> words::Behind<'a> {
        words::Behind {
            links,
            view: &self.view,
            span: self.plan.span,
        }
    }

    /// The link to a table as CSV.
    fn csv(&self, links: &SourceLinks, sheet: Sheet) -> AnyView {
        let href = links.sheet(sheet, &self.view);
        view! { <a class="sub csv" href=href download="">"CSV"</a> }.into_any()
    }
}

/// Whether a view is about a kind: as a store narrows, by the whole name.
fn takes(view: &AttemptsView, kind: &JobKind) -> bool {
    let is = |wanted: &Option<String>, name: &str| wanted.as_deref().is_none_or(|w| w == name);
    is(&view.job_type, &kind.job_type) && is(&view.method, &kind.method)
}

fn kinds(view: &AttemptsView, plan: &Plan, rows: &Rows) -> Result<Kinds, StoreError> {
    let pending: Vec<(JobKind, bool, i64)> = match &rows.pending {
        // Pending rounds are not counted by queue.
        Ok(pending) if view.queue.is_none() => {
            let all = pending.rounds.iter();
            all.filter(|(kind, ..)| takes(view, kind))
                .cloned()
                .collect()
        }
        Ok(_) => Vec::new(),
        Err(error) => return Err(error.clone()),
    };
    let read = |rows: &Result<Vec<FirstAttemptsRow>, StoreError>| rows.clone();
    Ok(Kinds::of(&KindRows {
        steps: plan.steps,
        first: &read(&rows.first)?,
        usual: &read(&rows.usual)?,
        lately: &read(&rows.lately)?,
        at_slot: plan.at_slot,
        rounds: rows.rounds.as_ref().map_err(Clone::clone)?,
        pending: &pending,
    }))
}

/// The kind that wasted most, or the only one, replayed under lower limits.
fn fewer(
    kinds: Result<&Kinds, &StoreError>,
    rows: &Rows,
) -> Result<Option<(JobKind, Fewer)>, StoreError> {
    let kinds = kinds.map_err(Clone::clone)?;
    let rounds = rows.rounds.as_ref().map_err(Clone::clone)?;
    let delays = rows.delays.as_ref().map_err(Clone::clone)?;
    let mut candidates: Vec<_> = kinds.rows.iter().collect();
    candidates.sort_by_key(|(_, numbers)| {
        std::cmp::Reverse((numbers.wasted, numbers.endings.needed_more()))
    });
    Ok(candidates.into_iter().find_map(|(kind, _)| {
        let fewer = Fewer::of(kind, rounds, delays)?;
        Some((kind.clone(), fewer))
    }))
}

/// The page.
pub fn attempts_page(page: AttemptsPage) -> AnyView {
    let links = page_context().links.source(&page.source.name);
    let content = match &page.kinds {
        Ok(kinds) if kinds.rows.is_empty() => messages::nothing(&page, &links),
        Ok(kinds) => sections(&page, kinds, &links),
        Err(cause) => super::messages::in_place(cause),
    };
    view! {
        {head::title(&page)}
        {scope::bar(&page, &links)}
        {scope::notes(&page)}
        {hatch()}
        {content}
    }
    .into_any()
}

pub(crate) use kinds::policy_words;
pub use messages::{not_collected, not_kept, title as not_collected_title};

fn sections(page: &AttemptsPage, kinds: &Kinds, links: &SourceLinks) -> AnyView {
    view! {
        <div class="cols at-top">
            <div class="c8">{rate::section(page, kinds, links)}</div>
            <div class="c4">{rate::endings(page, kinds, links)}</div>
        </div>
        {kinds::section(page, kinds, links)}
        {multiples::section(page, kinds, links)}
        <div class="cols at-c">
            <div class="c7">
                {exceptions::section(page, links)}
                {fewer::section(page, links)}
            </div>
            <div class="c5">{fits::section(page, links)}</div>
        </div>
        {times::section(page, links)}
    }
    .into_any()
}
