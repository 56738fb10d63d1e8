//! Falls of the first-attempt success rate.

use super::super::Seen;
use super::{Need, Trend, kind_filter};
use crate::components::kind::kind_name;
use crate::components::number::thousands;
use crate::links::SourceLinks;
use crate::model::rates::{Fall, Rate, SLOT_SECONDS, percent};
use crate::model::state::{Instant, ListState};
use crate::ports::jobs::JobFilter;

/// Falls that are listed at most: when everything falls, the first ones tell it.
const FALLS: usize = 3;

/// Falls of the first-attempt success rate, by kind; of all together where no kind alone fell.
pub(super) fn falls(seen: &Seen, links: &SourceLinks) -> Vec<Need> {
    let Some(digest) = &seen.digest.value else {
        return Vec::new();
    };
    let falls = digest.falls();
    let mut needs: Vec<Need> = falls
        .iter()
        .take(FALLS)
        .map(|(kind, fall)| {
            let filter = JobFilter {
                from: slot_start(fall.from),
                ..kind_filter(kind, ListState::Failed)
            };
            let more = falls.len().saturating_sub(FALLS);
            let others = if more > 0 {
                format!(" {more} more kinds fell too.")
            } else {
                String::new()
            };
            let mut kinds = digest.kinds.iter();
            let trend = kinds
                .find(|first| first.kind == **kind)
                .map(|first| Trend::Fell(first.hours.clone(), fall.baseline));
            let href = links.jobs(&filter, None, None);
            fell(&kind_name(kind), fall, others, href, trend)
        })
        .collect();
    if let (true, Some(fall)) = (falls.is_empty(), &digest.fall) {
        let href = links.state(ListState::Failed);
        let trend = Some(Trend::Fell(digest.first_lately(), fall.baseline));
        needs.push(fell("all jobs together", fall, String::new(), href, trend));
    }
    needs
}

fn fell(of: &str, fall: &Fall, others: String, href: String, trend: Option<Trend>) -> Need {
    let share = |rate: Rate| rate.percent().unwrap_or_default();
    let parts = |rate: Rate| {
        let number = |n: u64| thousands(i64::try_from(n).unwrap_or(i64::MAX));
        format!("{} of {}", number(rate.numerator), number(rate.denominator))
    };
    let depth = percent(fall.depth()).replace('%', "");
    Need {
        urgent: true,
        symbol: "i-attempts",
        headline: format!("First-attempt success fell by {} points", depth.trim()),
        second: format!(
            "{of}: {} now, usual {}",
            share(fall.window),
            share(fall.baseline)
        ),
        evidence: format!(
            "{} succeeded first time; {} in the 7 days before.{others}",
            parts(fall.window),
            parts(fall.baseline)
        ),
        when: slot_start(fall.from).map(|at| (at, "its window began")),
        offer: Some(("See the failed", href)),
        trend,
    }
}

/// When a slot of ten minutes begins.
pub(in super::super) fn slot_start(slot: i64) -> Option<Instant> {
    chrono::DateTime::from_timestamp(slot.checked_mul(SLOT_SECONDS)?, 0)
}
