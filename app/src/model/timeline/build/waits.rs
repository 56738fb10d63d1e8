//! Rows that wait for a run: planned retries, releases and decisions.

use super::{Builder, Queued, rules};
use crate::model::attempt::{Outcome, PlannedRetry, Release};
use crate::model::reason;
use crate::model::state::{StateName, StateRow};
use crate::model::timeline::{Decision, Event};

impl<'a> Builder<'a> {
    /// An `Enqueued` or `Scheduled` row: a planned retry, a release, or a decision.
    pub(super) fn waits(&mut self, row: &'a StateRow, failed_before: Option<usize>) {
        let reason = row.reason.as_deref();
        let retry = reason::retry(reason);
        let enqueued = row.name == StateName::Enqueued;
        let interrupted = self.open.take();
        if let Some(open) = interrupted {
            self.end(open, row, Outcome::PutBack(row.name.clone()));
        }
        self.queued = if enqueued {
            Some(Queued::Row(row.created_at))
        } else {
            rules::due(row).map(Queued::Due)
        };

        if let (Some((number, of)), Some(event)) = (retry, failed_before) {
            self.place(row, event);
            self.plan(event, rules::planned_retry(row, number, of));
            return;
        }

        let opens_round = if interrupted.is_some() {
            enqueued && reason::is_operator(reason)
        } else {
            retry.is_none()
                && matches!(
                    self.previous,
                    Some(StateName::Failed | StateName::Succeeded | StateName::Deleted)
                )
        };
        let by_hand = interrupted.is_none()
            && match self.previous {
                Some(StateName::Scheduled) => !reason::is_scheduler(reason),
                Some(StateName::Enqueued | StateName::Awaiting) => reason::is_operator(reason),
                _ => false,
            };
        if enqueued {
            self.drop_or_release(if by_hand {
                Release::ByHand(row.created_at)
            } else {
                Release::OnTime(row.created_at)
            });
        } else {
            self.planned_anew(row);
        }

        if opens_round {
            self.round = self.round.saturating_add(1);
        }
        if opens_round || by_hand {
            let decision = Decision {
                state_id: row.id,
                at: row.created_at,
                reason: row.reason.clone(),
                opens_round: opens_round.then_some(self.round),
            };
            self.push(row, Event::Decision(decision));
        } else if let Some(open) = interrupted {
            self.place(row, open);
        } else {
            self.leading.push(row);
        }
    }

    fn plan(&mut self, event: usize, retry: PlannedRetry) {
        let pending = retry.release == Release::Pending;
        if let Some(failure) = self.events.get_mut(event).and_then(Event::failure_mut) {
            failure.retry = Some(retry);
            self.planned = pending.then_some(event);
        }
    }

    /// A planned retry that was moved to another time stays planned.
    fn planned_anew(&mut self, row: &StateRow) {
        if let Some(retry) = self.planned_retry() {
            retry.due_at = rules::due(row);
        }
    }
}
