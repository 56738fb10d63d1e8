//! The rules by which state rows become attempts, row by row.

mod rows;
pub(in crate::model) mod rules;
mod waits;

use std::collections::HashSet;

use super::{Context, Event, History, RunEnd, Timeline};
use crate::model::attempt::{
    Attempt, Failure, Outcome, PlannedRetry, Release, Span, millis_between,
};
use crate::model::reason;
use crate::model::state::{Instant, StateName, StateRow};

use rows::FailedKey;
use rules::CREATION_MS;
pub(super) use rules::planned_retry;

pub(super) fn build(rows: &[StateRow], context: &Context) -> Timeline {
    let history = history(rows, context);
    let mut builder = Builder::new(context, history);
    for row in rows {
        builder.take(row);
    }
    let rounds = builder.round;
    for row in &context.newer {
        builder.take(row);
    }
    builder.finish(rows.last(), rounds)
}

fn history(rows: &[StateRow], context: &Context) -> History {
    if context.older_rows {
        return History::Paged;
    }
    let whole = match rows.first() {
        Some(first) => millis_between(context.created_at, first.created_at).abs() <= CREATION_MS,
        // A job without a state has not been given a row yet; one with a state has lost its rows.
        None => context.state.is_none(),
    };
    if whole {
        History::Whole
    } else {
        History::Trimmed
    }
}

/// Since when an attempt has been waiting.
#[derive(Debug, Clone, Copy)]
enum Queued {
    /// By its own `Enqueued` row.
    Row(Instant),
    /// By the due time of a job that may go straight from Scheduled to Processing.
    Due(Instant),
}

struct Builder<'a> {
    context: &'a Context,
    history: History,
    events: Vec<Event>,
    places: Vec<(i64, usize)>,
    /// Rows that lead to an event that has not come yet.
    leading: Vec<&'a StateRow>,
    /// The attempt that runs.
    open: Option<usize>,
    /// The failure that the row right before tells of.
    failed: Option<usize>,
    /// The failure whose retry is planned and waits.
    planned: Option<usize>,
    /// The planned retry that a delete dropped: undoing the delete plans it again.
    dropped: Option<usize>,
    previous: Option<&'a StateName>,
    queued: Option<Queued>,
    number: u32,
    round: u32,
    failures_seen: HashSet<FailedKey<'a>>,
}

impl<'a> Builder<'a> {
    fn new(context: &'a Context, history: History) -> Self {
        Self {
            context,
            history,
            events: Vec::new(),
            places: Vec::new(),
            leading: Vec::new(),
            open: None,
            failed: None,
            planned: None,
            dropped: None,
            previous: None,
            queued: None,
            number: context.attempts_before,
            round: u32::from(context.attempts_before > 0),
            failures_seen: HashSet::new(),
        }
    }

    fn take(&mut self, row: &'a StateRow) {
        let failed_before = self.failed.take();
        if reason::is_restored(row.reason.as_deref()) || self.repeats_a_failure(row) {
            self.restored(row);
        } else {
            match &row.name {
                StateName::Processing => self.processing(row),
                StateName::Failed => self.failed(row),
                StateName::Succeeded => self.succeeded(row),
                StateName::Deleted => self.deleted(row),
                StateName::Enqueued | StateName::Scheduled => self.waits(row, failed_before),
                StateName::Awaiting | StateName::Other(_) => self.elsewhere(row),
            }
        }
        if row.name == StateName::Failed
            && let Some(key) = FailedKey::of(row)
        {
            self.failures_seen.insert(key);
        }
        self.previous = Some(&row.name);
    }

    /// Whether a `Failed` row right after Deleted has the data of an earlier one: somebody took
    /// the delete back by writing the old state again.
    fn repeats_a_failure(&self, row: &'a StateRow) -> bool {
        row.name == StateName::Failed
            && self.open.is_none()
            && self.previous == Some(&StateName::Deleted)
            && FailedKey::of(row).is_some_and(|key| self.failures_seen.contains(&key))
    }

