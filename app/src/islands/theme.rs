//! The choice between the system's theme, light and dark.

use leptos::prelude::*;

/// A button that goes through the themes. The choice is kept in the browser and applied by
/// `theme.js` before the first paint.
#[island]
pub fn ThemeSwitch() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    let next = |_| browser::next();
    #[cfg(not(feature = "hydrate"))]
    let next = |_| ();
    view! {
        <button class="iconbtn" type="button" id="theme" title="Theme" aria-label="Change theme" on:click=next>
            <span class="theme-i" aria-hidden="true"></span>
        </button>
    }
}

#[cfg(feature = "hydrate")]
mod browser {
    use web_sys::Element;

    const KEY: &str = "redrive-theme";

    /// From the system's theme to the other one, then to the system's own kept for good, and back to
    /// following the system: the first press always shows.
    pub(super) fn next() {
        let Some(root) = leptos::prelude::document().document_element() else {
            return;
        };
        let dark = leptos::prelude::window()
            .match_media("(prefers-color-scheme: dark)")
            .ok()
            .flatten()
            .is_some_and(|query| query.matches());
        let (same, other) = if dark {
            ("dark", "light")
        } else {
            ("light", "dark")
        };
        let theme = match root.get_attribute("data-theme").as_deref() {
            None => Some(other),
            Some(now) if now == other => Some(same),
            Some(_) => None,
        };
        apply(&root, theme);
    }

    fn apply(root: &Element, theme: Option<&str>) {
        let storage = leptos::prelude::window().local_storage().ok().flatten();
        // Where storage is forbidden the choice lasts until the next page.
        if let Some(theme) = theme {
            let _ = storage.map(|storage| storage.set_item(KEY, theme));
            let _ = root.set_attribute("data-theme", theme);
        } else {
            let _ = storage.map(|storage| storage.remove_item(KEY));
            let _ = root.remove_attribute("data-theme");
        }
    }
}
