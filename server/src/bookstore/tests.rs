mod attempts;
mod database;

use std::collections::{BTreeMap, BTreeSet};

use app::model::attempt::Outcome::{self, Cancelled, Failed, Lost, PutBack, Running, Succeeded};
use app::model::state::{Instant, StateName};
use chrono::{DateTime, TimeDelta};
use serde_json::Value;

use super::format::object;
use super::*;
use crate::clock::Clock;

struct Fixed(Instant);

impl Clock for Fixed {
    fn now(&self) -> Instant {
        self.0
    }
}

fn now() -> Instant {
    DateTime::parse_from_rfc3339("2026-11-27T14:05:48.123456Z")
        .unwrap()
        .to_utc()
}

fn demo() -> Scenario {
    scenario(1, 2_000, now())
}

fn told<'a>(scenario: &'a Scenario, story: &'a str) -> impl Iterator<Item = &'a DemoJob> {
    scenario.jobs.iter().filter(move |job| job.story == story)
}

#[test]
fn the_same_seed_gives_the_same_rows_and_another_seed_others() {
    assert_eq!(scenario(7, 400, now()), scenario(7, 400, now()));
    assert_ne!(scenario(7, 400, now()), scenario(8, 400, now()));
}

#[test]
fn it_has_as_many_jobs_as_asked_for_over_fourteen_days() {
    let demo = demo();
    assert_eq!(demo.jobs.len(), 2_000);
    let first = demo.jobs[0].created_at;
    assert!(first >= now() - TimeDelta::days(14));
    assert!(first < now() - TimeDelta::days(13));
    // The told jobs are there even where fewer are asked for.
    let small = scenario(1, 0, now());
    assert!(
        (90..200).contains(&small.jobs.len()),
        "{}",
        small.jobs.len()
    );
}

#[test]
fn ids_follow_time() {
    let demo = demo();
    for (index, job) in demo.jobs.iter().enumerate() {
        assert_eq!(job.id, i64::try_from(index).unwrap() + 1);
    }
    assert!(
        demo.jobs
            .windows(2)
            .all(|pair| pair[0].created_at <= pair[1].created_at)
    );
    let mut rows: Vec<(i64, Instant)> = demo
        .jobs
        .iter()
        .flat_map(|job| job.states.iter().map(|state| (state.id, state.at)))
        .collect();
    rows.sort_unstable();
    for (index, pair) in rows.windows(2).enumerate() {
        assert_eq!(pair[0].0, i64::try_from(index).unwrap() + 1);
        assert!(
            pair[0].1 < pair[1].1,
            "states {} and {}",
            pair[0].0,
            pair[1].0
        );
    }
    for job in &demo.jobs {
        assert!(job.states.windows(2).all(|pair| pair[0].id < pair[1].id));
        let first = job.states.first().expect("every job has a state");
        assert!(first.at >= job.created_at);
        assert!(first.at - job.created_at < TimeDelta::seconds(1));
    }
    // Moving rows apart may push the last ones a few microseconds on, never more.
    assert!(rows.last().unwrap().1 <= now() + TimeDelta::milliseconds(1));
}

#[test]
fn a_jobs_state_is_its_last_row_and_says_what_else_must_be_there() {
    let demo = demo();
    let members = |key: &str| -> BTreeMap<String, i64> {
        demo.sets
            .iter()
            .filter(|member| member.key == key)
            .map(|member| (member.value.clone(), member.score))
            .collect()
    };
    let (schedule, retries, awaiting) =
        (members("schedule"), members("retries"), members("awaiting"));
    let mut counts = [0usize; 3];
    for job in &demo.jobs {
        let last = job.states.last().unwrap();
        assert_eq!(job.state, last.name, "job {}", job.id);
        let waiting = job.queue_rows.iter().filter(|row| row.fetched_at.is_none());
        let taken = job.queue_rows.iter().filter(|row| row.fetched_at.is_some());
        let expected = match job.state {
            StateName::Enqueued => (1, 0),
            StateName::Processing => (0, 1),
            _ => (0, 0),
        };
        assert_eq!((waiting.count(), taken.count()), expected, "job {}", job.id);
        if job.state == StateName::Enqueued && job.call.own_queue.is_none() {
            assert_eq!(Some(job.queue_rows[0].queue.as_str()), last.get("Queue"));
        }
        let is_final = matches!(job.state, StateName::Succeeded | StateName::Deleted);
        assert_eq!(
            job.expire_at,
            is_final.then(|| demo.now + TimeDelta::days(30))
        );
        let plain = job.id.to_string();
        match job.state {
            StateName::Scheduled => {
                counts[0] += 1;
                let due: i64 = last.get("EnqueueAt").unwrap().parse().unwrap();
                let member = match job.call.own_queue {
                    Some(queue) => format!("{queue}:{plain}"),
                    None => plain.clone(),
                };
                assert_eq!(schedule.get(&member), Some(&due.div_euclid(1000)));
                let is_retry = last
                    .reason
                    .as_deref()
                    .is_some_and(|reason| reason.starts_with("Retry attempt "));
                counts[1] += usize::from(is_retry);
                assert_eq!(retries.get(&plain), is_retry.then_some(&0));
            }
            StateName::Awaiting => {
                counts[2] += 1;
                assert_eq!(awaiting.get(&plain), Some(&last.at.timestamp()));
                let parent: i64 = last.get("ParentId").unwrap().parse().unwrap();
                let parent = &demo.jobs[usize::try_from(parent).unwrap() - 1];
                let continuations = parent
                    .parameters
                    .iter()
                    .find(|(name, _)| *name == "Continuations");
                assert!(
                    continuations
                        .unwrap()
                        .1
                        .contains(&format!("\"JobId\":\"{plain}\""))
                );
            }
            _ => {}
        }
    }
    assert_eq!(counts, [schedule.len(), retries.len(), awaiting.len()]);
    assert_eq!(counts[2], 3);
}

