//! States: never a colour alone, always a mark and a word.

use leptos::prelude::*;

use super::icon::icon;
use super::text::shown;
use crate::model::state::{ListState, StateName};

/// The CSS class that carries the colours of a state: `failed`, or `other` for states that no list
/// holds.
pub fn class(state: Option<ListState>) -> &'static str {
    state.map_or("other", ListState::slug)
}

/// The sprite's symbol of a state.
pub fn symbol(state: Option<ListState>) -> &'static str {
    match state {
        Some(ListState::Enqueued) => "s-enqueued",
        Some(ListState::Scheduled) => "s-scheduled",
        Some(ListState::Retrying) => "s-retrying",
        Some(ListState::Processing) => "s-processing",
        Some(ListState::Awaiting) => "s-awaiting",
        Some(ListState::Succeeded) => "s-succeeded",
        Some(ListState::Failed) => "s-failed",
        Some(ListState::Deleted) => "s-deleted",
        None => "i-flag",
    }
}

/// The word of a state for people: `Retrying` for a planned retry, else the stored name.
pub fn word(state: &StateName, reason: Option<&str>) -> String {
    ListState::of(state, reason).map_or_else(
        || shown(state.as_str()).into_owned(),
        |list| list.label().to_owned(),
    )
}

/// The mark alone, with its word for screen readers.
pub fn mark(state: &StateName, reason: Option<&str>) -> impl IntoView + use<> {
    let list = ListState::of(state, reason);
    view! {
        <span class=format!("mark {}", class(list))>
            {icon(symbol(list))} <span class="vh">{word(state, reason)}</span>
        </span>
    }
}

/// Mark and word on the state's own tint.
pub fn pill(state: &StateName, reason: Option<&str>) -> impl IntoView + use<> {
    let list = ListState::of(state, reason);
    view! {
        <span class=format!("pill {}", class(list))>{icon(symbol(list))} {word(state, reason)}</span>
    }
}
