//! What chooses: the time, the queue, the kind; and what must be said of the choice.

use leptos::prelude::*;

use super::{AttemptsPage, words};
use crate::components::icon::icon;
use crate::components::message::note;
use crate::components::text::{short_type, shown, visible};
use crate::links::SourceLinks;
use crate::links::attempts::AttemptsView;
use crate::model::insights::span::{Asked, Caveat, hour_start};

/// The bar above the sections.
pub(super) fn bar(page: &AttemptsPage, links: &SourceLinks) -> AnyView {
    let named: Vec<_> = Asked::NAMED
        .into_iter()
        .map(|asked| {
            let words = match asked {
                Asked::Day => "24 h",
                Asked::Week => "7 d",
                Asked::Month => "30 d",
                Asked::All | Asked::Between { .. } => "all",
            };
            let on = page.view.asked == asked;
            view! {
                <a href=links.attempts(&page.view.over(asked)) aria-current=on.then_some("true")>
                    {words}
                </a>
            }
        })
        .collect();
    view! {
        <div class="bar scope">
            <span class="sub" id="period">"Period"</span>
            <nav class="seg links" aria-labelledby="period">{named}</nav>
            {form(page, links)}
            {chips(page, links)}
            <p class="sub scope-n">
                "Rates are counted per job, not per attempt. " <a href=links.policy()>"Policies"</a>
            </p>
        </div>
    }
    .into_any()
}

fn form(page: &AttemptsPage, links: &SourceLinks) -> AnyView {
    let (from, to) = match page.view.asked {
        Asked::Between { from, to } => (from.map(words::field), to.map(words::field)),
        _ => (None, None),
    };
    let kept = [
        ("range", page.view.asked.slug()),
        ("type", page.view.job_type.as_deref()),
        ("method", page.view.method.as_deref()),
    ];
    let kept: Vec<_> = kept
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?.to_owned())))
        .map(|(name, value)| view! { <input type="hidden" name=name value=value /> })
        .collect();
    let queue = page.view.queue.clone();
    let mut queues = page.queues.clone();
    if let Some(chosen) = queue.clone().filter(|chosen| !queues.contains(chosen)) {
        queues.push(chosen);
    }
    let options: Vec<_> = queues
        .into_iter()
        .map(|name| {
            let words = if name.is_empty() {
                "(no queue stored)".to_owned()
            } else {
                shown(&name).into_owned()
            };
            let on = queue.as_ref() == Some(&name);
            view! { <option value=name selected=on>{words}</option> }
        })
        .collect();
    view! {
        <form class="scope-f" method="get" action=links.attempts_plain()>
            {kept}
            <span class="field">
                <label class="sub" for="from">"From"</label>
                <input
                    class="input"
                    id="from"
                    name="from"
                    type="datetime-local"
                    value=from
                    title="UTC"
                />
            </span>
            <span class="field">
                <label class="sub" for="to">"to"</label>
                <input class="input" id="to" name="to" type="datetime-local" value=to title="UTC" />
                <span class="sub">"UTC"</span>
            </span>
            <span class="field">
                <label class="sub" for="queue">"Queue"</label>
                <select class="input" id="queue" name="queue">
                    <option value="">"all"</option>
                    {options}
                </select>
            </span>
            <button class="btn">"Show"</button>
        </form>
    }
    .into_any()
}

/// The kind that the page is narrowed to, each part of it to be taken away.
fn chips(page: &AttemptsPage, links: &SourceLinks) -> Option<AnyView> {
    let view = &page.view;
    let without_type = AttemptsView {
        job_type: None,
        ..view.clone()
    };
    let without_method = AttemptsView {
        method: None,
        ..view.clone()
    };
    let chip = |word: &'static str, value: &str, title: &str, to: &AttemptsView| {
        let label = format!("Show every {word}, not only {}", shown(title));
        view! {
            <li class="chip">
                <span>{word}</span>
                <b class="mono" title=shown(title).into_owned()>{visible(value)}</b>
                <a class="chip-x" href=links.attempts(to) aria-label=label.clone() title=label>
                    {icon("i-x")}
                </a>
            </li>
        }
        .into_any()
    };
    let chips: Vec<AnyView> = [
        view.job_type
            .as_ref()
            .map(|name| chip("type", short_type(name), name, &without_type)),
        view.method
            .as_ref()
            .map(|name| chip("method", name, name, &without_method)),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!chips.is_empty())
        .then(|| view! { <ul class="chips" aria-label="Filters">{chips}</ul> }.into_any())
}

/// Sentences about the choice, where it is not what it seems.
pub(super) fn notes(page: &AttemptsPage) -> Option<AnyView> {
    let since = page.coverage.since;
    let began = since
        .and_then(hour_start)
        .map(|at| words::moment(at, page.now))
        .unwrap_or_default();
    let mut sentences: Vec<String> = page
        .plan
        .span
        .caveats(page.view.asked, page.now, since)
        .into_iter()
        .map(|caveat| match caveat {
            Caveat::BeginsBefore => {
                format!("Nothing is counted before {began}: this period is covered from then on.")
            }
            Caveat::EndsBefore => {
                format!("This period ends before {began}, and nothing is counted before that.")
            }
            Caveat::Future => "This period lies in the future.".to_owned(),
            Caveat::Rounded => rounded(page),
        })
        .collect();
    if page.view.queue.is_some() {
        sentences.push(
            "Exceptions, planned delays and what is pending are not counted by queue: those show \
             every queue, or nothing."
                .to_owned(),
        );
    }
    if !page.whole() {
        sentences.push(reading(page));
    }
    if let Some(trouble) = &page.collecting.trouble {
        sentences.push(format!("Nothing new is counted for now: {trouble}."));
    }
    let warns = page.collecting.trouble.is_some();
    (!sentences.is_empty()).then(|| {
        let words = sentences.join(" ");
        view! { <div class="scope-w">{note(warns, visible(&words))}</div> }.into_any()
    })
}

fn rounded(page: &AttemptsPage) -> String {
    let bounds = page.plan.span.begins().zip(page.plan.span.ends());
    match bounds {
        Some((from, to)) => format!(
            "Numbers are kept by the hour: these are counted from {} to {}.",
            words::moment(from, page.now),
            words::moment(to, page.now)
        ),
        None => "Numbers are kept by the hour.".to_owned(),
    }
}

/// How far the history is read.
fn reading(page: &AttemptsPage) -> String {
    format!(
        "The history is still being read, up to state row {} of {}: the numbers are not whole yet.",
        page.collecting.read.unwrap_or(0),
        page.collecting.highest
    )
}
