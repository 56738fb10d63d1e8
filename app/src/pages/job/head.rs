//! What is it: state, name, call, facts.

use leptos::prelude::*;

use super::{JobPage, kit, parent_of};
use crate::components::icon::icon;
use crate::components::state;
use crate::components::text::{shown, stored};
use crate::model::state::{ListState, StateName};
use crate::model::timeline::History;

/// The call line shows so many characters of the arguments.
const CALL_CHARS: usize = 200;

/// Breadcrumb, title, call line, facts and what is odd about the job.
pub fn section(page: &JobPage) -> AnyView {
    let record = page.record();
    let pill = match &record.state.name {
        Some(name) => state::pill(name, record.state.reason.as_deref()).into_any(),
        None => view! { <span class="pill other">{icon("i-flag")} "No state"</span> }.into_any(),
    };
    let call = record.invocation.call_line(CALL_CHARS);
    view! {
        {crumbs(page)}
        <div class="job-h">
            <div class="job-h-t">{pill} <h1>{breakable(&kit::line(&record.invocation.display_name(), super::NAME))}</h1></div>
            <p class="job-args mono">{stored(&call)}</p>
            {facts(page)}
        </div>
        {odd(page)}
    }
    .into_any()
}

/// A name that may break after its dots.
fn breakable(name: &str) -> AnyView {
    let name = shown(name).into_owned();
    match name.rsplit_once('.') {
        Some((type_name, method)) => view! {
            {format!("{type_name}.")}
            <wbr />
            {method.to_owned()}
        }
        .into_any(),
        None => name.into_any(),
    }
}

fn crumbs(page: &JobPage) -> AnyView {
    let list = page.list().map(|list| {
        view! {
            {icon("i-right")}
            <a href=page.urls.state(list)>{list.label()}</a>
        }
    });
    let all = page
        .urls
        .jobs(&crate::ports::jobs::JobFilter::default(), None, None);
    let (older, newer) = page.given.neighbours;
    let newer = newer.map(|id| {
        view! { <a href=page.urls.job(id) rel="prev">{icon("i-left")} "Newer"</a> }
    });
    let older = older.map(|id| {
        view! { <a href=page.urls.job(id) rel="next">"Older" {icon("i-right")}</a> }
    });
    view! {
        <nav class="crumbs" aria-label="Breadcrumb">
            <a href=all>"Jobs"</a>
            {list}
            {icon("i-right")}
            <span aria-current="page">{page.record().id}</span>
            <span class="crumbs-end">{newer} {older}</span>
        </nav>
    }
    .into_any()
}

fn fact(name: &'static str, class: &'static str, value: AnyView) -> AnyView {
    view! {
        <div class=class>
            <dt>{name}</dt>
            <dd class="txt">{value}</dd>
        </div>
    }
    .into_any()
}

fn facts(page: &JobPage) -> AnyView {
    let record = page.record();
    let mut facts = vec![
        fact(
            "Id",
            "",
            view! { <span class="mono">{record.id}</span> }.into_any(),
        ),
        fact("Queue", "", queue(page)),
        fact("Created", "", kit::when(record.created_at).into_any()),
        fact("Attempts", "", attempts(page)),
        fact("Retries used", "", retries(page)),
        fact("Server", "wide", server(page)),
    ];
    if let Some(parent) = parent(page) {
        facts.push(fact("Waits for", "wide", parent));
    }
    if !record.continuations.is_empty() {
        facts.push(fact("Then", "wide", continuations(page)));
    }
    facts.push(fact(
        "Expires",
        "",
        match record.expire_at {
            Some(at) => kit::when(at).into_any(),
            None => "never".into_any(),
        },
    ));
    view! { <dl class="figs job-facts">{facts}</dl> }.into_any()
}

fn queue(page: &JobPage) -> AnyView {
    let record = page.record();
    let last = record.states.iter().rev().find_map(|row| {
        (row.name == StateName::Enqueued)
            .then(|| row.data.get("Queue"))
            .flatten()
    });
    match record.invocation.own_queue.as_deref().or(last) {
        Some(queue) => {
            view! { <span class="tag">{stored(&kit::line(queue, 60))}</span> }.into_any()
        }
        None => view! { <span class="sub">"not known"</span> }.into_any(),
    }
}

fn attempts(page: &JobPage) -> AnyView {
    let number = page.timeline.count_label(page.timeline.attempts_so_far());
    let rounds = (page.timeline.rounds > 1).then(
        || view! { <span class="sub">{format!(" in {} rounds", page.timeline.rounds)}</span> },
    );
    view! { {number} {rounds} }.into_any()
}

fn retries(page: &JobPage) -> AnyView {
    let Some((used, of)) = page.retries_used() else {
        return view! { <span class="sub">"none planned so far"</span> }.into_any();
    };
    let marks = marks(used, of, page.pending().is_some());
    view! { {format!("{used} of {of}")} {marks} }.into_any()
}

