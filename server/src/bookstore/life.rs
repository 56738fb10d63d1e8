//! Tells the life of one job, row by row, as Hangfire would write it.
//!
//! Every step takes the time that passes before it. A step that would lie after now does not
//! happen, and neither does any after it: the job rests in the state that it has reached, so a
//! story told to its end gives finished, running and waiting jobs alike.

mod rows;

use app::model::attempt::Outcome;
use app::model::state::{Instant, StateName};
use chrono::{DateTime, TimeDelta};
use rand::Rng;
use rand::rngs::StdRng;

use super::catalogue::Errand;
use super::fleet::Fleet;
use super::format::{json, own, retry_reason};
use super::job::{Claim, DemoState, Intention};
use super::trace::Fault;

/// Why a due job is put into its queue.
const BY_SCHEDULER: &str = "Triggered by DelayedJobScheduler";
/// What the official dashboard writes.
pub(super) const BY_DASHBOARD: &str = "Triggered via Dashboard UI";

/// A job whose id and references are not settled yet.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) story: &'static str,
    pub(super) errand: Errand,
    pub(super) created_at: Instant,
    pub(super) parameters: Vec<(&'static str, String)>,
    pub(super) states: Vec<DemoState>,
    pub(super) due_at: Option<Instant>,
    pub(super) intention: Intention,
    /// Index of the draft it waits for.
    pub(super) parent: Option<usize>,
    /// Indexes of the drafts that wait for it, with their options.
    pub(super) children: Vec<(usize, i32)>,
    pub(super) claims: Vec<Claim>,
}

/// A job whose life is being told.
pub(super) struct Life<'s> {
    rng: &'s mut StdRng,
    fleet: &'s Fleet,
    now: Instant,
    draft: Draft,
    at: Instant,
    over: bool,
    queued_at: Option<Instant>,
    round: u32,
    retries: u32,
    server: Option<String>,
}

impl<'s> Life<'s> {
    pub(super) fn begin(
        story: &'static str,
        errand: Errand,
        created_at: Instant,
        now: Instant,
        rng: &'s mut StdRng,
        fleet: &'s Fleet,
    ) -> Self {
        let culture = json(if rng.random_bool(0.2) { "de-DE" } else { "" });
        Self {
            at: created_at,
            draft: Draft {
                story,
                errand,
                created_at,
                parameters: vec![("CurrentCulture", culture)],
                states: Vec::new(),
                due_at: None,
                intention: Intention::default(),
                parent: None,
                children: Vec::new(),
                claims: Vec::new(),
            },
            over: false,
            queued_at: None,
            round: 1,
            retries: 0,
            server: None,
            rng,
            fleet,
            now,
        }
    }

    /// The draft, as far as its life went.
    pub(super) fn finish(self) -> Draft {
        self.draft
    }

    /// Whether the story has reached now.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// The time of the last row.
    pub(super) fn at(&self) -> Instant {
        self.at
    }

    /// A random number of milliseconds.
    pub(super) fn ms(&mut self, from: i64, to: i64) -> i64 {
        self.rng.random_range(from..to)
    }

