//! What must be read of the collector's numbers: sums of what was counted, by plain loops; and
//! numbers written down here, with their sums.

mod written;

use std::collections::{BTreeMap, BTreeSet};

use app::model::collect::{
    AttemptSums, DelaySums, Gauge, Increments, RecoverySums, RoundSums, Sums as _,
};
use app::model::insights::{
    AttemptsRow, DelaysRow, DueRetry, FirstAttemptsRow, JobKind, Pending, RecoveryRow, RoundsRow,
    Scope,
};
use app::model::invocation::Invocation;
use app::model::rates::Rate;
use app::model::reason;
use app::model::state::Instant;
use app::ports::insights::InsightStore;

use crate::testing::fixture::Fixture;

pub use written::numbers_are_summed_as_written;

/// Every hour there is.
fn all() -> Scope {
    Scope {
        from: i64::MIN,
        to: i64::MAX,
        job_type: None,
        method: None,
        queue: None,
    }
}

fn hours(from: i64, to: i64) -> Scope {
    Scope { from, to, ..all() }
}

/// What a store reads is the sum of these numbers, whatever is asked for.
pub async fn sums_are_those_of(store: &dyn InsightStore, numbers: &Increments) {
    for scope in scopes(numbers) {
        let reference = Reference {
            numbers,
            scope: &scope,
        };
        assert_eq!(
            store.attempts(&scope).await.unwrap(),
            reference.attempts(),
            "{scope:?}"
        );
        assert_eq!(
            store.recovery(&scope).await.unwrap(),
            reference.recovery(),
            "{scope:?}"
        );
        assert_eq!(
            store.delays(&scope).await.unwrap(),
            reference.delays(),
            "{scope:?}"
        );
        // Steps of the whole of time would have begun before there were clocks.
        if scope.from == i64::MIN {
            continue;
        }
        for step in [1, 7, 6 * 24, i64::MAX, 0] {
            assert_eq!(
                store.first_attempts(&scope, step).await.unwrap(),
                reference.first_attempts(step.max(1)),
                "{scope:?} by {step}"
            );
            assert_eq!(
                store.rounds(&scope, step).await.unwrap(),
                reference.rounds(step.max(1)),
                "{scope:?} by {step}"
            );
        }
    }
    assert_eq!(store.pending().await.unwrap(), pending(numbers));
    let queues: BTreeSet<&String> = numbers.attempts.keys().map(|key| &key.queue).collect();
    let queues: Vec<String> = queues.into_iter().cloned().collect();
    assert_eq!(store.counted_queues().await.unwrap(), queues);
    let attempts = numbers.attempts.keys().map(|key| key.hour);
    let since = attempts.chain(numbers.rounds.keys().map(|key| key.hour));
    let coverage = store.coverage().await.unwrap();
    assert_eq!(coverage.and_then(|coverage| coverage.since), since.min());
}

/// All of it, parts of it, by kind and by queue, nothing, and nonsense.
fn scopes(numbers: &Increments) -> Vec<Scope> {
    let attempts: Vec<_> = numbers.attempts.keys().collect();
    let Some((first, last)) = attempts.first().zip(attempts.last()) else {
        return vec![all()];
    };
    let middle = attempts[attempts.len() / 2];
    let whole = hours(first.hour, last.hour + 1);
    let mut scopes = vec![
        all(),
        whole.clone(),
        // Without the first and the last hour.
        hours(first.hour + 1, last.hour),
        hours(middle.hour, middle.hour + 1),
        hours(middle.hour, middle.hour),
        hours(last.hour + 1, first.hour),
        // Ten years, in whose middle the numbers are.
        hours(middle.hour - 43_800, middle.hour + 43_800),
    ];
    for key in [first, middle, last] {
        let of_type = Scope {
            job_type: Some(key.job_type.clone()),
            ..whole.clone()
        };
        let of_kind = Scope {
            method: Some(key.method.clone()),
            ..of_type.clone()
        };
        let of_queue = Scope {
            queue: Some(key.queue.clone()),
            ..whole.clone()
        };
        let of_all = Scope {
            queue: Some(key.queue.clone()),
            ..of_kind.clone()
        };
        scopes.extend([of_type, of_kind, of_queue, of_all]);
    }
    for odd in ["nobody's", "\0", "'; --"] {
        scopes.push(Scope {
            job_type: Some(odd.to_owned()),
            ..whole.clone()
        });
        scopes.push(Scope {
            queue: Some(odd.to_owned()),
            ..whole.clone()
        });
    }
    scopes
}