    fn restored(&mut self, row: &'a StateRow) {
        match row.name {
            // A row written while an attempt runs leads to no other one.
            _ if self.open.is_some() => {}
            StateName::Enqueued => self.queued = Some(Queued::Row(row.created_at)),
            StateName::Scheduled => {
                self.queued = rules::due(row).map(Queued::Due);
                self.planned = self.dropped.take();
                self.release(Release::Pending);
            }
            _ => {}
        }
        self.push(
            row,
            Event::Restored {
                state_id: row.id,
                at: row.created_at,
                reason: row.reason.clone(),
            },
        );
    }

    fn processing(&mut self, row: &'a StateRow) {
        let queued = self.queued.take();
        self.drop_or_release(Release::OnTime(row.created_at));
        if let Some(lost) = self.open.take() {
            self.end(lost, row, Outcome::Lost);
        }
        self.round = self.round.max(1);
        self.number = self.number.saturating_add(1);
        let (queued_at, waited) = match queued {
            Some(Queued::Row(at)) => (Some(at), Span::between(at, row.created_at)),
            Some(Queued::Due(due)) => (
                Some(due),
                Span::since_due(due, row.created_at, PlannedRetry::EARLY_MS),
            ),
            None => (None, Span::NOT_RECORDED),
        };
        let attempt = Attempt {
            number: self.number,
            round: self.round,
            processing_id: row.id,
            ended_by: None,
            server: rows::text(row, &["ServerId", "ServerName"]),
            worker: rows::text(row, &["WorkerId", "WorkerNumber"]),
            queued_at,
            started_at: row.created_at,
            ended_at: None,
            waited,
            ran: Span::NOT_RECORDED,
            reported_ms: None,
            outcome: Outcome::Running,
            row_missing: false,
            failure: None,
        };
        self.open = Some(self.push(row, Event::Attempt(attempt)));
    }

    fn failed(&mut self, row: &'a StateRow) {
        let failure = rows::failure(row);
        self.queued = None;
        self.drop_or_release(Release::Dropped(row.created_at));
        let event = if let Some(open) = self.open.take() {
            self.end(open, row, Outcome::Failed);
            if let Some(Event::Attempt(attempt)) = self.events.get_mut(open) {
                attempt.failure = Some(failure);
            }
            self.place(row, open);
            open
        } else if self.begins_before(row) {
            self.run_end(row, Some(failure))
        } else {
            self.push(row, Event::FailureOutsideAttempt(failure))
        };
        self.failed = Some(event);
    }

    fn succeeded(&mut self, row: &'a StateRow) {
        self.queued = None;
        self.drop_or_release(Release::Dropped(row.created_at));
        let Some(open) = self.open.take() else {
            self.run_end(row, None);
            return;
        };
        self.end(open, row, Outcome::Succeeded);
        self.place(row, open);
        if let Some(Event::Attempt(attempt)) = self.events.get_mut(open) {
            (attempt.ran, attempt.reported_ms) = rules::ran(attempt.ran, row);
        }
    }

    fn deleted(&mut self, row: &'a StateRow) {
        self.queued = None;
        if self.previous != Some(&StateName::Deleted) {
            self.dropped = self.planned;
        }
        self.drop_or_release(Release::Dropped(row.created_at));
        if let Some(open) = self.open.take() {
            self.end(open, row, Outcome::Cancelled);
            self.place(row, open);
        } else {
            self.push(
                row,
                Event::Deleted {
                    state_id: row.id,
                    at: row.created_at,
                    reason: row.reason.clone(),
                },
            );
        }
    }

    /// A row that waits for a parent, or of a state that Hangfire does not define.
    fn elsewhere(&mut self, row: &'a StateRow) {
        self.queued = None;
        self.drop_or_release(Release::Dropped(row.created_at));
        if let Some(open) = self.open.take() {
            self.end(open, row, Outcome::PutBack(row.name.clone()));
            self.place(row, open);
        } else {
            self.leading.push(row);
        }
    }

