//! The overview of a source: is it working, what needs somebody.

use leptos::prelude::*;

use super::messages::in_place;
use super::servers::sentence as servers_sentence;
use crate::components::coverage::{Trust, coverage};
use crate::components::icon::icon;
use crate::components::job_rows::{TableOptions, job_table};
use crate::components::message::{Tone, message};
use crate::components::number::{count, thousands};
use crate::components::server_rows::{Pulse, server_table};
use crate::components::shell::{CountsView, SourceChip, page_context};
use crate::components::state;
use crate::components::time;
use crate::links::SourceLinks;
use crate::links::claims::ClaimsView;
use crate::model::job::Server;
use crate::model::state::ListState;
use crate::ports::error::StoreError;
use crate::ports::jobs::JobPage;

#[cfg(test)]
mod tests;

/// What the page shows.
#[derive(Debug)]
pub struct OverviewPage {
    /// The source.
    pub source: SourceChip,
    /// Jobs by state, where they were counted.
    pub counts: Option<CountsView>,
    /// The newest failed jobs.
    pub failures: Result<JobPage, StoreError>,
    /// The servers.
    pub servers: Result<Vec<Server>, StoreError>,
    /// Stale claims of all tables together, where they were counted.
    pub stale_claims: Option<i64>,
    /// A heartbeat older than this, in milliseconds, means that the server is gone.
    pub gone_ms: i64,
}

/// Something that needs somebody: how bad, symbol, headline, evidence, words of the link, URL.
struct Need {
    urgent: bool,
    symbol: &'static str,
    headline: String,
    evidence: String,
    offer: &'static str,
    href: String,
}

/// The page.
pub fn overview_page(page: OverviewPage) -> AnyView {
    let links = page_context().links.source(&page.source.name);
    let needs = needs(&page, &links);
    view! {
        <div class="page-h">
            <h1>"Overview"</h1>
            <p>{headline(&page, needs.len())}</p>
            {age(&page)}
        </div>
        {figures(&page, &links)}
        {attention(needs)}
        <section class="sec" aria-labelledby="newest-h">
            <div class="sec-h">
                <h2 id="newest-h">"Newest failures"</h2>
                <p class="sub">"by job id"</p>
                <a class="sec-more" href=links.state(ListState::Failed)>"All failed jobs"</a>
            </div>
            {failures(&page, &links)}
        </section>
        <section class="sec" aria-labelledby="servers-h">
            <div class="sec-h">
                <h2 id="servers-h">"Servers"</h2>
                {page.servers.as_ref().ok().map(|servers| {
                    view! { <p class="sub">{servers_sentence(servers, page.gone_ms)}</p> }
                })}
                <a class="sec-more" href=links.servers()>"Servers"</a>
            </div>
            {match &page.servers {
                Ok(servers) if servers.is_empty() => {
                    view! { <p class="sub">"No server has registered itself."</p> }.into_any()
                }
                Ok(servers) => server_table(servers, page.gone_ms),
                Err(cause) => in_place(cause),
            }}
        </section>
    }
    .into_any()
}

fn age(page: &OverviewPage) -> Option<AnyView> {
    page.counts.as_ref().map(|counts| {
        let trust = if counts.counts.exact {
            Trust::Exact
        } else {
            Trust::Estimate
        };
        coverage(trust, counts.age()).into_any()
    })
}

fn headline(page: &OverviewPage, needs: usize) -> String {
    let jobs = page.counts.as_ref().map_or_else(
        || "Jobs are not counted yet.".to_owned(),
        |counts| {
            format!(
                "{} in the database, {} with a worker.",
                count(counts.total(), "job"),
                thousands(counts.of(ListState::Processing)),
            )
        },
    );
    match needs {
        0 => format!("{jobs} Nothing needs you."),
        1 => format!("{jobs} One thing needs you."),
        n => format!("{jobs} {n} things need you."),
    }
}

fn figures(page: &OverviewPage, links: &SourceLinks) -> AnyView {
    let figures: Vec<_> = ListState::ALL
        .into_iter()
        .map(|list| {
            let number = page.counts.as_ref().map(|counts| counts.of(list));
            let as_of = page.counts.as_ref().map(|counts| time::machine(counts.counts.as_of));
            let bad = (list == ListState::Failed && number.is_some_and(|n| n > 0)).then_some("bad");
            view! {
                <div class=list.slug()>
                    <dt>{icon(state::symbol(Some(list)))} <a href=links.state(list)>{list.label()}</a></dt>
                    <dd
                        class=bad
                        data-figure=list.slug()
                        data-value=number.map(|n| n.to_string())
                        data-as-of=as_of
                    >
                        {number.map_or_else(|| "–".to_owned(), thousands)}
                    </dd>
                </div>
            }
        })
        .collect();
    view! { <dl class="figs ov-figs">{figures}</dl> }.into_any()
}

