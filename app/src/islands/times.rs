//! Relative times that keep ticking, and the switch between UTC and the browser's zone.

use leptos::prelude::*;

#[cfg(feature = "hydrate")]
mod browser;

/// The switch; as soon as it runs, the times of the page tick.
#[island]
pub fn TimesSwitch() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    browser::start();
    #[cfg(feature = "hydrate")]
    let (utc, local) = (|_| browser::show(false), |_| browser::show(true));
    #[cfg(not(feature = "hydrate"))]
    let (utc, local) = (|_| (), |_| ());
    view! {
        <fieldset class="seg tz">
            <legend class="vh">"Time zone"</legend>
            <label>
                <input type="radio" name="tz" checked on:change=utc />
                <span>"UTC"</span>
            </label>
            <label>
                <input type="radio" name="tz" on:change=local />
                <span>"Local"</span>
            </label>
        </fieldset>
    }
}
