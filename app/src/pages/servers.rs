//! The servers of a source.

use leptos::prelude::*;

use super::messages::in_place;
use crate::components::coverage::{Trust, coverage};
use crate::components::message::{Tone, message};
use crate::components::number::{count, thousands};
use crate::components::server_rows::{Pulse, server_table};
use crate::components::shell::SourceChip;
use crate::model::job::Server;
use crate::ports::error::StoreError;

/// What the page shows.
#[derive(Debug)]
pub struct ServersPage {
    /// The source.
    pub source: SourceChip,
    /// Its servers, by id.
    pub servers: Result<Vec<Server>, StoreError>,
    /// A heartbeat older than this, in milliseconds, means that the server is gone.
    pub gone_ms: i64,
}

/// The page.
pub fn servers_page(page: ServersPage) -> AnyView {
    let (sentence, body) = match &page.servers {
        Ok(servers) if servers.is_empty() => (
            "no server has registered itself.".to_owned(),
            message(
                Tone::Warn,
                "i-servers",
                "No server is there to run jobs",
                "Servers register themselves when they start and remove themselves when they stop \
                 in order. Jobs stay in their queues until one comes; nothing is lost.",
                Vec::new(),
            )
            .into_any(),
        ),
        Ok(servers) => (
            sentence(servers, page.gone_ms),
            server_table(servers, page.gone_ms),
        ),
        Err(cause) => ("not read.".to_owned(), in_place(cause)),
    };
    let clock = if page.source.dialect == "SQLite" {
        "this host's clock"
    } else {
        "the database's clock"
    };
    view! {
        <div class="page-h">
            <h1>"Servers"</h1>
            <p>{sentence}</p>
            {coverage(Trust::Exact, format!("heartbeats by {clock}"))}
        </div>
        <section aria-label="Servers">{body}</section>
        <p class="sub after">
            {format!(
                "A server is quiet after 1 min without a heartbeat and gone after {} min; jobs of a \
                 server that is gone may be requeued.",
                page.gone_ms / 60_000,
            )}
        </p>
    }
    .into_any()
}

/// What matters about the servers, in one sentence.
pub fn sentence(servers: &[Server], gone_ms: i64) -> String {
    let of = |pulse| {
        servers
            .iter()
            .filter(|s| Pulse::of(s.heartbeat_age_ms, gone_ms) == pulse)
            .count()
    };
    let (quiet, gone) = (of(Pulse::Quiet), of(Pulse::Gone));
    let processing: i64 = servers.iter().map(|server| server.processing).sum();
    let workers: i64 = servers.iter().filter_map(|server| server.workers).sum();
    let busy = format!(
        "{} processing on {}",
        count(processing, "job"),
        count(workers, "worker")
    );
    let total = i64::try_from(servers.len()).unwrap_or(i64::MAX);
    match (quiet, gone) {
        (0, 0) => format!("{}, all alive: {busy}.", count(total, "server")),
        (quiet, 0) => format!("{quiet} of {} quiet: {busy}.", thousands(total)),
        (0, gone) => format!("{gone} of {} gone: {busy}.", thousands(total)),
        (quiet, gone) => format!(
            "{gone} of {} gone, {quiet} quiet: {busy}.",
            thousands(total)
        ),
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn server(age_s: i64, processing: i64) -> Server {
        Server {
            id: "app-1:10:aaaa".into(),
            workers: Some(20),
            queues: Some(vec!["default".into()]),
            started_at: None,
            started_raw: Some("27.03.2026 07:30:00".into()),
            heartbeat_at: DateTime::UNIX_EPOCH,
            heartbeat_age_ms: age_s * 1_000,
            processing,
        }
    }

    #[test]
    fn the_sentence_names_what_is_wrong() {
        let alive = [server(4, 1), server(5, 0)];
        assert_eq!(
            sentence(&alive, 300_000),
            "2 servers, all alive: 1 job processing on 40 workers."
        );
        let mixed = [server(4, 1), server(90, 0), server(301, 4)];
        assert_eq!(
            sentence(&mixed, 300_000),
            "1 of 3 gone, 1 quiet: 5 jobs processing on 60 workers."
        );
    }

    #[test]
    fn a_start_that_is_no_date_is_shown_as_it_is() {
        let html = server_table(&[server(4, 0)], 300_000).to_html();
        assert!(html.contains("27.03.2026 07:30:00"), "{html}");
        assert!(!html.contains("1970, ") || !html.contains("0001"), "{html}");
    }
}