fn needs(page: &OverviewPage, links: &SourceLinks) -> Vec<Need> {
    let mut needs = Vec::new();
    if let Ok(servers) = &page.servers {
        needs.extend(server_needs(servers, page, links));
    }
    needs.extend(claim_needs(page, links));
    let counts = page.counts.as_ref();
    if let Some(failed) = counts.map(|c| c.of(ListState::Failed)).filter(|&n| n > 0) {
        let (verb, stay) = if failed == 1 {
            ("rests", "It stays")
        } else {
            ("rest", "They stay")
        };
        needs.push(Need {
            urgent: true,
            symbol: "s-failed",
            headline: format!("{} {verb} in Failed", count(failed, "job")),
            evidence: format!("{stay} there until somebody requeues or deletes."),
            offer: "See them",
            href: links.state(ListState::Failed),
        });
    }
    if let Some(counts) = counts {
        let odd = counts.counts.no_state + counts.counts.other.values().sum::<i64>();
        if odd > 0 {
            needs.push(Need {
                urgent: false,
                symbol: "i-flag",
                headline: format!("{} in no list", count(odd, "job")),
                evidence: "Without a state, or in a state of an extension's own.".to_owned(),
                offer: "All jobs",
                href: links.jobs(&crate::ports::jobs::JobFilter::default(), None, None),
            });
        }
    }
    needs
}

fn claim_needs(page: &OverviewPage, links: &SourceLinks) -> Option<Need> {
    let stale = page.stale_claims.filter(|stale| *stale > 0)?;
    let (is, its) = if stale == 1 {
        ("is", "its")
    } else {
        ("are", "their")
    };
    Some(Need {
        urgent: false,
        symbol: "i-claims",
        headline: format!("{} {is} stale", count(stale, "claim")),
        evidence: format!(
            "Sending for longer than {its} cut-off: what they stand for may never have left."
        ),
        offer: "See claims",
        href: links.claims(&ClaimsView::default(), None),
    })
}

fn server_needs(servers: &[Server], page: &OverviewPage, links: &SourceLinks) -> Vec<Need> {
    let pulse = |server: &&Server| Pulse::of(server.heartbeat_age_ms, page.gone_ms);
    let len = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let mut needs = Vec::new();
    let gone: Vec<_> = servers.iter().filter(|s| pulse(s) == Pulse::Gone).collect();
    if !gone.is_empty() {
        let left: i64 = gone.iter().map(|server| server.processing).sum();
        let (are, them) = if gone.len() == 1 {
            ("is", "it")
        } else {
            ("are", "them")
        };
        needs.push(Need {
            urgent: true,
            symbol: "i-servers",
            headline: format!("{} {are} gone", count(len(gone.len()), "server")),
            evidence: format!("{} still in Processing with {them}.", count(left, "job")),
            offer: "See servers",
            href: links.servers(),
        });
    }
    let quiet = servers.iter().filter(|s| pulse(s) == Pulse::Quiet).count();
    if quiet > 0 {
        let are = if quiet == 1 { "is" } else { "are" };
        needs.push(Need {
            urgent: false,
            symbol: "i-servers",
            headline: format!("{} {are} quiet", count(len(quiet), "server")),
            evidence: "No heartbeat for more than a minute.".to_owned(),
            offer: "See servers",
            href: links.servers(),
        });
    }
    let waiting = page
        .counts
        .as_ref()
        .map_or(0, |counts| counts.of(ListState::Enqueued));
    if gone.len() == servers.len() && waiting > 0 {
        let (wait, none) = if waiting == 1 {
            ("waits", "it")
        } else {
            ("wait", "them")
        };
        needs.push(Need {
            urgent: true,
            symbol: "s-enqueued",
            headline: format!("{} {wait} and no server runs", count(waiting, "job")),
            evidence: format!("No living server is there to take {none}."),
            offer: "See the queue",
            href: links.state(ListState::Enqueued),
        });
    }
    needs
}

fn attention(needs: Vec<Need>) -> Option<AnyView> {
    if needs.is_empty() {
        return None;
    }
    let rows: Vec<_> = needs
        .into_iter()
        .map(|need| {
            let class = if need.urgent {
                "attn-r"
            } else {
                "attn-r sev-2"
            };
            view! {
                <li class=class>
                    <span class="attn-i">{icon(need.symbol)}</span>
                    <b class="attn-h">{need.headline}</b>
                    <span class="attn-e">{need.evidence}</span>
                    <a class="btn small attn-a" href=need.href>{need.offer}</a>
                </li>
            }
        })
        .collect();
    Some(
        view! {
            <section class="sec" aria-labelledby="needs-h">
                <div class="sec-h"><h2 id="needs-h">"Needs attention"</h2></div>
                <ul class="attn">{rows}</ul>
            </section>
        }
        .into_any(),
    )
}

fn failures(page: &OverviewPage, links: &SourceLinks) -> AnyView {
    match &page.failures {
        Ok(list) if list.rows.is_empty() => message(
            Tone::Good,
            "s-succeeded",
            "Nothing rests in Failed",
            "The failed list was read just now and is empty.",
            Vec::new(),
        )
        .into_any(),
        Ok(list) => {
            let options = TableOptions {
                state: Some(ListState::Failed),
                caption: "Newest failed jobs".to_owned(),
                tick: false,
            };
            job_table(&list.rows, links, &options)
        }
        Err(cause) => in_place(cause),
    }
}
