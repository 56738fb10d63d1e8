//! Newer and older: pages follow rows, never numbers.

use leptos::prelude::*;

use super::icon::icon;

/// URLs of the pages beside this one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pager {
    /// The newest page, where this is not it.
    pub newest: Option<String>,
    /// Newer rows.
    pub newer: Option<String>,
    /// Older rows.
    pub older: Option<String>,
}

/// The bar below a list; `words` say what the page shows.
pub fn pager(pager: Pager, words: String) -> impl IntoView {
    let newest = pager
        .newest
        .map(|href| view! { <a class="btn quiet" href=href>"Newest"</a> });
    let newer = match pager.newer {
        Some(href) => {
            view! { <a class="btn" rel="prev" href=href>{icon("i-left")} "Newer"</a> }.into_any()
        }
        None => view! {
            <a class="btn" role="link" aria-disabled="true">{icon("i-left")} "Newer"</a>
        }
        .into_any(),
    };
    let older = match pager.older {
        Some(href) => {
            view! { <a class="btn" rel="next" href=href>"Older" {icon("i-right")}</a> }.into_any()
        }
        None => view! {
            <a class="btn" role="link" aria-disabled="true">"Older" {icon("i-right")}</a>
        }
        .into_any(),
    };
    view! {
        <nav class="pager" aria-label="Pages">
            <p class="sub">{words}</p>
            <span class="pager-b">{newest} {newer} {older}</span>
        </nav>
    }
}
