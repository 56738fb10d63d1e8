//! The drawings: each in a part of its own, which a page replaces while it is open.

use leptos::prelude::*;

use super::needs::slot_start;
use super::{Current, Seen};
use crate::charts::rate::{RateLine, RatePoint, rate_line};
use crate::components::coverage::{Trust, coverage};
use crate::components::number::thousands;
use crate::components::time::kept::ago;
use crate::figures::COLLECTED;
use crate::links::SourceLinks;
use crate::model::collect::{HOUR_SECONDS, hour};
use crate::model::insights::digest::{Digest, WEEK};
use crate::model::rates::Rate;
use crate::model::state::{Instant, ListState};
use crate::ports::jobs::JobFilter;

mod due;
mod finished;
mod spread;

pub(super) use due::due;
pub(super) use finished::finished;
pub(super) use spread::spread;

/// When an hour counted from 1970 begins and ends.
pub(super) fn hour_span(hour: i64) -> Option<(Instant, Instant)> {
    let at = |hour: i64| chrono::DateTime::from_timestamp(hour.checked_mul(HOUR_SECONDS)?, 0);
    Some((at(hour)?, at(hour.checked_add(1)?)?))
}

/// A section of the page that is replaced while the page is open.
fn part(
    name: &'static str,
    title: &'static str,
    sub: &str,
    covered: Option<AnyView>,
    content: AnyView,
) -> AnyView {
    let id = format!("{name}-h");
    let sub = (!sub.is_empty()).then(|| view! { <p class="sub">{sub.to_owned()}</p> });
    view! {
        <section class="sec" aria-labelledby=id.clone() data-part=name>
            <div class="sec-h">
                <h2 id=id.clone()>{title}</h2>
                {sub}
                {covered}
            </div>
            {content}
        </section>
    }
    .into_any()
}

/// How far the collector's numbers can be trusted, and since when they count.
fn counted(seen: &Seen, from: i64) -> Option<AnyView> {
    let digest = seen.digest.value.as_ref()?;
    let at = seen.digest.at?;
    let since = digest.coverage.since.filter(|since| *since > from);
    let since = since.and_then(hour_span).map(|(since, _)| {
        let words = since.format("%-d %b %H:%M UTC").to_string();
        view! { " since " {words} "," }
    });
    let trust = if seen.collecting.words().is_some() || since.is_some() {
        Trust::Partial
    } else {
        Trust::Exact
    };
    let words = view! { {since} " " {ago(COLLECTED, at)} };
    Some(coverage(trust, words).into_any())
}

/// Why there is no number.
fn nothing<T>(read: &Current<T>, seen: &Seen) -> AnyView {
    let words = match (&read.trouble, seen.collecting.words()) {
        (Some(trouble), _) => format!("Not known: {trouble}."),
        (None, Some(words)) => words,
        (None, None) => "Nothing was counted yet.".to_owned(),
    };
    view! { <p class="sub">{words}</p> }.into_any()
}

/// The first-attempt success rate of the last seven days.
pub(super) fn rate(seen: &Seen, links: &SourceLinks) -> AnyView {
    let (steps, content) = match &seen.digest.value {
        Some(digest) => {
            let (length, steps) = digest.first_by_steps();
            let words = match length {
                1 => " by the hour".to_owned(),
                hours => format!(" in steps of {hours} hours"),
            };
            (words, rate_drawn(digest, length, &steps, links))
        }
        None => (String::new(), nothing(&seen.digest, seen)),
    };
    part(
        "rate",
        "First-attempt success rate",
        &format!("7 days{steps}, counted per job, 95\u{202f}% band"),
        seen.digest
            .value
            .as_ref()
            .and_then(|digest| counted(seen, hour(digest.read_at) + 1 - WEEK)),
        content,
    )
}

fn rate_drawn(digest: &Digest, length: i64, steps: &[(i64, Rate)], links: &SourceLinks) -> AnyView {
    let last = hour(digest.read_at);
    let first = (last + 1 - WEEK).div_euclid(length);
    let mut known = steps.iter().peekable();
    let points: Vec<RatePoint> = (first..=last.div_euclid(length))
        .map(|step| step * length)
        .filter_map(|hour| {
            let (at, _) = hour_span(hour)?;
            let (to, _) = hour_span(hour.checked_add(length)?)?;
            let rate = known.next_if(|(known, _)| *known == hour);
            let rate = rate.map(|(_, rate)| *rate).unwrap_or_default();
            // Failed jobs stay; where no first attempt failed, none of them is behind the point.
            let href = (rate.rest() > 0).then(|| {
                let filter = JobFilter {
                    state: Some(ListState::Failed),
                    from: Some(at),
                    to: Some(to),
                    ..JobFilter::default()
                };
                links.jobs(&filter, None, None)
            });
            Some(RatePoint { at, rate, href })
        })
        .collect();
    let Some((_, end)) = hour_span(last) else {
        return ().into_any();
    };
    rate_line(&RateLine {
        points: &points,
        end,
        usual: digest.first.usual,
        fallen_since: digest.fall.and_then(|fall| slot_start(fall.from)),
        subject: "First-attempt success over seven days",
        finding: &rate_finding(digest),
        counted: "First attempts",
        leads_to: "jobs that came to rest in Failed then",
    })
}

/// `84.1 % of the last 24 hours (95 % band 83.8–84.4), usual 93.6 %.`
fn rate_finding(digest: &Digest) -> String {
    let day = digest.first.day;
    let (Some(percent), Some(band)) = (day.percent(), day.interval(Rate::Z_95)) else {
        return "No first attempt ended within the last 24 hours.".to_owned();
    };
    let (low, high) = band.percents();
    let usual = digest.first.usual.percent().map_or_else(
        || "; nothing to compare with in the 7 days before".to_owned(),
        |usual| format!(", usual {usual}"),
    );
    let number = |n: u64| thousands(i64::try_from(n).unwrap_or(i64::MAX));
    format!(
        "{percent} of {} first attempts of the last 24 hours succeeded (95\u{202f}% band {low} to \
         {high}){usual}.",
        number(day.denominator)
    )
}
