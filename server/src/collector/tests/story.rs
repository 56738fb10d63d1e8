//! Invented jobs, whose rows follow each other as in life, and sometimes not.

use std::collections::BTreeMap;

use chrono::{TimeDelta, TimeZone as _, Utc};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::testing::fixture::Fixture;

/// A row of a job that is yet to be written.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) reason: Option<String>,
    /// Milliseconds after the row before.
    pub(super) later: i64,
    pub(super) data: Value,
    /// Written in the same transaction as the row before.
    pub(super) same: bool,
}

const SCHEDULER: &str = "Triggered by DelayedJobScheduler";
const EXCEPTIONS: [&str; 4] = [
    "System.TimeoutException",
    "System.InvalidOperationException",
    "Npgsql.NpgsqlException",
    "Bookstore.Jobs.PermanentJobException",
];

pub(super) fn random(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

/// What a job calls.
pub(super) fn invocation(random: &mut StdRng) -> Value {
    let kind = random.random_range(0..6);
    let mut call = json!({
        "Type": format!("Bookstore.Jobs.Job{kind}, Bookstore.Jobs"),
        "Method": if kind == 0 { "Send" } else { "RunAsync" },
        "ParameterTypes": "[]",
    });
    if kind == 1 {
        call["Queue"] = json!("own");
    }
    call
}

/// The rows of one job.
pub(super) fn story(random: &mut StdRng) -> Vec<Step> {
    let queue = ["default", "mail", "critical"][random.random_range(0..3)];
    let mut story = Story {
        random,
        steps: Vec::new(),
        queue,
        retries: 0,
    };
    story.begins();
    for _ in 0..story.random.random_range(1..7) {
        story.add("Processing", None, json!({ "ServerId": "app-1" }));
        let goes_on = match story.random.random_range(0..100) {
            0..60 => story.succeeds(),
            60..90 => story.fails(),
            // Lost: it is taken again.
            90..93 => true,
            93..96 => story.enqueue(None),
            96..98 => story.add("Deleted", None, json!({})),
            _ => false,
        };
        if !goes_on {
            break;
        }
    }
    story.steps
}

struct Story<'a> {
    random: &'a mut StdRng,
    steps: Vec<Step>,
    queue: &'static str,
    retries: u32,
}

impl Story<'_> {
    /// Adds a row; says that the story ends with it.
    fn add(&mut self, name: &'static str, reason: Option<&str>, data: Value) -> bool {
        self.steps.push(Step {
            name,
            reason: reason.map(str::to_owned),
            later: self.random.random_range(1..40_000),
            data,
            same: false,
        });
        false
    }

    /// Adds a row that comes with the one before.
    fn add_at_once(&mut self, name: &'static str, reason: &str, data: Value) {
        self.add(name, Some(reason), data);
        if let Some(step) = self.steps.last_mut() {
            (step.later, step.same) = (0, true);
        }
    }

    fn enqueue(&mut self, reason: Option<&str>) -> bool {
        self.add("Enqueued", reason, json!({ "Queue": self.queue }));
        true
    }

    fn begins(&mut self) {
        match self.random.random_range(0..10) {
            0 => {
                let due = json!({ "EnqueueAt": "2026-11-02T12:00:00Z" });
                self.add("Scheduled", None, due);
                self.enqueue(Some(SCHEDULER));
            }
            1 => {
                self.add("Awaiting", None, json!({ "ParentId": "1" }));
                self.enqueue(None);
            }
            _ => {
                self.enqueue(None);
            }
        }
    }

    fn succeeds(&mut self) -> bool {
        let ms = self.random.random_range(0..9_000).to_string();
        self.add("Succeeded", None, json!({ "PerformanceDuration": ms }));
        self.random.random_range(0..20) == 0 && self.enqueue(Some("Requeued by ada via Redrive"))
    }

    fn fails(&mut self) -> bool {
        let failed = json!({
            "FailedAt": self.random.random_range(0..1_000_000_000).to_string(),
            "ExceptionType": EXCEPTIONS[self.random.random_range(0..EXCEPTIONS.len())],
            "ExceptionMessage": "no",
            "ExceptionDetails": "at A.B()\n".repeat(20),
        });
        self.add("Failed", None, failed.clone());
        if self.retries < 3 {
            self.retries += 1;
            let now = 1_793_613_600_000_i64 - self.random.random_range(0..60_000);
            let planned = json!({
                "EnqueueAt": "1793613600000",
                "ScheduledAt": now.to_string(),
            });
            let reason = format!("Retry attempt {} of 3: no", self.retries);
            self.add_at_once("Scheduled", &reason, planned);
            return self.enqueue(Some(SCHEDULER));
        }
        match self.random.random_range(0..4) {
            0 => {
                let why = "Exceeded the maximum number of retry attempts.";
                self.add_at_once("Deleted", why, json!({}));
                false
            }
            1 => {
                self.add("Deleted", Some("Triggered via Dashboard UI"), json!({}));
                // Undone: the old state once more.
                self.add("Failed", None, failed)
            }
            2 => self.enqueue(Some("Triggered via Dashboard UI")),
            _ => false,
        }
    }
}

/// So many jobs, their rows in the order of time.
pub(super) fn jobs(seed: u64, count: i64) -> Fixture {
    let mut random = random(seed);
    let begin = Utc.with_ymd_and_hms(2026, 11, 1, 0, 0, 0).unwrap();
    let mut jobs = Vec::new();
    let mut rows: Vec<(i64, i64, Step)> = Vec::new();
    for job in 1..=count {
        let created = random.random_range(0..6 * 86_400_000_i64);
        let mut at = created;
        for step in story(&mut random) {
            at += step.later;
            rows.push((at, job, step));
        }
        jobs.push((job, created, invocation(&mut random)));
    }
    rows.sort_by_key(|(at, job, _)| (*at, *job));
    let text = |at: i64| (begin + TimeDelta::milliseconds(at)).to_rfc3339();
    let mut current: BTreeMap<i64, (i64, &str)> = BTreeMap::new();
    let mut id = 0;
    let mut states = Vec::new();
    for (at, job, step) in &rows {
        id += random.random_range(1..3);
        current.insert(*job, (id, step.name));
        // Some hosts' clocks are fast or slow.
        let skew = match random.random_range(0..20) {
            0 => random.random_range(-30_000..30_000),
            _ => 0,
        };
        states.push(json!({
            "id": id, "jobid": job, "name": step.name, "reason": step.reason,
            "createdat": text(at + skew), "data": step.data, "updatecount": 0,
        }));
    }
    let jobs = jobs
        .into_iter()
        .map(|(job, created, invocation)| {
            let (state, name) = current[&job];
            json!({
                "id": job, "stateid": state, "statename": name, "invocationdata": invocation,
                "arguments": [], "createdat": text(created), "expireat": null, "updatecount": 0,
            })
        })
        .collect();
    Fixture::of(BTreeMap::from([
        ("job".to_owned(), jobs),
        ("state".to_owned(), states),
    ]))
}
