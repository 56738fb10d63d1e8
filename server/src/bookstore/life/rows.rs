//! The rows behind the steps of a life.

use app::model::attempt::Outcome;
use app::model::state::{Instant, StateName};
use chrono::{DateTime, TimeDelta};
use rand::Rng;

use super::Life;
use crate::bookstore::fleet::Process;
use crate::bookstore::format::date;
use crate::bookstore::job::{DemoState, IntendedAttempt};
use crate::bookstore::trace::Fault;

impl Life<'_> {
    pub(super) fn failed_row(&mut self, reason: &str, at: Instant, fault: &Fault) -> bool {
        let mut data = vec![
            ("FailedAt", Self::just_before(at)),
            ("ExceptionType", fault.type_name.to_owned()),
            ("ExceptionMessage", fault.message.clone()),
            ("ExceptionDetails", fault.details.clone()),
        ];
        if let Some(server) = &self.server {
            data.push(("ServerId", server.clone()));
        }
        self.row(StateName::Failed, Some(reason.to_owned()), at, data)
    }

    pub(super) fn enqueue_at(&mut self, at: Instant, reason: Option<String>) {
        let data = vec![
            ("EnqueuedAt", Self::just_before(at)),
            ("Queue", self.draft.errand.queue.to_owned()),
        ];
        if self.row(StateName::Enqueued, reason, at, data) {
            self.draft.due_at = None;
            self.queued_at = Some(at);
        }
    }

    pub(super) fn plan(&mut self, at: Instant, delay_ms: i64, reason: Option<String>) {
        let scheduled_ms = at.timestamp_millis() - 1;
        let due_ms = scheduled_ms + delay_ms;
        let data = vec![
            ("EnqueueAt", due_ms.to_string()),
            ("ScheduledAt", scheduled_ms.to_string()),
        ];
        if self.row(StateName::Scheduled, reason, at, data) {
            self.draft.due_at = DateTime::from_timestamp_millis(due_ms);
            self.queued_at = None;
        }
    }

    pub(super) fn take_at(&mut self, at: Instant, waited_ms: Option<i64>, on: Option<&Process>) {
        let errand = &self.draft.errand;
        let queue = errand.call.own_queue.unwrap_or(errand.queue);
        let fleet = self.fleet;
        let Some(process) = on.or_else(|| fleet.pick(self.rng, queue, at)) else {
            self.over = true;
            return;
        };
        let worker = self.rng.random_range(0..process.workers.len());
        let data = vec![
            ("StartedAt", Self::just_before(at)),
            ("ServerId", process.id.clone()),
            ("WorkerId", process.workers[worker].clone()),
        ];
        if self.row(StateName::Processing, None, at, data) {
            self.server = Some(process.id.clone());
            self.draft.due_at = None;
            self.queued_at = None;
            self.draft.intention.attempts.push(IntendedAttempt {
                round: self.round,
                outcome: Outcome::Running,
                waited_ms,
                ran_ms: None,
                retry: None,
                by_hand: false,
            });
        }
    }

    /// A running attempt that is moved elsewhere was put back; an operator's hand opens a round.
    pub(super) fn leave_attempt(&mut self, to: StateName, ran_ms: i64) {
        if self.is_running() && !self.over && self.after(ran_ms) <= self.now {
            let by_operator = to == StateName::Enqueued;
            self.end_attempt(Outcome::PutBack(to), Some(ran_ms));
            if by_operator {
                self.round += 1;
            }
        }
    }

    pub(super) fn end_attempt(&mut self, outcome: Outcome, ran_ms: Option<i64>) {
        if let Some(attempt) = self.draft.intention.attempts.last_mut() {
            attempt.outcome = outcome;
            attempt.ran_ms = ran_ms;
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.last_name() == Some(&StateName::Processing)
    }

    pub(super) fn last_name(&self) -> Option<&StateName> {
        self.draft.states.last().map(|state| &state.name)
    }

    pub(super) fn after(&self, ms: i64) -> Instant {
        self.at + TimeDelta::milliseconds(ms)
    }

    /// The few milliseconds between two steps of one process, drawn from the clock's digits so
    /// that telling a story needs no mutable randomness here.
    pub(super) fn jitter(&self) -> i64 {
        2 + self.at.timestamp_millis().rem_euclid(7)
    }

    /// A date inside data: taken a moment before its row is written.
    pub(super) fn just_before(row: Instant) -> String {
        date(row - TimeDelta::milliseconds(1 + row.timestamp_millis().rem_euclid(4)))
    }

    pub(super) fn row(
        &mut self,
        name: StateName,
        reason: Option<String>,
        at: Instant,
        data: Vec<(&'static str, String)>,
    ) -> bool {
        if self.over || at > self.now {
            self.over = true;
            return false;
        }
        self.draft.states.push(DemoState {
            id: 0,
            name,
            reason,
            at,
            data,
        });
        self.at = at;
        true
    }
}
