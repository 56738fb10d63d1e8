//! The numbers once more, from whole histories and by way of the timeline: slow, and written
//! apart from the fold, so that a mistake in one is not in the other.
//!
//! Also part of the server's tests, hence the names from outside.

use std::collections::BTreeMap;

use app::model::attempt::{Attempt, Failure, Outcome};
use app::model::collect::{
    AttemptKey, DelayKey, FirstKey, Gauge, Increments, Job, LAST_NUMBER, RecoveryKey, RoundEnd,
    RoundKey, counted_name, day, hour,
};
use app::model::rates::slot;
use app::model::state::{Instant, ListState, StateName, StateRow};
use app::model::timeline::{Context, Event, History, Timeline};

/// A job with all of its rows.
#[derive(Debug, Clone)]
pub struct Whole {
    /// The job's own row.
    pub job: Job,
    /// Its state, as its own row says.
    pub state: Option<StateName>,
    /// Its rows, in the order of ids.
    pub rows: Vec<StateRow>,
}

/// The numbers of these jobs.
pub fn numbers<'a>(jobs: impl IntoIterator<Item = &'a Whole>) -> Increments {
    let mut sums = Increments::default();
    for job in jobs {
        if !job.rows.is_empty() {
            sums.add(&Oracle::new(job).numbers(), 1);
        }
    }
    sums
}

struct Oracle<'a> {
    whole: &'a Whole,
    timeline: Timeline,
    out: Increments,
}

/// How, with which attempt, when, and by which row.
type Finish = (RoundEnd, u32, Instant, i64);

#[derive(Default)]
struct Round<'a> {
    known: bool,
    attempts: Vec<&'a Attempt>,
    /// Planned delays, in the order of events.
    backoff_ms: i64,
    /// Whether it is over; a success without a run gives no finish.
    is_over: bool,
    finish: Option<Finish>,
    backoff_at_finish: i64,
    met_at_finish: Vec<(String, u32)>,
    met: Vec<(String, u32)>,
}

impl<'a> Oracle<'a> {
    fn new(whole: &'a Whole) -> Self {
        let created_at = whole
            .job
            .created_at
            // Far from any row: nothing is known of the beginning.
            .unwrap_or(chrono::DateTime::<chrono::Utc>::MIN_UTC);
        Self {
            whole,
            timeline: Timeline::build(
                &whole.rows,
                &Context::whole(created_at, whole.state.clone()),
            ),
            out: Increments::default(),
        }
    }

    fn job_type(&self) -> String {
        counted_name(&self.whole.job.job_type)
    }

    fn method(&self) -> String {
        counted_name(&self.whole.job.method)
    }

    /// The job's own queue, else that of the last Enqueued row before a row.
    fn queue(&self, before: i64) -> String {
        let last = || {
            let rows = self.whole.rows.iter().rev();
            rows.filter(|row| row.id < before && row.name == StateName::Enqueued)
                .find_map(|row| row.data.get("Queue"))
        };
        counted_name(
            self.whole
                .job
                .queue
                .as_deref()
                .or_else(last)
                .unwrap_or_default(),
        )
    }

    fn is_whole(&self) -> bool {
        self.timeline.history == History::Whole
    }

    fn numbers(mut self) -> Increments {
        let timeline = self.timeline.clone();
        let rounds = self.rounds(&timeline);
        self.attempts(&rounds);
        self.first_attempt(&timeline);
        self.finishes(&rounds);
        self.delays(&timeline);
        self.gauges(&rounds);
        self.out
    }

