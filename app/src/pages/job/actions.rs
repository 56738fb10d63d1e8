//! What you can do: each action behind one short confirmation.

use leptos::prelude::*;

use super::{JobPage, kit, served_by};
use crate::actions::Action;
use crate::actions::decide::elected_queue;
use crate::actions::found::Found;
use crate::actions::offer::{Offer, available, warnings};
use crate::components::icon::icon;
use crate::components::text::{shown, stored};
use crate::model::state::StateName;

/// The longest list of queues to choose from.
const QUEUES: usize = 200;

/// The section.
pub(super) fn section(page: &JobPage) -> AnyView {
    let given = &page.given;
    let found = Found::from_page(&given.record, &given.servers, given.now, given.limits);
    let offers = available(&found, given.read_only.as_deref());
    let (can, cannot): (Vec<&Offer>, Vec<&Offer>) =
        offers.iter().partition(|offer| offer.why_not.is_none());
    let forms = can
        .iter()
        .enumerate()
        .map(|(index, offer)| confirmation(page, &found, &offer.action, index == 0))
        .collect_view();
    let content = view! {
        {read_only(page)}
        <div class="act-l">{forms}</div>
        {disabled(&cannot, given.read_only.is_some())}
    };
    kit::section("act", "What you can do", None, content.into_any())
}

fn read_only(page: &JobPage) -> Option<AnyView> {
    let why = page.given.read_only.as_ref()?;
    Some(
        view! {
            <div class="note info">
                {icon("i-info")} <p>"This source is read-only: " {shown(why).into_owned()}</p>
            </div>
        }
        .into_any(),
    )
}

/// The actions that cannot be done now. Each says why, or all of them once where the reason is the
/// source's.
fn disabled(offers: &[&Offer], once: bool) -> AnyView {
    let items = offers
        .iter()
        .map(|offer| {
            let id = format!("no-{}", offer.action.slug());
            let why = offer
                .why_not
                .as_deref()
                .filter(|_| !once)
                .map(|why| view! { <span class="sub" id=id.clone()>{shown(why).into_owned()}</span> });
            let described = why.is_some().then(|| id.clone());
            view! {
                <li>
                    <button class="btn" type="button" aria-disabled="true" aria-describedby=described>
                        {icon(symbol(&offer.action))} {label(&offer.action)}
                    </button>
                    {why}
                </li>
            }
        })
        .collect_view();
    view! { <ul class="act-no">{items}</ul> }.into_any()
}

fn symbol(action: &Action) -> &'static str {
    match action {
        Action::Requeue(_) | Action::UndoDelete => "i-requeue",
        Action::EnqueueNow(_) => "s-enqueued",
        Action::Delete => "i-trash",
    }
}

fn label(action: &Action) -> &'static str {
    action.label()
}

fn confirmation(page: &JobPage, found: &Found, action: &Action, first: bool) -> AnyView {
    let record = page.record();
    let (Some(state), Some(state_id)) = (record.state.name.clone(), record.state.id) else {
        return ().into_any();
    };
    let class = match (action, first) {
        (Action::Delete, _) => "btn danger",
        (_, true) => "btn primary",
        _ => "btn",
    };
    let slug = action.slug();
    let reason_id = format!("why-{slug}");
    let notes = warnings(action, found, record)
        .into_iter()
        .chain(super::claims::warnings(page, action))
        .map(|words| {
            view! { <div class="note">{icon("i-warn")} <p>{shown(&words).into_owned()}</p></div> }
        })
        .collect_view();
    let enqueue = matches!(action, Action::Requeue(_) | Action::EnqueueNow(_))
        .then(|| run_choices(page, found, slug));
    view! {
        <details class="act-d" name="act">
            <summary class=class>{icon(symbol(action))} {label(action)} "\u{2026}"</summary>
            <form class="act-f" method="post" action=page.given.links.action(slug)>
                <input type="hidden" name="source" value=page.given.source.clone() />
                <input type="hidden" name="job" value=record.id.to_string() />
                <input type="hidden" name="state" value=state.as_str().to_owned() />
                <input type="hidden" name="state_id" value=state_id.to_string() />
                <dl class="confirm">
                    <div>
                        <dt>"Will happen"</dt>
                        <dd>{effect(page, found, action)}</dd>
                    </div>
                    <div>
                        <dt>"Only if"</dt>
                        <dd>
                            "the job is still " <b>{stored(state.as_str())}</b>
                            {format!(
                                " with state row {state_id}; otherwise nothing is changed and you are told",
                            )}
                        </dd>
                    </div>
                </dl>
                {notes}
                {enqueue}
                <label class="lbl" for=reason_id.clone()>
                    "Reason, kept in the audit"
                </label>
                <input
                    class="input full"
                    id=reason_id
                    name="reason"
                    type="text"
                    maxlength="1000"
                    autocomplete="off"
                />
                <div class="btns">
                    <button class=class type="submit">
                        {icon(symbol(action))} {label(action)}
                    </button>
                    <span class="sub">{afterwards(action)}</span>
                </div>
            </form>
        </details>
    }
    .into_any()
}

