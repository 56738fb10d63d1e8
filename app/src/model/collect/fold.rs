//! The rules by which a row changes what is remembered of its job, and adds to the numbers.

use super::hash::hash;
use super::increments::{
    AttemptKey, DelayKey, DelaySums, FirstKey, FirstSums, Increments, RecoveryKey, RecoverySums,
    RoundEnd, RoundKey, RoundSums, Sums as _,
};
use super::memory::{Job, Memory, Met, Open, Queued, Round, list};
use super::{LAST_NUMBER, counted_name, day, hour};
use crate::model::attempt::{Outcome, PlannedRetry, Span, millis_between};
use crate::model::rates::slot;
use crate::model::reason;
use crate::model::state::{Instant, StateName, StateRow};
use crate::model::timeline::rules::{self, CREATION_MS};

/// So many failures are remembered by which a delete that was undone is known.
const FAILURES: usize = 32;

impl Memory {
    /// Takes in the job's next row.
    pub fn take(&mut self, row: &StateRow, job: &Job, out: &mut Increments) {
        if self.previous.is_none() {
            self.whole = job
                .created_at
                .is_some_and(|at| millis_between(at, row.created_at).abs() <= CREATION_MS);
        }
        let reason = row.reason.as_deref();
        let mark = mark(row);
        let repeats = row.name == StateName::Failed
            && self.open.is_none()
            && self.is_after(&StateName::Deleted)
            && mark.is_some_and(|mark| self.failures.contains(&mark));
        let restored = repeats || reason::is_restored(reason);
        let just_failed = std::mem::take(&mut self.just_failed);
        let planned = (just_failed && !restored).then(|| planned(row)).flatten();
        if planned.is_some() {
            self.rests_since = None;
        } else {
            self.settle(out);
        }

        if restored {
            self.restored(row);
        } else {
            match &row.name {
                StateName::Processing => self.processing(row, out),
                StateName::Failed => self.failed(row, out),
                StateName::Succeeded => self.succeeded(row, out),
                StateName::Deleted => {
                    self.queued = None;
                    self.end(row, &Outcome::Cancelled, None, out);
                }
                StateName::Enqueued | StateName::Scheduled => self.waits(row, planned, out),
                StateName::Awaiting | StateName::Other(_) => {
                    self.queued = None;
                    self.end(row, &Outcome::PutBack(row.name.clone()), None, out);
                }
            }
        }

        let text = |key| row.data.get(key).filter(|text| !text.is_empty());
        match row.name {
            StateName::Enqueued => {
                if let Some(queue) = row.data.get("Queue") {
                    self.last_queue = Some(counted_name(queue));
                }
            }
            // Versions up to 1.4 wrote the name.
            StateName::Processing => {
                let server = text("ServerId").or(text("ServerName"));
                self.server = server.map(counted_name);
            }
            StateName::Failed => self.exception = text("ExceptionType").map(counted_name),
            _ => {}
        }
        if row.name == StateName::Failed
            && let Some(mark) = mark
            && !self.failures.contains(&mark)
        {
            if self.failures.len() >= FAILURES {
                self.failures.remove(0);
            }
            self.failures.push(mark);
        }
        self.previous = Some(row.name.as_str().to_owned());
        self.list = Some(list(&row.name, reason));
        self.changed_at = Some(row.created_at);
        self.last_row = row.id;
    }

    /// The job's state is that of its last row, and no row follows for now: a failure that it
    /// rests on has ended the round.
    pub fn settle(&mut self, out: &mut Increments) {
        if let Some(at) = self.rests_since.take() {
            self.finish(RoundEnd::GaveUp, at, out);
        }
    }

    fn is_after(&self, name: &StateName) -> bool {
        self.previous.as_deref() == Some(name.as_str())
    }

    fn restored(&mut self, row: &StateRow) {
        if self.open.is_some() {
            return;
        }
        match row.name {
            StateName::Enqueued => self.queued = Some(Queued::Row(row.created_at)),
            StateName::Scheduled => self.queued = rules::due(row).map(Queued::Due),
            _ => {}
        }
    }

