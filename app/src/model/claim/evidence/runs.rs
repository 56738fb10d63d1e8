//! The runs behind a claim: who held it, who runs now, who skipped.

use std::cmp::Reverse;

use super::{CLOCKS_MS, Facts, Holder, Owner, Skipped, later, micros};
use crate::model::attempt::{Attempt, Outcome};
use crate::model::claim::ClaimStatus;
use crate::model::claim::keys::Match;
use crate::model::job::Server;
use crate::model::state::Instant;

/// One run of a job behind a claim.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) owner: &'a Owner,
    pub(crate) attempt: &'a Attempt,
}

/// Until when a run may have gone on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum May {
    /// It was over at this instant at the latest.
    Until(Instant),
    /// It is over, but nobody knows since when.
    Over,
    /// It may go on at this moment.
    Still,
}

impl<'a> Run<'a> {
    /// Every run of the jobs behind the claim, in their order.
    pub(crate) fn all(facts: &Facts<'a>) -> impl Iterator<Item = Self> + use<'a> {
        facts.owners.iter().flat_map(|owner| {
            owner
                .timeline
                .attempts()
                .map(move |attempt| Self { owner, attempt })
        })
    }

    pub(super) fn described(&self, facts: &Facts<'_>) -> Holder {
        let server = self.server(facts);
        Holder {
            job: self.owner.job,
            attempt: self.attempt.number,
            server: self.attempt.server.clone(),
            heartbeat_age_ms: server.map(|server| server.heartbeat_age_ms),
            alive: server.is_some_and(|server| is_alive(server, facts)),
            outcome: self.attempt.outcome.clone(),
            failure: self
                .attempt
                .failure
                .as_ref()
                .map(|failure| (failure.exception_type.clone(), failure.message.clone())),
        }
    }

    fn server(&self, facts: &Facts<'a>) -> Option<&'a Server> {
        server(facts.servers, self.attempt.server.as_deref()?)
    }

    /// Whether nothing says that it ended.
    fn is_open(&self) -> bool {
        matches!(self.attempt.outcome, Outcome::Running | Outcome::Orphaned)
    }

    /// `attempt 1 of job #7`.
    pub(crate) fn name(&self) -> String {
        format!("attempt {} of job #{}", self.attempt.number, self.owner.job)
    }

    /// Why it may be running still although nothing says so, after its name.
    pub(crate) fn still(&self) -> String {
        match &self.attempt.server {
            Some(server) => format!(
                "may be running still: nothing says when it stopped, and its server {server} reports"
            ),
            None => "may be running still: its row does not say on which server".to_owned(),
        }
    }

    /// Until when it may have gone on. Rows end a lost, cancelled or put-back attempt, but not its
    /// worker: that goes on until it notices, or its server dies.
    pub(crate) fn may_go_on(&self, facts: &Facts<'a>) -> May {
        let attempt = self.attempt;
        let over = matches!(attempt.outcome, Outcome::Succeeded | Outcome::Failed);
        if over {
            return attempt.ended_at.map_or(May::Over, May::Until);
        }
        if attempt.server.is_none() {
            return May::Still;
        }
        match self.server(facts) {
            None => May::Over,
            Some(server) if is_alive(server, facts) => May::Still,
            Some(server) => {
                let silent = server.heartbeat_age_ms;
                let gone_for = silent.saturating_sub(facts.server_timeout_ms);
                May::Until(later(facts.now, gone_for.saturating_neg()))
            }
        }
    }
}

/// The run that held the claim when it was made. Of a Sending claim: a run that succeeded would have
/// marked it, so one that did not comes first; then a job that a rule names; then one that had begun
/// by then; then the one that began last. Of another claim: the one run that fits, if there is one.
pub(crate) fn holder<'a>(facts: &Facts<'a>) -> Option<Run<'a>> {
    let at = facts.claim.at()?;
    if facts.claim.status == ClaimStatus::Sending {
        return holders(facts, at).max_by_key(|run| {
            (
                run.attempt.outcome != Outcome::Succeeded,
                run.owner.by == Match::Rule,
                run.attempt.started_at <= at,
                run.attempt.started_at,
                Reverse(run.owner.job),
            )
        });
    }
    let succeeded = |run: &Run<'_>| run.attempt.outcome == Outcome::Succeeded;
    let any = holders(facts, at).any(|run| succeeded(&run));
    let mut fits = holders(facts, at).filter(|run| succeeded(run) || !any);
    fits.next().filter(|_| fits.next().is_none())
}

fn holders<'a>(facts: &Facts<'a>, at: Instant) -> impl Iterator<Item = Run<'a>> + use<'a> {
    let (now, sending) = (facts.now, facts.claim.status == ClaimStatus::Sending);
    Run::all(facts).filter(move |run| {
        let attempt = run.attempt;
        // One that began after the claim and succeeded while it is Sending skipped.
        let slack = if sending && attempt.outcome == Outcome::Succeeded {
            0
        } else {
            CLOCKS_MS * 1_000
        };
        let end = attempt.ended_at.unwrap_or(now);
        micros(attempt.started_at, at) >= -slack && at <= end
    })
}

/// A run that goes on now, on a server that beats: the newest attempt of a job behind the claim.
pub(super) fn running<'a>(facts: &Facts<'a>) -> Option<Run<'a>> {
    facts
        .owners
        .iter()
        .filter_map(|owner| {
            let attempt = owner.timeline.attempts().next_back()?;
            Some(Run { owner, attempt })
        })
        .filter(Run::is_open)
        .find(|run| {
            run.server(facts)
                .is_some_and(|server| is_alive(server, facts))
        })
}

/// Runs that began after the claim and succeeded although it is Sending still.
pub(super) fn skipped(facts: &Facts<'_>) -> Vec<Skipped> {
    let Some(at) = facts.claim.at() else {
        return Vec::new();
    };
    if facts.claim.status != ClaimStatus::Sending {
        return Vec::new();
    }
    let mut skipped: Vec<Skipped> = Run::all(facts)
        .filter(|run| run.attempt.outcome == Outcome::Succeeded && run.attempt.started_at > at)
        .map(|run| Skipped {
            job: run.owner.job,
            attempt: run.attempt.number,
            at: run.attempt.ended_at.unwrap_or(run.attempt.started_at),
        })
        .collect();
    skipped.sort_by_key(|run| (run.at, run.job));
    skipped
}

/// The server that a row names: by its id, or, before Hangfire 1.5, without process and instance.
/// Of several the one that reported last.
fn server<'a>(servers: &'a [Server], name: &str) -> Option<&'a Server> {
    servers
        .iter()
        .filter(|server| {
            server
                .id
                .strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        })
        .min_by_key(|server| server.heartbeat_age_ms)
}

fn is_alive(server: &Server, facts: &Facts<'_>) -> bool {
    server.heartbeat_age_ms <= facts.server_timeout_ms
}
