//! What became of actions on claims, where the audit does not tell.

use leptos::prelude::*;

use crate::actions::claim::ClaimOutcome;
use crate::components::message::offer_list;
use crate::components::shell::page_context;
use crate::components::text::{cut, visible};
use crate::links::claims::ClaimsView;

/// Keys are cut to so many characters.
const KEY: usize = 200;

/// Outcomes by key, one row each.
pub fn outcomes(source: &str, label: &'static str, outcomes: &[(String, ClaimOutcome)]) -> AnyView {
    let links = page_context().links.source(source);
    let done = outcomes
        .iter()
        .filter(|(_, outcome)| matches!(outcome, ClaimOutcome::Done { .. }))
        .count();
    let rows: Vec<_> = outcomes
        .iter()
        .map(|(key, outcome)| {
            view! {
                <tr data-outcome=outcome.slug()>
                    <th scope="row" class="mono">{visible(&cut(key, KEY))}</th>
                    <td><b>{word(outcome)}</b> " " {visible(&outcome.sentence())}</td>
                </tr>
            }
        })
        .collect();
    let offers = vec![(
        "Claims".to_owned(),
        links.claims(&ClaimsView::default(), None),
    )];
    view! {
        <div class="page-h">
            <h1>{label}</h1>
            <p>{format!("{done} of {} done.", outcomes.len())}</p>
        </div>
        <table class="tbl">
            <caption class="vh">"Outcomes, one row per claim"</caption>
            <thead><tr><th scope="col">"Claim"</th><th scope="col">"Outcome"</th></tr></thead>
            <tbody>{rows}</tbody>
        </table>
        {offer_list(offers)}
    }
    .into_any()
}

fn word(outcome: &ClaimOutcome) -> &'static str {
    match outcome {
        ClaimOutcome::Done { .. } => "Done.",
        ClaimOutcome::Moved { .. } => "Not done, it was changed first.",
        ClaimOutcome::Gone => "Not done.",
        ClaimOutcome::Busy { .. } => "Not done, try again.",
        ClaimOutcome::Refused { .. } => "Refused.",
        ClaimOutcome::Unknown { .. } => "Unknown whether it happened.",
    }
}
