//! What will happen next.

mod plan;

use leptos::prelude::*;

use super::{Given, JobPage, kit, parent_of, served_by};
use crate::components::coverage::{Trust, coverage};
use crate::components::text::{shown, stored};
use crate::components::time::{exact_text, machine};
use crate::model::attempt::{Outcome, PlannedRetry};
use crate::model::job::Server;
use crate::model::state::{Instant, StateName};
use crate::model::timeline::Timeline;
use crate::model::words::duration;

/// What the rows, the servers and the clock say of a job's future.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Next {
    /// It has no state yet.
    NoState,
    /// A retry is planned.
    Retry(PlannedRetry),
    /// It waits for its due time, where the row says it.
    Scheduled(Option<Instant>),
    /// It is in a queue.
    Enqueued {
        /// The queue.
        queue: String,
        /// Live servers that serve it.
        served_by: usize,
        /// Live servers whose queues are not known.
        maybe: usize,
        /// How its queue row is.
        row: QueueRowNow,
    },
    /// A worker runs it.
    Running {
        /// Since when, where the row is there.
        since: Option<Instant>,
        /// The server, where the row names it.
        server: Option<String>,
        /// Age of the server's last heartbeat, in milliseconds.
        heartbeat_age_ms: Option<i64>,
    },
    /// The server that ran it is gone.
    Orphaned {
        /// Since when it runs.
        since: Instant,
        /// The server.
        server: String,
        /// The server's last heartbeat, where its row is still there.
        heartbeat: Option<Instant>,
        /// When the lease of its queue row ends; `None` where it has no such row.
        lease_ends: Option<Instant>,
    },
    /// It rests in Failed.
    Failed,
    /// It is done: succeeded or deleted.
    Finished,
    /// It waits for another job.
    Awaiting(Option<i64>),
    /// It is in a state that Hangfire does not define.
    Other(String),
}

/// The queue row of a job in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueueRowNow {
    /// It waits to be taken.
    Waiting,
    /// A worker took it at this instant.
    Taken(Instant),
    /// There is none.
    Missing,
}

impl Next {
    /// Reads the job's future.
    pub(super) fn of(given: &Given, timeline: &Timeline) -> Self {
        let record = &given.record;
        let Some(state) = &record.state.name else {
            return Self::NoState;
        };
        match state {
            StateName::Scheduled => timeline.pending_retry().map_or_else(
                || Self::Scheduled(due(given)),
                |retry| Self::Retry(retry.clone()),
            ),
            StateName::Enqueued => enqueued(given),
            StateName::Processing => running(given, timeline),
            StateName::Failed => Self::Failed,
            StateName::Succeeded | StateName::Deleted => Self::Finished,
            StateName::Awaiting => Self::Awaiting(parent_of(record)),
            StateName::Other(name) => Self::Other(name.clone()),
        }
    }
}

fn due(given: &Given) -> Option<Instant> {
    let rows = &given.record.states;
    rows.iter()
        .rev()
        .find(|row| row.name == StateName::Scheduled)?
        .data
        .date("EnqueueAt")
}

fn enqueued(given: &Given) -> Next {
    let record = &given.record;
    let row = record
        .queue_rows
        .iter()
        .find(|row| row.fetched_at.is_none())
        .or_else(|| record.queue_rows.last());
    let queue = row
        .map(|row| row.queue.clone())
        .or_else(|| record.invocation.own_queue.clone())
        .or_else(|| {
            let last = record.states.iter().rev();
            last.filter(|row| row.name == StateName::Enqueued)
                .find_map(|row| row.data.get("Queue").map(str::to_owned))
        })
        .unwrap_or_else(|| "default".to_owned());
    let (served_by, maybe) = served_by(given, &queue);
    Next::Enqueued {
        served_by,
        maybe,
        row: match row {
            None => QueueRowNow::Missing,
            Some(row) => row
                .fetched_at
                .map_or(QueueRowNow::Waiting, QueueRowNow::Taken),
        },
        queue,
    }
}

fn running(given: &Given, timeline: &Timeline) -> Next {
    let attempt = timeline.attempts().next_back();
    let (since, server) = attempt.map_or((given.record.state.since, None), |attempt| {
        (Some(attempt.started_at), attempt.server.clone())
    });
    let known = server
        .as_ref()
        .and_then(|id| given.servers.iter().find(|server| server.id == *id));
    match (attempt, server) {
        (Some(attempt), Some(server)) if attempt.outcome == Outcome::Orphaned => {
            let taken = given.record.queue_rows.iter();
            let lease = chrono::TimeDelta::milliseconds(given.limits.invisibility_ms);
            Next::Orphaned {
                since: attempt.started_at,
                server,
                heartbeat: known.map(|server| server.heartbeat_at),
                lease_ends: taken
                    .filter_map(|row| row.fetched_at?.checked_add_signed(lease))
                    .max(),
            }
        }
        (_, server) => Next::Running {
            since,
            server,
            heartbeat_age_ms: known.map(|server| server.heartbeat_age_ms),
        },
    }
}

