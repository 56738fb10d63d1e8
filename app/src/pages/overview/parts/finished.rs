//! What finished.

use chrono::TimeDelta;
use leptos::prelude::*;

use super::{Seen, counted, hour_span, nothing, part};
use crate::charts::bars::{Bar, Bars, Part, bars};
use crate::charts::svg::Lead;
use crate::components::number::thousands;
use crate::figures::hour_words;
use crate::links::SourceLinks;
use crate::model::collect::{HOUR_SECONDS, hour};
use crate::model::insights::digest::Digest;
use crate::model::state::{Instant, ListState};
use crate::ports::jobs::JobFilter;

/// What finished in each hour of the last day.
pub fn finished(seen: &Seen, links: &SourceLinks) -> AnyView {
    let content = match &seen.digest.value {
        Some(digest) => finished_drawn(digest, links),
        None => nothing(&seen.digest, seen),
    };
    part(
        "finished",
        "Finished per hour",
        "24 h, UTC",
        seen.digest
            .value
            .as_ref()
            .and_then(|digest| counted(seen, hour(digest.read_at) - 23)),
        content,
    )
}

fn finished_drawn(digest: &Digest, links: &SourceLinks) -> AnyView {
    let parts = [
        Part {
            class: "b-a1",
            words: "first time",
        },
        Part {
            class: "b-a2",
            words: "after a retry",
        },
        Part {
            class: "b-mute",
            words: "after a requeue",
        },
    ];
    let list = |state: ListState, from: Instant, attempts_min: Option<u32>, to: &str| {
        let filter = JobFilter {
            state: Some(state),
            from: Some(from),
            to: Some(from + TimeDelta::seconds(HOUR_SECONDS)),
            attempts_min,
            ..JobFilter::default()
        };
        Some(Lead {
            href: links.jobs(&filter, None, None),
            to: to.to_owned(),
        })
    };
    let succeeded = "succeeded jobs of this hour";
    let drawn: Vec<Bar> = digest
        .hours
        .iter()
        .filter_map(|(hour, spread)| {
            let (from, _) = hour_span(*hour)?;
            Some(Bar {
                from,
                counts: vec![
                    spread.first.first,
                    spread.after_retry(),
                    spread.again.succeeded(),
                    spread.gave_up(),
                ],
                whole: list(ListState::Succeeded, from, None, succeeded),
                leads: vec![
                    list(ListState::Succeeded, from, None, succeeded),
                    list(
                        ListState::Succeeded,
                        from,
                        Some(2),
                        "succeeded jobs of this hour with two attempts or more",
                    ),
                    None,
                    list(ListState::Failed, from, None, "failed jobs of this hour"),
                ],
            })
        })
        .collect();
    let Some((_, end)) = hour_span(hour(digest.read_at)) else {
        return ().into_any();
    };
    let label = format!(
        "Finished jobs per hour over 24 hours: {}. Given up per hour on a scale of its own: {}.",
        digest
            .last_hour()
            .map_or_else(String::new, |(hour, spread)| format!(
                "{} {}, {} of them first time",
                thousands(spread.finished()),
                hour_words(*hour),
                thousands(spread.first.first)
            )),
        thousands(digest.day.gave_up())
    );
    bars(&Bars {
        parts: &parts,
        below: Some(Part {
            class: "b-gu",
            words: "gave up, own scale",
        }),
        bars: &drawn,
        end,
        ticks: 6,
        numbered: false,
        label,
        step: "Hour, UTC",
    })
}