/// More marks than this are not drawn: the figure says enough.
const MOST_MARKS: u32 = 20;

/// One mark per retry: used, planned, left.
fn marks(used: u32, of: u32, pending: bool) -> Option<AnyView> {
    if of > MOST_MARKS {
        return None;
    }
    let marks = (0..of)
        .map(|index| {
            let x = 6 * index + 2;
            let (class, d) = if index < used {
                ("p-failed", format!("M{x} 2v10"))
            } else if pending && index == used {
                ("p-next", format!("M{x} 2.5v9"))
            } else {
                ("p-left", format!("M{x} 6v2"))
            };
            view! { <path class=class d=d></path> }
        })
        .collect_view();
    let width = (6 * of).to_string();
    Some(
        view! { <svg class="pips" width=width height="14" aria-hidden="true">{marks}</svg> }
            .into_any(),
    )
}

fn server(page: &JobPage) -> AnyView {
    let last = page
        .timeline
        .attempts()
        .next_back()
        .and_then(|attempt| attempt.server.clone());
    match last {
        Some(server) => view! {
            <a class="mono" href=page.urls.servers() title=shown(&server).into_owned()>
                {stored(&kit::short_server(&server))}
            </a>
        }
        .into_any(),
        None => view! { <span class="sub">"none yet"</span> }.into_any(),
    }
}

fn parent(page: &JobPage) -> Option<AnyView> {
    (page.record().state.name == Some(StateName::Awaiting)).then_some(())?;
    let id = parent_of(page.record())?;
    let state = page.given.parent_state.as_ref();
    let mark = state.map(|name| state::mark(name, None));
    let word = state.map_or_else(
        || "gone".to_owned(),
        |name| shown(name.as_str()).into_owned(),
    );
    Some(
        view! { {mark} <a href=page.urls.job(id)>{id}</a> <span class="sub">" " {word}</span> }
            .into_any(),
    )
}

/// Jobs that wait for this one: so many are listed.
const CONTINUATIONS: usize = 5;

fn continuations(page: &JobPage) -> AnyView {
    let all = &page.record().continuations;
    let more = all.len().saturating_sub(CONTINUATIONS);
    let items = all
        .iter()
        .take(CONTINUATIONS)
        .map(|child| {
            let mark = child.state.as_ref().map(|name| state::mark(name, None));
            let word = child.state.as_ref().map_or_else(
                || "gone".to_owned(),
                |name| shown(name.as_str()).into_owned(),
            );
            let when = match child.options {
                0 => "on any finish",
                1 => "on success",
                2 => "when deleted",
                _ => "on a condition of its own",
            };
            view! {
                <span class="then">
                    {mark} <a href=page.urls.job(child.job)>{child.job}</a>
                    <span class="sub">{format!(" {word}, {when}")}</span>
                </span>
            }
        })
        .collect_view();
    let more = (more > 0).then(|| view! { <span class="sub">{format!("and {more} more")}</span> });
    view! { {items} {more} }.into_any()
}

/// What an operator must know before reading on.
fn odd(page: &JobPage) -> AnyView {
    let record = page.record();
    let mut notes: Vec<String> = Vec::new();
    match &record.state.name {
        None => notes.push(
            "This job has no state: it is being created, or its creation was interrupted. \
             Hangfire's own dashboard never lists it, and nothing can be done with it here."
                .into(),
        ),
        Some(name) => {
            if record.state.unsettled {
                notes.push(
                    "Hangfire is changing this job at this moment: its newest state row is not \
                     yet its state. Load the page again."
                        .into(),
                );
            } else if record.state.id.is_some() && record.state.since.is_none() {
                notes.push(format!(
                    "The row of its state {} is no longer stored: when and why it came into it \
                     is not known.",
                    shown(name.as_str())
                ));
            }
            if ListState::of(name, None).is_none() {
                notes.push(format!(
                    "{} is not a state of Hangfire's own: no list holds this job.",
                    shown(name.as_str())
                ));
            }
        }
    }
    if page.timeline.history == History::Trimmed {
        notes.push(
            "Its history is trimmed: older state rows are gone, so attempts are counted as \
             \u{201c}at least\u{201d}, with a plus sign."
                .into(),
        );
    }
    if !record.duplicate_parameters.is_empty() {
        notes.push(format!(
            "Stored more than once: {}. The newest value counts, as for Hangfire.",
            shown(&kit::line(&record.duplicate_parameters.join(", "), 200))
        ));
    }
    notes
        .into_iter()
        .map(|note| {
            view! { <div class="note info job-odd">{icon("i-info")} <p>{note}</p></div> }
        })
        .collect_view()
        .into_any()
}
