//! What is found on the policies that the data shows.

use std::collections::BTreeSet;

use leptos::prelude::*;

use super::{PolicyPage, Seen};
use crate::components::coverage::{Trust, coverage};
use crate::components::kind::kind_name;
use crate::components::message::{Tone, message};
use crate::components::number::count;
use crate::components::relative;
use crate::components::text::shown;
use crate::links::SourceLinks;
use crate::links::attempts::AttemptsView;
use crate::model::insights::JobKind;
use crate::model::insights::fewer::Outlived;
use crate::model::insights::fit::{PolicyFit, Shape, fits};
use crate::model::insights::span::Asked;
use crate::model::policy::form::PolicySort;
use crate::model::recurring::{TooLate, Trigger};
use crate::model::words::{duration, duration_range};
use crate::pages::attempts::policy_words;
use crate::pages::messages::in_place;

/// Kinds listed at most.
const LISTED: usize = 40;

/// The policies of each kind, with what is to be said of them.
pub(super) fn section(page: &PolicyPage, links: &SourceLinks) -> AnyView {
    let age = page
        .seen
        .as_ref()
        .ok()
        .and_then(Option::as_ref)
        .map(|seen| {
            let ms = (page.now - seen.coverage.as_of).num_milliseconds().max(0);
            let words = format!("last {} d, written {}", seen.days, relative::ago(ms));
            coverage(Trust::Exact, words)
        });
    let content = match &page.seen {
        Err(cause) => in_place(cause),
        Ok(None) => message(
            Tone::Plain,
            "i-info",
            "Nothing was counted yet",
            "Policies show in the delays of planned retries, and none was read so far.",
            Vec::new(),
        )
        .into_any(),
        Ok(Some(seen)) => table(seen, page.triggers.as_deref().unwrap_or_default(), links),
    };
    let unknown = page.triggers.as_ref().err().map(|cause| {
        let words =
            format!("Whether retries fit the intervals of recurring jobs is not known: {cause}.");
        view! { <p class="sub after">{words}</p> }
    });
    view! {
        <section class="sec" aria-labelledby="seen-h">
            <header class="sec-h">
                <h2 id="seen-h">"Policies seen in the data"</h2>
                <p class="sub">"inferred: Hangfire stores none"</p>
                {age}
            </header>
            {content}
            {unknown}
        </section>
    }
    .into_any()
}

fn table(seen: &Seen, triggers: &[Trigger], links: &SourceLinks) -> AnyView {
    let all = fits(&seen.delays);
    let kinds: BTreeSet<&JobKind> = all.iter().map(|fit| &fit.kind).collect();
    if kinds.is_empty() {
        return message(
            Tone::Good,
            "s-succeeded",
            "No retry was planned",
            "In this time no failure was retried, so no policy shows.",
            Vec::new(),
        )
        .into_any();
    }
    let mut found: Vec<Found<'_>> = kinds
        .into_iter()
        .map(|kind| {
            let own: Vec<&PolicyFit> = all.iter().filter(|fit| fit.kind == *kind).collect();
            Found {
                kind,
                outlived: Outlived::of(kind, &seen.rounds, &seen.delays),
                late: late(kind, &own, triggers),
                own,
            }
        })
        .collect();
    // Those with a finding first; of these, those that cost most.
    found.sort_by_key(|found| {
        let wasted = found.outlived.map(|outlived| outlived.attempts);
        std::cmp::Reverse((wasted, found.late.is_some()))
    });
    let rest = found.len().saturating_sub(LISTED);
    let rest = (rest > 0).then(|| {
        let words = format!("{rest} more are not listed.");
        view! { <p class="sub after">{words}</p> }
    });
    let rows: Vec<_> = found
        .into_iter()
        .take(LISTED)
        .map(|found| row(&found, links))
        .collect();
    view! {
        <table class="tbl pol" role="table">
            <caption class="vh">"Policies by job type, with findings"</caption>
            <thead role="rowgroup">
                <tr role="row">
                    <th role="columnheader" scope="col">"Job type"</th>
                    <th role="columnheader" scope="col">"Policy, inferred"</th>
                    <th role="columnheader" scope="col" class="num">"Gives up after"</th>
                    <th role="columnheader" scope="col">"What follows"</th>
                </tr>
            </thead>
            <tbody role="rowgroup">{rows}</tbody>
        </table>
        {rest}
    }
    .into_any()
}

/// What is found on a kind of job.
struct Found<'a> {
    kind: &'a JobKind,
    own: Vec<&'a PolicyFit>,
    outlived: Option<Outlived>,
    late: Option<Late<'a>>,
}

/// Retries that come after the next run of what started the job.
struct Late<'a> {
    trigger: &'a Trigger,
    fit: &'a PolicyFit,
    retry: TooLate,
}

/// Held against what runs most often; of several policies the one that is late first.
fn late<'a>(kind: &JobKind, own: &[&'a PolicyFit], triggers: &'a [Trigger]) -> Option<Late<'a>> {
    let trigger = triggers
        .iter()
        .filter(|trigger| trigger.job.kind == *kind)
        .min_by_key(|trigger| trigger.every_ms)?;
    own.iter()
        .filter_map(|fit| {
            let retry = TooLate::of(fit, trigger.every_ms)?;
            Some(Late {
                trigger,
                fit,
                retry,
            })
        })
        .min_by_key(|late| late.retry.retry)
}

