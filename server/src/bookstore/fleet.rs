//! The Bookstore's servers over the demo's two weeks.

use app::model::state::Instant;
use chrono::TimeDelta;
use rand::Rng;
use rand::rngs::StdRng;

/// The queue that no server serves.
pub(super) const UNSERVED: &str = "maps";

struct Host {
    name: &'static str,
    first_pid: u32,
    workers: usize,
    queues: &'static [&'static str],
}

const HOSTS: [Host; 5] = [
    Host {
        name: "demo-app-01",
        first_pid: 5120,
        workers: 20,
        queues: &["critical", "default", "stock", "suppliers"],
    },
    Host {
        name: "demo-app-02",
        first_pid: 4988,
        workers: 20,
        queues: &["critical", "default", "stock", "suppliers"],
    },
    Host {
        name: DEAD,
        first_pid: 4871,
        workers: 20,
        queues: &["critical", "default", "stock", "suppliers"],
    },
    Host {
        name: "demo-mail-01",
        first_pid: 2210,
        workers: 10,
        queues: &["mail"],
    },
    Host {
        name: "demo-batch-01",
        first_pid: 1733,
        workers: 8,
        queues: &["exports", "finance", "media", "reports"],
    },
];

const DEAD: &str = "demo-app-03";

/// One process of a host.
#[derive(Debug, Clone)]
pub(super) struct Process {
    /// Its server id.
    pub(super) id: String,
    /// The queues it serves.
    pub(super) queues: &'static [&'static str],
    /// Its workers' ids.
    pub(super) workers: Vec<String>,
    /// When it started.
    pub(super) started_at: Instant,
    /// When it stopped or died; `None` while it lives.
    pub(super) until: Option<Instant>,
    dead: bool,
}

/// Every process of the two weeks: each host is restarted by two deploys.
#[derive(Debug, Clone)]
pub(super) struct Fleet {
    processes: Vec<Process>,
}

impl Fleet {
    /// The last deploy before `now`; the incident begins with it.
    pub(super) fn last_deploy(now: Instant) -> Instant {
        now - TimeDelta::hours(20)
    }

    /// When the dead server sent its last heartbeat.
    pub(super) fn death(now: Instant) -> Instant {
        now - TimeDelta::seconds(6 * 60 + 12)
    }

    pub(super) fn new(rng: &mut StdRng, now: Instant) -> Self {
        let starts = [
            now - TimeDelta::days(30),
            now - TimeDelta::days(9),
            Self::last_deploy(now),
        ];
        let mut processes = Vec::new();
        for host in &HOSTS {
            // A deploy reaches the hosts one after the other.
            let turn = TimeDelta::milliseconds(rng.random_range(0..60_000));
            for (generation, started_at) in (0u32..).zip(starts) {
                let until = starts.get(generation as usize + 1).map(|next| *next + turn);
                let dead = host.name == DEAD && until.is_none();
                processes.push(Process {
                    id: format!(
                        "{}:{}:{}",
                        host.name,
                        host.first_pid + generation * 317,
                        guid(rng)
                    ),
                    queues: host.queues,
                    workers: (0..host.workers).map(|_| guid(rng)).collect(),
                    started_at: started_at + turn,
                    until: until.or_else(|| dead.then(|| Self::death(now))),
                    dead,
                });
            }
        }
        Self { processes }
    }

    /// A process that could take a job from `queue` at that moment. The server that is about to
    /// die takes none in its last half hour: its jobs are told one by one.
    pub(super) fn pick(&self, rng: &mut StdRng, queue: &str, at: Instant) -> Option<&Process> {
        let fit: Vec<&Process> = self
            .processes
            .iter()
            .filter(|process| {
                let margin = TimeDelta::minutes(if process.dead { 30 } else { 0 });
                process.queues.contains(&queue)
                    && process.started_at <= at
                    && process.until.is_none_or(|until| at < until - margin)
            })
            .collect();
        if fit.is_empty() {
            return None;
        }
        Some(fit[rng.random_range(0..fit.len())])
    }

    /// The server that died.
    pub(super) fn dead(&self) -> Option<&Process> {
        self.processes.iter().find(|process| process.dead)
    }

    /// The servers that have a row now: the living ones, and the one that has just died.
    pub(super) fn with_row(&self) -> impl Iterator<Item = &Process> {
        self.processes
            .iter()
            .filter(|process| process.dead || process.until.is_none())
    }
}

/// A GUID made of the injected randomness.
pub(super) fn guid(rng: &mut StdRng) -> String {
    uuid::Builder::from_random_bytes(rng.random())
        .into_uuid()
        .to_string()
}
