//! Rows of made-up jobs.

use std::collections::BTreeMap;

use app::model::state::Instant;
use chrono::{SecondsFormat, TimeDelta};
use serde_json::{Value, json};

use crate::testing::fixture::Fixture;

/// A state: name, milliseconds after the job was created, reason, and what its data has beyond the
/// usual.
type Step<'a> = (&'a str, i64, String, Value);

/// Rows of made-up jobs.
#[derive(Default)]
pub(super) struct Rows {
    jobs: Vec<Value>,
    states: Vec<Value>,
    sets: Vec<Value>,
    hashes: Vec<Value>,
}

impl Rows {
    /// A job that ends in the last of its states.
    pub(super) fn job(&mut self, id: i64, job_type: &str, at: Instant, rows: &[Step<'_>]) {
        let when = |ms: i64| text(at + TimeDelta::milliseconds(ms));
        let mut last = (0, "");
        for (place, (name, ms, reason, data)) in rows.iter().enumerate() {
            let state = id * 100 + i64::try_from(place).unwrap() + 1;
            last = (state, name);
            self.states.push(json!({
                "id": state, "jobid": id, "name": name,
                "reason": (!reason.is_empty()).then_some(reason),
                "createdat": when(*ms), "data": data, "updatecount": 0,
            }));
        }
        let (state, name) = last;
        let call = json!({
            "Type": format!("Bookstore.Jobs.{job_type}, Bookstore.Jobs"),
            "Method": "RunAsync", "ParameterTypes": "[]", "Arguments": "[]",
        });
        self.jobs.push(json!({
            "id": id, "stateid": state, "statename": name, "invocationdata": call,
            "arguments": [], "createdat": text(at), "expireat": null, "updatecount": 0,
        }));
    }

    /// A recurring job with a next run.
    pub(super) fn recurring(&mut self, id: &str, cron: &str, job_type: &str) {
        let call =
            json!({ "t": format!("Bookstore.Jobs.{job_type}, Bookstore.Jobs"), "m": "RunAsync" });
        let place = self.sets.len() + 1;
        self.sets.push(json!({
            "id": place, "key": "recurring-jobs", "score": 1, "value": id, "expireat": null,
            "updatecount": 0,
        }));
        for (field, value) in [("Cron", cron), ("Job", &call.to_string())] {
            self.hashes.push(json!({
                "id": self.hashes.len() + 1, "key": format!("recurring-job:{id}"), "field": field,
                "value": value, "expireat": null, "updatecount": 0,
            }));
        }
    }

    pub(super) fn fixture(self) -> Fixture {
        Fixture::of(BTreeMap::from([
            ("job".to_owned(), self.jobs),
            ("state".to_owned(), self.states),
            ("set".to_owned(), self.sets),
            ("hash".to_owned(), self.hashes),
        ]))
    }
}

pub(super) fn text(at: Instant) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

pub(super) fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

pub(super) fn plain(name: &str, ms: i64) -> Step<'_> {
    (name, ms, String::new(), json!({}))
}

pub(super) fn failed(ms: i64, exception: &str) -> Step<'static> {
    (
        "Failed",
        ms,
        String::new(),
        json!({ "ExceptionType": exception }),
    )
}

/// A retry that is planned so many milliseconds ahead.
pub(super) fn planned(begin: Instant, ms: i64, (n, of): (u32, u32), ahead: i64) -> Step<'static> {
    let now = begin + TimeDelta::milliseconds(ms);
    let data = json!({
        "ScheduledAt": text(now), "EnqueueAt": text(now + TimeDelta::milliseconds(ahead)),
    });
    (
        "Scheduled",
        ms,
        format!("Retry attempt {n} of {of}: no"),
        data,
    )
}

pub(super) fn released(ms: i64) -> Step<'static> {
    let reason = "Triggered by DelayedJobScheduler".to_owned();
    ("Enqueued", ms, reason, json!({ "Queue": "default" }))
}
