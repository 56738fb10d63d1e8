//! The form: a sort of policy and its fields. All fields are there without scripts; those that a
//! sort does not have are hidden by its choice.

use leptos::prelude::*;

use crate::links::SourceLinks;
use crate::model::policy::form::{PolicyForm, PolicySort};

/// Name, label and hint of a field, and the sorts that have it.
struct Field {
    name: &'static str,
    label: &'static str,
    hint: &'static str,
    of: &'static [PolicySort],
    wide: bool,
}

const FIELDS: [Field; 6] = [
    Field {
        name: "retries",
        label: "Retries",
        hint: "after the first attempt",
        of: &[
            PolicySort::Default,
            PolicySort::List,
            PolicySort::Fixed,
            PolicySort::Exponential,
        ],
        wide: false,
    },
    Field {
        name: "delays",
        label: "Delays",
        hint: "parted by commas",
        of: &[PolicySort::List, PolicySort::Explicit],
        wide: true,
    },
    Field {
        name: "delay",
        label: "Delay",
        hint: "before the first retry",
        of: &[PolicySort::Fixed, PolicySort::Exponential],
        wide: false,
    },
    Field {
        name: "factor",
        label: "Factor",
        hint: "of each delay to the one before",
        of: &[PolicySort::Exponential],
        wide: false,
    },
    Field {
        name: "max_delay",
        label: "Longest",
        hint: "empty for no limit",
        of: &[PolicySort::Exponential],
        wide: false,
    },
    Field {
        name: "jitter",
        label: "Jitter",
        hint: "a share from 0 to 1",
        of: &[PolicySort::Exponential],
        wide: false,
    },
];

fn value(form: &PolicyForm, name: &str) -> String {
    match name {
        "retries" => &form.retries,
        "delays" => &form.delays,
        "delay" => &form.delay,
        "factor" => &form.factor,
        "max_delay" => &form.max_delay,
        "jitter" => &form.jitter,
        "poll" => &form.poll,
        _ => &form.every,
    }
    .clone()
}

/// The form, and above it the sorts as links: each begins with fields of its own.
pub(super) fn form(given: &PolicyForm, links: &SourceLinks) -> AnyView {
    let filled = given.filled();
    let sorts: Vec<_> = PolicySort::ALL
        .into_iter()
        .map(|sort| {
            let on = sort == given.sort;
            let href = links.policy_with(&[("policy", sort.slug())]);
            view! { <a href=href aria-current=on.then_some("true")>{sort.label()}</a> }
        })
        .collect();
    let fields: Vec<_> = FIELDS
        .iter()
        .filter(|field| field.of.contains(&given.sort))
        .map(|one| {
            field(
                one.name,
                one.label,
                one.hint,
                one.wide,
                value(&filled, one.name),
            )
        })
        .collect();
    view! {
        <nav class="seg links sorts" aria-label="Policies">{sorts}</nav>
        <form class="sim-c" method="get" action=links.policy()>
            <input type="hidden" name="policy" value=given.sort.slug() />
            {fields}
            {field("poll", "Poll", "how often the scheduler looks", false, filled.poll.clone())}
            {field("every", "Runs every", "recurring or trigger; empty: once", false, filled.every.clone())}
            <button class="btn">"Simulate"</button>
        </form>
    }
    .into_any()
}

fn field(
    name: &'static str,
    label: &'static str,
    hint: &'static str,
    wide: bool,
    value: String,
) -> AnyView {
    let class = if wide { "input wide" } else { "input short" };
    let id = format!("sim-{name}");
    view! {
        <span class="field">
            <label class="sub" for=id.clone()>{label}</label>
            <input
                class=class
                id=id
                name=name
                type="text"
                value=value
                title=hint
                autocomplete="off"
                spellcheck="false"
            />
        </span>
    }
    .into_any()
}

/// The formula of a sort.
pub(super) fn formula(sort: PolicySort) -> AnyView {
    match sort {
        PolicySort::Default => view! {
            <p class="formula mono">
                "(n \u{2212} 1)" <sup>"4"</sup> " + 15 + rand(0\u{2026}29) × n "
                <span class="sub">"seconds before retry n"</span>
            </p>
        }
        .into_any(),
        PolicySort::List => view! {
            <p class="formula">
                <span class="sub">"the n-th of the list before retry n; past its end the last one"</span>
            </p>
        }
        .into_any(),
        PolicySort::Fixed => view! {
            <p class="formula"><span class="sub">"the same delay before each retry"</span></p>
        }
        .into_any(),
        PolicySort::Exponential => view! {
            <p class="formula mono">
                "min(delay × factor" <sup>"n\u{2212}1"</sup> ", longest) × (1 ± jitter) "
                <span class="sub">"before retry n"</span>
            </p>
        }
        .into_any(),
        PolicySort::Explicit => view! {
            <p class="formula">
                <span class="sub">"the n-th of the list before retry n; as many retries as it is long"</span>
            </p>
        }
        .into_any(),
    }
}
