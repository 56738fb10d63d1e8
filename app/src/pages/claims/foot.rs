//! Below the list: proof that claims do get sent, and what is purged.

use leptos::prelude::*;

use super::{ClaimsPage, FiguresView, TableView, words};
use crate::components::coverage::{Trust, coverage};
use crate::components::icon::icon;
use crate::components::number::{count, thousands};
use crate::components::relative;
use crate::components::shell::page_context;
use crate::components::text::{cut, shown, visible};
use crate::components::time;
use crate::links::SourceLinks;
use crate::links::claims::{ClaimList, ClaimsView, cutoff_words};
use crate::model::claim::Claim;
use crate::model::claim::table::{Lack, Shape};
use crate::ports::claims::ClaimFigures;

/// Both sections side by side.
pub(super) fn section(
    page: &ClaimsPage,
    table: &TableView,
    shape: &Shape,
    links: &SourceLinks,
) -> AnyView {
    view! {
        <div class="cols">
            <div class="c7">{just_sent(page, table, links)}</div>
            <div class="c5">{retention(page, table, shape)}</div>
        </div>
    }
    .into_any()
}

fn age(table: &TableView) -> Option<AnyView> {
    table
        .counted()
        .map(|(_, age_ms)| coverage(Trust::Exact, relative::ago(age_ms)).into_any())
}

fn just_sent(page: &ClaimsPage, table: &TableView, links: &SourceLinks) -> AnyView {
    let figures = table.counted().map(|(figures, _)| figures);
    let content = match figures {
        None => view! { <p class="sub">{not_counted(table)}</p> }.into_any(),
        Some(figures) if figures.just_sent.is_empty() => view! {
            <p class="sec-p">
                "No claim is Sent: either nothing was sent yet, or Sent claims do not stay in this table."
            </p>
        }
        .into_any(),
        Some(figures) => sent_table(figures, table),
    };
    let sent = ClaimsView {
        list: ClaimList::Sent,
        cutoff_ms: None,
        key: None,
        ..page.view.clone()
    };
    view! {
        <section class="sec" aria-labelledby="sent-h">
            <header class="sec-h">
                <h2 id="sent-h">"Sent just now"</h2>
                <p class="sub">"proof that claims do get sent"</p>
                <a class="sub" href=links.claims(&sent, None)>"All Sent claims"</a>
                {age(table)}
            </header>
            {content}
        </section>
    }
    .into_any()
}

fn not_counted(table: &TableView) -> AnyView {
    match &table.figures {
        FiguresView::Failed(why) => view! { "Could not be read: " {visible(why)} }.into_any(),
        _ => "Not read yet.".into_any(),
    }
}

