//! Rows of servers.

use leptos::prelude::*;

use super::number::thousands;
use super::relative;
use super::text::{shown, visible};
use super::time;
use crate::model::job::Server;

/// How a server is judged by its heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pulse {
    /// It beats.
    Alive,
    /// Silent for more than a minute: shown, nothing more.
    Quiet,
    /// Silent for longer than the time-out: its jobs may be taken over.
    Gone,
}

impl Pulse {
    /// Judges a heartbeat's age against the server time-out, both in milliseconds.
    pub fn of(age_ms: i64, gone_ms: i64) -> Self {
        if age_ms > gone_ms {
            Self::Gone
        } else if age_ms > Server::QUIET_MS {
            Self::Quiet
        } else {
            Self::Alive
        }
    }

    /// The word, also in `data-pulse`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Alive => "alive",
            Self::Quiet => "quiet",
            Self::Gone => "gone",
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Alive => "",
            Self::Quiet => "warn",
            Self::Gone => "bad",
        }
    }
}

/// A table of servers; `gone_ms` is the server time-out.
pub fn server_table(servers: &[Server], gone_ms: i64) -> AnyView {
    let rows: Vec<_> = servers
        .iter()
        .map(|server| server_row(server, gone_ms))
        .collect();
    view! {
        <table class="tbl srv" role="table">
            <caption class="vh">"Servers, by id"</caption>
            <thead role="rowgroup">
                <tr role="row">
                    <th role="columnheader" scope="col">"Server"</th>
                    <th role="columnheader" scope="col">"Queues"</th>
                    <th role="columnheader" scope="col" class="num">"Workers"</th>
                    <th role="columnheader" scope="col" class="num">"Processing"</th>
                    <th role="columnheader" scope="col">"Started"</th>
                    <th role="columnheader" scope="col" class="num">"Heartbeat"</th>
                </tr>
            </thead>
            <tbody role="rowgroup">{rows}</tbody>
        </table>
    }
    .into_any()
}

fn server_row(server: &Server, gone_ms: i64) -> AnyView {
    let pulse = Pulse::of(server.heartbeat_age_ms, gone_ms);
    let queues = match &server.queues {
        Some(queues) if queues.is_empty() => view! { "none" }.into_any(),
        Some(queues) => queues
            .iter()
            .map(|queue| view! { <span class="tag">{visible(queue)}</span> " " })
            .collect::<Vec<_>>()
            .into_any(),
        None => view! { <span class="sub">"not known"</span> }.into_any(),
    };
    let started = match (server.started_at, &server.started_raw) {
        (Some(at), _) => time::ago(at).into_any(),
        (None, Some(raw)) => view! {
            <span class="sub">"not readable: "</span>
            <span class="mono">{visible(raw)}</span>
        }
        .into_any(),
        (None, None) => view! { <span class="sub">"not known"</span> }.into_any(),
    };
    let workers = server.workers.map_or_else(|| "–".to_owned(), thousands);
    let silent =
        (pulse != Pulse::Alive).then(|| view! { <b class=pulse.class()>{pulse.word()}</b> });
    view! {
        <tr role="row" data-server=shown(&server.id).into_owned() data-pulse=pulse.word()>
            <th role="rowheader" scope="row" class="mono s-n">{visible(&server.id)}</th>
            <td role="cell" class="s-q">{queues}</td>
            <td role="cell" class="num" data-l="Workers">{workers}</td>
            <td role="cell" class="num" data-l="Processing">{thousands(server.processing)}</td>
            <td role="cell" data-l="Started">{started}</td>
            <td role="cell" class="num" data-l="Heartbeat">
                {silent} " "
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
    fn a_heartbeat_is_judged_at_a_minute_and_at_the_time_out() {
        let of = |age| Pulse::of(age, 300_000);
        assert_eq!(of(60_000), Pulse::Alive);
        assert_eq!(of(60_001), Pulse::Quiet);
        assert_eq!(of(300_000), Pulse::Quiet);
        assert_eq!(of(300_001), Pulse::Gone);
        assert_eq!(of(-5), Pulse::Alive);
    }
}
