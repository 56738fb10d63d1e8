//! What needs somebody, with the numbers that say so. What runs out first is on top.

use leptos::prelude::*;

use super::Seen;
use crate::components::coverage::{Trust, coverage};
use crate::components::icon::icon;
use crate::components::kind::kind_name;
use crate::components::number::{count, thousands};
use crate::components::relative;
use crate::components::server_rows::Pulse;
use crate::components::shell::page_context;
use crate::components::text::{short_type, shown};
use crate::components::time;
use crate::links::SourceLinks;
use crate::links::claims::ClaimsView;
use crate::model::health::{Check, Severity};
use crate::model::insights::JobKind;
use crate::model::insights::forecast::KindDue;
use crate::model::job::Server;
use crate::model::rates::{Fall, Rate, SLOT_SECONDS, percent};
use crate::model::state::{Instant, ListState};
use crate::ports::failures::FailureCause;
use crate::ports::jobs::JobFilter;

/// Falls that are listed at most: when everything falls, the first ones tell it.
const FALLS: usize = 3;
/// Causes that are listed at most.
const CAUSES: usize = 3;
/// A cause is listed where it is that of so many failed jobs, and of one in so many of them.
const MANY: i64 = 3;
const ONE_IN: i64 = 5;
/// Kinds that an evidence names at most.
const NAMED: usize = 3;

/// Something that needs somebody.
pub(super) struct Need {
    urgent: bool,
    symbol: &'static str,
    headline: String,
    /// What stands below the headline.
    second: String,
    /// The numbers that say so.
    evidence: String,
    /// Since when, or until when.
    when: Option<(Instant, &'static str)>,
    offer: Option<(&'static str, String)>,
}

/// Everything, what runs out first on top.
pub(super) fn needs(seen: &Seen, links: &SourceLinks) -> Vec<Need> {
    let mut needs = Vec::new();
    needs.extend(last_tries(seen, links));
    needs.extend(stale_claims(seen, links));
    needs.extend(findings(seen, links));
    if let Ok(servers) = &seen.servers {
        needs.extend(servers_need(servers, seen, links));
    }
    needs.extend(falls(seen, links));
    needs.extend(causes(seen, links));
    needs.extend(failed(seen, links));
    needs.extend(in_no_list(seen, links));
    needs
}

/// The headlines in one line: whether they are others is told by it.
pub(super) fn summary(needs: &[Need]) -> String {
    let headlines: Vec<&str> = needs.iter().map(|need| need.headline.as_str()).collect();
    headlines.join("; ")
}

/// The filter that finds jobs of a kind in a list.
pub(super) fn kind_filter(kind: &JobKind, state: ListState) -> JobFilter {
    JobFilter {
        state: Some(state),
        job_type: Some(kind.job_type.clone()),
        method: Some(kind.method.clone()),
        ..JobFilter::default()
    }
}

fn last_tries(seen: &Seen, links: &SourceLinks) -> Option<Need> {
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
    })
}

fn stale_claims(seen: &Seen, links: &SourceLinks) -> Option<Need> {
    let stale = seen.stale_claims.filter(|stale| *stale > 0)?;
    let (is, its) = if stale == 1 {
        ("is", "its")
    } else {
        ("are", "their")
    };
    Some(Need {
        urgent: false,
        symbol: "i-claims",
        headline: format!("{} {is} stale", count(stale, "claim")),
        second: format!("Sending for longer than {its} cut-off"),
        evidence: "What they stand for may never have left.".to_owned(),
        when: None,
        offer: Some(("Review claims", links.claims(&ClaimsView::default(), None))),
    })
}

/// What the health checks saw.
fn findings(seen: &Seen, links: &SourceLinks) -> Vec<Need> {
    let Some(findings) = &seen.findings else {
        return Vec::new();
    };
    findings
        .seen
        .iter()
        .filter(|(check, sighting)| check.severity() == Severity::Action && sighting.count > 0)
        .map(|(check, sighting)| {
            let examples = match sighting.examples.as_slice() {
                [] => String::new(),
                some => format!("for example {}", shown(&some.join(", "))),
            };
            let detail = sighting
                .detail
                .as_deref()
                .map(|detail| format!(" {}", shown(detail)));
            Need {
                urgent: true,
                symbol: symbol(*check),
                headline: format!(
                    "{} {}",
                    thousands(sighting.count),
                    check.what(sighting.count)
                ),
                second: examples,
                evidence: format!("{}{}", check.meaning(), detail.unwrap_or_default()),
                when: None,
                offer: list_of(*check).map(|list| ("See the list", links.state(list))),
            }
        })
        .collect()
}