fn sent_table(figures: &ClaimFigures, table: &TableView) -> AnyView {
    let with_id = table.table.columns.provider_id.as_deref();
    let rows: Vec<_> = figures
        .just_sent
        .iter()
        .map(|claim| sent_row(claim, with_id.is_some()))
        .collect();
    let column = with_id.map(|name| view! { <th scope="col">{shown(name).into_owned()}</th> });
    view! {
        <table class="tbl one sent">
            <caption class="vh">"Newest Sent claims"</caption>
            <thead>
                <tr>
                    <th scope="col">"Key"</th>
                    {column}
                    <th scope="col" class="num">"Claimed"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}

fn sent_row(claim: &Claim, with_id: bool) -> AnyView {
    let id = with_id.then(|| {
        let id = claim.provider_id.as_deref().unwrap_or_default();
        let title = shown(&cut(id, 600)).into_owned();
        view! { <td><span class="mono cut" title=title>{visible(&cut(id, 60))}</span></td> }
    });
    let claimed = claim
        .at()
        .map_or_else(|| "–".into_any(), |at| time::ago(at).into_any());
    view! {
        <tr>
            <th scope="row">{words::key(&claim.key)}</th>
            {id}
            <td class="num">{claimed}</td>
        </tr>
    }
    .into_any()
}

fn retention(page: &ClaimsPage, table: &TableView, shape: &Shape) -> AnyView {
    let window = cutoff_words(table.table.retention_ms);
    let figures = table.counted().map(|(figures, _)| figures);
    let (number, oldest) = figures.map_or((None, None), |f| (Some(f.purgeable.0), f.purgeable.1));
    let headline = match number {
        Some(n) => {
            let rows = if n == 1 { "row is" } else { "rows are" };
            let as_of = figures.map(|figures| time::machine(figures.as_of));
            view! {
                <p class="ret-n">
                    <b data-figure="purgeable" data-value=n.to_string() data-as-of=as_of>
                        {thousands(n)}
                    </b>
                    " "
                    {format!("Sent {rows} older than {window}")}
                </p>
            }
            .into_any()
        }
        None => view! { <p class="ret-n"><b>"–"</b> " " {not_counted(table)}</p> }.into_any(),
    };
    let oldest = match (number, oldest) {
        (Some(0) | None, _) => None,
        (Some(_), Some(at)) => Some(
            view! { {time::exact(at)} <span class="sub">", " {time::ago(at)}</span> }.into_any(),
        ),
        (Some(_), None) => Some("its time cannot be read".into_any()),
    };
    view! {
        <section class="sec" aria-labelledby="ret">
            <header class="sec-h"><h2 id="ret">"Retention"</h2>{age(table)}</header>
            <div class="ret">
                {headline}
                <dl class="params">
                    {oldest.map(|oldest| view! { <div><dt>"Oldest"</dt><dd>{oldest}</dd></div> })}
                    <div><dt>"Periodic purge"</dt><dd>{periodic(table)}</dd></div>
                    <div><dt>"Never purged"</dt><dd>"Sending rows, whatever their age"</dd></div>
                </dl>
                {purge(page, table, shape, number)}
            </div>
        </section>
    }
    .into_any()
}

/// Whether Redrive purges by itself, what became of it the last time, and when it does so again.
fn periodic(table: &TableView) -> AnyView {
    if !table.table.purge {
        return "off: set purge = true for this table in redrive.toml to purge by itself"
            .into_any();
    }
    let Some(last) = &table.last_purge else {
        return "on, every hour".into_any();
    };
    let became = match &last.rows {
        Ok(rows) => count(i64::try_from(*rows).unwrap_or(i64::MAX), "row") + " went ",
        Err(why) => format!("failed ({}) ", shown(why)),
    };
    view! {
        "on, every hour: "
        {became}
        {time::ago(last.at)}
        ", next "
        {time::exact(last.next)}
    }
    .into_any()
}

/// Why nothing can be purged by hand, where that is so.
fn why_not(page: &ClaimsPage, shape: &Shape, number: Option<i64>) -> Option<String> {
    if let Some(why) = page.source.read_only.as_ref().or(shape.read_only.as_ref()) {
        return Some(format!("Read only: {}", shown(why)));
    }
    if shape.lacks(Lack::ClaimTime) {
        return Some("Without a claim time nobody can say which rows are old enough.".to_owned());
    }
    (number == Some(0)).then(|| "There is nothing to purge.".to_owned())
}

fn purge(page: &ClaimsPage, table: &TableView, shape: &Shape, number: Option<i64>) -> AnyView {
    if let Some(why) = why_not(page, shape, number) {
        return view! {
            <p class="act-b">
                <button class="btn" type="button" aria-disabled="true" aria-describedby="purge-no">
                    {icon("i-trash")} "Purge now"
                </button>
                <span class="sub" id="purge-no">{why}</span>
            </p>
        }
        .into_any();
    }
    let links = page_context().links;
    let window = cutoff_words(table.table.retention_ms);
    let rows = number.map_or_else(|| "Sent rows".to_owned(), |n| count(n, "Sent row"));
    let back = links
        .source(&page.source.name)
        .claims(&page.view, page.cursor.as_ref());
    view! {
        <p class="act-b">
            <button class="btn" type="button" popovertarget="purge">
                {icon("i-trash")} "Purge now\u{2026}"
            </button>
        </p>
        <div class="pop act-p" id="purge" popover="auto" role="dialog" aria-labelledby="purge-h">
            <h2 id="purge-h">"Purge Sent claims?"</h2>
            <form method="post" action=links.action("purge-claims")>
                <input type="hidden" name="source" value=page.source.name.clone() />
                <input type="hidden" name="claims" value=table.table.name.clone() />
                <input type="hidden" name="back" value=back />
                <dl class="confirm">
                    <div>
                        <dt>"Will happen"</dt>
                        <dd>
                            {format!(
                                "{rows} claimed more than {window} ago are deleted, in batches, each in \
                                 its own transaction.",
                            )}
                        </dd>
                    </div>
                    <div>
                        <dt>"Never"</dt>
                        <dd>"a Sending row, or one of another status, whatever its age"</dd>
                    </div>
                </dl>
                <div class="note">
                    {icon("i-warn")}
                    <p>
                        "A job that comes with one of these keys again will send again. It cannot be \
                         taken back."
                    </p>
                </div>
                <label class="lbl" for="purge-why">"Reason, kept in the audit"</label>
                <input
                    class="input full"
                    id="purge-why"
                    name="reason"
                    type="text"
                    maxlength="1000"
                    autocomplete="off"
                />
                <div class="btns">
                    <button class="btn danger" type="submit">{icon("i-trash")} "Purge"</button>
                    <button
                        class="btn quiet"
                        type="button"
                        popovertarget="purge"
                        popovertargetaction="hide"
                    >
                        "Cancel"
                    </button>
                </div>
            </form>
        </div>
    }
    .into_any()
}
