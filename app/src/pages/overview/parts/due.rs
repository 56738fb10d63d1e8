//! When retries come due.

use leptos::prelude::*;

use super::super::needs::kind_filter;
use super::{Seen, nothing, part};
use crate::charts::bars::{Bar, Bars, Part, bars};
use crate::charts::svg::Lead;
use crate::components::coverage::{Trust, coverage};
use crate::components::kind::kind_name;
use crate::components::number::thousands;
use crate::components::time::kept::ago;
use crate::figures::PLANNED;
use crate::links::SourceLinks;
use crate::model::insights::forecast::{Due, Forecast};
use crate::model::state::ListState;

/// Kinds that are named.
const NAMED: usize = 5;

/// When the retries of the next hour come due.
pub fn due(seen: &Seen, links: &SourceLinks) -> AnyView {
    let content = match &seen.forecast.value {
        Some(forecast) => due_drawn(forecast, links),
        None => nothing(&seen.forecast, seen),
    };
    let covered = seen
        .forecast
        .value
        .as_ref()
        .zip(seen.forecast.at)
        .map(|(forecast, at)| match forecast.known_to {
            Some(to) => {
                let to = to.format("%H:%M:%S").to_string();
                coverage(Trust::Partial, view! { "up to " {to} " UTC" }).into_any()
            }
            None => coverage(Trust::Exact, ago(PLANNED, at)).into_any(),
        });
    part(
        "due",
        "Retries due in the next hour",
        "UTC",
        covered,
        content,
    )
}

fn due_drawn(forecast: &Forecast, links: &SourceLinks) -> AnyView {
    let overdue = (forecast.overdue > 0).then(|| {
        let (was, it) = if forecast.overdue == 1 {
            ("was", "it")
        } else {
            ("were", "them")
        };
        let words = format!(
            "{} more {was} due before, and nobody has released {it}.",
            thousands(forecast.overdue)
        );
        view! { <p class="sub warn">{words}</p> }
    });
    if forecast.retries() == 0 {
        return view! {
            <p class="sub">"No retry comes due within the hour."</p>
            {overdue}
        }
        .into_any();
    }
    let parts = [
        Part {
            class: "b-gave",
            words: "on the last try",
        },
        Part {
            class: "b-a2",
            words: "with tries left",
        },
    ];
    let drawn: Vec<Bar> = forecast
        .steps
        .iter()
        .map(|step| Bar {
            from: step.from,
            counts: vec![step.last_tries.retries, step.others.retries],
            whole: lead(&step.all(), links),
            leads: vec![lead(&step.last_tries, links), lead(&step.others, links)],
        })
        .collect();
    let counts: Vec<String> = forecast
        .steps
        .iter()
        .map(|step| step.all().retries.to_string())
        .collect();
    let end = forecast.to();
    let from = forecast.steps.first().map_or(end, |step| step.from);
    let label = format!(
        "Retries due per five minutes from {} to {}: {}. Of these {} are the last try.",
        from.format("%H:%M"),
        end.format("%H:%M"),
        counts.join(", "),
        thousands(forecast.last_tries())
    );
    view! {
        {bars(&Bars {
            parts: &parts,
            below: None,
            bars: &drawn,
            end,
            ticks: 3,
            numbered: true,
            label,
            step: "From, UTC",
        })}
        <p class="sub">
            "A bar leads to its one job, or to all retrying jobs of its type: lists know no due time."
        </p>
        {overdue}
        {kinds(forecast, links)}
    }
    .into_any()
}

/// The nearest list to retries that come due together: lists are narrowed by when a state began,
/// never by when it ends.
fn lead(due: &Due, links: &SourceLinks) -> Option<Lead> {
    let (href, to) = match (due.retries, due.job, &due.kind) {
        (0, ..) => return None,
        (_, Some(job), _) => (links.job(job), format!("job {job}")),
        (_, None, Some(kind)) => (
            links.jobs(&kind_filter(kind, ListState::Retrying), None, None),
            format!("all retrying jobs of {}", kind_name(kind)),
        ),
        (_, None, None) => (
            links.state(ListState::Retrying),
            "all retrying jobs".to_owned(),
        ),
    };
    Some(Lead { href, to })
}

/// The retries by kind, those with the most first.
fn kinds(forecast: &Forecast, links: &SourceLinks) -> AnyView {
    let kinds: Vec<_> = forecast
        .kinds
        .iter()
        .take(NAMED)
        .map(|kind| {
            let href = links.jobs(&kind_filter(&kind.kind, ListState::Retrying), None, None);
            let last = match kind.last_tries {
                0 => String::new(),
                n => format!("{} last", thousands(n)),
            };
            view! {
                <tr>
                    <th scope="row"><a href=href>{kind_name(&kind.kind)}</a></th>
                    <td class="num">{thousands(kind.retries)}</td>
                    <td class="num warn">{last}</td>
                </tr>
            }
        })
        .collect();
    let others: i64 = forecast
        .kinds
        .iter()
        .skip(NAMED)
        .map(|kind| kind.retries)
        .sum();
    let others = (others > 0).then(|| {
        view! {
            <tr>
                <th scope="row" class="sub">"other types"</th>
                <td class="num">{thousands(others)}</td>
                <td></td>
            </tr>
        }
    });
    view! {
        <table class="tbl one due-t">
            <caption class="vh">"Retries due within the hour by job type"</caption>
            <thead>
                <tr>
                    <th scope="col">"Job type"</th>
                    <th scope="col" class="num">"Due"</th>
                    <th scope="col" class="num">"Last tries"</th>
                </tr>
            </thead>
            <tbody>{kinds} {others}</tbody>
        </table>
    }
    .into_any()
}
