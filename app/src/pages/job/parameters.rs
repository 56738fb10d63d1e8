//! The job's parameters and its rows in the queue table, as stored.

use leptos::prelude::*;

use super::{JobPage, kit};
use crate::components::text::stored;
use crate::model::job::QueueRow;

/// A value is cut to so many characters.
const VALUE: usize = 2_000;

/// The section.
pub(super) fn section(page: &JobPage) -> AnyView {
    let record = page.record();
    let rows = record
        .parameters
        .iter()
        .map(|(name, value)| parameter(page, name, value.as_deref()))
        .collect_view();
    let list = if record.parameters.is_empty() {
        view! { <p class="sec-p">"None are stored."</p> }.into_any()
    } else {
        view! { <dl class="params">{rows}</dl> }.into_any()
    };
    let queue = record.queue_rows.iter().map(queue_row).collect_view();
    let queue = (!record.queue_rows.is_empty()).then(|| {
        view! {
            <h3 class="sec-h3">"Queue rows"</h3>
            <dl class="params">{queue}</dl>
        }
    });
    kit::section(
        "params",
        "Parameters",
        None,
        view! { {list} {queue} }.into_any(),
    )
}

fn parameter(page: &JobPage, name: &str, value: Option<&str>) -> AnyView {
    let twice = page
        .record()
        .duplicate_parameters
        .iter()
        .any(|duplicate| duplicate == name);
    let twice = twice
        .then(|| view! { <span class="sub">" stored more than once; the newest counts"</span> });
    let value = match value {
        Some(value) => {
            let (text, cut) = kit::cut(value, VALUE);
            let more = cut.then(|| view! { <span class="sub">"\u{2026} cut"</span> });
            view! { <span class="mono raw">{stored(text)}</span> {more} }.into_any()
        }
        None => view! { <span class="sub">"no value"</span> }.into_any(),
    };
    view! {
        <div>
            <dt class="mono">{stored(&kit::line(name, 100))}</dt>
            <dd>{value} {twice}</dd>
        </div>
    }
    .into_any()
}

fn queue_row(row: &QueueRow) -> AnyView {
    let taken = match row.fetched_at {
        Some(at) => view! { "taken at " {kit::when(at)} }.into_any(),
        None => "waits to be taken".into_any(),
    };
    view! {
        <div>
            <dt class="mono">{row.id}</dt>
            <dd><span class="tag">{stored(&kit::line(&row.queue, 60))}</span> " " {taken}</dd>
        </div>
    }
    .into_any()
}
