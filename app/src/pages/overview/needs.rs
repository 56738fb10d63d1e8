//! What needs somebody, with the numbers that say so. What runs out first is on top.

use leptos::prelude::*;

use super::Seen;
use crate::charts::spark::{Spark, Tone, spark, tally};
use crate::components::coverage::{Trust, coverage};
use crate::components::icon::icon;
use crate::components::number::count;
use crate::components::time;
use crate::links::SourceLinks;
use crate::model::insights::JobKind;
use crate::model::rates::Rate;
use crate::model::state::{Instant, ListState};
use crate::ports::jobs::JobFilter;

mod falls;
mod faults;
mod jobs;

pub(super) use falls::slot_start;

/// Something that needs somebody.
pub(super) struct Need {
    urgent: bool,
    symbol: &'static str,
    headline: String,
    /// What stands below the headline.
    second: String,
    /// The numbers that say so.
    evidence: String,
    /// Since when, or until when.
    when: Option<(Instant, &'static str)>,
    offer: Option<(&'static str, String)>,
    /// The last 24 hours, where they are known by the hour.
    trend: Option<Trend>,
}

/// What the last 24 hours came to, by the hour.
enum Trend {
    /// A rate that fell, and what is usual.
    Fell(Vec<Rate>, Rate),
    /// How many; `None` for hours that were not counted.
    Counts(Vec<Option<i64>>),
}

impl Trend {
    /// The drawing. The need's words say what it shows.
    fn drawn(&self) -> AnyView {
        match self {
            Self::Fell(steps, usual) => spark(&Spark {
                steps,
                usual: *usual,
                tone: Tone::Bad,
                label: None,
            }),
            Self::Counts(counts) => tally(counts, Tone::Bad),
        }
    }
}

/// Everything, what runs out first on top.
pub(super) fn needs(seen: &Seen, links: &SourceLinks) -> Vec<Need> {
    let mut needs = Vec::new();
    needs.extend(jobs::last_tries(seen, links));
    needs.extend(faults::stale_claims(seen, links));
    needs.extend(faults::findings(seen, links));
    if let Ok(servers) = &seen.servers {
        needs.extend(faults::servers_need(servers, seen, links));
    }
    needs.extend(falls::falls(seen, links));
    needs.extend(jobs::causes(seen, links));
    needs.extend(jobs::failed(seen, links));
    needs.extend(jobs::in_no_list(seen, links));
    needs
}

/// The headlines in one line: whether they are others is told by it.
pub(super) fn summary(needs: &[Need]) -> String {
    let headlines: Vec<&str> = needs.iter().map(|need| need.headline.as_str()).collect();
    headlines.join("; ")
}

/// The filter that finds jobs of a kind in a list.
pub(super) fn kind_filter(kind: &JobKind, state: ListState) -> JobFilter {
    JobFilter {
        state: Some(state),
        job_type: Some(kind.job_type.clone()),
        method: Some(kind.method.clone()),
        ..JobFilter::default()
    }
}

/// What could not be checked, where anything could not; else what is not among the needs is not so.
pub(super) fn unanswered(seen: &Seen) -> Option<String> {
    let Some(findings) = &seen.findings else {
        return Some("faults are not checked yet".to_owned());
    };
    let number = i64::try_from(findings.unanswered.len()).unwrap_or(i64::MAX);
    (number > 0).then(|| format!("{} could not be made", count(number, "check")))
}

/// The section; nothing where nothing needs anybody.
pub(super) fn section(seen: &Seen, needs: &[Need], links: &SourceLinks) -> Option<AnyView> {
    if needs.is_empty() {
        return None;
    }
    let rows: Vec<_> = needs.iter().map(row).collect();
    // The column is there where anything stands in it.
    let trends = needs.iter().any(|need| need.trend.is_some());
    let class = if trends {
        "sec attn-s trends"
    } else {
        "sec attn-s"
    };
    let unanswered = unanswered(seen);
    let trust = if unanswered.is_some() {
        Trust::Partial
    } else {
        Trust::Exact
    };
    let at = seen.findings.as_ref().map(|findings| {
        view! { {unanswered.is_some().then_some(", ")} "checked " {time::ago(findings.read_at)} }
    });
    let checked = (at.is_some() || unanswered.is_some())
        .then(|| coverage(trust, view! { {unanswered} {at} }));
    Some(
        view! {
            <section class=class aria-labelledby="needs-h">
                <div class="sec-h">
                    <h2 id="needs-h">"Needs attention"</h2>
                    <p class="sub">"what runs out first is on top"</p>
                    <a class="newchip" href=links.overview() data-live-needs=summary(needs)>
                        "changed: show"
                    </a>
                    {checked}
                </div>
                <p class="attn-r attn-hd" aria-hidden="true">
                    <span></span>
                    <span>"What"</span>
                    <span>"The numbers that say so"</span>
                    <span class="attn-t">"24 hours"</span>
                    <span class="num">"When"</span>
                    <span></span>
                </p>
                <ul class="attn">{rows}</ul>
            </section>
        }
        .into_any(),
    )
}

fn row(need: &Need) -> AnyView {
    let class = if need.urgent {
        "attn-r"
    } else {
        "attn-r sev-2"
    };
    let headline = match &need.offer {
        Some((_, href)) => view! { <a href=href.clone()>{need.headline.clone()}</a> }.into_any(),
        None => need.headline.clone().into_any(),
    };
    let second =
        (!need.second.is_empty()).then(|| view! { <span class="two">{need.second.clone()}</span> });
    let when = need.when.map(|(at, words)| {
        view! { <b>{time::ago(at)}</b> " " <span class="two">{words}</span> }
    });
    let offer = need
        .offer
        .clone()
        .map(|(words, href)| view! { <a class="btn small attn-a" href=href>{words}</a> });
    view! {
        <li class=class>
            <span class="attn-i">{icon(need.symbol)}</span>
            <div class="attn-h"><h3>{headline}</h3> {second}</div>
            <p class="attn-e">{need.evidence.clone()}</p>
            <span class="attn-t">{need.trend.as_ref().map(Trend::drawn)}</span>
            <p class="attn-w">{when}</p>
            {offer}
        </li>
    }
    .into_any()
}