    fn processing(&mut self, row: &StateRow, out: &mut Increments) {
        let waited = match self.queued.take() {
            Some(Queued::Row(at)) => Span::between(at, row.created_at),
            Some(Queued::Due(due)) => Span::since_due(due, row.created_at, PlannedRetry::EARLY_MS),
            None => Span::NOT_RECORDED,
        };
        self.end(row, &Outcome::Lost, None, out);
        self.first_round();
        self.attempts = self.attempts.saturating_add(1);
        self.open = Some(Open {
            started_at: row.created_at,
            waited_ms: waited.ms,
        });
    }

    fn failed(&mut self, row: &StateRow, out: &mut Increments) {
        self.queued = None;
        self.just_failed = true;
        if self.open.is_some() {
            let between = |open: Open| Span::between(open.started_at, row.created_at).ms;
            let ran = self.open.and_then(between);
            self.end(row, &Outcome::Failed, ran, out);
            let exception = counted_name(row.data.get("ExceptionType").unwrap_or_default());
            if !self.round.met.iter().any(|met| met.exception == exception) {
                let at = self.round.attempts;
                self.round.met.push(Met { exception, at });
            }
        } else if self.begins_before(row) {
            self.first_round();
        }
        if self.round.known && !self.round.finished {
            self.rests_since = Some(row.created_at);
        }
    }

    /// Whether a `Failed` row ends a run that began before the first row seen.
    fn begins_before(&self, row: &StateRow) -> bool {
        self.previous.is_none() && !self.whole && !reason::is_never_began(row.reason.as_deref())
    }

    fn succeeded(&mut self, row: &StateRow, out: &mut Increments) {
        self.queued = None;
        let Some(open) = self.open else {
            // A success without a run tells of no attempt. It ends the round all the same.
            self.first_round();
            self.round.finished = true;
            return;
        };
        let (ran, _) = rules::ran(Span::between(open.started_at, row.created_at), row);
        self.end(row, &Outcome::Succeeded, ran.ms, out);
        self.finish(RoundEnd::Succeeded, row.created_at, out);
    }

    /// A planned retry, a release, or a decision to run it again.
    fn waits(&mut self, row: &StateRow, planned: Option<PlannedRetry>, out: &mut Increments) {
        let reason = row.reason.as_deref();
        let enqueued = row.name == StateName::Enqueued;
        let interrupted = self.open.is_some();
        self.end(row, &Outcome::PutBack(row.name.clone()), None, out);
        self.queued = if enqueued {
            Some(Queued::Row(row.created_at))
        } else {
            rules::due(row).map(Queued::Due)
        };
        if let Some(retry) = planned {
            self.plan(row, &retry, out);
            return;
        }
        let opens_round = if interrupted {
            enqueued && reason::is_operator(reason)
        } else {
            reason::retry(reason).is_none()
                && [StateName::Failed, StateName::Succeeded, StateName::Deleted]
                    .iter()
                    .any(|name| self.is_after(name))
        };
        if opens_round {
            self.round = Round {
                number: self.round.number.saturating_add(1),
                known: true,
                ..Round::default()
            };
        }
    }

    fn plan(&mut self, row: &StateRow, retry: &PlannedRetry, out: &mut Increments) {
        let Some(ms) = retry.backoff_ms else { return };
        self.round.backoff_ms = self.round.backoff_ms.saturating_add(ms);
        let key = DelayKey {
            day: day(row.created_at),
            job_type: self.job_type.clone(),
            method: self.method.clone(),
            of: retry.of,
            retry: retry.number,
        };
        let sums = DelaySums {
            delays: 1,
            sum_ms: ms,
            min_ms: Some(ms),
            max_ms: Some(ms),
        };
        out.delays.entry(key).or_default().add(&sums, 1);
    }