/// The section.
pub(super) fn section(page: &JobPage) -> AnyView {
    let (trust, words) = match page.next {
        Next::Retry(_) if page.plan.as_ref().is_some_and(|plan| plan.runs.len() > 1) => {
            (Trust::Estimate, "stored due time, then inferred")
        }
        Next::Retry(_) | Next::Scheduled(_) => (Trust::Exact, "stored due time"),
        _ => (Trust::Exact, "stored state"),
    };
    kit::section(
        "next",
        "What will happen next",
        Some(coverage(trust, words).into_any()),
        content(page),
    )
}

fn content(page: &JobPage) -> AnyView {
    let now = page.given.now;
    match &page.next {
        Next::NoState => lead("Nothing that can be foretold: it has no state yet."),
        Next::Retry(retry) => plan::retry(page, retry),
        Next::Scheduled(Some(due)) => view! {
            <div class="next">
                {countdown(*due, now, "its run")}
                <p class="lead">"It is delayed: the scheduler puts it into its queue when it is due."</p>
            </div>
        }
        .into_any(),
        Next::Scheduled(None) => {
            lead("It is delayed, but its row does not say until when.")
        }
        Next::Enqueued {
            queue,
            served_by,
            maybe,
            row,
        } => in_queue(page, queue, *served_by, *maybe, *row),
        Next::Running {
            since,
            server,
            heartbeat_age_ms,
        } => {
            let on = server.as_ref().map(|server| {
                view! { " on server " {server_name(server)} }
            });
            let since = since.map(|at| {
                view! { ", since " {kit::when(at)} }
            });
            let heartbeat = match heartbeat_age_ms {
                Some(age) if *age > Server::QUIET_MS => format!(
                    "The server is quiet: its last heartbeat is {} old.",
                    duration(*age)
                ),
                Some(age) => format!("The server is alive: its last heartbeat is {} old.", duration(*age)),
                None => "Whether its server is alive is not known.".to_owned(),
            };
            view! {
                <p class="lead"><b>"Running"</b>{on}{since}"."</p>
                <p class="next-why">{heartbeat}</p>
            }
            .into_any()
        }
        Next::Orphaned {
            since,
            server,
            heartbeat,
            lease_ends,
        } => orphaned(now, *since, server, *heartbeat, *lease_ends),
        Next::Failed => failed(page),
        Next::Finished => finished(page),
        Next::Awaiting(parent) => awaiting(page, *parent),
        Next::Other(name) => view! {
            <p class="lead">
                "It is in state " <b>{stored(name)}</b>
                ", which is not Hangfire's own: what happens next is up to whatever put it there."
            </p>
        }
        .into_any(),
    }
}

/// A server in a sentence, its whole id at hand.
fn server_name(id: &str) -> impl IntoView + use<> {
    view! { <b class="mono" title=shown(id).into_owned()>{stored(&kit::short_server(id))}</b> }
}

fn lead(words: &'static str) -> AnyView {
    view! { <p class="lead">{words}</p> }.into_any()
}

/// The one big figure: how long until something is due, and the exact time beside it.
fn countdown(due: Instant, now: Instant, what: &str) -> AnyView {
    let ms = (due - now).num_milliseconds();
    let (figure, words) = if ms > 0 {
        (clock_figure(ms), format!("until {what}, due "))
    } else {
        (clock_figure(-ms), format!("overdue: {what} was due "))
    };
    let exact = due.format("%-d %b %Y, %H:%M:%S UTC").to_string();
    let class = if ms > 0 { "next-n" } else { "next-n warn" };
    view! {
        <p class="next-clock">
            <time class=class datetime=machine(due) title=exact_text(due) data-t="countdown">
                {figure}
            </time>
            <span class="sub">{words} <time datetime=machine(due) data-t="exact">{exact}</time></span>
        </p>
    }
    .into_any()
}

/// `00:04:12`, or days where it is more than two.
fn clock_figure(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    if seconds >= 172_800 {
        return format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600);
    }
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds % 3600 / 60,
        seconds % 60
    )
}

fn in_queue(
    page: &JobPage,
    queue: &str,
    served_by: usize,
    maybe: usize,
    row: QueueRowNow,
) -> AnyView {
    let tag = view! { <span class="tag">{stored(&kit::line(queue, 60))}</span> };
    let since = page.record().state.since.map(|at| {
        view! { ", since " {kit::when(at)} }
    });
    let served = match (served_by, maybe) {
        (0, 0) => view! {
            <b class="bad">"No live server serves this queue"</b>
            ": it stays there until one does, or until it is enqueued elsewhere."
        }
        .into_any(),
        (0, _) => {
            "Whether a live server serves this queue is not known: no server says its queues."
                .into_any()
        }
        (1, _) => "1 live server serves this queue: the next free worker takes it.".into_any(),
        (n, _) => {
            format!("{n} live servers serve this queue: the next free worker takes it.").into_any()
        }
    };
    let row = match row {
        QueueRowNow::Waiting => None,
        QueueRowNow::Taken(at) => Some(
            view! { <p class="next-why">"A worker took its queue row at " {kit::when(at)} "."</p> }
                .into_any(),
        ),
        QueueRowNow::Missing => Some(
            view! {
                <p class="next-why">
                    "It has no queue row: unless it was put there this very moment, no worker will \
                     find it. A requeue puts the row back."
                </p>
            }
            .into_any(),
        ),
    };
    view! {
        <p class="lead"><b>"Waits"</b> " in queue " {tag} {since} "."</p>
        <p class="next-why">{served}</p>
        {row}
    }
    .into_any()
}

