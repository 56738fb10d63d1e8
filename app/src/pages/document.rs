//! The whole document: head, frame, page.

use std::sync::Arc;

use hydration_context::SsrSharedContext;
use leptos::prelude::*;

pub use crate::components::shell::PageContext;
use crate::components::shell::shell;
pub use crate::components::shell::{Assets, Chrome};
use crate::components::text::shown;
use crate::components::time;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

/// Renders a whole HTML document. `page` is called inside of it, so that the shared pieces find the
/// page's URLs and its moment.
pub fn render(chrome: Chrome, page: impl FnOnce() -> AnyView) -> String {
    let owner = Owner::new_root(Some(Arc::new(SsrSharedContext::new_islands())));
    let html = owner.with(|| {
        provide_context(PageContext {
            links: chrome.links.clone(),
            sprite: Arc::from(chrome.assets.sprite.as_str()),
            now: chrome.now,
        });
        document(&chrome, page()).to_html()
    });
    owner.cleanup();
    html
}

/// Renders a part of a page alone, for a page that is open already.
pub fn fragment(context: PageContext, part: impl FnOnce() -> AnyView) -> String {
    let owner = Owner::new_root(Some(Arc::new(SsrSharedContext::new_islands())));
    let html = owner.with(|| {
        provide_context(context);
        part().to_html()
    });
    owner.cleanup();
    html
}

fn document(chrome: &Chrome, page: AnyView) -> impl IntoView + use<> {
    let title = match &chrome.source {
        Some(source) => format!("{} · {} · Redrive", chrome.title, source.label),
        None => format!("{} · Redrive", chrome.title),
    };
    let assets = chrome.assets.clone();
    let nonce = chrome.nonce.clone();
    let start = (!assets.app_js.is_empty()).then(|| {
        view! {
            <script
                type="module"
                nonce=nonce.clone()
                src=assets.start_js
                data-js=assets.app_js
                data-wasm=assets.app_wasm
            ></script>
        }
    });
    let live = chrome.events.as_ref().map(|_| {
        view! { <script type="module" nonce=nonce.clone() src=assets.live_js></script> }
    });
    view! {
        <!DOCTYPE html>
        <html lang="en" data-now=time::machine(chrome.now) data-events=chrome.events.clone()>
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <title>{shown(&title).into_owned()}</title>
                <link rel="icon" href=assets.favicon />
                <link rel="stylesheet" href=assets.css />
                <script nonce=nonce src=assets.theme_js></script>
                {start}
                {live}
            </head>
            {shell(chrome, page)}
        </html>
    }
}
