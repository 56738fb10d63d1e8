//! Names, moments, numbers and links that the sections share.

use chrono::{Datelike, SecondsFormat};
use leptos::prelude::*;

use crate::components::number::thousands;
use crate::components::text::{short_type, shown};
use crate::components::time;
use crate::links::SourceLinks;
use crate::links::attempts::AttemptsView;
use crate::model::insights::JobKind;
use crate::model::insights::endings::Ending;
use crate::model::insights::span::Span;
use crate::model::insights::times::Bound;
use crate::model::rates::Rate;
use crate::model::state::{Instant, ListState};
use crate::model::words;
use crate::ports::jobs::JobFilter;

/// The whole name, for titles.
pub fn whole_kind(kind: &JobKind) -> String {
    shown(&format!("{}.{}", kind.job_type, kind.method)).into_owned()
}

/// `TimeoutException`, short and safe to look at.
pub fn exception(name: &str) -> String {
    match short_type(name) {
        "" => "no type stored".to_owned(),
        short => shown(short).into_owned(),
    }
}

/// `27 Nov 14:00`, with the year where it is another one.
pub fn moment(at: Instant, now: Instant) -> String {
    let form = if at.year() == now.year() {
        "%-d %b %H:%M"
    } else {
        "%-d %b %Y %H:%M"
    };
    at.format(form).to_string()
}

/// `27 Nov`, with the year where it is another one.
pub fn day(at: Instant, now: Instant) -> String {
    let form = if at.year() == now.year() {
        "%-d %b"
    } else {
        "%-d %b %Y"
    };
    at.format(form).to_string()
}

/// `≤ 5 s`, `> 24 h`.
pub fn bound(bound: Bound) -> String {
    match bound {
        Bound::AtMost(ms) => format!("\u{2264} {}", words::duration(ms)),
        Bound::MoreThan(ms) => format!("> {}", words::duration(ms)),
    }
}

/// `71.1–86.7`: where a rate lies with 95 % certainty.
pub fn interval(rate: Rate) -> Option<String> {
    let (low, high) = rate.interval(Rate::Z_95)?.percents();
    Some(format!("{low}\u{2013}{high}"))
}

/// A count, `–` for none.
pub fn or_dash(number: i64) -> String {
    if number == 0 {
        "\u{2013}".to_owned()
    } else {
        thousands(number)
    }
}

/// A length of time, `–` for none.
pub fn time_or_dash(ms: i64) -> String {
    if ms == 0 {
        "\u{2013}".to_owned()
    } else {
        words::duration(ms)
    }
}

/// A rate with what programs read.
pub fn rate_figure(
    name: &'static str,
    rate: Rate,
    as_of: Instant,
    inner: impl IntoView + 'static,
) -> AnyView {
    view! {
        <span
            data-figure=name
            data-value=rate.share().map(|share| share.to_string())
            data-numerator=rate.numerator.to_string()
            data-denominator=rate.denominator.to_string()
            data-as-of=machine(as_of)
        >
            {inner}
        </span>
    }
    .into_any()
}

/// A count with what programs read.
pub fn figure(
    name: &'static str,
    number: i64,
    as_of: Instant,
    inner: impl IntoView + 'static,
) -> AnyView {
    view! {
        <span data-figure=name data-value=number.to_string() data-as-of=machine(as_of)>{inner}</span>
    }
    .into_any()
}

fn machine(at: Instant) -> String {
    time::machine(at)
}

/// What date fields of forms take.
pub fn field(at: Instant) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
        .chars()
        .take("2026-11-27T14:00".len())
        .collect()
}

/// Lists of the jobs behind numbers, as far as they still exist.
#[derive(Debug, Clone, Copy)]
pub struct Behind<'a> {
    /// Makes URLs.
    pub links: &'a SourceLinks,
    /// What the page shows.
    pub view: &'a AttemptsView,
    /// The hours that are shown.
    pub span: Span,
}

impl Behind<'_> {
    /// What all lists have in common: the kind or the view's, the queue, the time.
    pub fn filter(&self, kind: Option<&JobKind>) -> JobFilter {
        let view = kind.map_or_else(|| self.view.clone(), |kind| self.view.of_kind(kind));
        JobFilter {
            queue: view.queue,
            job_type: view.job_type,
            method: view.method,
            from: self.span.begins(),
            to: self.span.ends(),
            ..JobFilter::default()
        }
    }

    /// Jobs whose round ended so.
    pub fn ending(&self, kind: Option<&JobKind>, ending: Ending) -> String {
        let state = match ending {
            Ending::GaveUp => ListState::Failed,
            _ => ListState::Succeeded,
        };
        self.list(&JobFilter {
            state: Some(state),
            attempts_min: ending.attempts(),
            ..self.filter(kind)
        })
    }

    /// Jobs of a kind in every state.
    pub fn jobs(&self, kind: Option<&JobKind>) -> String {
        self.list(&self.filter(kind))
    }

    /// Jobs that rest on an exception.
    pub fn exception(&self, name: &str) -> String {
        self.list(&JobFilter {
            state: Some(ListState::Failed),
            exception: Some(name.to_owned()),
            ..self.filter(None)
        })
    }

    /// Jobs in every state whose state began within a step.
    pub fn step(&self, from: Instant, to: Instant) -> String {
        self.list(&JobFilter {
            from: Some(from),
            to: Some(to),
            ..self.filter(None)
        })
    }

    /// A list.
    pub fn list(&self, filter: &JobFilter) -> String {
        self.links.jobs(filter, None, None)
    }
}
