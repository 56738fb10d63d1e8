//! The numbers of each job kind.

use leptos::prelude::*;

use super::words::{self, Behind};
use super::{AttemptsPage, Sheet};
use crate::charts::share::{class, parts, share_bar};
use crate::charts::spark::{Spark, Tone, spark};
use crate::components::coverage::Trust;
use crate::components::kind::kind_name;
use crate::components::number::{count, thousands};
use crate::links::SourceLinks;
use crate::model::insights::JobKind;
use crate::model::insights::endings::{Ending, Endings};
use crate::model::insights::fit::{PolicyFit, Shape};
use crate::model::insights::kinds::{KindNumbers, Kinds};
use crate::model::insights::span::slot_start;
use crate::model::words::duration;

/// Endings of rounds that needed more than one attempt.
const MORE: [Ending; 4] = [Ending::Second, Ending::Third, Ending::Later, Ending::GaveUp];

/// Kinds listed at most; the rest is in the CSV, and a filter away.
const LISTED: usize = 50;

/// The table.
pub(super) fn section(page: &AttemptsPage, kinds: &Kinds, links: &SourceLinks) -> AnyView {
    let behind = page.behind(links);
    let rows: Vec<_> = kinds
        .rows
        .iter()
        .take(LISTED)
        .map(|(kind, numbers)| row(page, &behind, kind, numbers))
        .collect();
    let rest = kinds.rows.len().saturating_sub(LISTED);
    let rest = (rest > 0).then(|| {
        let words = format!("{rest} more are in the CSV.");
        view! { <p class="sub after">{words}</p> }
    });
    view! {
        <section class="sec" aria-labelledby="kinds-h">
            <header class="sec-h">
                <h2 id="kinds-h">"By job type"</h2>
                <p class="sub">"lost ground first, then by wasted attempts"</p>
                {page.csv(links, Sheet::Kinds)}
                {page.coverage(Trust::Exact)}
            </header>
            <table class="tbl types" role="table">
                <caption class="vh">"Attempts by job type"</caption>
                <thead role="rowgroup">
                    <tr role="row">
                        <th role="columnheader" scope="col">"Job type"</th>
                        <th role="columnheader" scope="col" class="num">"Finished"</th>
                        <th role="columnheader" scope="col" class="num">"First attempt"</th>
                        <th role="columnheader" scope="col">"Trend"</th>
                        <th role="columnheader" scope="col" class="num">"Against usual"</th>
                        <th role="columnheader" scope="col" class="di">"Of those that needed more"</th>
                        <th role="columnheader" scope="col" class="num">"Wasted attempts"</th>
                        <th role="columnheader" scope="col" class="num">"Time in backoff"</th>
                    </tr>
                </thead>
                <tbody role="rowgroup">{rows}</tbody>
                <tfoot role="rowgroup">{foot(page, &behind, &kinds.all)}</tfoot>
            </table>
            {rest}
        </section>
    }
    .into_any()
}

fn row(page: &AttemptsPage, behind: &Behind<'_>, kind: &JobKind, numbers: &KindNumbers) -> AnyView {
    let alone = behind.links.attempts(&page.view.of_kind(kind));
    let policy = policy(page, kind, numbers);
    let label = format!(
        "First-attempt success of {}: {}",
        kind_name(kind),
        numbers
            .first
            .percent()
            .unwrap_or_else(|| "none ended".to_owned())
    );
    let tone = if numbers.fall.is_some() {
        Tone::Bad
    } else {
        Tone::Plain
    };
    view! {
        <tr role="row" data-type=kind.job_type.clone() data-method=kind.method.clone()>
            <th role="rowheader" scope="row" class="ty">
                <a class="job-n" href=alone title=words::whole_kind(kind)>
                    <b>{kind_name(kind)}</b>
                </a>
                <span class="two">{policy}</span>
            </th>
            <td role="cell" class="num fi">{finished(page, behind, Some(kind), numbers)}</td>
            <td role="cell" class="num fa">{first(page, numbers)}</td>
            <td role="cell" class="sp">
                {spark(&Spark {
                    steps: &numbers.trend,
                    usual: numbers.usual,
                    tone,
                    label: Some(&label),
                })}
            </td>
            <td role="cell" class="num tr">{against(page, numbers)}</td>
            <td role="cell" class="di">{more(page, behind, Some(kind), numbers)}</td>
            <td role="cell" class="num wa">{wasted(page, behind, Some(kind), numbers)}</td>
            <td role="cell" class="num bo">{backoff(numbers)}</td>
        </tr>
    }
    .into_any()
}