/// What the action does, in a sentence.
fn effect(page: &JobPage, found: &Found, action: &Action) -> AnyView {
    let from = page
        .list()
        .map(|list| list.label().to_owned())
        .or_else(|| {
            page.record()
                .state
                .name
                .as_ref()
                .map(|name| shown(name.as_str()).into_owned())
        })
        .unwrap_or_default();
    match action {
        Action::Requeue(_) | Action::EnqueueNow(_) => {
            let queue = kit::line(elected_queue(&found.job), 60);
            let counts = counts_as(page, action);
            view! {
                {format!("{from} \u{2192} Enqueued in ")} <span class="tag">{stored(&queue)}</span>
                ", unless you choose another queue. " {counts}
            }
            .into_any()
        }
        Action::Delete => format!(
            "{from} \u{2192} Deleted. It expires a day later, and can be undone until then."
        )
        .into_any(),
        Action::UndoDelete => {
            let before = found.job.before.as_ref().map_or_else(
                || "its former state".to_owned(),
                |row| shown(row.name.as_str()).into_owned(),
            );
            format!("Deleted \u{2192} {before}, as it was before.").into_any()
        }
    }
}

fn counts_as(page: &JobPage, action: &Action) -> String {
    if let (Action::EnqueueNow(_), Some(retry)) = (action, page.pending()) {
        return format!("It counts as retry {} of {}.", retry.number, retry.of);
    }
    let processing = page.record().state.name == Some(StateName::Processing);
    match action {
        Action::EnqueueNow(_) => String::new(),
        _ if processing => "The run that was lost stays in its history.".into(),
        _ => "It begins a new round of attempts.".into(),
    }
}

fn afterwards(action: &Action) -> &'static str {
    match action {
        Action::Requeue(_) | Action::EnqueueNow(_) => {
            "It cannot be taken back once the job has started."
        }
        Action::Delete => "Undo the delete takes it back.",
        Action::UndoDelete => "",
    }
}

/// The queue, and whether retries are counted anew.
fn run_choices(page: &JobPage, found: &Found, slug: &str) -> AnyView {
    let elected = elected_queue(&found.job).to_owned();
    let mut queues = vec![elected.clone()];
    queues.extend(
        page.given
            .queues
            .iter()
            .filter(|queue| **queue != elected)
            .take(QUEUES)
            .cloned(),
    );
    let options = queues
        .iter()
        .map(|queue| {
            // The queue that the row gets without a choice is left to the action: no value.
            let value = if *queue == elected {
                String::new()
            } else {
                queue.clone()
            };
            let unserved = unserved(page, queue);
            let words = format!("{}{unserved}", shown(&kit::line(queue, 60)));
            view! { <option value=value>{words}</option> }
        })
        .collect_view();
    let queue_id = format!("queue-{slug}");
    let reset = page
        .retries_used()
        .is_some_and(|(used, _)| used > 0)
        .then(|| {
            view! {
                <label class="lbl-c">
                    <input type="checkbox" name="reset_retries" value="true" />
                    "Start the retry count again"
                </label>
            }
        });
    view! {
        <label class="lbl" for=queue_id.clone()>"Queue"</label>
        <select class="input full" id=queue_id name="queue">{options}</select>
        {reset}
    }
    .into_any()
}

/// Words beside a queue that no live server serves.
fn unserved(page: &JobPage, queue: &str) -> &'static str {
    if served_by(&page.given, queue) == (0, 0) {
        " \u{2013} no live server"
    } else {
        ""
    }
}
