//! Jobs behind claims: of `invoice-email:101` one that runs on a server that beats, of `:102` one
//! that a server left behind, of `:103` one that failed.

use std::collections::BTreeMap;

use app::model::state::Instant;
use serde_json::{Value, json};

use super::{MINUTE, ago};
use crate::testing::fixture::Fixture;

/// The job of `invoice-email:101`: running.
pub const RUNNING: i64 = 2_300_001;
/// The job of `invoice-email:102`: its server is gone.
pub const ORPHANED: i64 = 2_300_002;
/// The job of `invoice-email:103`: failed a minute after it claimed.
pub const FAILED: i64 = 2_300_003;
/// The server that beats.
pub const LIVE: &str = "live-1:1:aaaa";

/// The rows, with the times of this moment.
pub fn rows() -> Fixture {
    let mut made = Made::default();
    let jobs = [
        (RUNNING, "101", "Processing", LIVE),
        (ORPHANED, "102", "Processing", "dead-1:1:bbbb"),
        (FAILED, "103", "Failed", "dead-1:1:bbbb"),
    ];
    for (id, order, state, server) in jobs {
        let first = id * 10 + 1;
        let last = first + if state == "Failed" { 2 } else { 1 };
        made.job(id, state, last, order);
        made.state(
            first,
            id,
            "Enqueued",
            ago(26 * MINUTE),
            json!({"Queue": "default"}),
        );
        made.state(
            first + 1,
            id,
            "Processing",
            ago(25 * MINUTE),
            json!({"ServerId": server}),
        );
        if state == "Failed" {
            let failure = json!({"ExceptionType": "System.Exception", "ExceptionMessage": "broke"});
            made.state(last, id, state, ago(24 * MINUTE), failure);
        } else {
            made.add(
                "jobqueue",
                json!({"id": id, "jobid": id, "queue": "default", "updatecount": 0,
                    "fetchedat": ago(25 * MINUTE).to_rfc3339()}),
            );
        }
    }
    made.add(
        "server",
        json!({"id": LIVE, "updatecount": 0, "lastheartbeat": ago(0).to_rfc3339(),
            "data": {"WorkerCount": 5, "Queues": ["default"],
                "StartedAt": "2026-11-01T00:00:00.0000000Z"}}),
    );
    Fixture::of(made.tables)
}

#[derive(Default)]
struct Made {
    tables: BTreeMap<String, Vec<Value>>,
}

impl Made {
    fn add(&mut self, table: &str, row: Value) {
        self.tables.entry(table.to_owned()).or_default().push(row);
    }

    fn job(&mut self, id: i64, state: &str, state_id: i64, order: &str) {
        self.add(
            "job",
            json!({"id": id, "stateid": state_id, "statename": state, "updatecount": 0,
                "invocationdata": {"Type": "Bookstore.Jobs.InvoiceEmailJob, Bookstore.Jobs",
                    "Method": "SendAsync", "ParameterTypes": "[\"System.Int32\"]",
                    "Arguments": null},
                "arguments": [order], "createdat": ago(26 * MINUTE).to_rfc3339(),
                "expireat": null}),
        );
    }

    fn state(&mut self, id: i64, job: i64, name: &str, at: Instant, data: Value) {
        self.add(
            "state",
            json!({"id": id, "jobid": job, "name": name, "reason": null, "data": data,
                "createdat": at.to_rfc3339(), "updatecount": 0}),
        );
    }
}
