//! What narrows the list: chips that take a filter away, and a form that sets them.

use chrono::Timelike as _;
use leptos::prelude::*;

use super::{JobsPage, order};
use crate::components::icon::icon;
use crate::components::text::{shown, visible};
use crate::components::time;
use crate::links::SourceLinks;
use crate::model::state::{Instant, ListState};
use crate::ports::jobs::JobFilter;

/// One filter that is set: its word, its value, and the list without it.
struct Chip {
    word: &'static str,
    value: String,
    without: JobFilter,
}

/// Chips and form.
pub(super) fn bar(page: &JobsPage, links: &SourceLinks) -> AnyView {
    let chips: Vec<_> = chips(&page.filter)
        .into_iter()
        .map(|chip| {
            let label = format!("Remove the filter {} {}", chip.word, shown(&chip.value));
            let href = page.url(links, &chip.without, None);
            view! {
                <li class="chip">
                    <span>{chip.word}</span>
                    <b>{visible(&chip.value)}</b>
                    <a class="chip-x" href=href aria-label=label.clone() title=label>{icon("i-x")}</a>
                </li>
            }
        })
        .collect();
    let chips =
        (!chips.is_empty()).then(|| view! { <ul class="chips" aria-label="Filters">{chips}</ul> });
    view! {
        <div class="bar">
            {chips}
            <details class="filter">
                <summary class="btn quiet small">{icon("i-plus")} "Filter"</summary>
                {form(page, links)}
            </details>
            {order::choice(page, links)}
        </div>
    }
    .into_any()
}

fn chips(filter: &JobFilter) -> Vec<Chip> {
    let mut chips = Vec::new();
    let mut chip = |word, value: Option<String>, clear: fn(&mut JobFilter)| {
        if let Some(value) = value {
            let mut without = filter.clone();
            clear(&mut without);
            chips.push(Chip {
                word,
                value,
                without,
            });
        }
    };
    chip("state", filter.state.map(|s| s.label().to_owned()), |f| {
        f.state = None;
    });
    chip("queue", filter.queue.clone(), |f| f.queue = None);
    chip("type", filter.job_type.clone(), |f| f.job_type = None);
    chip("method", filter.method.clone(), |f| f.method = None);
    chip("server", filter.server.clone(), |f| f.server = None);
    chip("exception", filter.exception.clone(), |f| {
        f.exception = None;
    });
    chip("from", filter.from.map(moment), |f| f.from = None);
    chip("before", filter.to.map(moment), |f| f.to = None);
    chip(
        "attempts",
        filter.attempts_min.map(|n| format!("at least {n}")),
        |f| f.attempts_min = None,
    );
    chips
}

/// A filter's instant for people; seconds only where there are any.
fn moment(at: Instant) -> String {
    let whole = at.second() == 0 && at.nanosecond() == 0;
    let form = if whole {
        "%-d %b %Y, %H:%M UTC"
    } else {
        "%-d %b %Y, %H:%M:%S%.f UTC"
    };
    at.format(form).to_string()
}

fn form(page: &JobsPage, links: &SourceLinks) -> AnyView {
    let filter = &page.filter;
    let states: Vec<_> = ListState::ALL
        .into_iter()
        .map(|state| {
            let chosen = filter.state == Some(state);
            view! { <option value=state.slug() selected=chosen>{state.label()}</option> }
        })
        .collect();
    let queues: Vec<_> = page
        .queues
        .iter()
        .map(|queue| view! { <option value=queue.clone()></option> })
        .collect();
    let action = links.jobs(&JobFilter::default(), None, None);
    let limit = page
        .limit
        .map(|limit| view! { <input type="hidden" name="limit" value=limit.to_string() /> });
    let order = page
        .asked
        .map(|order| view! { <input type="hidden" name="order" value=order.slug() /> });
    view! {
        <form class="filter-f" method="get" action=action>
            {limit}
            {order}
            <label class="lbl">
                "State"
                <select class="input full" name="state">
                    <option value="" selected=filter.state.is_none()>"any"</option>
                    {states}
                </select>
            </label>
            <label class="lbl">
                "Queue"
                <input class="input full" name="queue" list="queues" value=filter.queue.clone() />
            </label>
            <datalist id="queues">{queues}</datalist>
            {field("Job type", "type", filter.job_type.clone(), "ImportJob")}
            {field("Method", "method", filter.method.clone(), "RunAsync")}
            {field("Server", "server", filter.server.clone(), "whole id")}
            {field("Exception", "exception", filter.exception.clone(), "TimeoutException")}
            {field("In this state from (UTC)", "from", filter.from.map(time::machine), "2026-11-27T08:00:00Z")}
            {field("and before (UTC)", "to", filter.to.map(time::machine), "2026-11-27T09:00:00Z")}
            <label class="lbl">
                "Attempts, at least"
                <input
                    class="input full"
                    type="number"
                    min="0"
                    name="attempts_min"
                    value=filter.attempts_min.map(|n| n.to_string())
                />
            </label>
            <button class="btn primary">"Show"</button>
        </form>
    }
    .into_any()
}

fn field(
    label: &'static str,
    name: &'static str,
    value: Option<String>,
    example: &'static str,
) -> AnyView {
    view! {
        <label class="lbl">
            {label}
            <input
                class="input full"
                name=name
                value=value
                placeholder=example
                autocomplete="off"
                spellcheck="false"
            />
        </label>
    }
    .into_any()
}