fn symbol(check: Check) -> &'static str {
    match check {
        Check::OverdueSchedule | Check::ScheduledWithoutMember => "s-scheduled",
        Check::ProcessingWithoutServer | Check::Unsettled => "s-processing",
        Check::AwaitingFinishedParent => "s-awaiting",
        Check::UnservedQueue | Check::EnqueuedWithoutQueueRow | Check::SeveralQueueRows => {
            "s-enqueued"
        }
        _ => "i-flag",
    }
}

/// The list that has the jobs of a finding.
fn list_of(check: Check) -> Option<ListState> {
    match check {
        Check::OverdueSchedule => Some(ListState::Retrying),
        Check::ScheduledWithoutMember => Some(ListState::Scheduled),
        Check::ProcessingWithoutServer | Check::Unsettled => Some(ListState::Processing),
        Check::AwaitingFinishedParent => Some(ListState::Awaiting),
        Check::UnservedQueue | Check::EnqueuedWithoutQueueRow | Check::SeveralQueueRows => {
            Some(ListState::Enqueued)
        }
        _ => None,
    }
}

fn servers_need(servers: &[Server], seen: &Seen, links: &SourceLinks) -> Vec<Need> {
    let pulse = |server: &&Server| Pulse::of(server.heartbeat_age_ms, seen.gone_ms);
    let len = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let found = |check: Check| seen.findings.as_ref().map_or(0, |found| found.count(check));
    let mut needs = Vec::new();
    let gone: Vec<_> = servers.iter().filter(|s| pulse(s) == Pulse::Gone).collect();
    let left: i64 = gone.iter().map(|server| server.processing).sum();
    // Where jobs are left behind, the check says so, with those of servers that have no row.
    if !gone.is_empty() && found(Check::ProcessingWithoutServer) == 0 {
        let (are, them) = if gone.len() == 1 {
            ("is", "it")
        } else {
            ("are", "them")
        };
        needs.push(Need {
            urgent: true,
            symbol: "i-servers",
            headline: format!("{} {are} gone", count(len(gone.len()), "server")),
            second: "no heartbeat for more than five minutes".to_owned(),
            evidence: format!("{} still in Processing with {them}.", count(left, "job")),
            when: gone
                .iter()
                .map(|server| server.heartbeat_at)
                .max()
                .map(|at| (at, "last heartbeat")),
            offer: Some(("See servers", links.servers())),
        });
    }
    let quiet = servers.iter().filter(|s| pulse(s) == Pulse::Quiet).count();
    if quiet > 0 {
        let are = if quiet == 1 { "is" } else { "are" };
        needs.push(Need {
            urgent: false,
            symbol: "i-servers",
            headline: format!("{} {are} quiet", count(len(quiet), "server")),
            second: String::new(),
            evidence: "No heartbeat for more than a minute.".to_owned(),
            when: None,
            offer: Some(("See servers", links.servers())),
        });
    }
    let waiting = seen
        .counts
        .as_ref()
        .map_or(0, |counts| counts.of(ListState::Enqueued));
    if gone.len() == servers.len() && waiting > 0 && found(Check::UnservedQueue) == 0 {
        let (wait, none) = if waiting == 1 {
            ("waits", "it")
        } else {
            ("wait", "them")
        };
        needs.push(Need {
            urgent: true,
            symbol: "s-enqueued",
            headline: format!("{} {wait} and no server runs", count(waiting, "job")),
            second: String::new(),
            evidence: format!("No living server is there to take {none}."),
            when: None,
            offer: Some(("See the queue", links.state(ListState::Enqueued))),
        });
    }
    needs
}

/// Falls of the first-attempt success rate, by kind; of all together where no kind alone fell.
fn falls(seen: &Seen, links: &SourceLinks) -> Vec<Need> {
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
            fell(
                &kind_name(kind),
                fall,
                others,
                links.jobs(&filter, None, None),
            )
        })
        .collect();
    if let (true, Some(fall)) = (falls.is_empty(), &digest.fall) {
        let href = links.state(ListState::Failed);
        needs.push(fell("all jobs together", fall, String::new(), href));
    }
    needs
}