    fn rounds<'t>(&self, timeline: &'t Timeline) -> BTreeMap<u32, Round<'t>> {
        let mut rounds: BTreeMap<u32, Round<'t>> = BTreeMap::new();
        let mut current = 0;
        for event in &timeline.events {
            match event {
                Event::Attempt(attempt) => {
                    current = attempt.round;
                    let whole = self.is_whole();
                    let round = rounds.entry(current).or_insert_with(|| Round {
                        known: whole,
                        ..Round::default()
                    });
                    round.attempts.push(attempt);
                    self.attempt_in(round, attempt);
                }
                Event::FailureOutsideAttempt(failure) => {
                    if let Some(round) = rounds.get_mut(&current) {
                        self.failure_in(round, failure);
                    }
                }
                Event::RunEnd(end) => {
                    current = current.max(1);
                    let whole = self.is_whole();
                    let round = rounds.entry(current).or_insert_with(|| Round {
                        known: whole,
                        ..Round::default()
                    });
                    match &end.failure {
                        Some(failure) => self.failure_in(round, failure),
                        None => {
                            round.is_over = true;
                        }
                    }
                }
                Event::Decision(decision) => {
                    if let Some(number) = decision.opens_round {
                        current = number;
                        rounds.insert(
                            number,
                            Round {
                                known: true,
                                ..Round::default()
                            },
                        );
                    }
                }
                Event::Deleted { .. } | Event::Restored { .. } | Event::Waiting(_) => {}
            }
        }
        rounds
    }

    fn attempt_in(&self, round: &mut Round<'_>, attempt: &Attempt) {
        let Some(ended_at) = attempt.ended_at else {
            return;
        };
        let number = count(numbered(&round.attempts));
        match (&attempt.outcome, &attempt.failure, attempt.ended_by) {
            (Outcome::Succeeded, _, Some(row)) => {
                let finish = (RoundEnd::Succeeded, number, ended_at, row);
                finish_with(round, finish);
            }
            (Outcome::Failed, Some(failure), _) => {
                let exception = counted_name(failure.exception_type.as_deref().unwrap_or_default());
                if round.met.iter().all(|(met, _)| *met != exception) {
                    round.met.push((exception, number));
                }
                self.failure_in(round, failure);
            }
            _ => {}
        }
    }

    /// A failure ends its round unless a retry was planned right after it, or may still be.
    fn failure_in(&self, round: &mut Round<'_>, failure: &Failure) {
        if let Some(retry) = &failure.retry {
            round.backoff_ms += retry.backoff_ms.unwrap_or(0);
            return;
        }
        let is_last = self.whole.rows.last().map(|row| row.id) == Some(failure.state_id);
        if is_last && self.whole.job.current_row != Some(failure.state_id) {
            return;
        }
        let number = count(numbered(&round.attempts));
        finish_with(
            round,
            (RoundEnd::GaveUp, number, failure.at, failure.state_id),
        );
    }

    fn attempts(&mut self, rounds: &BTreeMap<u32, Round<'_>>) {
        for (number, round) in rounds {
            let mut numbered = 0;
            for attempt in &round.attempts {
                let (Some(ended_at), Some(ended_by)) = (attempt.ended_at, attempt.ended_by) else {
                    continue;
                };
                let counts = carries_number(attempt);
                numbered += u32::from(counts);
                let key = AttemptKey {
                    hour: hour(ended_at),
                    job_type: self.job_type(),
                    method: self.method(),
                    queue: self.queue(ended_by),
                    later: *number > 1 || !self.is_whole(),
                    number: if counts && round.known {
                        numbered.min(LAST_NUMBER)
                    } else {
                        0
                    },
                    outcome: attempt.outcome.slug(),
                };
                let sums = self.out.attempts.entry(key).or_default();
                sums.attempts += 1;
                if let Some(ms) = attempt.waited.ms {
                    sums.waited.count(ms);
                }
                if let Some(ms) = attempt.ran.ms {
                    sums.ran.count(ms);
                }
            }
        }
    }

    fn first_attempt(&mut self, timeline: &Timeline) {
        if !self.is_whole() {
            return;
        }
        let first = timeline.attempts().find(|attempt| carries_number(attempt));
        let Some((attempt, ended_at, ended_by)) =
            first.and_then(|first| Some((first, first.ended_at?, first.ended_by?)))
        else {
            return;
        };
        let key = FirstKey {
            slot: slot(ended_at),
            job_type: self.job_type(),
            method: self.method(),
            queue: self.queue(ended_by),
        };
        let sums = self.out.first_attempts.entry(key).or_default();
        sums.ended += 1;
        sums.succeeded += i64::from(attempt.outcome == Outcome::Succeeded);
    }

    fn finishes(&mut self, rounds: &BTreeMap<u32, Round<'_>>) {
        for (number, round) in rounds {
            let Some((end, with, at, row)) = round.finish.filter(|_| round.known) else {
                continue;
            };
            let key = RoundKey {
                hour: hour(at),
                job_type: self.job_type(),
                method: self.method(),
                queue: self.queue(row),
                later: *number > 1 || !self.is_whole(),
                end,
                number: with.min(LAST_NUMBER),
            };
            let sums = self.out.rounds.entry(key).or_default();
            sums.rounds += 1;
            sums.backoff_ms += round.backoff_at_finish;
            for (exception, first) in &round.met_at_finish {
                let key = RecoveryKey {
                    hour: hour(at),
                    job_type: self.job_type(),
                    method: self.method(),
                    exception: exception.clone(),
                };
                let retries = i64::from(with - first);
                let sums = self.out.recovery.entry(key).or_default();
                if end == RoundEnd::Succeeded {
                    sums.recovered += 1;
                    sums.retries_recovered += retries;
                } else {
                    sums.gave_up += 1;
                    sums.retries_gave_up += retries;
                }
            }
        }
    }

    fn delays(&mut self, timeline: &Timeline) {
        for retry in timeline.retries() {
            let Some(ms) = retry.backoff_ms else { continue };
            let planned = self.whole.rows.iter().find(|row| row.id == retry.state_id);
            let key = DelayKey {
                day: day(planned.unwrap().created_at),
                job_type: self.job_type(),
                method: self.method(),
                of: retry.of,
                retry: retry.number,
            };
            let sums = self.out.delays.entry(key).or_default();
            sums.delays += 1;
            sums.sum_ms += ms;
            sums.min_ms = Some(sums.min_ms.map_or(ms, |min| min.min(ms)));
            sums.max_ms = Some(sums.max_ms.map_or(ms, |max| max.max(ms)));
        }
    }

    fn gauges(&mut self, rounds: &BTreeMap<u32, Round<'_>>) {
        let last = self.whole.rows.last().unwrap();
        let listed = ListState::of(&last.name, last.reason.as_deref());
        let state =
            listed.map_or_else(|| counted_name(last.name.as_str()), |l| l.slug().to_owned());
        self.out.gauge(Gauge::Jobs { state }, 1);
        let Some((number, round)) = rounds.last_key_value() else {
            return;
        };
        if !round.known || round.is_over || last.name == StateName::Deleted {
            return;
        }
        let pending = Gauge::PendingRounds {
            job_type: self.job_type(),
            method: self.method(),
            later: *number > 1 || !self.is_whole(),
        };
        self.out.gauge(pending, 1);
        for (exception, _) in &round.met {
            let pending = Gauge::PendingRecovery {
                job_type: self.job_type(),
                method: self.method(),
                exception: exception.clone(),
            };
            self.out.gauge(pending, 1);
        }
    }
}

fn finish_with(round: &mut Round<'_>, finish: Finish) {
    if !round.is_over {
        round.is_over = true;
        round.finish = Some(finish);
        round.backoff_at_finish = round.backoff_ms;
        round.met_at_finish = round.met.clone();
    }
}

fn carries_number(attempt: &Attempt) -> bool {
    !attempt.row_missing
        && matches!(
            attempt.outcome,
            Outcome::Succeeded | Outcome::Failed | Outcome::Lost
        )
}

fn numbered<'a>(attempts: &'a [&'a Attempt]) -> impl Iterator<Item = &'a &'a Attempt> {
    attempts.iter().filter(|attempt| carries_number(attempt))
}

fn count(items: impl Iterator) -> u32 {
    u32::try_from(items.count()).unwrap()
}
