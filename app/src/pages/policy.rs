//! Policies: what one would do, and what those do that the data shows.

mod findings;
mod form;
#[cfg(test)]
mod tests;

use leptos::prelude::*;

use crate::charts::bands::{RetryBand, bands};
use crate::components::icon::icon;
use crate::components::message::note;
use crate::components::number::count;
use crate::components::shell::{SourceChip, page_context};
use crate::components::text::visible;
use crate::links::attempts::AttemptsView;
use crate::model::insights::Coverage;
use crate::model::insights::{DelaysRow, RoundsRow};
use crate::model::policy::form::{AskedPolicy, PolicyForm, PolicySort};
use crate::model::policy::{Fate, QuartzPolicy, SimulatedRetry, Simulation};
use crate::model::recurring::Trigger;
use crate::model::state::Instant;
use crate::model::words::{duration, duration_range};
use crate::ports::error::StoreError;

/// What the page shows.
#[derive(Debug)]
pub struct PolicyPage {
    /// The source.
    pub source: SourceChip,
    /// The form, as the URL has it.
    pub form: PolicyForm,
    /// What the data shows.
    pub seen: Result<Option<Seen>, StoreError>,
    /// What starts jobs again and again.
    pub triggers: Result<Vec<Trigger>, StoreError>,
    /// The moment, by the database's clock.
    pub now: Instant,
}

/// What was counted in the last days.
#[derive(Debug)]
pub struct Seen {
    /// What it is made of.
    pub coverage: Coverage,
    /// Finished rounds.
    pub rounds: Vec<RoundsRow>,
    /// Planned delays.
    pub delays: Vec<DelaysRow>,
    /// Of so many days.
    pub days: i64,
}

/// The page.
pub fn policy_page(page: PolicyPage) -> AnyView {
    let links = page_context().links.source(&page.source.name);
    let read = page.form.read();
    let sort = page.form.sort;
    let played = read.as_ref().map_err(Clone::clone).map(|asked| {
        let margin = if sort.is_quartz() {
            QuartzPolicy::DROPPED_WITHIN_MS
        } else {
            0
        };
        Simulation::of(&asked.policy, asked.poll_ms, asked.every_ms, margin)
    });
    let (sentence, result) = match (&played, &read) {
        (Ok(Some(played)), Ok(asked)) => (headline(asked, played), result(sort, asked, played)),
        (Ok(_), _) => (
            "A wait of this policy is not known.".into_any(),
            ().into_any(),
        ),
        (Err(why), _) => (
            "This policy was not understood.".into_any(),
            note(true, visible(&format!("{why}."))).into_any(),
        ),
    };
    let attempts = links.attempts(&AttemptsView::default());
    view! {
        <nav class="crumbs" aria-label="Breadcrumbs">
            <a href=attempts>"Attempts"</a> {icon("i-right")} <span>"Policy"</span>
        </nav>
        <div class="page-h"><h1>"Policy"</h1><p>{sentence}</p></div>
        <section class="sec" aria-labelledby="sim-h">
            <header class="sec-h">
                <h2 id="sim-h">"Policy simulator"</h2>
                <p class="sub">"nothing is changed here; runs themselves are taken to last no time"</p>
            </header>
            {form::form(&page.form, &links)}
            {form::formula(sort)}
            {result}
        </section>
        {findings::section(&page, &links)}
    }
    .into_any()
}

/// `Hangfire’s default formula gives up 4 h 18 min to 4 h 45 min after the first failure`.
fn headline(asked: &AskedPolicy, played: &Simulation) -> AnyView {
    let attempts = count(i64::from(asked.policy.retries) + 1, "attempt");
    if asked.policy.retries == 0 {
        return "Without retries a job is known as failed after its first attempt.".into_any();
    }
    let after = duration_range(played.gives_up.min_ms, played.gives_up.max_ms);
    let poll = match played.poll_ms {
        0 => String::new(),
        ms => format!(" The scheduler can add up to {}.", duration(ms)),
    };
    view! {
        "It gives up "
        <span
            data-figure="gives-up"
            data-value=played.gives_up.max_ms.to_string()
            data-least=played.gives_up.min_ms.to_string()
        >
            <b>{after}</b>
        </span>
        {format!(" after the first failure, {attempts} in all.{poll}")}
    }
    .into_any()
}