fn fell(of: &str, fall: &Fall, others: String, href: String) -> Need {
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
    }
}

/// When a slot of ten minutes begins.
pub(super) fn slot_start(slot: i64) -> Option<Instant> {
    chrono::DateTime::from_timestamp(slot.checked_mul(SLOT_SECONDS)?, 0)
}

/// Causes that many failed jobs share: what is called, and the exception.
fn causes(seen: &Seen, links: &SourceLinks) -> Vec<Need> {
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
            }
        })
        .collect()
}

fn failed(seen: &Seen, links: &SourceLinks) -> Option<Need> {
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
    let stay = format!("{stay} there until somebody requeues or deletes.");
    Some(Need {
        urgent: true,
        symbol: "s-failed",
        headline: format!("{} {verb} in Failed", count(failed, "job")),
        second: lately.clone().unwrap_or_default(),
        evidence: stay,
        when: None,
        offer: Some(("See them", links.state(ListState::Failed))),
    })
}

fn in_no_list(seen: &Seen, links: &SourceLinks) -> Option<Need> {
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
    })
}

/// What could not be checked, where anything could not; else what is not among the needs is not so.
pub(super) fn unanswered(seen: &Seen) -> Option<String> {
    let Some(findings) = &seen.findings else {
        return Some("faults are not checked yet".to_owned());
    };
    let number = i64::try_from(findings.unanswered.len()).unwrap_or(i64::MAX);
    (number > 0).then(|| format!("{} could not be made", count(number, "check")))
}

/// The section; nothing where nothing needs anybody.
pub(super) fn section(seen: &Seen, needs: &[Need], links: &SourceLinks) -> Option<AnyView> {
    if needs.is_empty() {
        return None;
    }
    let rows: Vec<_> = needs.iter().map(row).collect();
    let unanswered = unanswered(seen);
    let trust = if unanswered.is_some() {
        Trust::Partial
    } else {
        Trust::Exact
    };
    let at = seen.findings.as_ref().map(|findings| {
        view! { {unanswered.is_some().then_some(", ")} "checked " {time::ago(findings.read_at)} }
    });
    let checked = (at.is_some() || unanswered.is_some())
        .then(|| coverage(trust, view! { {unanswered} {at} }));
    Some(
        view! {
            <section class="sec attn-s" aria-labelledby="needs-h">
                <div class="sec-h">
                    <h2 id="needs-h">"Needs attention"</h2>
                    <p class="sub">"what runs out first is on top"</p>
                    <a class="newchip" href=links.overview() data-live-needs=summary(needs)>
                        "changed: show"
                    </a>
                    {checked}
                </div>
                <p class="attn-r attn-hd" aria-hidden="true">
                    <span></span>
                    <span>"What"</span>
                    <span>"The numbers that say so"</span>
                    <span class="num">"When"</span>
                    <span></span>
                </p>
                <ul class="attn">{rows}</ul>
            </section>
        }
        .into_any(),
    )
}

fn row(need: &Need) -> AnyView {
    let class = if need.urgent {
        "attn-r"
    } else {
        "attn-r sev-2"
    };
    let headline = match &need.offer {
        Some((_, href)) => view! { <a href=href.clone()>{need.headline.clone()}</a> }.into_any(),
        None => need.headline.clone().into_any(),
    };
    let second =
        (!need.second.is_empty()).then(|| view! { <span class="two">{need.second.clone()}</span> });
    let when = need.when.map(|(at, words)| {
        view! { <b>{time::ago(at)}</b> " " <span class="two">{words}</span> }
    });
    let offer = need
        .offer
        .clone()
        .map(|(words, href)| view! { <a class="btn small attn-a" href=href>{words}</a> });
    view! {
        <li class=class>
            <span class="attn-i">{icon(need.symbol)}</span>
            <div class="attn-h"><h3>{headline}</h3> {second}</div>
            <p class="attn-e">{need.evidence.clone()}</p>
            <p class="attn-w">{when}</p>
            {offer}
        </li>
    }
    .into_any()
}
