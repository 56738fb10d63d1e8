//! Claims, servers and what the health checks saw.

use super::super::Seen;
use super::Need;
use crate::components::number::{count, thousands};
use crate::components::server_rows::Pulse;
use crate::components::text::shown;
use crate::links::SourceLinks;
use crate::links::claims::ClaimsView;
use crate::model::health::{Check, Severity};
use crate::model::job::Server;
use crate::model::state::ListState;

pub(super) fn stale_claims(seen: &Seen, links: &SourceLinks) -> Option<Need> {
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
        trend: None,
    })
}

/// What the health checks saw.
pub(super) fn findings(seen: &Seen, links: &SourceLinks) -> Vec<Need> {
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
                trend: None,
            }
        })
        .collect()
}

pub(super) fn servers_need(servers: &[Server], seen: &Seen, links: &SourceLinks) -> Vec<Need> {
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
            trend: None,
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
            trend: None,
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
            trend: None,
        });
    }
    needs
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