fn result(sort: PolicySort, asked: &AskedPolicy, played: &Simulation) -> AnyView {
    let retries: Vec<RetryBand> = played
        .retries
        .iter()
        .map(|retry| RetryBand {
            retry: retry.retry,
            wait: retry.wait,
            total: retry.total,
        })
        .collect();
    let label = label(played);
    let chart = bands(&retries, &label).map(|chart| {
        view! {
            <figure class="sim-fig">
                {chart}
                <figcaption class="sub">
                    "bars: the wait before each retry, least to most; band: all waits so far; logarithmic scale"
                </figcaption>
            </figure>
        }
    });
    if played.retries.is_empty() {
        return view! { <p class="sec-p">"There is no retry to show."</p> }.into_any();
    }
    let with_fate = asked.every_ms.is_some();
    let rows: Vec<_> = played
        .retries
        .iter()
        .map(|retry| row(sort, retry, with_fate))
        .collect();
    let fate_column = with_fate.then(|| view! { <th scope="col">"Next regular run"</th> });
    view! {
        {fates(sort, asked, played)}
        <div class="cols sim-2">
            <div class="c7">{chart}</div>
            <div class="c5 scroll-x" role="region" aria-label="Waits as a table" tabindex="0">
                <table class="tbl one simt">
                    <caption class="vh">"Wait before each retry"</caption>
                    <thead>
                        <tr>
                            <th scope="col">"Retry"</th>
                            <th scope="col" class="num">"Wait, least"</th>
                            <th scope="col" class="num">"most"</th>
                            <th scope="col" class="num">"Total, least"</th>
                            <th scope="col" class="num">"most"</th>
                            {fate_column}
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </div>
    }
    .into_any()
}

fn label(played: &Simulation) -> String {
    let Some((first, last)) = played.retries.first().zip(played.retries.last()) else {
        return "No retry".to_owned();
    };
    let range = |retry: &SimulatedRetry| duration_range(retry.wait.min_ms, retry.wait.max_ms);
    format!(
        "Wait before each retry on a logarithmic scale, from {} before retry {} to {} before retry \
         {}; in all {}. The table holds the numbers.",
        range(first),
        first.retry,
        range(last),
        last.retry,
        duration_range(played.gives_up.min_ms, played.gives_up.max_ms)
    )
}

fn row(sort: PolicySort, retry: &SimulatedRetry, with_fate: bool) -> AnyView {
    let fate = with_fate.then(|| {
        let words = match (retry.fate, sort.is_quartz()) {
            (Fate::Fits, _) => "before it",
            (Fate::MayNot, true) => "may be dropped",
            (Fate::MayNot, false) => "before or after it",
            (Fate::Never, true) => "never runs: dropped",
            (Fate::Never, false) => "after it has begun",
        };
        let class = (retry.fate != Fate::Fits).then_some("warn");
        view! { <td><span class=class>{words}</span></td> }
    });
    view! {
        <tr data-retry=retry.retry.to_string()>
            <th scope="row">{retry.retry.to_string()}</th>
            <td class="num">{duration(retry.wait.min_ms)}</td>
            <td class="num">{duration(retry.wait.max_ms)}</td>
            <td class="num">{duration(retry.total.min_ms)}</td>
            <td class="num">{duration(retry.total.max_ms)}</td>
            {fate}
        </tr>
    }
    .into_any()
}

/// What the next regular run does to the retries.
fn fates(sort: PolicySort, asked: &AskedPolicy, played: &Simulation) -> Option<AnyView> {
    let every = duration(asked.every_ms?);
    let of = |fate: Fate| {
        played
            .retries
            .iter()
            .filter(|retry| retry.fate == fate)
            .count()
    };
    let (may, never) = (of(Fate::MayNot), of(Fate::Never));
    let (all, fit) = (played.retries.len(), of(Fate::Fits));
    if may == 0 && never == 0 {
        let words =
            format!("Every retry comes before the next regular run, {every} after this one.");
        return Some(note(false, words).into_any());
    }
    let words = if sort.is_quartz() {
        format!(
            "Of {all} retries {fit} surely fit before the next regular run, {every} after this one; \
             {never} never do and {may} may not. Quartz drops a retry that is due within a second of \
             that run or later, and the trigger goes on with its schedule."
        )
    } else {
        format!(
            "Of {all} retries {fit} surely come before the next regular run, {every} after this one; \
             {never} never do and {may} may not. Hangfire drops none of them: from then on runs of \
             the same job overlap."
        )
    };
    Some(note(true, words).into_any())
}
