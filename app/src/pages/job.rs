//! The page of one job: what it is, what will happen next, what can be done, what happened, why it
//! failed, its arguments, parameters and state history.

mod actions;
mod arguments;
mod claims;
mod happened;
mod head;
mod history;
pub(crate) mod kit;
mod next;
mod parameters;
#[cfg(test)]
mod tests;
mod why;

use std::sync::Arc;

use leptos::prelude::*;

use crate::actions::found::Limits;
use crate::links::{Links, SourceLinks};
use crate::model::attempt::PlannedRetry;
use crate::model::claim::table::ClaimsTable;
use crate::model::continuation;
use crate::model::job::{JobRecord, Server, TypedDelay};
use crate::model::policy::{Plan, Policy};
use crate::model::state::{Instant, ListState, StateName, StateRow};
use crate::model::timeline::{Context, History, ObservedDelay, RetryBudget, Timeline};
use crate::pages::claims::JudgedClaim;
use crate::ports::audit::AuditRow;

/// A job's name is cut to so many characters.
const NAME: usize = 200;

/// What a handler gathers for the page of one job.
#[derive(Debug, Clone)]
pub struct Given {
    /// Makes URLs.
    pub links: Links,
    /// The source's name in URLs.
    pub source: String,
    /// The job, with its newest state rows.
    pub record: JobRecord,
    /// Delays that policies of the source's jobs chose lately, oldest first.
    pub recent_delays: Arc<Vec<TypedDelay>>,
    /// Every server of the source.
    pub servers: Vec<Server>,
    /// Queues that are known, for the choice before a run.
    pub queues: Vec<String>,
    /// What operators did to this job, newest first.
    pub audit: Vec<AuditRow>,
    /// Why nothing can be changed, where that is so.
    pub read_only: Option<String>,
    /// Time-outs of the source.
    pub limits: Limits,
    /// State of the job it waits for, where it is Awaiting and that job exists.
    pub parent_state: Option<StateName>,
    /// The nearest older and the nearest newer job.
    pub neighbours: (Option<i64>, Option<i64>),
    /// An older page of the state history and the row it ends before, where the URL asks for it.
    pub older: Option<(i64, Vec<StateRow>)>,
    /// Its claims, in every claims table of the source; why they cannot be told, in words.
    pub claims: Result<Vec<JobClaim>, String>,
    /// Now, by the database's clock.
    pub now: Instant,
}

/// A claim of the job.
#[derive(Debug, Clone)]
pub struct JobClaim {
    /// Its table.
    pub table: ClaimsTable,
    /// The claim, with what is known of it.
    pub judged: JudgedClaim,
    /// What another run of the job would meet, see
    /// [`crate::actions::claim::requeue_warning`].
    pub warning: Option<String>,
}

/// Everything the page shows, derived from what was gathered.
#[derive(Debug, Clone)]
pub struct JobPage {
    given: Given,
    urls: SourceLinks,
    timeline: Timeline,
    budget: Option<RetryBudget>,
    policy: Option<Policy>,
    plan: Option<Plan>,
    next: next::Next,
}

impl JobPage {
    /// Derives what the page shows. Pure: the same input gives the same page.
    pub fn new(given: Given) -> Self {
        let record = &given.record;
        let older_rows = record
            .states
            .first()
            .is_some_and(|_| record.states_total > i64_of(record.states.len()));
        let mut timeline = Timeline::build(
            &record.states,
            &Context {
                older_rows,
                attempts_before: record.attempts_before,
                ..Context::whole(record.created_at, record.state.name.clone())
            },
        );
        timeline.mark_orphaned(|server| gone(&given, server));
        let budget = timeline.retry_budget(retry_count(record));
        let policy = Policy::infer(&timeline.observed_delays(), &earlier_delays(&given));
        let plan = timeline
            .pending_retry()
            .zip(policy.as_ref())
            .and_then(|(retry, policy)| policy.plan(retry, given.now));
        let next = next::Next::of(&given, &timeline);
        Self {
            urls: given.links.source(&given.source),
            timeline,
            budget,
            policy,
            plan,
            next,
            given,
        }
    }