#[test]
fn what_is_stored_is_json_as_hangfire_writes_it() {
    for job in &scenario(3, 500, now()).jobs {
        let invocation: Value = serde_json::from_str(&job.call.invocation_column()).unwrap();
        let arguments = job.call.arguments_column();
        assert_eq!(invocation["Arguments"].as_str(), Some(arguments.as_str()));
        let arguments: Vec<Option<String>> = serde_json::from_str(&arguments).unwrap();
        let types: Vec<String> =
            serde_json::from_str(invocation["ParameterTypes"].as_str().unwrap()).unwrap();
        assert_eq!(types.len(), arguments.len());
        for argument in arguments.into_iter().flatten() {
            serde_json::from_str::<Value>(&argument).unwrap();
        }
        for state in &job.states {
            let data: Value = serde_json::from_str(&object(&state.data)).unwrap();
            assert!(data.as_object().unwrap().values().all(Value::is_string));
        }
        let names: BTreeSet<&str> = job.parameters.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), job.parameters.len(), "a name stands once");
        for (_, value) in &job.parameters {
            serde_json::from_str::<Value>(value).unwrap();
        }
        let retries = job
            .parameters
            .iter()
            .find(|(name, _)| *name == "RetryCount");
        let planned = job.states.iter().filter(|state| {
            state
                .reason
                .as_deref()
                .is_some_and(|reason| reason.starts_with("Retry attempt "))
        });
        assert_eq!(
            retries.map_or(0, |(_, value)| value.parse().unwrap()),
            planned.count()
        );
    }
}

#[test]
fn every_kind_of_life_is_told() {
    let demo = scenario(5, 0, now());
    let state = |story: &str| -> Vec<StateName> {
        told(&demo, story).map(|job| job.state.clone()).collect()
    };
    let outcomes = |story: &str| -> Vec<Outcome> {
        told(&demo, story)
            .flat_map(|job| job.intention.attempts.iter())
            .map(|attempt| attempt.outcome.clone())
            .collect()
    };
    assert_eq!(outcomes("third time lucky"), [Failed, Failed, Succeeded]);
    assert_eq!(outcomes("not retried"), [Failed]);
    assert_eq!(outcomes("first time"), [Succeeded]);
    assert_eq!(outcomes("second time"), [Failed, Succeeded]);
    assert_eq!(state("gave up"), vec![StateName::Failed; 3]);
    assert_eq!(outcomes("ten retries"), vec![Failed; 11]);
    assert_eq!(state("deleted by policy"), [StateName::Deleted]);
    assert_eq!(state("retry pending"), vec![StateName::Scheduled; 11]);
    assert_eq!(state("in queue"), vec![StateName::Enqueued; 15]);
    assert_eq!(state("queue without server"), vec![StateName::Enqueued; 3]);
    assert_eq!(state("delayed"), vec![StateName::Scheduled; 5]);
    assert_eq!(outcomes("running"), vec![Running; 8]);
    assert_eq!(outcomes("running, second attempt"), [Failed, Running]);
    assert_eq!(outcomes("orphaned"), vec![Running; 3]);
    assert_eq!(outcomes("deleted while it ran"), [Cancelled]);
    assert_eq!(outcomes("interrupted"), [Lost, Succeeded]);
    assert_eq!(outcomes("interrupted, then failed"), [Lost, Failed]);
    assert_eq!(
        outcomes("throttled"),
        [
            PutBack(StateName::Scheduled),
            PutBack(StateName::Scheduled),
            Succeeded
        ]
    );
    assert_eq!(
        outcomes("requeued while it ran"),
        [PutBack(StateName::Enqueued), Succeeded]
    );
    assert_eq!(
        state("waits for a failed parent"),
        vec![StateName::Awaiting; 3]
    );
    assert_eq!(state("continued"), vec![StateName::Succeeded; 3]);
    assert_eq!(
        state("class was renamed"),
        [StateName::Failed, StateName::Scheduled],
        "the older one has given up"
    );
    let requeued: Vec<u32> = told(&demo, "requeued twice")
        .flat_map(|job| job.intention.attempts.iter().map(|attempt| attempt.round))
        .collect();
    assert_eq!(requeued, [1, 1, 1, 1, 2, 3]);
    let by_hand = told(&demo, "released by hand")
        .flat_map(|job| job.intention.attempts.iter())
        .filter(|attempt| attempt.by_hand);
    assert_eq!(by_hand.count(), 1);
    let dead = demo.servers.iter().find(|server| !server.alive).unwrap();
    assert_eq!(demo.servers.iter().filter(|server| server.alive).count(), 4);
    assert!(now() - dead.heartbeat_at > TimeDelta::minutes(5));
    for job in told(&demo, "orphaned") {
        let server = job.states.last().unwrap().get("ServerId").unwrap();
        assert_eq!(server, dead.id);
    }
    for server in &demo.servers {
        assert!(server.id.starts_with("demo-"));
    }
}

