//! Its arguments, one by one.

use leptos::prelude::*;

use super::{JobPage, kit};
use crate::components::number::bytes;
use crate::components::text::stored;
use crate::model::invocation::{ArgumentView, Arguments};

/// So many arguments are shown.
const ROWS: usize = 50;
/// A value is cut to so many characters.
const VALUE: usize = 2_000;

/// The section; none where the call line above already shows everything.
pub(super) fn section(page: &JobPage) -> Option<AnyView> {
    let record = page.record();
    let content = match &record.invocation.arguments {
        Arguments::Values(values) => {
            let views = record.invocation.argument_views(VALUE);
            if values.is_empty() && views.is_empty() {
                return None;
            }
            // The types are shown here alone, so one argument is worth its row too.
            view! { <dl class="params args">{rows(&views)}</dl> }.into_any()
        }
        Arguments::Cut(_) => view! {
            <p class="sec-p">"The stored arguments are longer than what was read of them."</p>
            <pre class="raw mono">{stored(&record.invocation.arguments.line(VALUE))}</pre>
        }
        .into_any(),
        Arguments::TooLarge => {
            let size = record
                .arguments_bytes
                .map_or_else(|| "too large".to_owned(), bytes);
            view! { <p class="sec-p">{format!("{size}, not loaded.")}</p> }.into_any()
        }
        Arguments::Corrupt(head) => view! {
            <p class="sec-p warn">"The stored arguments are not a JSON array. They begin:"</p>
            <pre class="raw mono">{stored(kit::cut(head, VALUE).0)}</pre>
        }
        .into_any(),
    };
    Some(kit::section("args", "Arguments", None, content))
}

fn rows(views: &[ArgumentView]) -> AnyView {
    let more = views.len().saturating_sub(ROWS);
    let more = (more > 0).then(|| {
        view! { <div><dt>{format!("{more} more")}</dt><dd class="sub">"not shown"</dd></div> }
    });
    let rows = views
        .iter()
        .take(ROWS)
        .enumerate()
        .map(|(index, argument)| {
            let name = argument.type_name.as_deref().map_or_else(
                || view! { <span class="sub">"type not stored"</span> }.into_any(),
                |name| view! { <span class="mono">{stored(&kit::line(name, 200))}</span> }.into_any(),
            );
            let value = match &argument.value {
                Some(shown) => {
                    let more = shown.cut.then(|| {
                        view! { <span class="sub">{format!("\u{2026} cut after {VALUE} characters")}</span> }
                    });
                    view! { <pre>{stored(&shown.text)}</pre> {more} }.into_any()
                }
                None => view! { <span class="sub">"nothing stored for this parameter"</span> }.into_any(),
            };
            view! {
                <div data-argument=index.to_string()>
                    <dt>
                        <span class="mono">{index} " "</span>
                        {name}
                    </dt>
                    <dd>{value}</dd>
                </div>
            }
        })
        .collect_view();
    view! { {rows} {more} }.into_any()
}