/// The numbers, and what is asked for.
struct Reference<'a> {
    numbers: &'a Increments,
    scope: &'a Scope,
}

fn kind(job_type: &str, method: &str) -> JobKind {
    JobKind {
        job_type: job_type.to_owned(),
        method: method.to_owned(),
    }
}

fn count(n: i64) -> u64 {
    u64::try_from(n).unwrap()
}

impl Reference<'_> {
    /// The hour and whose it is; the queue where it is counted by queue.
    fn fits(&self, hour: i64, job_type: &str, method: &str, queue: Option<&str>) -> bool {
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == found)
        };
        (self.scope.from..self.scope.to).contains(&hour) && self.is_of(job_type, method) && {
            queue.is_none_or(|queue| is(&self.scope.queue, queue))
        }
    }

    fn is_of(&self, job_type: &str, method: &str) -> bool {
        self.scope.job_type.as_deref().is_none_or(|t| t == job_type)
            && self.scope.method.as_deref().is_none_or(|m| m == method)
    }

    fn first_attempts(&self, step: i64) -> Vec<FirstAttemptsRow> {
        let mut rates: BTreeMap<(JobKind, i64), Rate> = BTreeMap::new();
        for (key, sums) in &self.numbers.first_attempts {
            let hour = key.slot.div_euclid(6);
            if self.fits(hour, &key.job_type, &key.method, Some(&key.queue)) {
                let slots = key.slot - self.scope.from * 6;
                let begin = self.scope.from * 6 + slots / step * step;
                let rate = rates
                    .entry((kind(&key.job_type, &key.method), begin))
                    .or_default();
                *rate = rate.plus(Rate::new(count(sums.succeeded), count(sums.ended)));
            }
        }
        let rows = rates.into_iter();
        rows.map(|((kind, slot), rate)| FirstAttemptsRow { kind, slot, rate })
            .collect()
    }

    fn rounds(&self, step: i64) -> Vec<RoundsRow> {
        let mut all: BTreeMap<_, RoundSums> = BTreeMap::new();
        for (key, sums) in &self.numbers.rounds {
            if self.fits(key.hour, &key.job_type, &key.method, Some(&key.queue)) {
                let hours = key.hour - self.scope.from;
                let begin = self.scope.from + hours / step * step;
                let kind = kind(&key.job_type, &key.method);
                all.entry((begin, kind, key.later, key.end, key.number))
                    .or_default()
                    .add(sums, 1);
            }
        }
        all.into_iter()
            .map(|((hour, kind, later, end, number), sums)| RoundsRow {
                hour,
                kind,
                later,
                end,
                number,
                sums,
            })
            .collect()
    }

    fn attempts(&self) -> Vec<AttemptsRow> {
        let mut all: BTreeMap<_, AttemptSums> = BTreeMap::new();
        for (key, sums) in &self.numbers.attempts {
            if self.fits(key.hour, &key.job_type, &key.method, Some(&key.queue)) {
                let kind = kind(&key.job_type, &key.method);
                all.entry((kind, key.later, key.number, key.outcome))
                    .or_default()
                    .add(sums, 1);
            }
        }
        all.into_iter()
            .map(|((kind, later, number, outcome), sums)| AttemptsRow {
                kind,
                later,
                number,
                outcome: outcome.to_owned(),
                sums,
            })
            .collect()
    }

    fn recovery(&self) -> Vec<RecoveryRow> {
        let mut all: BTreeMap<_, RecoverySums> = BTreeMap::new();
        for (key, sums) in &self.numbers.recovery {
            if self.fits(key.hour, &key.job_type, &key.method, None) {
                all.entry((kind(&key.job_type, &key.method), key.exception.clone()))
                    .or_default()
                    .add(sums, 1);
            }
        }
        all.into_iter()
            .map(|((kind, exception), sums)| RecoveryRow {
                kind,
                exception,
                sums,
            })
            .collect()
    }

    fn delays(&self) -> Vec<DelaysRow> {
        let mut all: BTreeMap<_, DelaySums> = BTreeMap::new();
        for (key, sums) in &self.numbers.delays {
            let mut hours = key.day * 24..key.day * 24 + 24;
            if hours.any(|hour| self.fits(hour, &key.job_type, &key.method, None)) {
                all.entry((kind(&key.job_type, &key.method), key.of, key.retry))
                    .or_default()
                    .add(sums, 1);
            }
        }
        all.into_iter()
            .map(|((kind, of, retry), sums)| DelaysRow {
                kind,
                of,
                retry,
                sums,
            })
            .collect()
    }
}