#[test]
fn pending_retries_come_due_in_seconds_and_in_hours() {
    let demo = demo();
    let mut due: Vec<i64> = told(&demo, "retry pending")
        .map(|job| (job.due_at.unwrap() - now()).num_seconds())
        .collect();
    due.sort_unstable();
    assert!(due[0] > 0 && due[0] < 60, "{due:?}");
    assert!(due[10] > 3_600, "{due:?}");
}

#[test]
fn imports_fail_more_and_more_since_the_last_deploy() {
    let demo = demo();
    let rate = |from: TimeDelta, to: TimeDelta| {
        let firsts: Vec<bool> = demo
            .jobs
            .iter()
            .filter(|job| job.story == "everyday" && job.call.method == "ImportAsync")
            .filter(|job| (now() - from..now() - to).contains(&job.created_at))
            .filter_map(|job| job.intention.attempts.first())
            .map(|attempt| attempt.outcome == Outcome::Succeeded)
            .collect();
        let good = firsts.iter().filter(|good| **good).count();
        (good * 100 / firsts.len(), firsts.len())
    };
    let (usual, many) = rate(TimeDelta::days(8), TimeDelta::days(1));
    let (last, some) = rate(TimeDelta::hours(10), TimeDelta::zero());
    assert!((85..=95).contains(&usual), "{usual} % of {many}");
    assert!((35..=65).contains(&last), "{last} % of {some}");
    assert!(some >= 30, "{some}");
}

#[test]
fn claims_fit_the_jobs_that_took_them() {
    let demo = demo();
    let keys: BTreeSet<&str> = demo.claims.iter().map(|claim| claim.key.as_str()).collect();
    assert_eq!(keys.len(), demo.claims.len(), "keys are unique");
    let jobs: BTreeMap<String, &DemoJob> = demo
        .jobs
        .iter()
        .filter(|job| job.call.method == "SendAsync")
        .map(|job| {
            let order = job.call.arguments[0].as_deref().unwrap();
            (format!("invoice-email:{order}"), job)
        })
        .collect();
    let mut stale = 0;
    for claim in &demo.claims {
        let job = jobs[&claim.key];
        assert_eq!(claim.sent, claim.message_id.is_some());
        assert!(claim.claimed_at >= job.created_at && claim.claimed_at <= now());
        if claim.sent {
            assert_eq!(job.state, StateName::Succeeded, "{}", claim.key);
        } else if now() - claim.claimed_at > TimeDelta::minutes(10) {
            stale += 1;
        }
    }
    // In flight, deleted, still running, refused, skipped; everyday ones may add to them.
    assert!((5..=9).contains(&stale), "{stale}");
    for job in jobs
        .values()
        .filter(|job| job.state == StateName::Succeeded)
    {
        let order = job.call.arguments[0].as_deref().unwrap();
        let key = format!("invoice-email:{order}");
        let claim = demo.claims.iter().find(|claim| claim.key == key);
        let skipped = job.story == "stale claim, skipped";
        assert_eq!(claim.is_some_and(|claim| claim.sent), !skipped, "{key}");
    }
}

#[test]
fn counters_count_what_ended() {
    let demo = demo();
    let in_state = |state: StateName| {
        i64::try_from(demo.jobs.iter().filter(|job| job.state == state).count()).unwrap()
    };
    assert_eq!(
        demo.counters["stats:succeeded"],
        (in_state(StateName::Succeeded), None)
    );
    assert_eq!(
        demo.counters["stats:deleted"],
        (in_state(StateName::Deleted), None)
    );
    assert!(!demo.counters.contains_key("stats:failed"));
    let days: i64 = demo
        .counters
        .iter()
        .filter(|(key, _)| key.starts_with("stats:succeeded:") && key.matches('-').count() == 2)
        .map(|(_, (value, _))| value)
        .sum();
    let rows = demo
        .jobs
        .iter()
        .flat_map(|job| &job.states)
        .filter(|state| state.name == StateName::Succeeded);
    assert_eq!(days, i64::try_from(rows.count()).unwrap());
}
