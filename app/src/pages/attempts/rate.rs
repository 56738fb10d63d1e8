//! First-attempt success over time, and how many tries it takes, of all that the page shows.

use leptos::prelude::*;

use super::words::{self, Behind};
use super::{AttemptsPage, Sheet};
use crate::charts::rate::{RateLine, RatePoint, rate_line};
use crate::charts::share::{class, parts, share_bar};
use crate::components::coverage::Trust;
use crate::components::number::{count, thousands};
use crate::links::SourceLinks;
use crate::model::insights::endings::{Ending, Endings};
use crate::model::insights::kinds::Kinds;
use crate::model::insights::span::slot_start;
use crate::model::words::duration;

/// The steps as points, each with the jobs behind it.
pub(super) fn points(page: &AttemptsPage, kinds: &Kinds, links: &SourceLinks) -> Vec<RatePoint> {
    let steps = page.plan.steps;
    let behind = page.behind(links);
    kinds
        .all
        .trend
        .iter()
        .enumerate()
        .filter_map(|(index, rate)| {
            let at = steps.start(index)?;
            Some(RatePoint {
                at,
                rate: *rate,
                href: Some(behind.step(at, at.checked_add_signed(steps.lasts())?)),
            })
        })
        // What has not come yet is no gap.
        .filter(|point| point.at <= page.now || point.rate.denominator > 0)
        .collect()
}

/// The line.
pub(super) fn section(page: &AttemptsPage, kinds: &Kinds, links: &SourceLinks) -> AnyView {
    let points = points(page, kinds, links);
    let finding = finding(kinds);
    let end = page.plan.span.ends().unwrap_or(page.now).min(page.now);
    let end = points
        .last()
        .map_or(end, |last| end.max(last.at + page.plan.steps.lasts()));
    let drawing = if points.iter().all(|point| point.rate.denominator == 0) {
        view! { <p class="sec-p">"No first attempt ended in this time, so there is no rate."</p> }
            .into_any()
    } else {
        rate_line(&RateLine {
            points: &points,
            end,
            usual: kinds.all.usual,
            fallen_since: kinds.all.fall.and_then(|fall| slot_start(fall.from)),
            subject: "First-attempt success",
            finding: &finding,
            counted: "First attempts",
            leads_to: "jobs whose state began then",
        })
    };
    let step = format!(
        "jobs by when their first attempt ended, steps of {}",
        duration(page.plan.steps.lasts().num_milliseconds())
    );
    view! {
        <section class="sec" aria-labelledby="rate-h">
            <header class="sec-h">
                <h2 id="rate-h">"First-attempt success over time"</h2>
                <p class="sub">{step}</p>
                {page.csv(links, Sheet::Rate)}
                {page.coverage(Trust::Exact)}
            </header>
            {drawing}
        </section>
    }
    .into_any()
}

fn finding(kinds: &Kinds) -> String {
    let Some(percent) = kinds.all.first.percent() else {
        return "No first attempt ended.".to_owned();
    };
    let usual = match kinds.all.usual.percent() {
        Some(usual) => format!("{usual} in the seven days before"),
        None => "nothing was counted in the seven days before".to_owned(),
    };
    match kinds.all.fall.and_then(|fall| fall.window.percent()) {
        Some(now) => format!("{percent} over the period, {usual}; it has fallen to {now}."),
        None => format!("{percent} over the period, {usual}."),
    }
}

/// How many tries it takes, of all kinds together.
pub(super) fn endings(page: &AttemptsPage, kinds: &Kinds, links: &SourceLinks) -> AnyView {
    let behind = page.behind(links);
    let again = (kinds.all.again.finished() > 0 || kinds.all.pending_again > 0).then(|| {
        view! {
            <h3 class="again-h">"After a requeue"</h3>
            {table(page, &behind, &kinds.all.again, kinds.all.pending_again, "after a requeue")}
        }
    });
    view! {
        <section class="sec first" aria-labelledby="tries-h">
            <header class="sec-h">
                <h2 id="tries-h">"How many tries it takes"</h2>
                {page.coverage(Trust::Exact)}
            </header>
            {table(page, &behind, &kinds.all.endings, kinds.all.pending, FINISHED)}
            {again}
        </section>
    }
    .into_any()
}

/// What the first rounds are called.
const FINISHED: &str = "finished";

fn table(
    page: &AttemptsPage,
    behind: &Behind<'_>,
    endings: &Endings,
    pending: i64,
    what: &'static str,
) -> AnyView {
    let href = |ending: Ending| (endings.of(ending) > 0).then(|| behind.ending(None, ending));
    let rows: Vec<_> = Ending::ALL
        .into_iter()
        // After a requeue there are few: only what is there is listed.
        .filter(|ending| what == FINISHED || endings.of(*ending) > 0)
        .map(|ending| {
            let number = endings.of(ending);
            let share = endings.rate(ending).percent().filter(|_| number > 0);
            let counted = match href(ending) {
                Some(href) => view! { <a href=href>{thousands(number)}</a> }.into_any(),
                None => words::or_dash(number).into_any(),
            };
            let words = match ending {
                Ending::GaveUp => "Gave up".to_owned(),
                ending => format!("Succeeded with the {}", ending.label()),
            };
            view! {
                <tr>
                    <th scope="row">
                        <svg class="key-s" aria-hidden="true" viewBox="0 0 12 12">
                            <rect class=class(ending) x="0.5" y="0.5" width="11" height="11"></rect>
                        </svg>
                        {words}
                    </th>
                    <td class="num">{counted}</td>
                    <td class="num">{share.unwrap_or_else(|| "\u{2013}".to_owned())}</td>
                </tr>
            }
        })
        .collect();
    let pending = (page.view.queue.is_none() && (what == FINISHED || pending > 0)).then(|| {
        view! {
            <tr>
                <th scope="row"><span class="key-s"></span> "Not finished yet"</th>
                <td class="num">{words::or_dash(pending)}</td>
                <td class="num sub">"now"</td>
            </tr>
        }
    });
    let caption = format!("Rounds {what}, by the attempt that ended them");
    let of = format!("of {} {what}", count(endings.finished(), "round"));
    view! {
        {share_bar(&parts(endings, &Ending::ALL, href), 14, &of)}
        <table class="tbl one tries">
            <caption class="vh">{caption}</caption>
            <thead>
                <tr>
                    <th scope="col">"Round of attempts"</th>
                    <th scope="col" class="num">"Jobs"</th>
                    <th scope="col" class="num">"Share"</th>
                </tr>
            </thead>
            <tbody>{rows} {pending}</tbody>
        </table>
    }
    .into_any()
}