fn row(found: &Found<'_>, links: &SourceLinks) -> AnyView {
    let Found { kind, own, .. } = found;
    let view = AttemptsView::default().over(Asked::Month).of_kind(kind);
    let policies: Vec<_> = own
        .iter()
        .map(|fit| {
            let words = policy_words(fit);
            match simulated(fit, None, links) {
                Some(href) => view! { <a class="two-l" href=href>{words}</a> }.into_any(),
                None => view! { <span class="two-l">{words}</span> }.into_any(),
            }
        })
        .collect();
    let after: Vec<_> = own
        .iter()
        .map(|fit| {
            let total = fit.policy.total_wait().map_or_else(
                || "not known".to_owned(),
                |total| duration_range(total.min_ms, total.max_ms),
            );
            view! { <span class="two-l">{total}</span> }
        })
        .collect();
    view! {
        <tr role="row" data-type=kind.job_type.clone() data-method=kind.method.clone()>
            <th role="rowheader" scope="row">
                <a class="job-n" href=links.attempts(&view)><b>{kind_name(kind)}</b></a>
            </th>
            <td role="cell">{policies}</td>
            <td role="cell" class="num">{after}</td>
            <td role="cell">{follows(found, links)}</td>
        </tr>
    }
    .into_any()
}

fn follows(found: &Found<'_>, links: &SourceLinks) -> AnyView {
    let Found { own, outlived, .. } = found;
    let late = found.late.as_ref().map(|late| late_words(late, links));
    let varied = own.iter().any(|fit| fit.shape == Shape::Varied).then(|| {
        view! {
            <span class="two">
                "Before one retry it waited several lengths, and not as the default formula draws them: the policy draws its own, or it was changed."
            </span>
        }
    });
    let several = (own.len() > 1).then(|| {
        let words = format!(
            "{} maxima were seen: it was changed in this time, or differs by job.",
            own.len()
        );
        view! { <span class="two">{words}</span> }
    });
    let verdict = match outlived {
        None if varied.is_none() && several.is_none() && late.is_none() => {
            view! { <span class="sub">"nothing to say"</span> }.into_any()
        }
        None => ().into_any(),
        Some(found) => {
            let head = match found.last_success {
                0 | 1 => "No retry ever helped.".to_owned(),
                last => format!("No retry helped after attempt {last}."),
            };
            let waited = match found.backoff_ms {
                Some(ms) => format!(" and about {}", duration(ms)),
                None => String::new(),
            };
            let words = format!(
                " {} went on and gave up: {}{waited} for nothing.",
                count(found.rounds, "round"),
                count(found.attempts, "attempt"),
            );
            view! {
                <span
                    data-figure="outlived"
                    data-value=found.attempts.to_string()
                    data-denominator=found.rounds.to_string()
                >
                    <b>{head}</b>
                </span>
                {words}
            }
            .into_any()
        }
    };
    view! { {verdict} {late} {varied} {several} }.into_any()
}

/// `Retry 8 of 10 comes 1 h 20 min or more after the first failure, and “hourly” starts the next
/// run after 1 h.`
fn late_words(late: &Late<'_>, links: &SourceLinks) -> AnyView {
    let Late {
        trigger,
        fit,
        retry,
    } = late;
    let every = duration(trigger.every_ms);
    let often = if trigger.is_even {
        format!("after {every}")
    } else {
        format!("after as little as {every}")
    };
    let words = format!(
        " It comes {} or more after the first failure, and the recurring job \u{201c}{}\u{201d} \
         ({}) starts the next run {often}: from then on runs overlap.",
        duration(retry.least_ms),
        shown(&trigger.job.id),
        shown(&trigger.job.cron),
    );
    let alone = retry.alone.map(|(number, ms)| {
        format!(
            " Before retry {number} alone it waits {} or more.",
            duration(ms)
        )
    });
    let simulator = simulated(fit, Some(trigger.every_ms), links)
        .map(|href| view! { " " <a href=href>"Simulate it"</a> });
    view! {
        <span class="two-l">
            <span
                data-figure="late-retry"
                data-value=retry.least_ms.to_string()
                data-every=trigger.every_ms.to_string()
            >
                <b>{format!("Retry {} of {} comes after the next run.", retry.retry, retry.of)}</b>
            </span>
            {words}
            {alone}
            {simulator}
        </span>
    }
    .into_any()
}

/// The simulator, filled in with a policy that it knows, and with the interval of a trigger.
fn simulated(fit: &PolicyFit, every_ms: Option<i64>, links: &SourceLinks) -> Option<String> {
    let retries = fit.policy.retries.to_string();
    let every = every_ms.map(|ms| format!("{ms} ms"));
    let every = every.as_deref().map(|every| ("every", every));
    let with = |fields: &[(&str, &str)]| {
        let fields: Vec<_> = fields.iter().copied().chain(every).collect();
        links.policy_with(&fields)
    };
    match fit.shape {
        Shape::Default => Some(with(&[
            ("policy", PolicySort::Default.slug()),
            ("retries", &retries),
        ])),
        Shape::List => {
            let delays: Option<Vec<String>> = (1..=fit.policy.retries.min(50))
                .map(|retry| Some(format!("{} ms", fit.policy.band(retry)?.max_ms)))
                .collect();
            let delays = delays?.join(", ");
            Some(with(&[
                ("policy", PolicySort::List.slug()),
                ("retries", &retries),
                ("delays", &delays),
            ]))
        }
        Shape::Varied => None,
    }
}
