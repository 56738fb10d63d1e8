//! Ticking rows of a list: how many are ticked, all of the page at once, ranges with Shift.

use leptos::prelude::*;

#[cfg(feature = "hydrate")]
mod browser;

/// Stands in the toolbar, inside the form whose `item` boxes it counts. Without it the boxes work,
/// only nobody counts them.
#[island]
pub fn Selection() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    let all = |_| browser::tick_all();
    #[cfg(not(feature = "hydrate"))]
    let all = |_| ();
    #[cfg(feature = "hydrate")]
    browser::start();
    view! {
        <label class="selbar-n">
            <input type="checkbox" id="sel-all" aria-label="Tick every row on this page" on:change=all />
            <b id="sel-count" role="status">"Tick rows to act on them"</b>
        </label>
    }
}