fn foot(page: &AttemptsPage, behind: &Behind<'_>, all: &KindNumbers) -> AnyView {
    let key: Vec<_> = MORE
        .into_iter()
        .map(|ending| {
            view! {
                <span>
                    <svg aria-hidden="true" viewBox="0 0 12 12">
                        <rect class=class(ending) x="0.5" y="0.5" width="11" height="11"></rect>
                    </svg>
                    {ending.label()}
                </span>
            }
        })
        .collect();
    view! {
        <tr role="row">
            <th role="rowheader" scope="row" class="ty">"All together"</th>
            <td role="cell" class="num fi">{finished(page, behind, None, all)}</td>
            <td role="cell" class="num fa">{first(page, all)}</td>
            <td role="cell" class="sp"></td>
            <td role="cell" class="num tr">{against(page, all)}</td>
            <td role="cell" class="di"><span class="key">{key}</span></td>
            <td role="cell" class="num wa">{wasted(page, behind, None, all)}</td>
            <td role="cell" class="num bo">{backoff(all)}</td>
        </tr>
    }
    .into_any()
}

/// The policy in a few words, as its delays show it.
fn policy(page: &AttemptsPage, kind: &JobKind, numbers: &KindNumbers) -> String {
    let Ok(fits) = &page.fits else {
        return String::new();
    };
    let mut own = fits.iter().filter(|fit| fit.kind == *kind);
    match (own.next_back(), own.next_back()) {
        (None, _) if numbers.finished() == 0 => String::new(),
        (None, _) => "no retry planned".to_owned(),
        (Some(fit), None) => policy_words(fit),
        (Some(fit), Some(_)) => format!("{}; others too", policy_words(fit)),
    }
}

/// `10 retries, Hangfire’s default formula`.
pub(crate) fn policy_words(fit: &PolicyFit) -> String {
    let retries = count(i64::from(fit.policy.retries), "retry").replace("retrys", "retries");
    match fit.shape {
        Shape::Default | Shape::List => format!("{retries}: {}", fit.policy.delay_words()),
        Shape::Varied => format!("{retries}, of no single formula"),
    }
}

fn finished(
    page: &AttemptsPage,
    behind: &Behind<'_>,
    kind: Option<&JobKind>,
    numbers: &KindNumbers,
) -> AnyView {
    let number = numbers.finished();
    let words = if number > 0 {
        let href = behind.jobs(kind);
        view! { <a href=href>{thousands(number)}</a> }.into_any()
    } else {
        "\u{2013}".into_any()
    };
    let pending = numbers.pending.saturating_add(numbers.pending_again);
    let pending = (pending > 0).then(|| {
        let words = format!("{} pending", thousands(pending));
        view! { <span class="two">{words}</span> }
    });
    let figure = words::figure("finished", number, page.coverage.as_of, words);
    view! { {figure} {pending} }.into_any()
}

fn first(page: &AttemptsPage, numbers: &KindNumbers) -> AnyView {
    let Some(percent) = numbers.first.percent() else {
        return view! { <span class="sub">"none ended yet"</span> }.into_any();
    };
    let bad = numbers.fall.is_some().then_some("bad");
    let of = format!(
        "{} of {}",
        count_of(numbers.first.numerator),
        count_of(numbers.first.denominator)
    );
    let between = words::interval(numbers.first)
        .map(|between| view! { <span class="two" title="95 % between">{between} " %"</span> });
    let figure = words::rate_figure(
        "first-attempt",
        numbers.first,
        page.coverage.as_of,
        view! { <b class=bad>{percent}</b> },
    );
    view! { {figure} <span class="two">{of}</span> {between} }.into_any()
}

