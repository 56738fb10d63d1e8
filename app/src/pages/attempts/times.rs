//! How long attempts waited and ran, by their number.

use leptos::prelude::*;

use super::words::{self, Behind};
use super::{AttemptsPage, Sheet};
use crate::components::coverage::Trust;
use crate::components::kind::kind_name;
use crate::components::number::thousands;
use crate::links::SourceLinks;
use crate::model::insights::JobKind;
use crate::model::insights::times::{LAST_NUMBER, Percentiles, Times};
use crate::pages::messages::in_place;

/// Kinds listed at most; the rest is in the CSV, and a filter away.
const LISTED: usize = 12;

/// The table: a group of rows for each kind, in the order of the page's first table.
pub(super) fn section(page: &AttemptsPage, links: &SourceLinks) -> AnyView {
    let content = match &page.times {
        Err(cause) => in_place(cause),
        Ok(all) if all.is_empty() => view! {
            <p class="sec-p">"No attempt with a number ended in this time."</p>
        }
        .into_any(),
        Ok(all) => table(page, &page.behind(links), all),
    };
    view! {
        <section class="sec" aria-labelledby="times-h">
            <header class="sec-h">
                <h2 id="times-h">"How long attempts waited and ran"</h2>
                <p class="sub">
                    "by attempt number; half, 95 and 99 of 100 took at most so long (ends of fixed buckets)"
                </p>
                {page.csv(links, Sheet::Times)}
                {page.coverage(Trust::Exact)}
            </header>
            {content}
        </section>
    }
    .into_any()
}

fn table(page: &AttemptsPage, behind: &Behind<'_>, all: &[Times]) -> AnyView {
    let mut order: Vec<&JobKind> = match &page.kinds {
        Ok(kinds) => kinds.rows.iter().map(|(kind, _)| kind).collect(),
        Err(_) => Vec::new(),
    };
    for row in all {
        if !order.contains(&&row.kind) {
            order.push(&row.kind);
        }
    }
    let of =
        |kind: &JobKind| -> Vec<&Times> { all.iter().filter(|row| row.kind == *kind).collect() };
    let kinds: Vec<&JobKind> = order
        .into_iter()
        .filter(|kind| all.iter().any(|row| row.kind == **kind))
        .collect();
    let groups: Vec<_> = kinds
        .iter()
        .take(LISTED)
        .map(|kind| group(page, behind, kind, &of(kind)))
        .collect();
    let rest = kinds.len().saturating_sub(LISTED);
    let rest = (rest > 0).then(|| {
        let words = format!("{rest} more job types are in the CSV.");
        view! { <p class="sub after">{words}</p> }
    });
    view! {
        <div class="scroll-x" role="region" aria-label="Table of waits and run times" tabindex="0">
            <table class="tbl one times">
                <caption class="vh">"Waits and run times by job type and attempt"</caption>
                <thead>
                    <tr>
                        <th scope="col" rowspan="2">"Job type"</th>
                        <th scope="col" rowspan="2">"Attempt"</th>
                        <th scope="col" rowspan="2" class="num">"Ended"</th>
                        <th scope="colgroup" colspan="3" class="num">"Waited in the queue"</th>
                        <th scope="colgroup" colspan="3" class="num">"Ran"</th>
                    </tr>
                    <tr>
                        <th scope="col" class="num">"half"</th>
                        <th scope="col" class="num">"95 %"</th>
                        <th scope="col" class="num">"99 %"</th>
                        <th scope="col" class="num">"half"</th>
                        <th scope="col" class="num">"95 %"</th>
                        <th scope="col" class="num">"99 %"</th>
                    </tr>
                </thead>
                {groups}
            </table>
        </div>
        {rest}
    }
    .into_any()
}

fn group(page: &AttemptsPage, behind: &Behind<'_>, kind: &JobKind, rows: &[&Times]) -> AnyView {
    let alone = behind.links.attempts(&page.view.of_kind(kind));
    let tall = rows.len().to_string();
    let mut name = Some(view! {
        <th scope="rowgroup" rowspan=tall class="ti-k">
            <a class="job-n" href=alone title=words::whole_kind(kind)>{kind_name(kind)}</a>
        </th>
    });
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            view! {
                <tr>
                    {name.take()}
                    <th scope="row">{number(row.number)}</th>
                    <td class="num">{thousands(row.attempts)}</td>
                    {cells(row.waited)}
                    {cells(row.ran)}
                </tr>
            }
        })
        .collect();
    view! { <tbody>{rows}</tbody> }.into_any()
}

/// `1st`, `4th+`.
pub(super) fn number(number: u32) -> String {
    match number {
        1 => "1st".to_owned(),
        2 => "2nd".to_owned(),
        3 => "3rd".to_owned(),
        LAST_NUMBER => "4th+".to_owned(),
        n => format!("{n}th"),
    }
}

fn cells(percentiles: Option<Percentiles>) -> AnyView {
    let Some(percentiles) = percentiles else {
        return view! { <td class="num sub" colspan="3">"not recorded"</td> }.into_any();
    };
    [percentiles.p50, percentiles.p95, percentiles.p99]
        .into_iter()
        .map(|bound| view! { <td class="num">{words::bound(bound)}</td> })
        .collect_view()
        .into_any()
}
