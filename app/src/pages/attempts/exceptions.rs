//! Recovery by exception: which are worth retrying.

use leptos::prelude::*;

use super::words::{self, Behind};
use super::{AttemptsPage, Sheet};
use crate::charts::share::{Part, share_bar};
use crate::components::coverage::Trust;
use crate::components::icon::icon;
use crate::components::kind::kind_name;
use crate::components::message::{Tone, message};
use crate::components::number::{count, thousands};
use crate::links::SourceLinks;
use crate::model::insights::recovery::ExceptionNumbers;
use crate::model::rates::{Rate, Verdict};
use crate::model::words::duration;
use crate::pages::messages::in_place;

/// Exceptions listed at most; the rest is in the CSV.
const LISTED: usize = 40;
/// Kinds that are named beside an exception.
const KINDS: usize = 2;

/// The table.
pub(super) fn section(page: &AttemptsPage, links: &SourceLinks) -> AnyView {
    let behind = page.behind(links);
    let content = match &page.exceptions {
        Err(cause) => in_place(cause),
        Ok(all) if all.is_empty() => message(
            Tone::Good,
            "s-succeeded",
            "No attempt failed",
            "No finished round of this time met an exception, and none that is pending has.",
            Vec::new(),
        )
        .into_any(),
        Ok(all) => table(page, &behind, all),
    };
    view! {
        <section class="sec" aria-labelledby="exc-h">
            <header class="sec-h">
                <h2 id="exc-h">"Recovery by exception"</h2>
                <p class="sub">"rounds that met it, and where they ended"</p>
                {page.csv(links, Sheet::Exceptions)}
                {page.coverage(Trust::Exact)}
            </header>
            {content}
        </section>
    }
    .into_any()
}

fn table(page: &AttemptsPage, behind: &Behind<'_>, all: &[(String, ExceptionNumbers)]) -> AnyView {
    let rows: Vec<_> = all
        .iter()
        .take(LISTED)
        .map(|(name, numbers)| row(page, behind, name, numbers))
        .collect();
    let rest = all.len().saturating_sub(LISTED);
    let rest = (rest > 0).then(|| {
        let words = format!("{rest} more are in the CSV.");
        view! { <p class="sub after">{words}</p> }
    });
    view! {
        <table class="tbl exc" role="table">
            <caption class="vh">"Recovery by exception type"</caption>
            <thead role="rowgroup">
                <tr role="row">
                    <th role="columnheader" scope="col">"Exception"</th>
                    <th role="columnheader" scope="col" class="num">"Finished"</th>
                    <th role="columnheader" scope="col" class="ex-b">"Recovered, or gave up"</th>
                    <th role="columnheader" scope="col" class="ex-w">"What follows"</th>
                </tr>
            </thead>
            <tbody role="rowgroup">{rows}</tbody>
        </table>
        {rest}
    }
    .into_any()
}

fn row(
    page: &AttemptsPage,
    behind: &Behind<'_>,
    name: &str,
    numbers: &ExceptionNumbers,
) -> AnyView {
    let verdict = numbers.verdict();
    let stop = (verdict == Some(Verdict::Permanent)).then_some("stop");
    let shown = words::exception(name);
    let label = match behind.exception(name) {
        href if !name.is_empty() => view! {
            <a class="job-n" href=href title=name.to_owned()><b>{shown}</b></a>
        }
        .into_any(),
        _ => view! { <b>{shown}</b> }.into_any(),
    };
    let rate = numbers.recovery().rate();
    let pending = (numbers.pending > 0).then(|| {
        let words = format!("{} pending", thousands(numbers.pending));
        view! { <span class="two">{words}</span> }
    });
    view! {
        <tr role="row" class=stop data-exception=name.to_owned() data-verdict=slug(verdict)>
            <th role="rowheader" scope="row">
                {label}
                <span class="two">{kinds(numbers)}</span>
            </th>
            <td role="cell" class="num">{words::or_dash(numbers.decided())} {pending}</td>
            <td role="cell" class="ex-b">{bar(page, behind, name, numbers, rate)}</td>
            <td role="cell" class="ex-w">{follows(numbers, verdict, rate)}</td>
        </tr>
    }
    .into_any()
}

