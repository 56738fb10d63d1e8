//! Rows of jobs: dense, two lines each, the same on every list.

use leptos::prelude::*;

use super::icon::icon;
use super::number::bytes;
use super::pips::{pips, tries};
use super::state;
use super::text::{cut, short_type, shown, visible};
use super::time;
use crate::links::SourceLinks;
use crate::model::invocation::Arguments;
use crate::model::job::JobRow;
use crate::model::state::{ListState, StateName};

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

/// Characters of arguments and messages that a row carries; the rest stands on the job's page.
const LINE: usize = 160;

/// A due time this far in the past, in milliseconds, is called overdue; schedulers look every 15 s.
const OVERDUE_MS: i64 = 60_000;

/// What a table of jobs looks like.
#[derive(Debug, Clone)]
pub struct TableOptions {
    /// The list; `None` for jobs in every state.
    pub state: Option<ListState>,
    /// What the table holds, for screen readers.
    pub caption: String,
    /// Whether rows can be ticked.
    pub tick: bool,
    /// Whether rows are in the order of change; else in that of ids.
    pub by_change: bool,
}

/// A table of jobs.
pub fn job_table(rows: &[JobRow], links: &SourceLinks, options: &TableOptions) -> AnyView {
    let (detail, when) = headings(options.state);
    let body: Vec<_> = rows
        .iter()
        .map(|row| job_row(row, links, options))
        .collect();
    let by_id = !options.by_change;
    // Of retrying jobs the column has due times, which are in another order.
    let by_time = options.by_change && options.state == Some(ListState::Failed);
    let sorted = |by: bool| by.then_some("descending");
    let arrow = |by: bool| by.then(|| icon("i-down"));
    let tick = options.tick.then(|| {
        view! { <th role="columnheader" scope="col" class="j-x"><span class="vh">"Tick"</span></th> }
    });
    view! {
        <table class="tbl jobs" role="table">
            <caption class="vh">{options.caption.clone()}</caption>
            <thead role="rowgroup">
                <tr role="row">
                    {tick}
                    <th role="columnheader" scope="col" class="j-n">"Job"</th>
                    <th role="columnheader" scope="col" class="j-a">"Attempt"</th>
                    <th role="columnheader" scope="col" class="j-e">{detail}</th>
                    <th role="columnheader" scope="col" class="j-q">"Queue"</th>
                    <th role="columnheader" scope="col" class="j-i" aria-sort=sorted(by_id)>
                        <span class="sort">"Id" {arrow(by_id)}</span>
                    </th>
                    <th role="columnheader" scope="col" class="j-t num" aria-sort=sorted(by_time)>
                        <span class="sort">{when} {arrow(by_time)}</span>
                    </th>
                </tr>
            </thead>
            <tbody role="rowgroup">{body}</tbody>
        </table>
    }
    .into_any()
}

/// Headings of the column that says why, and of the one that says when.
fn headings(state: Option<ListState>) -> (&'static str, &'static str) {
    match state {
        Some(ListState::Failed) => ("Error", "Failed"),
        Some(ListState::Retrying) => ("Last error", "Due"),
        Some(ListState::Scheduled) => ("Reason", "Due"),
        Some(ListState::Enqueued) => ("Reason", "Enqueued"),
        Some(ListState::Processing) => ("Server", "Started"),
        Some(ListState::Succeeded) => ("Server", "Finished"),
        Some(ListState::Awaiting) => ("Reason", "Since"),
        Some(ListState::Deleted) => ("Reason", "Deleted"),
        None => ("Error, server or reason", "Since"),
    }
}

fn job_row(row: &JobRow, links: &SourceLinks, options: &TableOptions) -> AnyView {
    let name = row.state.name.as_ref();
    let state_name = name.map_or("", StateName::as_str);
    let state_id = row.state.id.map(|id| id.to_string()).unwrap_or_default();
    let title = row.invocation.display_name();
    let mark = name.map(|name| state::mark(name, row.state.reason.as_deref()));
    let queue = row
        .queue
        .as_deref()
        .map(|queue| view! { <span class="tag">{visible(queue)}</span> });
    view! {
        <tr role="row" data-job=row.id.to_string() data-state=state_name.to_owned() data-state-id=state_id>
            {options.tick.then(|| tick(row))}
            <th role="rowheader" scope="row" class="j-n">
                <a class="job-n cut" href=links.job(row.id)>{mark} <b>{visible(&title)}</b></a>
                <span class="two mono cut">{visible(&arguments(row))}</span>
            </th>
            <td role="cell" class="j-a">{attempts(row)}</td>
            <td role="cell" class="j-e">{detail(row)}</td>
            <td role="cell" class="j-q">{queue}</td>
            <td role="cell" class="j-i mono">{row.id}</td>
            <td role="cell" class="j-t num">{when(row, options.state)}</td>
        </tr>
    }
    .into_any()
}