fn count_of(number: u64) -> String {
    thousands(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Points and since when where it has fallen; what is usual.
fn against(page: &AttemptsPage, numbers: &KindNumbers) -> AnyView {
    let usual = match numbers.usual.percent() {
        Some(usual) => format!("usual {usual}"),
        None => "nothing before".to_owned(),
    };
    let verdict = match (numbers.points(), numbers.fall) {
        (Some(points), Some(fall)) => {
            let since = slot_start(fall.from).map(|at| words::moment(at, page.now));
            let words = format!("\u{2212}{:.1} points", points.abs());
            let since = since.map(|since| format!("since {since}"));
            view! { <b class="bad nw">{words}</b> <span class="two">{since}</span> }.into_any()
        }
        _ if numbers.first.denominator == 0 || numbers.usual.denominator == 0 => {
            view! { <span class="sub">"\u{2013}"</span> }.into_any()
        }
        _ => view! { <span class="sub">"no fall"</span> }.into_any(),
    };
    view! { {verdict} <span class="two">{usual}</span> }.into_any()
}

fn more(
    page: &AttemptsPage,
    behind: &Behind<'_>,
    kind: Option<&JobKind>,
    numbers: &KindNumbers,
) -> AnyView {
    let bar = |endings: &Endings, which: &[Ending], of: &str| {
        let href = |ending| Some(behind.ending(kind, ending));
        share_bar(&parts(endings, which, href), 12, of)
    };
    let first = match numbers.endings.needed_more() {
        0 if numbers.endings.finished() == 0 => None,
        0 => Some(view! { <span class="sub">"none needed more"</span> }.into_any()),
        needed => {
            let gave_up = numbers.endings.gave_up;
            let words = format!("{} needed more", thousands(needed));
            let gave_up = link_if(
                gave_up,
                behind.ending(kind, Ending::GaveUp),
                format!("{} gave up", thousands(gave_up)),
            );
            let gave_up = words::figure(
                "gave-up",
                numbers.endings.gave_up,
                page.coverage.as_of,
                gave_up,
            );
            Some(
                view! {
                    {bar(&numbers.endings, &MORE, "of those that needed more")}
                    <span class="two">{words} ", " {gave_up}</span>
                }
                .into_any(),
            )
        }
    };
    let again = (numbers.again.finished() > 0).then(|| {
        let words = format!(
            "{} after a requeue, {} gave up",
            thousands(numbers.again.finished()),
            thousands(numbers.again.gave_up)
        );
        view! {
            {bar(&numbers.again, &Ending::ALL, "of those after a requeue")}
            <span class="two">{words}</span>
        }
    });
    view! { {first} {again} }.into_any()
}

fn link_if(number: i64, href: String, words: String) -> AnyView {
    if number > 0 {
        view! { <a href=href>{words}</a> }.into_any()
    } else {
        words.into_any()
    }
}

fn wasted(
    page: &AttemptsPage,
    behind: &Behind<'_>,
    kind: Option<&JobKind>,
    numbers: &KindNumbers,
) -> AnyView {
    let words = link_if(
        numbers.wasted,
        behind.ending(kind, Ending::GaveUp),
        words::or_dash(numbers.wasted),
    );
    words::figure("wasted", numbers.wasted, page.coverage.as_of, words)
}

fn backoff(numbers: &KindNumbers) -> AnyView {
    let lost = (numbers.backoff_lost_ms > 0).then(|| {
        let words = format!("{} for nothing", duration(numbers.backoff_lost_ms));
        view! { <span class="two">{words}</span> }
    });
    view! { {words::time_or_dash(numbers.backoff_ms)} {lost} }.into_any()
}
