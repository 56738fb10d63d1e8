//! The outcome of an action, in words, at the top of the page it led to.

use leptos::prelude::*;
use uuid::Uuid;

use super::Chrome;
use crate::components::icon::icon;
use crate::components::text::{cut, stored};
use crate::components::time;
use crate::links::SourceLinks;
use crate::links::claims::{ClaimList, ClaimsView};
use crate::ports::audit::{AuditClaim, AuditRow};

/// The outcome of the action that led to a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flash {
    /// What the audit says of it.
    Known(Box<AuditRow>),
    /// What the audit says of an action on several jobs, one row for each.
    Several(Vec<AuditRow>),
    /// The audit has no row of this id: it was not written, or purged.
    Missing(Uuid),
}

/// The verb of an action's slug, in the past: `Requeued`.
pub fn verb(action: &str) -> &str {
    match action {
        "requeue" => "Requeued",
        "enqueue-now" => "Enqueued now",
        "delete" => "Deleted",
        "undo-delete" => "Restored",
        "reclaim" => "Reclaimed",
        "release" => "Released",
        "mark-sent" => "Marked as sent:",
        "ask-provider" => "Asked the provider about",
        "purge" => "Purged",
        other => other,
    }
}

/// An action's slug as a verb for people: `Requeue`.
pub fn imperative(action: &str) -> &str {
    match action {
        "requeue" => "Requeue",
        "enqueue-now" => "Enqueue now",
        "delete" => "Delete",
        "undo-delete" => "Undo the delete",
        "reclaim" => "Reclaim",
        "release" => "Release",
        "mark-sent" => "Mark as sent:",
        "ask-provider" => "Ask the provider about",
        "purge" => "Purge",
        other => other,
    }
}

/// An outcome's word for people, with the class of its colour and its symbol.
pub fn outcome_words(outcome: &str) -> (&'static str, &'static str, &'static str) {
    match outcome {
        "done" => ("done", "flash f-done", "i-check"),
        "moved" => ("Not done, the job has changed", "flash f-warn", "i-warn"),
        "gone" => (
            "Not done, the job no longer exists",
            "flash f-warn",
            "i-warn",
        ),
        "busy" => (
            "Not done, the job is held at this moment: try again",
            "flash f-warn",
            "i-warn",
        ),
        "refused" => ("Refused", "flash f-bad", "i-x"),
        _ => ("Unknown whether it happened", "flash f-bad", "i-failures"),
    }
}

/// [`outcome_words`] for a row, which may be about a claim.
pub fn row_words(row: &AuditRow) -> (&'static str, &'static str, &'static str) {
    let (words, class, symbol) = outcome_words(&row.outcome);
    let words = match (row.claim.is_some(), row.outcome.as_str()) {
        (true, "moved") => "Not done, the claim has changed",
        (true, "gone") => "Not done, the claim is not there any more",
        (true, "busy") => "Not done, the claim or its job is held at this moment: try again",
        _ => words,
    };
    (words, class, symbol)
}

/// Characters of a claim's key that a line shows.
const KEY: usize = 80;

/// A claim by its key, cut short and linked where the source is known; of a purge, its table.
pub fn claim_name(links: Option<&SourceLinks>, claim: &AuditClaim) -> AnyView {
    let Some(key) = &claim.key else {
        return view! { "claims of " {stored(&claim.table)} }.into_any();
    };
    let short = cut(key, KEY).replace(['\n', '\r', '\t'], " ");
    let Some(links) = links else {
        return view! { "claim " {stored(&short)} }.into_any();
    };
    let view = ClaimsView {
        list: ClaimList::All,
        table: Some(claim.table.clone()),
        key: Some(key.clone()),
        ..ClaimsView::default()
    };
    view! { "claim " <a class="mono" href=links.claims(&view, None)>{stored(&short)}</a> }
        .into_any()
}

/// What a claim was and what became of it: `Sending since … → Sent as msg-1`.
pub fn claim_change(claim: &AuditClaim) -> Option<AnyView> {
    Some(match (&claim.before, &claim.after) {
        (Some(before), Some(after)) => view! { {stored(before)} " → " {stored(after)} }.into_any(),
        (Some(before), None) => view! { {stored(before)} ", unchanged" }.into_any(),
        (None, Some(after)) => stored(after).into_any(),
        (None, None) => return None,
    })
}