    /// Whether a `Failed` row with no attempt running ends a run that began before the rows given.
    fn begins_before(&self, row: &StateRow) -> bool {
        self.previous.is_none()
            && self.history != History::Whole
            && !reason::is_never_began(row.reason.as_deref())
    }

    fn run_end(&mut self, row: &'a StateRow, failure: Option<Failure>) -> usize {
        self.round = self.round.max(1);
        let attempt = (self.previous.is_none() && self.history == History::Paged)
            .then_some(self.number)
            .filter(|number| *number > 0);
        self.push(
            row,
            Event::RunEnd(RunEnd {
                state_id: row.id,
                at: row.created_at,
                name: row.name.clone(),
                reason: row.reason.clone(),
                attempt,
                failure,
            }),
        )
    }

    fn end(&mut self, attempt: usize, row: &StateRow, outcome: Outcome) {
        if let Some(Event::Attempt(attempt)) = self.events.get_mut(attempt) {
            attempt.ended_by = Some(row.id);
            attempt.ended_at = Some(row.created_at);
            if outcome != Outcome::Lost {
                attempt.ran = Span::between(attempt.started_at, row.created_at);
            }
            attempt.outcome = outcome;
        }
    }

    fn planned_retry(&mut self) -> Option<&mut PlannedRetry> {
        let event = self.planned?;
        self.events.get_mut(event)?.failure_mut()?.retry.as_mut()
    }

    fn release(&mut self, release: Release) {
        if let Some(retry) = self.planned_retry() {
            retry.release = release;
        }
    }

    /// The planned retry, if there is one, waits no longer.
    fn drop_or_release(&mut self, release: Release) {
        self.release(release);
        self.planned = None;
    }

    fn place(&mut self, row: &StateRow, event: usize) {
        self.places.push((row.id, event));
    }

    /// Adds an event; the rows that led to it belong to it.
    fn push(&mut self, row: &StateRow, event: Event) -> usize {
        let index = self.events.len();
        self.events.push(event);
        for leading in self.leading.drain(..) {
            self.places.push((leading.id, index));
        }
        self.place(row, index);
        index
    }

    fn finish(mut self, last_given: Option<&StateRow>, rounds: u32) -> Timeline {
        self.end_by_state();
        if let Some(last) = self.leading.last().copied() {
            let index = self.events.len();
            self.events.push(Event::Waiting(rows::waiting(last)));
            for leading in std::mem::take(&mut self.leading) {
                self.places.push((leading.id, index));
            }
        }
        if !self.context.newer.is_empty() {
            self.cut(last_given);
        }
        Timeline {
            events: self.events,
            rounds,
            history: self.history,
            attempts_before: self.context.attempts_before,
            rows: self.places,
        }
    }

    /// An attempt that no row ended, by the job's own state.
    fn end_by_state(&mut self) {
        let Some(Event::Attempt(attempt)) = self.open.and_then(|open| self.events.get_mut(open))
        else {
            return;
        };
        attempt.outcome = match self.context.state {
            Some(StateName::Processing) => return,
            Some(StateName::Failed) => Outcome::Failed,
            Some(StateName::Succeeded) => Outcome::Succeeded,
            Some(StateName::Deleted) => Outcome::Cancelled,
            _ => Outcome::Unknown,
        };
        attempt.row_missing = true;
    }

    /// Takes away what belongs to the newer page. Rows given that lead there are left waiting.
    fn cut(&mut self, last_given: Option<&StateRow>) {
        let given = |id: i64| last_given.is_some_and(|last| id <= last.id);
        let kept = self
            .events
            .iter()
            .rposition(|event| given(event.state_id()))
            .map_or(0, |last| last + 1);
        self.events.truncate(kept);
        self.places.retain(|(row, _)| given(*row));
        let mut leads_on = false;
        for (_, event) in &mut self.places {
            if *event >= kept {
                *event = kept;
                leads_on = true;
            }
        }
        if let (true, Some(last)) = (leads_on, last_given) {
            self.events.push(Event::Waiting(rows::waiting(last)));
        }
    }
}
