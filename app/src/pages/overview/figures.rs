//! The figures at the top: six that matter, and the rest in a line.

use leptos::prelude::*;

use super::Seen;
use crate::components::icon::icon;
use crate::components::state;
use crate::components::time::machine;
use crate::figures::{FIRST_ATTEMPT, Figure, SUCCEEDED_LAST_HOUR, figures, hour_words};
use crate::links::SourceLinks;
use crate::model::state::ListState;
use crate::ports::jobs::JobFilter;

/// The strip of figures.
pub(super) fn strip(seen: &Seen, links: &SourceLinks) -> AnyView {
    let all = figures(&seen.facts());
    let of = |name: &str| all.iter().find(|figure| figure.name == name);
    let list = |list: ListState| {
        let head = view! {
            {icon(state::symbol(Some(list)))} <a href=links.state(list)>{list.label()}</a>
        };
        of(list.slug()).map(|figure| cell(list.slug(), head.into_any(), figure))
    };
    let hour = seen
        .digest
        .value
        .as_ref()
        .and_then(|digest| digest.last_hour().map(|hour| hour.0));
    let succeeded = of(SUCCEEDED_LAST_HOUR).map(|figure| {
        let words = hour.map_or_else(
            || "Succeeded, last hour".to_owned(),
            |hour| format!("Succeeded {}", hour_words(hour)),
        );
        let head = match hour.and_then(super::parts::hour_span) {
            Some((from, to)) => {
                let filter = JobFilter {
                    state: Some(ListState::Succeeded),
                    from: Some(from),
                    to: Some(to),
                    ..JobFilter::default()
                };
                let href = links.jobs(&filter, None, None);
                view! { {icon("s-succeeded")} <a href=href>{words}</a> }.into_any()
            }
            None => view! { {icon("s-succeeded")} <span>{words}</span> }.into_any(),
        };
        cell("succeeded", head, figure)
    });
    let first = of(FIRST_ATTEMPT).map(|figure| {
        let head = view! { {icon("i-attempts")} <span>"First-attempt success"</span> };
        cell("first", head.into_any(), figure)
    });
    let rest: Vec<_> = [
        ListState::Scheduled,
        ListState::Awaiting,
        ListState::Succeeded,
        ListState::Deleted,
    ]
    .into_iter()
    .filter_map(|list| {
        let figure = number(of(list.slug())?);
        let href = links.state(list);
        Some(view! { <a class=list.slug() href=href>{icon(state::symbol(Some(list)))} {figure} " " {list.label()}</a> })
    })
    .collect();
    view! {
        <dl class="figs ov-figs">
            {list(ListState::Enqueued)}
            {list(ListState::Processing)}
            {list(ListState::Retrying)}
            {succeeded}
            {list(ListState::Failed)}
            {first}
        </dl>
        <p class="ov-rest">"Also in the database: " {rest}</p>
    }
    .into_any()
}

fn cell(class: &'static str, head: AnyView, figure: &Figure) -> AnyView {
    let bad = figure.bad.then_some("bad");
    view! {
        <div class=class>
            <dt>{head}</dt>
            <dd class=bad>
                {number(figure)} " "
                <small data-live-more=figure.name>{figure.more.clone()}</small>
            </dd>
        </div>
    }
    .into_any()
}

fn number(figure: &Figure) -> AnyView {
    let (numerator, denominator) = figure.value.parts();
    view! {
        <span
            data-figure=figure.name
            data-live=figure.name
            data-value=figure.value.number()
            data-numerator=numerator.map(|n| n.to_string())
            data-denominator=denominator.map(|n| n.to_string())
            data-as-of=figure.as_of.map(machine)
        >
            {figure.text.clone()}
        </span>
    }
    .into_any()
}