pub(super) fn bar(chrome: &Chrome, flash: &Flash) -> AnyView {
    match flash {
        Flash::Known(row) => known(chrome, row),
        Flash::Several(rows) => several(chrome, rows),
        Flash::Missing(id) => view! {
            <div class="flash f-warn" role="status">
                {icon("i-info")}
                <p>
                    "The audit has no action " <code>{id.to_string()}</code>
                    ". Look at the job or the claim itself to see whether it happened."
                </p>
            </div>
        }
        .into_any(),
    }
}

fn several(chrome: &Chrome, rows: &[AuditRow]) -> AnyView {
    let done = rows.iter().filter(|row| row.outcome == "done").count();
    let (class, symbol) = if done == rows.len() {
        ("flash f-done", "i-check")
    } else {
        ("flash f-warn", "i-warn")
    };
    let items: Vec<_> = rows
        .iter()
        .map(|row| {
            let (words, _, _) = row_words(row);
            let words = if row.outcome == "done" {
                verb(&row.action).trim_end_matches(':')
            } else {
                words
            };
            let note = (!row.note.is_empty()).then(|| view! { ". " {stored(&row.note)} });
            view! {
                <li data-outcome=row.outcome.clone()>
                    {subject(chrome, row)} ": " {words.to_owned()} {note}
                </li>
            }
        })
        .collect();
    let open = done < rows.len();
    let what = rows
        .first()
        .map_or("", |row| imperative(&row.action).trim_end_matches(':'));
    view! {
        <div class=class role="status">
            {icon(symbol)}
            <div>
                <p><b>{format!("{what}: {done} of {} done", rows.len())}</b></p>
                <details open=open><summary>"Each one"</summary><ul>{items}</ul></details>
            </div>
        </div>
    }
    .into_any()
}

/// What a row is about: its claim, its job, or both.
fn subject(chrome: &Chrome, row: &AuditRow) -> AnyView {
    let links = chrome
        .source
        .as_ref()
        .map(|source| chrome.links.source(&source.name));
    let claim = row
        .claim
        .as_ref()
        .map(|claim| claim_name(links.as_ref(), claim));
    let between = (claim.is_some() && row.job.is_some()).then_some(", ");
    let job = row.job.map(|job| job_link(chrome, job));
    view! { {claim} {between} {job} }.into_any()
}

fn job_link(chrome: &Chrome, job: i64) -> AnyView {
    match &chrome.source {
        None => format!("job {job}").into_any(),
        Some(source) => {
            let href = chrome.links.source(&source.name).job(job);
            view! { <a href=href>{format!("job {job}")}</a> }.into_any()
        }
    }
}

fn known(chrome: &Chrome, row: &AuditRow) -> AnyView {
    let (words, class, symbol) = row_words(row);
    let job = subject(chrome, row);
    let headline = if row.outcome == "done" {
        let from_to = match &row.claim {
            Some(claim) => claim
                .after
                .as_ref()
                .and_then(|_| claim_change(claim))
                .map(|change| view! { ": " {change} }.into_any()),
            None => row
                .before
                .as_ref()
                .zip(row.after.as_ref())
                .map(|(before, after)| {
                    view! { ": " {stored(&before.0)} " → " {stored(&after.0)} }.into_any()
                }),
        };
        view! { <b>{verb(&row.action).to_owned()} " " {job} {from_to}</b> }.into_any()
    } else {
        view! { <b>{imperative(&row.action).to_owned()} " " {job} ": " {words}</b> }.into_any()
    };
    let note = (!row.note.is_empty()).then(|| view! { " " {stored(&row.note)} });
    view! {
        <div class=class role="status" data-outcome=row.outcome.clone()>
            {icon(symbol)}
            <p>{headline} {note} " " <span class="sub">{time::ago(row.at)}</span></p>
            {undo(chrome, row)}
        </div>
    }
    .into_any()
}

/// A delete that happened can be taken back from where it is announced.
fn undo(chrome: &Chrome, row: &AuditRow) -> Option<AnyView> {
    let source = chrome.source.as_ref()?;
    let job = row.job?;
    let (state, state_id) = row.after.as_ref()?;
    if row.outcome != "done" || row.action != "delete" || source.read_only.is_some() {
        return None;
    }
    Some(
        view! {
            <form method="post" action=chrome.links.action("undo-delete")>
                <input type="hidden" name="source" value=source.name.clone() />
                <input type="hidden" name="job" value=job.to_string() />
                <input type="hidden" name="state" value=state.clone() />
                <input type="hidden" name="state_id" value=state_id.to_string() />
                <button class="btn small">"Undo the delete"</button>
            </form>
        }
        .into_any(),
    )
}
