//! Acting on several jobs: one form around the table, complete without JavaScript.

use leptos::prelude::*;

use super::JobsPage;
use crate::components::icon::icon;
use crate::components::shell::page_context;
use crate::components::text::visible;
use crate::islands::selection::Selection;
use crate::links::SourceLinks;
use crate::model::state::ListState;

/// An action that a list offers: its slug, its verb, its look, its symbol.
type Verb = (&'static str, &'static str, &'static str, &'static str);

const REQUEUE: Verb = ("requeue", "Requeue", "btn primary", "i-requeue");
const NOW: Verb = ("enqueue-now", "Enqueue now", "btn primary", "i-requeue");
const UNDO: Verb = ("undo-delete", "Undo the delete", "btn", "i-left");
const DELETE: Verb = ("delete", "Delete", "btn danger", "i-trash");

/// What the jobs of a list can be told. Whether one of them may is decided by the action itself.
fn verbs(state: Option<ListState>) -> &'static [Verb] {
    match state {
        Some(ListState::Scheduled | ListState::Retrying | ListState::Awaiting) => &[NOW, DELETE],
        Some(ListState::Enqueued) => &[DELETE],
        Some(ListState::Deleted) => &[REQUEUE, UNDO],
        _ => &[REQUEUE, DELETE],
    }
}

/// The form around `table`. A read-only source shows the same buttons, disabled, and why.
pub(super) fn form(page: &JobsPage, links: &SourceLinks, table: AnyView) -> AnyView {
    let verbs = verbs(page.filter.state);
    if let Some(why) = &page.source.read_only {
        let buttons: Vec<_> = verbs
            .iter()
            .map(|&(_, verb, _, symbol)| {
                view! {
                    <button class="btn" type="button" aria-disabled="true" aria-describedby="ro">
                        {icon(symbol)} {verb}
                    </button>
                }
            })
            .collect();
        return view! {
            <section class="joblist" aria-label="Jobs">
                <div class="selbar" role="group" aria-label="Actions">
                    {buttons} <span class="sub" id="ro">"Read only: " {visible(why)}</span>
                </div>
                {table}
            </section>
        }
        .into_any();
    }
    let all = page_context().links;
    let first = verbs.first().map_or("requeue", |verb| verb.0);
    let buttons: Vec<_> = verbs
        .iter()
        .map(|&(slug, verb, class, symbol)| {
            view! {
                <button class=class formaction=all.action(slug) data-verb="">
                    {icon(symbol)} {verb} <span class="sel-n"></span>
                </button>
            }
        })
        .collect();
    let back = page.url(links, &page.filter, page.cursor);
    view! {
        <form class="joblist" method="post" action=all.action(first) aria-label="Jobs">
            // Enter in the reason must not act: the first button of a form is the one it presses.
            <button disabled hidden></button>
            <input type="hidden" name="source" value=page.source.name.clone() />
            <input type="hidden" name="back" value=back />
            <div class="selbar" role="group" aria-label="Actions on ticked jobs">
                <Selection />
                {buttons}
                <input
                    class="input reason"
                    name="reason"
                    maxlength="2000"
                    aria-label="Reason, kept in the audit"
                    placeholder="Reason, kept in the audit"
                    autocomplete="off"
                />
            </div>
            {table}
        </form>
    }
    .into_any()
}