    /// The title of the page: the job's name and id.
    pub fn title(&self) -> String {
        let name = self.record().invocation.display_name();
        format!("{} {}", kit::line(&name, NAME), self.record().id)
    }

    /// The list that the job is in, for the navigation.
    pub fn list(&self) -> Option<ListState> {
        let state = &self.record().state;
        ListState::of(state.name.as_ref()?, state.reason.as_deref())
    }

    fn record(&self) -> &JobRecord {
        &self.given.record
    }

    fn pending(&self) -> Option<&PlannedRetry> {
        self.timeline.pending_retry()
    }

    /// Retries that have begun, of those allowed: one that is only planned is not used yet.
    fn retries_used(&self) -> Option<(u32, u32)> {
        let budget = self.budget?;
        Some(match self.pending() {
            Some(pending) => (pending.number.saturating_sub(1), pending.of),
            None => (budget.used, budget.of),
        })
    }

    /// `+` where earlier attempts may be missing.
    fn suffix(&self) -> &'static str {
        if self.timeline.history == History::Trimmed {
            "+"
        } else {
            ""
        }
    }

    fn is_finished(&self) -> bool {
        let state = self.record().state.name.as_ref();
        state.is_some_and(StateName::is_final)
    }
}

/// The job that an awaiting one waits for, from the data of its newest Awaiting row.
pub fn parent_of(record: &JobRecord) -> Option<i64> {
    record
        .states
        .iter()
        .rev()
        .find(|row| row.name == StateName::Awaiting)?
        .data
        .get("ParentId")?
        .parse()
        .ok()
}

/// How many live servers serve a queue, and how many there are whose queues are not known.
fn served_by(given: &Given, queue: &str) -> (usize, usize) {
    let live = || {
        let servers = given.servers.iter();
        servers.filter(|server| server.heartbeat_age_ms <= given.limits.server_timeout_ms)
    };
    let serves = |server: &&Server| {
        let queues = server.queues.as_deref().unwrap_or_default();
        queues.iter().any(|name| name == queue)
    };
    (
        live().filter(serves).count(),
        live().filter(|server| server.queues.is_none()).count(),
    )
}

fn gone(given: &Given, id: &str) -> bool {
    given
        .servers
        .iter()
        .find(|server| server.id == id)
        .is_none_or(|server| server.heartbeat_age_ms > given.limits.server_timeout_ms)
}

/// The delays that other jobs of the same type and method were given.
fn earlier_delays(given: &Given) -> Vec<ObservedDelay> {
    let (record, call) = (&given.record, &given.record.invocation);
    given
        .recent_delays
        .iter()
        .filter(|delay| {
            delay.job != record.id
                && Some(&delay.type_name) == call.type_name.as_ref()
                && Some(&delay.method) == call.method.as_ref()
        })
        .map(|delay| delay.delay)
        .collect()
}

fn retry_count(record: &JobRecord) -> Option<u32> {
    record
        .parameters
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("RetryCount"))?
        .1
        .as_deref()
        .and_then(continuation::retry_count)
}

fn i64_of(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The page of one job.
pub fn job_page(page: JobPage) -> AnyView {
    let next = next::section(&page);
    let actions = actions::section(&page);
    let why = why::section(&page);
    let arguments = arguments::section(&page);
    view! {
        {head::section(&page)}
        <div class="cols job-next">
            <div class="c8">{next}</div>
            <div class="c4">{actions}</div>
        </div>
        {happened::section(&page)}
        <div class="cols job-more">
            <div class="c7">{claims::section(&page)} {why} {arguments} {parameters::section(&page)}</div>
            <div class="c5">{history::section(&page)}</div>
        </div>
    }
    .into_any()
}