/// The arguments in one line, or how large they are where the store left them unread.
fn arguments(row: &JobRow) -> String {
    match (&row.invocation.arguments, row.arguments_bytes) {
        (Arguments::TooLarge, Some(size)) => format!("arguments, {}", bytes(size)),
        (Arguments::TooLarge, None) => "arguments too large to list".to_owned(),
        (arguments, _) => arguments.line(LINE),
    }
}

/// The box that puts a row into the form: `job:state_id:state`, what the operator saw.
fn tick(row: &JobRow) -> AnyView {
    let label = format!("Tick job {}", row.id);
    let inner = match (&row.state.name, row.state.id) {
        (Some(name), Some(id)) if !row.state.unsettled => {
            let value = format!("{}:{id}:{}", row.id, name.as_str());
            view! { <input type="checkbox" name="item" value=value aria-label=label /> }.into_any()
        }
        _ => view! { <input type="checkbox" disabled aria-label=label /> }.into_any(),
    };
    view! { <td role="cell" class="j-x">{inner}</td> }.into_any()
}

fn attempts(row: &JobRow) -> AnyView {
    let tries = tries(row);
    if row.state.unsettled {
        view! {
            <span class="nw"><b>{tries.attempts}</b></span>
            <span class="two warn">"changing right now"</span>
        }
        .into_any()
    } else {
        pips(&tries).into_any()
    }
}

/// Why the job is where it is: the error, the server, or the reason.
fn detail(row: &JobRow) -> AnyView {
    let Some(name) = row.state.name.as_ref() else {
        return view! { <span class="two">"no state: it is being created, or was left half-made"</span> }
            .into_any();
    };
    let own = ListState::of(name, row.state.reason.as_deref());
    match own {
        Some(ListState::Failed | ListState::Retrying) => error(row),
        Some(ListState::Processing | ListState::Succeeded) => {
            let server = row.server.as_deref().map_or("not known", |server| server);
            view! { <span class="mono cut">{visible(server)}</span> }.into_any()
        }
        _ => match row.state.reason.as_deref() {
            Some(reason) => {
                view! { <span class="cut2">{visible(&cut(reason, LINE))}</span> }.into_any()
            }
            None => {
                view! { <span class="sub">"–" <span class="vh">" no reason given"</span></span> }
                    .into_any()
            }
        },
    }
}

fn error(row: &JobRow) -> AnyView {
    if let Some(size) = row.failure_bytes {
        return view! {
            <b>"Error not read"</b>
            <span class="two">{format!("{}: see the job's page", bytes(size))}</span>
        }
        .into_any();
    }
    let Some(exception) = row.exception_type.as_deref() else {
        return view! { <b>"Error not stored"</b> <span class="two">"its details are gone"</span> }
            .into_any();
    };
    let message = row.exception_message.as_deref().unwrap_or("no message");
    let full = shown(exception).into_owned();
    view! {
        <b class="cut" title=full>{visible(short_type(exception))}</b>
        <span class="two cut">{visible(&cut(message, LINE))}</span>
    }
    .into_any()
}

fn when(row: &JobRow, state: Option<ListState>) -> AnyView {
    let due = matches!(state, Some(ListState::Scheduled | ListState::Retrying));
    match (due, row.due_at, row.state.since) {
        (true, Some(due), _) => {
            let late = super::shell::page_context().now - due;
            let overdue = (late.num_milliseconds() > OVERDUE_MS)
                .then(|| view! { <span class="two warn">"overdue"</span> });
            view! { {time::ago(due)} {overdue} }.into_any()
        }
        (_, _, Some(since)) => time::ago(since).into_any(),
        _ => view! { <span title="The row of its state is not stored any more">"not known"</span> }
            .into_any(),
    }
}