fn orphaned(
    now: Instant,
    since: Instant,
    server: &str,
    heartbeat: Option<Instant>,
    lease_ends: Option<Instant>,
) -> AnyView {
    let gone = match heartbeat {
        Some(at) => view! { ", whose last heartbeat came at " {kit::when(at)} }.into_any(),
        None => ", which is no longer registered".into_any(),
    };
    let lease = match lease_ends {
        Some(at) if at > now => view! {
            "Nothing will happen until the lease of its queue row ends, at " {kit::when(at)}
            ": then another worker takes it and runs it again."
        }
        .into_any(),
        Some(at) => view! {
            "The lease of its queue row ended at " {kit::when(at)}
            ": the next free worker takes it and runs it again."
        }
        .into_any(),
        None => "It has no queue row: nothing will happen by itself.".into_any(),
    };
    view! {
        <p class="lead">
            <b class="warn">"Orphaned"</b> ": its server is gone. It has been Processing since "
            {kit::when(since)} " on " {server_name(server)} {gone} "."
        </p>
        <p class="next-why">{lease}</p>
    }
    .into_any()
}

fn failed(page: &JobPage) -> AnyView {
    let since = page.record().state.since.map(|at| {
        view! { ", since " {kit::when(at)} }
    });
    view! {
        <p class="lead">
            <b>"Nothing will happen by itself"</b> ": it rests in Failed" {since}
            ". Failed jobs do not expire."
        </p>
        <p class="next-why">{requeue_words(page.retries_used())}</p>
        {page.policy.as_ref().map(|policy| view! { <p class="next-why">{plan::origin(policy)}</p> })}
    }
    .into_any()
}

/// What a requeue would give, from the retries that are used.
fn requeue_words(used: Option<(u32, u32)>) -> String {
    let Some((used, of)) = used else {
        return "No retry was ever planned for it: the policy does not retry it, or not this \
                error. What it would allow after a requeue is not stored."
            .into();
    };
    if used >= of {
        let all = match of {
            1 => "The one retry is used".to_owned(),
            2 => "Both retries are used".to_owned(),
            _ => format!("All {of} retries are used"),
        };
        return format!(
            "{all}: a requeue gives exactly one run unless the retry count is started again."
        );
    }
    let runs = of - used + 1;
    format!(
        "{used} of {of} retries are used: a requeue gives up to {runs} runs, if its error is one \
         that is retried."
    )
}

fn finished(page: &JobPage) -> AnyView {
    let now = page.given.now;
    let record = page.record();
    let name = if record.state.name == Some(StateName::Deleted) {
        "Deleted"
    } else {
        "Succeeded"
    };
    let since = record.state.since.map(|at| {
        view! { ", " {kit::when(at)} }
    });
    let expiry = match record.expire_at {
        Some(at) if at > now => view! {
            "Its rows expire at " {kit::when(at)} ": then this page is gone, and so is \
             the job."
        }
        .into_any(),
        Some(at) => view! {
            "Its rows expired at " {kit::when(at)} ": Hangfire removes them at its next \
             clean-up."
        }
        .into_any(),
        None => "It has no time of expiry: its rows stay.".into_any(),
    };
    view! {
        <p class="lead"><b>"Nothing"</b> ": it is finished. " {name} {since} "."</p>
        <p class="next-why">{expiry}</p>
    }
    .into_any()
}

fn awaiting(page: &JobPage, parent: Option<i64>) -> AnyView {
    let Some(id) = parent else {
        return lead("It waits for another job, but its row does not say for which.");
    };
    let state = match &page.given.parent_state {
        Some(state) => view! { ", which is now " <b>{stored(state.as_str())}</b> }.into_any(),
        None => view! { ", which does not exist any more: nothing will release it" }.into_any(),
    };
    let after = match &page.given.parent_state {
        Some(state) if state.is_final() => {
            "That one has finished, so this one should have been released at once: it was \
             missed, and nothing will release it by itself."
        }
        Some(_) => {
            "When that one finishes, this one is enqueued, or deleted where its condition is not \
             met."
        }
        None => "It stays until somebody enqueues or deletes it.",
    };
    view! {
        <p class="lead">
            <b>"Waits"</b> " for job " <a href=page.urls.job(id)>{id}</a> {state} "."
        </p>
        <p class="next-why">{after}</p>
    }
    .into_any()
}
