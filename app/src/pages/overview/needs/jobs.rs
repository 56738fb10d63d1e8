//! Jobs that need somebody: on their last try, failed for one cause, at rest in Failed.

use super::super::Seen;
use super::{Need, Trend, kind_filter};
use crate::components::kind::kind_name;
use crate::components::number::{count, thousands};
use crate::components::relative;
use crate::components::shell::page_context;
use crate::components::text::{short_type, shown};
use crate::links::SourceLinks;
use crate::model::insights::forecast::KindDue;
use crate::model::state::{Instant, ListState};
use crate::ports::failures::FailureCause;
use crate::ports::jobs::JobFilter;

/// Causes that are listed at most.
const CAUSES: usize = 3;
/// A cause is listed where it is that of so many failed jobs, and of one in so many of them.
const MANY: i64 = 3;
const ONE_IN: i64 = 5;
/// Kinds that an evidence names at most.
const NAMED: usize = 3;

pub(super) fn last_tries(seen: &Seen, links: &SourceLinks) -> Option<Need> {
    let forecast = seen.forecast.value.as_ref()?;
    let last = forecast.last_tries();
    if last == 0 {
        return None;
    }
    let mut kinds: Vec<&KindDue> = forecast
        .kinds
        .iter()
        .filter(|kind| kind.last_tries > 0)
        .collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.last_tries));
    let mut named: Vec<String> = kinds
        .iter()
        .take(NAMED)
        .map(|kind| format!("{} {}", thousands(kind.last_tries), kind_name(&kind.kind)))
        .collect();
    let others: i64 = kinds.iter().skip(NAMED).map(|kind| kind.last_tries).sum();
    if others > 0 {
        named.push(format!("{} others", thousands(others)));
    }
    let mut filter = match kinds.as_slice() {
        [only] => kind_filter(&only.kind, ListState::Retrying),
        _ => JobFilter {
            state: Some(ListState::Retrying),
            ..JobFilter::default()
        },
    };
    filter.attempts_min = kinds.iter().filter_map(|kind| kind.fewest_attempts).min();
    let (are, their, they) = if last == 1 {
        ("is", "its", "it gives")
    } else {
        ("are", "their", "they give")
    };
    Some(Need {
        urgent: false,
        symbol: "s-retrying",
        headline: format!("{} {are} on {their} last try", count(last, "job")),
        second: format!(
            "due before {}; then {they} up",
            forecast.to().format("%H:%M")
        ),
        evidence: format!("{}.", named.join(", ")),
        when: forecast.first_last_try().map(|at| (at, "the first runs")),
        offer: Some(("See them", links.jobs(&filter, None, None))),
        trend: None,
    })
}

/// Causes that many failed jobs share: what is called, and the exception.
pub(super) fn causes(seen: &Seen, links: &SourceLinks) -> Vec<Need> {
    let Some(causes) = &seen.causes.value else {
        return Vec::new();
    };
    let many = |cause: &&FailureCause| {
        cause.jobs >= MANY && cause.jobs.saturating_mul(ONE_IN) >= causes.jobs
    };
    let now = page_context().now;
    let ago = |at: Instant| relative::ago((now - at).num_milliseconds().max(0));
    causes
        .top
        .iter()
        .filter(many)
        .take(CAUSES)
        .map(|cause| {
            let exception = match cause.exception.as_str() {
                "" => "an exception that is not stored".to_owned(),
                name => shown(short_type(name)).into_owned(),
            };
            let filter = JobFilter {
                exception: Some(cause.exception.clone()).filter(|name| !name.is_empty()),
                ..kind_filter(&cause.kind, ListState::Failed)
            };
            Need {
                urgent: true,
                symbol: "i-failures",
                headline: format!(
                    "{} of {} have one cause",
                    thousands(cause.jobs),
                    count(causes.jobs, "failed job")
                ),
                second: format!("{}: {exception}", kind_name(&cause.kind)),
                evidence: format!(
                    "The first failed {}, the last {}. {} in all.",
                    ago(cause.oldest),
                    ago(cause.newest),
                    count(causes.causes, "cause")
                ),
                when: Some((cause.newest, "the last")),
                offer: Some(("See them", links.jobs(&filter, None, None))),
                trend: None,
            }
        })
        .collect()
}

pub(super) fn failed(seen: &Seen, links: &SourceLinks) -> Option<Need> {
    let counts = seen.counts.as_ref()?;
    let failed = Some(counts.of(ListState::Failed)).filter(|&n| n > 0)?;
    let (verb, stay) = if failed == 1 {
        ("rests", "It stays")
    } else {
        ("rest", "They stay")
    };
    let figures = crate::figures::figures(&seen.facts());
    let lately = figures
        .into_iter()
        .find(|figure| figure.name == ListState::Failed.slug())
        .map(|figure| figure.more)
        .filter(|more| !more.is_empty())
        .map(|more| format!("{more} an hour"));
    let gave_up = seen
        .digest
        .value
        .as_ref()
        .map(|digest| digest.gave_up_lately());
    let gave_up = gave_up.filter(|hours| hours.iter().flatten().any(|count| *count > 0));
    let stay = format!("{stay} there until somebody requeues or deletes.");
    Some(Need {
        urgent: true,
        symbol: "s-failed",
        headline: format!("{} {verb} in Failed", count(failed, "job")),
        second: lately.clone().unwrap_or_default(),
        evidence: stay,
        when: None,
        offer: Some(("See them", links.state(ListState::Failed))),
        trend: gave_up.map(Trend::Counts),
    })
}

pub(super) fn in_no_list(seen: &Seen, links: &SourceLinks) -> Option<Need> {
    let counts = seen.counts.as_ref()?;
    let odd = counts.counts.no_state + counts.counts.other.values().sum::<i64>();
    (odd > 0).then(|| Need {
        urgent: false,
        symbol: "i-flag",
        headline: format!("{} in no list", count(odd, "job")),
        second: String::new(),
        evidence: "Without a state, or in a state of an extension\u{2019}s own.".to_owned(),
        when: None,
        offer: Some(("All jobs", links.jobs(&JobFilter::default(), None, None))),
        trend: None,
    })
}