    /// Whether something of this probability happens.
    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.rng.random_bool(probability.clamp(0.0, 1.0))
    }

    /// The randomness.
    pub(super) fn rng(&mut self) -> &mut StdRng {
        self.rng
    }

    /// Sets a parameter.
    pub(super) fn parameter(&mut self, name: &'static str, value: String) {
        match self
            .draft
            .parameters
            .iter_mut()
            .find(|(known, _)| *known == name)
        {
            Some((_, known)) => *known = value,
            None => self.draft.parameters.push((name, value)),
        }
    }

    /// Writes the claim of this job.
    pub(super) fn claim(&mut self, claim: Claim) {
        self.draft.claims = vec![claim];
    }

    /// Takes the claim of this job back: nothing was sent.
    pub(super) fn unclaim(&mut self) {
        if !self.over {
            self.draft.claims.clear();
        }
    }

    /// When the job's claim was taken.
    pub(super) fn claimed_at(&self) -> Option<Instant> {
        self.draft.claims.first().map(|claim| claim.claimed_at)
    }

    /// What the job does.
    pub(super) fn errand(&self) -> &Errand {
        &self.draft.errand
    }

    /// Settles the claim of this job as sent.
    pub(super) fn claim_sent(&mut self, message_id: String) {
        if self.over {
            return;
        }
        if let Some(claim) = self.draft.claims.first_mut() {
            claim.sent = true;
            claim.message_id = Some(message_id);
        }
    }

    /// A client or an operator puts it into its queue.
    pub(super) fn enqueue(&mut self, after_ms: i64, reason: Option<&str>) {
        self.leave_attempt(StateName::Enqueued, after_ms);
        let settled = matches!(
            self.last_name(),
            Some(StateName::Failed | StateName::Succeeded | StateName::Deleted)
        );
        let at = self.after(after_ms);
        self.enqueue_at(at, reason.map(str::to_owned));
        if settled && !self.over {
            self.round += 1;
        }
    }

    /// A client puts it off.
    pub(super) fn schedule(&mut self, after_ms: i64, delay_ms: i64, reason: Option<&str>) {
        self.leave_attempt(StateName::Scheduled, after_ms);
        let at = self.after(after_ms);
        self.plan(at, delay_ms, reason.map(str::to_owned));
    }

    /// The scheduler releases it: at the beginning of the due second at the earliest, since the
    /// schedule counts whole seconds, and within its polling interval.
    pub(super) fn release(&mut self) {
        let Some(due) = self.draft.due_at else {
            return;
        };
        if self.over {
            return;
        }
        let whole = DateTime::from_timestamp(due.timestamp(), 0).unwrap_or(due);
        let at = whole + TimeDelta::milliseconds(self.ms(40, 5_000));
        let at = at.max(self.after(40));
        self.enqueue_at(at, Some(BY_SCHEDULER.to_owned()));
    }

    /// Somebody releases it before it is due.
    pub(super) fn release_by_hand(&mut self, after_ms: i64, reason: &str) {
        let at = self.after(after_ms);
        self.enqueue_at(at, Some(reason.to_owned()));
        if !self.over
            && let Some(attempt) = self.draft.intention.attempts.last_mut()
        {
            attempt.by_hand = attempt.retry.is_some();
        }
    }

    /// A worker takes it from its queue. It stays there if no server serves it.
    pub(super) fn take(&mut self, wait_ms: i64) {
        let Some(queued_at) = self.queued_at else {
            return;
        };
        let at = queued_at + TimeDelta::milliseconds(wait_ms);
        self.take_at(at, Some(wait_ms), None);
    }

    /// As [`Life::take`], by the server that has died since.
    pub(super) fn take_on_dead_server(&mut self, wait_ms: i64) {
        let Some(queued_at) = self.queued_at else {
            return;
        };
        let at = queued_at + TimeDelta::milliseconds(wait_ms);
        let dead = self.fleet.dead();
        self.take_at(at, Some(wait_ms), dead);
    }

    /// A job with its own queue goes straight from Scheduled to Processing.
    pub(super) fn take_when_due(&mut self, wait_ms: i64) {
        let Some(due) = self.draft.due_at else {
            return;
        };
        self.take_at(due + TimeDelta::milliseconds(wait_ms), Some(wait_ms), None);
    }

    /// Its worker vanishes, and another one takes it up.
    pub(super) fn interrupted(&mut self, after_ms: i64) {
        let at = self.after(after_ms);
        if at > self.now || self.over {
            self.over = true;
            return;
        }
        self.end_attempt(Outcome::Lost, None);
        self.take_at(at, None, None);
    }

    /// The run succeeds.
    pub(super) fn succeed(&mut self, ran_ms: i64, result: Option<String>) {
        let at = self.after(ran_ms + self.jitter());
        let latency = (self.at - self.draft.created_at).num_milliseconds();
        let mut data = vec![
            ("SucceededAt", Self::just_before(at)),
            ("PerformanceDuration", ran_ms.to_string()),
            ("Latency", latency.to_string()),
        ];
        if let Some(result) = result {
            data.push(("Result", result));
        }
        if self.row(StateName::Succeeded, None, at, data) {
            self.end_attempt(Outcome::Succeeded, Some(ran_ms));
        }
    }

    /// The run throws.
    pub(super) fn fail(&mut self, ran_ms: i64, fault: &Fault) {
        let at = self.after(ran_ms);
        let reason = "An exception occurred during performance of the job.";
        if self.failed_row(reason, at, fault) {
            self.end_attempt(Outcome::Failed, Some(ran_ms));
        }
    }

    /// A server cannot even begin: the method is gone.
    pub(super) fn fail_to_begin(&mut self, after_ms: i64, fault: &Fault) {
        let at = self.after(after_ms);
        let queue = self.draft.errand.queue;
        self.server = self
            .fleet
            .pick(self.rng, queue, at)
            .map(|process| process.id.clone());
        let reason = "Can not change the state to 'Processing': target method was not found.";
        if self.failed_row(reason, at, fault) {
            self.draft.intention.failures_outside += 1;
        }
    }

    /// The retry filter plans the next retry, right after a failure.
    pub(super) fn retry(&mut self, of: u32, delay_s: i64, message: &str) {
        let at = self.after(self.jitter());
        if self.over || at > self.now {
            // Failed and Scheduled are one transaction: neither is there without the other.
            self.over = true;
            return;
        }
        self.retries += 1;
        self.parameter("RetryCount", self.retries.to_string());
        let reason = retry_reason(self.retries, of, message);
        if delay_s == 0 {
            self.enqueue_at(at, Some(reason));
        } else {
            self.plan(at, delay_s * 1000, Some(reason));
        }
        if let Some(attempt) = self
            .draft
            .intention
            .attempts
            .last_mut()
            .filter(|attempt| attempt.outcome == Outcome::Failed)
        {
            attempt.retry = Some((self.retries, of, delay_s * 1000));
        }
    }

    /// The retry filter deletes it, right after a failure.
    pub(super) fn delete_exceeded(&mut self, fault: &Fault) {
        let at = self.after(self.jitter());
        let exception = format!(
            "{{\"e\":{},\"m\":{}}}",
            json(&own(fault.type_name)),
            json(&fault.message)
        );
        let data = vec![
            ("DeletedAt", Self::just_before(at)),
            ("Exception", exception),
        ];
        let reason = "Exceeded the maximum number of retry attempts.".to_owned();
        self.row(StateName::Deleted, Some(reason), at, data);
    }

    /// Somebody deletes it.
    pub(super) fn delete(&mut self, after_ms: i64, reason: &str) {
        let at = self.after(after_ms);
        let running = self.is_running();
        let data = vec![("DeletedAt", Self::just_before(at))];
        if self.row(StateName::Deleted, Some(reason.to_owned()), at, data) {
            self.draft.due_at = None;
            if running {
                self.end_attempt(Outcome::Cancelled, Some(after_ms));
            }
        }
    }

    /// It waits for another job.
    pub(super) fn wait_for(&mut self, parent: usize, options: i32) {
        let at = self.after(self.jitter());
        self.draft.parent = Some(parent);
        let next = format!(
            "{{\"$type\":\"Hangfire.States.EnqueuedState, Hangfire.Core\",\"Queue\":{}}}",
            json(self.draft.errand.queue)
        );
        let data = vec![
            ("ParentId", String::new()),
            ("NextState", next),
            ("Options", options.to_string()),
        ];
        self.row(StateName::Awaiting, None, at, data);
    }
}