fn slug(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Permanent) => "permanent",
        Some(Verdict::Recovers) => "recovers",
        Some(Verdict::TooFew) => "too-few",
        None => "undecided",
    }
}

/// `ImportJob.RunAsync 268, StockSyncJob.PushAsync 152 and 3 more`.
fn kinds(numbers: &ExceptionNumbers) -> String {
    let named: Vec<String> = numbers
        .kinds
        .iter()
        .take(KINDS)
        .map(|(kind, met)| match numbers.kinds.len() {
            1 => kind_name(kind),
            _ => format!("{} {}", kind_name(kind), thousands(*met)),
        })
        .collect();
    match numbers.kinds.len().saturating_sub(KINDS) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

fn bar(
    page: &AttemptsPage,
    behind: &Behind<'_>,
    name: &str,
    numbers: &ExceptionNumbers,
    rate: Rate,
) -> AnyView {
    let Some(percent) = rate.percent() else {
        return view! { <span class="sub">"none has finished yet"</span> }.into_any();
    };
    let parts = [
        Part {
            class: "b-a2",
            words: "recovered".to_owned(),
            count: numbers.sums.recovered,
            href: None,
        },
        Part {
            class: "b-gave",
            words: "gave up".to_owned(),
            count: numbers.sums.gave_up,
            href: Some(behind.exception(name)),
        },
    ];
    let words = match numbers.sums.recovered {
        0 => "none recovered".to_owned(),
        recovered => format!(
            "{percent} recovered, {} of {}",
            thousands(recovered),
            thousands(numbers.decided())
        ),
    };
    let between = words::interval(rate)
        .map(|between| view! { <span class="two" title="95 % between">{between} " %"</span> });
    let figure = words::rate_figure("recovered", rate, page.coverage.as_of, words);
    view! {
        {share_bar(&parts, 14, "of the finished rounds that met it")}
        <span class="two">{figure}</span>
        {between}
    }
    .into_any()
}

fn follows(numbers: &ExceptionNumbers, verdict: Option<Verdict>, rate: Rate) -> AnyView {
    let decided = thousands(numbers.decided());
    let spent = numbers.sums.retries_gave_up;
    match verdict {
        Some(Verdict::Permanent) => {
            let head = format!("0 of {decided} recovered: stop retrying this.");
            let spent = match spent {
                0 => " It is not retried, rightly.".to_owned(),
                spent => format!(" {}{} for nothing.", retries(spent), waited(numbers)),
            };
            view! { <b>{icon("s-failed")} " " {head}</b> {spent} }.into_any()
        }
        Some(Verdict::Recovers) => {
            let percent = rate.percent().unwrap_or_default();
            let head = format!("{percent} recover");
            let cost = match numbers.sums.retries_recovered {
                0 => String::new(),
                made => format!(", with {}", retries(made)),
            };
            let lost = match spent {
                0 => String::new(),
                spent => format!("; {}{} for nothing", retries(spent), waited(numbers)),
            };
            view! { <b>{head}</b> {format!("{cost}{lost}.")} }.into_any()
        }
        Some(Verdict::TooFew) => {
            let high = rate
                .interval(Rate::Z_95)
                .map(|interval| interval.percents().1)
                .unwrap_or_default();
            let words =
                format!("None of {decided} recovered: too few to say. Up to {high} % might.");
            view! { <span class="sub">{words}</span> }.into_any()
        }
        None => view! { <span class="sub">"Nothing can be said before a round finishes."</span> }
            .into_any(),
    }
}

/// ` and about 3 min in backoff`, where that is known.
fn waited(numbers: &ExceptionNumbers) -> String {
    match numbers.backoff_lost_ms {
        Some(ms) if ms > 0 => format!(" and about {} in backoff", duration(ms)),
        _ => String::new(),
    }
}

fn retries(number: i64) -> String {
    match number {
        1 => "1 retry".to_owned(),
        number => count(number, "retrie"),
    }
}
