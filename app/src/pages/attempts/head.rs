//! The title, and the answer in a sentence.

use leptos::prelude::*;

use super::{AttemptsPage, words};
use crate::components::coverage::Trust;
use crate::components::kind::kind_name;
use crate::components::number::{count, thousands};
use crate::model::insights::JobKind;
use crate::model::insights::kinds::{KindNumbers, Kinds};
use crate::model::insights::span::slot_start;
use crate::model::rates::{Fall, Rate};

/// The title, the sentence, the coverage.
pub(super) fn title(page: &AttemptsPage) -> AnyView {
    let sentence = page.kinds.as_ref().ok().map(|kinds| sentence(page, kinds));
    view! {
        <div class="page-h">
            <h1>"Attempts"</h1>
            {sentence.map(|words| view! { <p>{words}</p> })}
            {page.coverage(Trust::Exact)}
        </div>
    }
    .into_any()
}

fn sentence(page: &AttemptsPage, kinds: &Kinds) -> AnyView {
    let rate = kinds.all.first;
    let Some(percent) = rate.percent() else {
        return "No first attempt ended in this time.".into_any();
    };
    let whole = i64::try_from(rate.denominator).unwrap_or(i64::MAX);
    let answer = format!("{percent} of jobs succeeded first time");
    let of = format!(
        ", {} of {}{}. ",
        thousands(i64::try_from(rate.numerator).unwrap_or(i64::MAX)),
        thousands(whole),
        words::interval(rate).map_or_else(String::new, |between| format!(" ({between} %)")),
    );
    let answer = words::rate_figure(
        "first-attempt",
        rate,
        page.coverage.as_of,
        view! { <b>{answer}</b> },
    );
    view! { {answer} {of} {fallen(page, kinds)} }.into_any()
}

fn fallen(page: &AttemptsPage, kinds: &Kinds) -> String {
    let fallen: Vec<&(JobKind, KindNumbers)> = kinds.fallen().collect();
    let Some((kind, numbers)) = fallen.first() else {
        return match (kinds.all.fall, kinds.rows.len()) {
            (Some(fall), _) => format!(
                "All job types together fell {}; none of them alone.",
                to(page, fall)
            ),
            (None, 1) => "It has not fallen.".to_owned(),
            (None, _) => "No job type has fallen.".to_owned(),
        };
    };
    let to = numbers.fall.map(|fall| to(page, fall)).unwrap_or_default();
    let name = kind_name(kind);
    match fallen.len() {
        1 => format!("{name} fell {to}."),
        n => format!(
            "{} fell, {name} furthest: {to}.",
            count(i64::try_from(n).unwrap_or(i64::MAX), "job type")
        ),
    }
}

/// `to 68.2 % since 27 Nov 12:10, from 98.1 %`.
fn to(page: &AttemptsPage, fall: Fall) -> String {
    let percent = |rate: Rate| rate.percent().unwrap_or_default();
    let since = slot_start(fall.from)
        .map(|at| format!(" since {}", words::moment(at, page.now)))
        .unwrap_or_default();
    format!(
        "to {}{since}, from {}",
        percent(fall.window),
        percent(fall.baseline)
    )
}
