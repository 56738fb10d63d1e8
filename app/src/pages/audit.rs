//! What operators did.

use leptos::prelude::*;

use super::messages::in_place;
use crate::components::message::{Tone, message};
use crate::components::pager::{Pager, pager};
use crate::components::shell::flash::{claim_change, claim_name, imperative, row_words, verb};
use crate::components::shell::{SourceChip, page_context};
use crate::components::text::{stored, visible};
use crate::components::time;
use crate::links::SourceLinks;
use crate::ports::audit::AuditRow;
use crate::ports::error::StoreError;

#[cfg(test)]
mod tests;

/// What the page shows.
#[derive(Debug)]
pub struct AuditPage {
    /// The source.
    pub source: SourceChip,
    /// The rows, newest first.
    pub rows: Result<Vec<AuditRow>, StoreError>,
    /// Only those of this job.
    pub job: Option<i64>,
    /// Whether older rows follow.
    pub has_older: bool,
    /// Whether this is the newest page.
    pub newest: bool,
}

/// The page.
pub fn audit_page(page: AuditPage) -> AnyView {
    let links = page_context().links.source(&page.source.name);
    let sentence = match page.job {
        Some(job) => format!("what was done to job {job} through Redrive, newest first."),
        None => "what was done through Redrive, newest first.".to_owned(),
    };
    let body = match &page.rows {
        Ok(rows) if rows.is_empty() => empty(&page, &links),
        Ok(rows) => {
            let pages = Pager {
                newest: (!page.newest).then(|| links.audit_page(page.job, None)),
                newer: None,
                older: rows
                    .last()
                    .filter(|_| page.has_older)
                    .map(|row| links.audit_page(page.job, Some(row.id))),
            };
            view! {
                {table(rows, &links)}
                {pager(pages, "Actions that were refused or came too late are kept too.".to_owned())}
            }
            .into_any()
        }
        Err(cause) => in_place(cause),
    };
    view! {
        <div class="page-h"><h1>"Audit"</h1><p>{sentence}</p></div>
        <section aria-label="Audit">{body}</section>
    }
    .into_any()
}

fn empty(page: &AuditPage, links: &SourceLinks) -> AnyView {
    let offers = page
        .job
        .map(|_| ("All of the audit".to_owned(), links.audit_page(None, None)))
        .into_iter()
        .collect();
    let (headline, words) = match (&page.source.read_only, page.job) {
        (_, Some(job)) => (
            format!("Nothing was done to job {job} here"),
            "Requeues from Hangfire's own dashboard stand in the job's history instead.",
        ),
        (Some(_), None) => (
            "Nothing can be done here".to_owned(),
            "This source is read-only, so Redrive keeps no audit of it.",
        ),
        (None, None) => (
            "Nobody has done anything here yet".to_owned(),
            "Every requeue, delete and reclaim through Redrive will stand here, whatever became of it.",
        ),
    };
    message(Tone::Plain, "i-audit", headline, words, offers).into_any()
}

fn table(rows: &[AuditRow], links: &SourceLinks) -> AnyView {
    let rows: Vec<_> = rows.iter().map(|row| line(row, links)).collect();
    view! {
        <table class="tbl aud" role="table">
            <caption class="vh">"Actions of operators, newest first"</caption>
            <thead role="rowgroup">
                <tr role="row">
                    <th role="columnheader" scope="col">"When"</th>
                    <th role="columnheader" scope="col">"Who"</th>
                    <th role="columnheader" scope="col">"What"</th>
                    <th role="columnheader" scope="col">"State"</th>
                    <th role="columnheader" scope="col">"Outcome"</th>
                    <th role="columnheader" scope="col">"Reason"</th>
                </tr>
            </thead>
            <tbody role="rowgroup">{rows}</tbody>
        </table>
    }
    .into_any()
}

fn line(row: &AuditRow, links: &SourceLinks) -> AnyView {
    let proof =
        (!row.authenticated).then(|| view! { <span class="two">"not authenticated"</span> });
    let change = match (&row.before, &row.after) {
        _ if row.claim.is_some() => row.claim.as_ref().and_then(claim_change).into_any(),
        (Some(before), Some(after)) => {
            view! { {stored(&before.0)} " → " {stored(&after.0)} }.into_any()
        }
        (Some(before), None) => view! { {stored(&before.0)} ", unchanged" }.into_any(),
        _ => row
            .seen
            .as_ref()
            .map(|seen| view! { "seen as " {stored(&seen.0)} })
            .into_any(),
    };
    let (words, _, _) = row_words(row);
    let class = match row.outcome.as_str() {
        "done" => "good",
        "unknown" | "refused" => "bad",
        _ => "warn",
    };
    let words = if row.outcome == "done" { "Done" } else { words };
    let what = if row.outcome == "done" {
        verb(&row.action).to_owned()
    } else {
        imperative(&row.action).to_owned()
    };
    let note =
        (!row.note.is_empty()).then(|| view! { <span class="two">{visible(&row.note)}</span> });
    let claim = row.claim.as_ref().map(|claim| {
        view! { " " {claim_name(Some(links), claim)} }
    });
    let job = row.job.map(|job| {
        view! { " " <a class="nw" href=links.job(job)>{format!("job {job}")}</a> }
    });
    view! {
        <tr role="row" data-audit=row.id.to_string() data-outcome=row.outcome.clone()>
            <td role="cell" class="nw">{time::ago(row.at)}</td>
            <td role="cell">{stored(&row.actor)} " " {proof}</td>
            <th role="rowheader" scope="row">
                {what} {claim} {job}
            </th>
            <td role="cell">{change}</td>
            <td role="cell" class="a-o"><b class=class>{words}</b> " " {note}</td>
            <td role="cell" class="a-r" data-l=row.reason.as_ref().map(|_| "Reason")>{row.reason.as_deref().map(visible)}</td>
        </tr>
    }
    .into_any()
}