fn pending(numbers: &Increments) -> Pending {
    let mut pending = Pending::default();
    for (gauge, value) in &numbers.gauges {
        match gauge {
            Gauge::Jobs { .. } => {}
            Gauge::PendingRounds {
                job_type,
                method,
                later,
            } => pending
                .rounds
                .push((kind(job_type, method), *later, *value)),
            Gauge::PendingRecovery {
                job_type,
                method,
                exception,
            } => pending
                .recovery
                .push((kind(job_type, method), exception.clone(), *value)),
        }
    }
    pending
}

/// The retries of recorded rows come due as their schedule says.
pub async fn retries_come_due(store: &dyn InsightStore, rows: &Fixture) {
    let mut wanted: Vec<DueRetry> = Vec::new();
    for planned in rows.tables.get("set").into_iter().flatten() {
        if planned["key"] != "schedule" {
            continue;
        }
        let id: i64 = planned["value"].as_str().unwrap().parse().unwrap();
        let Some(job) = rows.jobs.iter().find(|job| job.id == id) else {
            continue;
        };
        let current = rows
            .states
            .iter()
            .find(|state| Some(state.id) == job.stateid);
        let reason = current.and_then(|state| state.reason.as_deref());
        let is_retry = reason.is_some_and(|reason| reason.starts_with("Retry attempt "));
        if job.statename.as_deref() != Some("Scheduled") || !is_retry {
            continue;
        }
        let invocation = Invocation::parse(&job.invocationdata.to_string(), Some("[]"));
        wanted.push(DueRetry {
            job: id,
            kind: kind(
                &invocation.full_type(),
                invocation.method.as_deref().unwrap(),
            ),
            due: Instant::from_timestamp(planned["score"].as_i64().unwrap(), 0).unwrap(),
            number: reason::retry(reason),
        });
    }
    wanted.sort_by_key(|retry| (retry.due, retry.job));
    let ever = Instant::MAX_UTC;
    assert_eq!(store.due_retries(ever, 10_000).await.unwrap(), wanted);
    assert_eq!(store.due_retries(ever, 0).await.unwrap(), []);
    let half = wanted.len() / 2;
    let some = store.due_retries(ever, u32::try_from(half).unwrap()).await;
    assert_eq!(some.unwrap(), wanted[..half]);
    if let Some(retry) = wanted.get(half) {
        let until = store.due_retries(retry.due, 10_000).await.unwrap();
        let due = wanted.iter().filter(|other| other.due <= retry.due);
        assert_eq!(until, due.cloned().collect::<Vec<_>>());
    }
    let never = Instant::MIN_UTC;
    assert_eq!(store.due_retries(never, 10_000).await.unwrap(), []);
}
