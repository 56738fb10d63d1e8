//! A stack trace: the application's own frames stand out, the framework's are folded.

use leptos::prelude::*;

use crate::components::number::{bytes, count, thousands};
use crate::components::text::{shown, stored};
use crate::model::attempt::Failure;
use crate::model::stack::{ExceptionHead, Frame, Line, StackTrace};
use crate::pages::job::{JobPage, i64_of, kit};

/// A trace is shown up to so many characters; all of it is a link away.
const TRACE: usize = 20_000;
/// The trace of a failure.
pub(super) fn trace(page: &JobPage, failure: &Failure) -> AnyView {
    let Some(details) = failure.details.as_deref() else {
        return view! { <p class="sub">"No stack trace is stored."</p> }.into_any();
    };
    let (text, _) = kit::cut(details, TRACE);
    let namespace = page.record().invocation.namespace();
    let stack = StackTrace::parse(text, namespace.as_deref());
    view! {
        {frames(&stack)}
        {raw(text)}
        {cut_note(page, failure, details, text)}
    }
    .into_any()
}

/// The text as stored.
fn raw(text: &str) -> AnyView {
    view! {
        <details class="ex-raw">
            <summary>"The trace as stored, to copy"</summary>
            <pre tabindex="0">{stored(text)}</pre>
        </details>
    }
    .into_any()
}

fn cut_note(page: &JobPage, failure: &Failure, details: &str, text: &str) -> Option<AnyView> {
    if text.len() == details.len() && failure.details_chars.is_none() {
        return None;
    }
    let total = failure
        .details_chars
        .unwrap_or_else(|| i64_of(details.chars().count()));
    // Where the part that is known has one byte per character, so will the rest.
    let size = details
        .is_ascii()
        .then(|| format!(", about {}", bytes(total)));
    let href = page.urls.trace(page.record().id, failure.state_id);
    Some(
        view! {
            <p class="sub">
                {format!(
                    "Cut: the first {} of {} characters{}. ",
                    thousands(i64_of(text.chars().count())),
                    thousands(total),
                    size.unwrap_or_default(),
                )}
                <a href=href>"All of it, as plain text"</a>
            </p>
        }
        .into_any(),
    )
}

fn frames(stack: &StackTrace) -> Option<AnyView> {
    let nothing_own = stack.first_application_frame().is_none();
    let mut items: Vec<AnyView> = Vec::new();
    let mut folded: Vec<&Frame> = Vec::new();
    for (index, line) in stack.lines.iter().enumerate() {
        match line {
            Line::Frame(frame) if !frame.application => {
                folded.push(frame);
                continue;
            }
            // The end of an inner trace would only break the fold.
            Line::Marker(_) => continue,
            _ => {}
        }
        items.extend(fold(&std::mem::take(&mut folded), nothing_own));
        match line {
            Line::Frame(frame) => items.push(own(frame)),
            Line::Exceptions(heads) => {
                // The outermost one stands above, with its message.
                let inner = if index == 0 {
                    heads.get(1..)
                } else {
                    heads.get(..)
                };
                items.extend(inner.unwrap_or_default().iter().map(inner_exception));
            }
            Line::Text(text) if !text.is_empty() && index > 0 && has_frame_before(stack, index) => {
                items.push(view! { <li class="fw"><code>{stored(text)}</code></li> }.into_any());
            }
            _ => {}
        }
    }
    items.extend(fold(&folded, nothing_own));
    (!items.is_empty()).then(|| {
        view! {
            <div class="stack" role="group" aria-label="Stack trace" tabindex="0">
                <ol>{items}</ol>
            </div>
        }
        .into_any()
    })
}

/// Text before the first frame is the message, which stands above.
fn has_frame_before(stack: &StackTrace, index: usize) -> bool {
    stack
        .lines
        .iter()
        .take(index)
        .any(|line| matches!(line, Line::Frame(_)))
}

fn own(frame: &Frame) -> AnyView {
    let full = shown(&format!("{}({})", frame.method, frame.parameters)).into_owned();
    let parameters = format!("({})", frame.parameters);
    let place = frame.file.as_deref().map(|file| {
        let line = frame.line.map(|line| view! { ":" <b>{line}</b> });
        view! {
            <span class="loc" title=shown(file).into_owned()>
                {stored(&last_parts(file, &['/', '\\'], 2))}
                {line}
            </span>
        }
    });
    view! {
        <li class="app">
            <code title=full>
                <b>{stored(&last_parts(&frame.method, &['.'], 2))}</b>
                {stored(&parameters)}
            </code>
            {place}
        </li>
    }
    .into_any()
}

/// The last `parts` parts of a text.
fn last_parts(text: &str, separators: &[char], parts: usize) -> String {
    let start = text
        .rmatch_indices(separators)
        .nth(parts - 1)
        .map_or(0, |(at, separator)| at + separator.len());
    text.get(start..).unwrap_or(text).to_owned()
}

fn inner_exception(head: &ExceptionHead) -> AnyView {
    let name = head.type_name.as_deref().map(|name| {
        view! { <b class="mono">{stored(&kit::line(name, 200))}</b> " " }
    });
    view! {
        <li class="inner">
            <span class="sub">"Inner exception: "</span>
            {name}
            {stored(&kit::line(&head.message, 500))}
        </li>
    }
    .into_any()
}

fn fold(frames: &[&Frame], open: bool) -> Option<AnyView> {
    if frames.is_empty() {
        return None;
    }
    let mut owners: Vec<&str> = Vec::new();
    for frame in frames {
        // Stubs that .NET makes at run time bear the application's name.
        let stub = ["InvokeStub_", "lambda_method"];
        let owner = if stub.iter().any(|start| frame.method.starts_with(start)) {
            "System"
        } else {
            frame.method.split('.').next().unwrap_or_default()
        };
        if !owners.contains(&owner) {
            owners.push(owner);
        }
    }
    let whose = match owners.as_slice() {
        [one] => (*one).to_owned(),
        [rest @ .., last] if rest.len() < 3 => format!("{} and {last}", rest.join(", ")),
        _ => format!("{}, {} and others", owners[0], owners[1]),
    };
    let summary = format!("{} of {whose}", count(i64_of(frames.len()), "frame"));
    let text = frames
        .iter()
        .map(|frame| format!("at {}({})", frame.method, frame.parameters))
        .collect::<Vec<_>>()
        .join("\n");
    Some(
        view! {
            <li class="fw">
                <details open=open>
                    <summary>{stored(&summary)}</summary>
                    <code>{stored(&text)}</code>
                </details>
            </li>
        }
        .into_any(),
    )
}
