//! The servers in short: how busy, and whether they beat.

use leptos::prelude::*;

use super::Seen;
use crate::charts::svg::{number, part};
use crate::components::number::thousands;
use crate::components::relative;
use crate::components::server_rows::Pulse;
use crate::components::text::{shown, visible};
use crate::components::time;
use crate::links::SourceLinks;
use crate::model::job::Server;
use crate::pages::messages::in_place;
use crate::pages::servers::sentence;

/// How long the bar of a server is whose workers are all busy.
const BAR: f64 = 71.0;

/// The section.
pub(super) fn servers(seen: &Seen, links: &SourceLinks) -> AnyView {
    let said = seen.servers.as_ref().ok().map(|servers| {
        view! { <p class="sub">{sentence(servers, seen.gone_ms)}</p> }
    });
    let table = match &seen.servers {
        Ok(servers) if servers.is_empty() => {
            view! { <p class="sub">"No server has registered itself."</p> }.into_any()
        }
        Ok(servers) => table(servers, seen.gone_ms),
        Err(cause) => in_place(cause),
    };
    view! {
        <section class="sec" aria-labelledby="servers-h" data-part="servers">
            <div class="sec-h">
                <h2 id="servers-h">"Servers"</h2>
                {said}
                <a class="sec-more" href=links.servers()>"All about them"</a>
            </div>
            {table}
        </section>
    }
    .into_any()
}

fn table(servers: &[Server], gone_ms: i64) -> AnyView {
    let rows: Vec<_> = servers.iter().map(|server| row(server, gone_ms)).collect();
    view! {
        <table class="tbl one busy-t">
            <caption class="vh">"Servers, by id"</caption>
            <thead>
                <tr>
                    <th scope="col">"Server"</th>
                    <th scope="col">"Busy workers"</th>
                    <th scope="col" class="num">"Heartbeat"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}

/// Host and process of an id such as `app-01:5120:0f3a…`; anything else whole.
fn short(id: &str) -> &str {
    match id.match_indices(':').nth(1) {
        Some((end, _)) => &id[..end],
        None => id,
    }
}

fn row(server: &Server, gone_ms: i64) -> AnyView {
    let pulse = Pulse::of(server.heartbeat_age_ms, gone_ms);
    let queues = match &server.queues {
        Some(queues) => queues.join(", "),
        None => "queues not known".to_owned(),
    };
    let busy = match server.workers {
        Some(workers) => format!("{}/{}", thousands(server.processing), thousands(workers)),
        None => thousands(server.processing),
    };
    let bar = server
        .workers
        .filter(|workers| *workers > 0)
        .map(|workers| {
            let class = match pulse {
                Pulse::Gone => "b-gave",
                Pulse::Alive | Pulse::Quiet => "bz-f",
            };
            let long = part(server.processing, workers) * BAR;
            view! {
                <svg class="busy" width="72" height="10" viewBox="0 0 72 10" aria-hidden="true">
                    <rect class="bz-t" x=".5" y=".5" width="71" height="9"></rect>
                    <rect class=class x=".5" y=".5" width=number(long) height="9"></rect>
                </svg>
            }
        });
    let class = match pulse {
        Pulse::Alive => "",
        Pulse::Quiet => "warn",
        Pulse::Gone => "bad",
    };
    let word = (pulse != Pulse::Alive).then(|| view! { <b class=class>{pulse.word()}</b> " " });
    view! {
        <tr data-server=shown(&server.id).into_owned() data-pulse=pulse.word()>
            <th scope="row">
                <span class="mono" title=shown(&server.id).into_owned()>
                    {visible(short(&server.id))}
                </span>
                <span class="two">{visible(&queues)}</span>
            </th>
            <td><span class="busy-w">{bar} <span>{busy}</span></span></td>
            <td class="num">
                {word}
                <span class="nw" title=time::exact_text(server.heartbeat_at)>
                    {relative::ago(server.heartbeat_age_ms.max(0))}
                </span>
            </td>
        </tr>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_cut_to_host_and_process() {
        assert_eq!(short("app-01:5120:0f3a-11"), "app-01:5120");
        assert_eq!(short("app-01:5120"), "app-01:5120");
        assert_eq!(short("server"), "server");
    }
}