    /// The first round begins, where none has.
    fn first_round(&mut self) {
        if self.round.number == 0 {
            self.round = Round {
                number: 1,
                known: self.whole,
                ..Round::default()
            };
        }
    }

    /// The attempt that runs, if one does, ends with a row.
    fn end(
        &mut self,
        row: &StateRow,
        outcome: &Outcome,
        ran_ms: Option<i64>,
        out: &mut Increments,
    ) {
        let Some(open) = self.open.take() else { return };
        let at = row.created_at;
        let numbered = matches!(
            outcome,
            Outcome::Succeeded | Outcome::Failed | Outcome::Lost
        );
        if numbered {
            self.round.attempts = self.round.attempts.saturating_add(1);
        }
        let number = if numbered && self.round.known {
            self.round.attempts.min(LAST_NUMBER)
        } else {
            0
        };
        let key = AttemptKey {
            hour: hour(at),
            job_type: self.job_type.clone(),
            method: self.method.clone(),
            queue: self.queue(),
            later: self.is_later(),
            number,
            outcome: outcome.slug(),
        };
        let sums = out.attempts.entry(key).or_default();
        sums.attempts += 1;
        if let Some(ms) = open.waited_ms {
            sums.waited.count(ms);
        }
        let ran_ms = match outcome {
            Outcome::Cancelled | Outcome::PutBack(_) => Span::between(open.started_at, at).ms,
            _ => ran_ms,
        };
        if let Some(ms) = ran_ms {
            sums.ran.count(ms);
        }
        if numbered && self.whole && !self.first_ended {
            self.first_ended = true;
            let key = FirstKey {
                slot: slot(at),
                job_type: self.job_type.clone(),
                method: self.method.clone(),
                queue: self.queue(),
            };
            let sums = FirstSums {
                succeeded: i64::from(*outcome == Outcome::Succeeded),
                ended: 1,
            };
            out.first_attempts.entry(key).or_default().add(&sums, 1);
        }
    }

    /// The round finishes, unless it has before: earlier finishes are never rewritten.
    fn finish(&mut self, end: RoundEnd, at: Instant, out: &mut Increments) {
        if !self.round.known || std::mem::replace(&mut self.round.finished, true) {
            return;
        }
        let key = RoundKey {
            hour: hour(at),
            job_type: self.job_type.clone(),
            method: self.method.clone(),
            queue: self.queue(),
            later: self.is_later(),
            end,
            number: self.round.attempts.min(LAST_NUMBER),
        };
        let sums = RoundSums {
            rounds: 1,
            backoff_ms: self.round.backoff_ms,
        };
        out.rounds.entry(key).or_default().add(&sums, 1);
        for met in &self.round.met {
            let key = RecoveryKey {
                hour: hour(at),
                job_type: self.job_type.clone(),
                method: self.method.clone(),
                exception: met.exception.clone(),
            };
            let retries = i64::from(self.round.attempts.saturating_sub(met.at));
            let sums = match end {
                RoundEnd::Succeeded => RecoverySums {
                    recovered: 1,
                    retries_recovered: retries,
                    ..RecoverySums::default()
                },
                RoundEnd::GaveUp => RecoverySums {
                    gave_up: 1,
                    retries_gave_up: retries,
                    ..RecoverySums::default()
                },
            };
            out.recovery.entry(key).or_default().add(&sums, 1);
        }
    }
}

/// The retry that a row plans, if it comes right after a failure.
fn planned(row: &StateRow) -> Option<PlannedRetry> {
    if !matches!(row.name, StateName::Enqueued | StateName::Scheduled) {
        return None;
    }
    let (number, of) = reason::retry(row.reason.as_deref())?;
    Some(rules::planned_retry(row, number, of))
}

/// What tells one failure's data from another's.
fn mark(row: &StateRow) -> Option<u64> {
    if row.name != StateName::Failed {
        return None;
    }
    Some(hash([
        Some(row.data.get("FailedAt")?),
        row.data.get("ExceptionType"),
        row.data.get("ExceptionMessage"),
    ]))
}
