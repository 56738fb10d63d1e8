//! Icons: symbols of the one sprite.

use leptos::prelude::*;

use super::shell::page_context;

/// The symbol `name` of the sprite, one line high; hidden from screen readers, so words must stand
/// beside it.
pub fn icon(name: &str) -> impl IntoView + use<> {
    icon_as(name, "i")
}

/// [`icon`] with classes of its own; `i` must be among them.
pub fn icon_as(name: &str, class: &'static str) -> impl IntoView + use<> {
    let href = href(name);
    view! { <svg class=class aria-hidden="true"><use href=href></use></svg> }
}

/// Where the symbol `name` is found, for drawings that place it themselves.
pub fn href(name: &str) -> String {
    format!("{}#{name}", page_context().sprite)
}
