//! What both dialects conclude from the servers.

use app::model::health::{Ages, Sighting};
use app::model::job::Server;
use app::model::state::Instant;
use chrono::TimeDelta;

fn is_alive(server: &Server, now: Instant) -> bool {
    now - server.heartbeat_at <= TimeDelta::seconds(Ages::SERVER)
}

fn sighting(found: impl Iterator<Item = String>) -> Sighting {
    let all: Vec<String> = found.collect();
    Sighting {
        count: i64::try_from(all.len()).unwrap_or(i64::MAX),
        examples: all.into_iter().take(Sighting::EXAMPLES).collect(),
        detail: None,
    }
}

/// Servers that have a row but send no heartbeat.
pub fn silent(servers: &[Server], now: Instant) -> Sighting {
    sighting(
        servers
            .iter()
            .filter(|server| !is_alive(server, now))
            .map(|server| server.id.clone()),
    )
}

/// Servers whose start is stored as something that is not a date.
pub fn odd_start(servers: &[Server]) -> Sighting {
    sighting(servers.iter().filter_map(|server| {
        let raw = server.started_raw.as_ref()?;
        Some(format!("{}: {raw}", server.id))
    }))
}

/// Waiting jobs in queues that no living server serves; `waiting` has each queue with its number.
/// Where a living server does not say what it serves, nothing can be concluded.
pub fn unserved(servers: &[Server], waiting: &[(String, i64)], now: Instant) -> Sighting {
    let living: Vec<&Server> = servers
        .iter()
        .filter(|server| is_alive(server, now))
        .collect();
    if living.iter().any(|server| server.queues.is_none()) {
        return Sighting::default();
    }
    let is_served = |queue: &String| {
        living
            .iter()
            .filter_map(|server| server.queues.as_ref())
            .any(|queues| queues.contains(queue))
    };
    let left: Vec<&(String, i64)> = waiting
        .iter()
        .filter(|(queue, _)| !is_served(queue))
        .collect();
    Sighting {
        count: left.iter().map(|(_, jobs)| jobs).sum(),
        examples: left
            .iter()
            .take(Sighting::EXAMPLES)
            .map(|(queue, jobs)| format!("{queue} ({jobs})"))
            .collect(),
        detail: (!left.is_empty() && living.is_empty())
            .then(|| "No server of this database is alive.".to_owned()),
    }
}

/// Says who stands in the scheduler's way.
pub fn lock_sentence(resource: &str, acquired: Option<Instant>) -> String {
    match acquired {
        Some(at) => format!(
            "The scheduler's lock row {resource} has been there since {}.",
            at.format("%Y-%m-%d %H:%M:%S UTC")
        ),
        None => format!("The scheduler's lock row {resource} is there."),
    }
}
