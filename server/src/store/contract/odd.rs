//! Rows that are rare, broken or huge.

use std::collections::BTreeMap;

use app::model::invocation::Arguments;
use app::model::job::JobRow;
use app::model::state::{ListState, StateName};
use app::ports::jobs::{Anchor, JobFilter};
use serde_json::{Value, json};

use super::Seeded;
use super::lists::all_ids;
use crate::testing::fixture::Fixture;

const AT: &str = "2026-11-02T12:00:00.123456+00:00";

/// Rows made up for a case.
#[derive(Default)]
struct Made {
    tables: BTreeMap<String, Vec<Value>>,
}

impl Made {
    fn add(&mut self, table: &str, row: Value) {
        self.tables.entry(table.to_owned()).or_default().push(row);
    }

    fn job(&mut self, id: i64, state: Option<(&str, i64)>, invocation: Value, arguments: Value) {
        self.add(
            "job",
            json!({"id": id, "stateid": state.map(|s| s.1), "statename": state.map(|s| s.0),
                "invocationdata": invocation, "arguments": arguments, "createdat": AT,
                "expireat": null, "updatecount": 0}),
        );
    }

    fn state(&mut self, id: i64, job: i64, name: &str, reason: Option<&str>, data: Value) {
        self.add(
            "state",
            json!({"id": id, "jobid": job, "name": name, "reason": reason, "createdat": AT,
                "data": data, "updatecount": 0}),
        );
    }

    /// A job that failed at once: its rows are `10 * id + 1` to `10 * id + 3`.
    fn failed(&mut self, id: i64, failure: Value) {
        self.job(id, Some(("Failed", id * 10 + 3)), invocation(), json!([]));
        self.state(
            id * 10 + 1,
            id,
            "Enqueued",
            None,
            json!({"Queue": "default"}),
        );
        self.state(
            id * 10 + 2,
            id,
            "Processing",
            None,
            json!({"ServerId": "app-1"}),
        );
        self.state(id * 10 + 3, id, "Failed", None, failure);
    }

    fn fixture(self) -> Fixture {
        Fixture::of(self.tables)
    }
}

fn invocation() -> Value {
    json!({"Type": "Bookstore.Jobs.TieJob, Bookstore.Jobs", "Method": "RunAsync",
        "ParameterTypes": "[]", "Arguments": "[]"})
}

fn failed() -> JobFilter {
    JobFilter {
        state: Some(ListState::Failed),
        ..JobFilter::default()
    }
}

/// 120 failed jobs of the same microsecond, ids 1 to 121; 72 was deleted.
pub fn ties() -> Fixture {
    let mut made = Made::default();
    for id in (1..=121).filter(|id| *id != 72) {
        made.failed(id, json!({"ExceptionType": "System.Exception"}));
    }
    made.fixture()
}

/// Pages of 50, 50, 20 hold each row once, there and back; an anchor that was deleted loses none.
pub async fn ties_are_paged(seeded: &Seeded) {
    let store = &*seeded.store;
    let every: Vec<i64> = (1..=121).rev().filter(|id| *id != 72).collect();
    assert_eq!(all_ids(store, &failed(), 50).await, every);

    let ids = async |anchor| {
        let page = store.list(&failed(), anchor, 50).await.unwrap();
        let ids: Vec<i64> = page.rows.iter().map(|row| row.id).collect();
        (ids, page.has_newer, page.has_older)
    };
    let third = ids(Anchor::OlderThan(every[99])).await;
    assert_eq!(third, (every[100..].to_vec(), true, false));
    let second = ids(Anchor::NewerThan(every[100])).await;
    assert_eq!(second, (every[50..100].to_vec(), true, true));
    let first = ids(Anchor::NewerThan(every[50])).await;
    assert_eq!(first, (every[..50].to_vec(), false, true));
    // The first page ended with 72, which was deleted before its reader asked for the next one.
    let after = ids(Anchor::OlderThan(72)).await;
    assert_eq!(after, ((22..=71).rev().collect(), true, true));
    let before = ids(Anchor::NewerThan(72)).await;
    assert_eq!(before, ((73..=121).rev().collect(), false, true));
    // Beyond both ends there is nothing but the way back.
    assert_eq!(ids(Anchor::OlderThan(1)).await, (Vec::new(), true, false));
    assert_eq!(ids(Anchor::NewerThan(121)).await, (Vec::new(), false, true));
    assert_eq!(
        ids(Anchor::OlderThan(i64::MIN)).await,
        (Vec::new(), true, false)
    );
    assert_eq!(
        ids(Anchor::NewerThan(i64::MAX)).await,
        (Vec::new(), false, true)
    );
}

/// Jobs without a state, with a state row that is gone, without data, without a type; a parameter
/// that is stored twice; a state of another name.
pub fn broken() -> Fixture {
    let mut made = Made::default();
    made.job(1, None, invocation(), json!([]));
    made.job(2, Some(("Failed", 999)), invocation(), json!([]));
    made.state(21, 2, "Enqueued", None, json!({"Queue": "default"}));
    made.state(22, 2, "Processing", None, json!({"ServerId": "app-1"}));
    made.failed(3, json!({"ExceptionType": "System.Exception"}));
    made.failed(4, Value::Null);
    made.job(5, Some(("Failed", 53)), json!({}), json!([]));
    made.state(53, 5, "Failed", None, json!({}));
    made.job(
        6,
        Some(("Parked", 63)),
        json!([1]),
        json!({"not": "an array"}),
    );
    made.state(63, 6, "Parked", Some("later"), json!("no object"));
    for (id, name, value) in [
        (1, "RetryCount", Some("1")),
        (2, "RetryCount", Some("3")),
        (3, "CurrentCulture", None),
        (
            4,
            "Continuations",
            Some("[{\"JobId\":\"4\"},{\"JobId\":\"99\",\"Options\":2}, oops"),
        ),
    ] {
        made.add(
            "jobparameter",
            json!({"id": id, "jobid": 3, "name": name, "value": value, "updatecount": 0}),
        );
    }
    for (id, data) in [
        ("a", Value::Null),
        ("b", json!([1])),
        (
            "c",
            json!({"Queues": {"$type": "T", "$values": ["x", "y"]}, "WorkerCount": 5,
            "StartedAt": "27.03.2026 07:30:00"}),
        ),
    ] {
        made.add(
            "server",
            json!({"id": id, "data": data, "lastheartbeat": AT, "updatecount": 0}),
        );
    }
    made.fixture()
}

/// One bad row never costs the page.
pub async fn broken_rows_are_read(seeded: &Seeded) {
    let store = &*seeded.store;
    assert_eq!(all_ids(store, &failed(), 50).await, [5, 4, 3, 2]);
    assert_eq!(
        all_ids(store, &JobFilter::default(), 50).await,
        [6, 5, 4, 3, 2, 1]
    );
    let counts = store.counts().await.unwrap();
    assert_eq!(counts.by_state[&ListState::Failed], 4);
    assert_eq!(counts.no_state, 1);
    assert_eq!(counts.other, BTreeMap::from([("Parked".to_owned(), 1)]));

    let page = store
        .list(&JobFilter::default(), Anchor::Start, 50)
        .await
        .unwrap();
    let row = |id: i64| -> &JobRow { page.rows.iter().find(|row| row.id == id).unwrap() };
    assert_eq!(row(1).state.name, None);
    assert_eq!((row(2).attempts, row(2).state.since), (1, None));
    assert_eq!(row(2).server.as_deref(), Some("app-1"));
    assert_eq!(row(4).exception_type, None);
    assert_eq!(row(5).invocation.type_name, None);
    assert_eq!(row(6).state.name, Some(StateName::Other("Parked".into())));
    assert!(matches!(row(6).invocation.arguments, Arguments::Corrupt(_)));

    for id in 1..=6 {
        let record = store.job(id, 50).await.unwrap().unwrap();
        assert_eq!(record.id, id);
    }
    let twice = store.job(3, 50).await.unwrap().unwrap();
    assert_eq!(twice.duplicate_parameters, ["RetryCount"]);
    let value = |name: &str| {
        let found = twice.parameters.iter().find(|(n, _)| n == name);
        found.and_then(|(_, value)| value.clone())
    };
    assert_eq!(value("RetryCount").as_deref(), Some("3"));
    assert_eq!(value("CurrentCulture"), None);
    assert!(twice.continuations.is_empty());
    let parked = store.job(6, 50).await.unwrap().unwrap();
    assert_eq!(parked.states[0].reason.as_deref(), Some("later"));
    assert!(parked.states[0].data.is_corrupt());

    let servers = store.servers().await.unwrap();
    let ids: Vec<&str> = servers.iter().map(|server| server.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!(
        (servers[0].queues.clone(), servers[1].queues.clone()),
        (None, None)
    );
    assert_eq!(
        servers[2].queues,
        Some(vec!["x".to_owned(), "y".to_owned()])
    );
    assert_eq!(servers[2].workers, Some(5));
    assert_eq!(servers[2].started_at, None);
    assert_eq!(
        servers[2].started_raw.as_deref(),
        Some("27.03.2026 07:30:00")
    );
    assert_eq!(store.queues().await.unwrap(), ["x", "y"]);
}

/// Script, quotes, backslashes, a direction override, an escape character, line ends, other planes.
const ODD: &str = "</script><img src=x>\"'\\ \u{202e}moc.elpmaxe@ada \u{1b}[31m\r\n\t\u{1}😀{s}%";

/// One job with that text in every text column.
pub fn texts() -> Fixture {
    let mut made = Made::default();
    made.job(
        1,
        Some(("Failed", 13)),
        json!({"Type": format!("{ODD}, A"), "Method": ODD, "Queue": ODD,
            "ParameterTypes": json!([ODD]).to_string(), "Arguments": "[]"}),
        json!([json!(ODD).to_string(), null]),
    );
    made.state(11, 1, "Enqueued", Some(ODD), json!({"Queue": ODD}));
    made.state(
        12,
        1,
        "Processing",
        None,
        json!({"ServerId": ODD, "WorkerId": ODD}),
    );
    made.state(
        13,
        1,
        "Failed",
        Some(ODD),
        json!({"ExceptionType": ODD, "ExceptionMessage": ODD, "ExceptionDetails": ODD, ODD: ODD}),
    );
    // A value of one key that holds what looks like another one.
    made.failed(
        2,
        json!({"ExceptionDetails": "{\"ExceptionType\":\"Wrong\"}", "ExceptionType": "Right",
            "ExceptionMessage": "m"}),
    );
    // Schema version 10 keeps 40 characters of a parameter's name.
    let name: String = ODD.chars().take(40).collect();
    made.add(
        "jobparameter",
        json!({"id": 1, "jobid": 1, "name": name, "value": ODD, "updatecount": 0}),
    );
    made.add(
        "jobqueue",
        json!({"id": 1, "jobid": 1, "queue": ODD, "fetchedat": null, "updatecount": 0}),
    );
    made.add(
        "server",
        json!({"id": ODD, "lastheartbeat": AT, "updatecount": 0,
            "data": {"WorkerCount": 1, "Queues": [ODD], "StartedAt": "2026-11-01T00:00:00Z"}}),
    );
    made.fixture()
}

/// Beyond what the rows in general prove: the text in its places, and found by every filter.
pub async fn texts_come_through(seeded: &Seeded) {
    let record = seeded.store.job(1, 10).await.unwrap().unwrap();
    let argument = serde_json::to_string(ODD).unwrap();
    assert_eq!(
        record.invocation.arguments,
        Arguments::Values(vec![Some(argument), None])
    );
    assert_eq!(record.states[2].data.get("ExceptionDetails"), Some(ODD));
    assert_eq!(record.states[2].reason.as_deref(), Some(ODD));
    assert_eq!(seeded.store.queues().await.unwrap(), [ODD]);
    let odd = || Some(ODD.to_owned());
    let filter = JobFilter {
        state: Some(ListState::Failed),
        queue: odd(),
        method: odd(),
        server: odd(),
        exception: odd(),
        attempts_min: Some(1),
        ..JobFilter::default()
    };
    assert_eq!(all_ids(&*seeded.store, &filter, 10).await, [1]);
    let wrong = JobFilter {
        exception: Some("Wrong".to_owned()),
        ..JobFilter::default()
    };
    assert!(all_ids(&*seeded.store, &wrong, 10).await.is_empty());
}

/// A text that does not compress: characters from a simple generator.
fn noise(characters: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut word: u64 = 1;
    (0..characters)
        .map(|_| {
            word ^= word << 13;
            word ^= word >> 7;
            word ^= word << 17;
            char::from(ALPHABET[usize::try_from(word % 64).unwrap()])
        })
        .collect()
}

const MB: usize = 1_000_000;

/// Arguments of 20 MB, plain and such that compress well; traces of 1 MB and 300 kB.
pub fn huge() -> Fixture {
    let mut made = Made::default();
    for (id, argument) in [(1, noise(20 * MB)), (2, "x".repeat(20 * MB))] {
        let arguments = json!([argument]);
        let invocation = json!({"Type": "Bookstore.Jobs.BigJob, Bookstore.Jobs",
            "Method": "RunAsync", "ParameterTypes": "[\"System.String\"]",
            "Arguments": arguments.to_string(), "Queue": "big"});
        made.job(id, Some(("Enqueued", id * 10 + 1)), invocation, arguments);
        made.state(id * 10 + 1, id, "Enqueued", None, json!({"Queue": "big"}));
    }
    made.failed(
        3,
        json!({"ExceptionType": "System.Exception", "ExceptionMessage": "m",
            "ExceptionDetails": noise(MB)}),
    );
    made.failed(
        4,
        json!({"ExceptionType": "System.Exception", "ExceptionMessage": "é".repeat(400),
            "ExceptionDetails": "é".repeat(MB)}),
    );
    made.failed(
        5,
        json!({"ExceptionType": "System.Exception", "ExceptionMessage": "m"}),
    );
    made.fixture()
}

/// What is too large is not read for a list, cut on a job's page, and its size is said.
pub async fn huge_values_are_bounded(seeded: &Seeded) {
    let store = &*seeded.store;
    let page = store
        .list(&JobFilter::default(), Anchor::Start, 50)
        .await
        .unwrap();
    let [whole, squeezed, trace, twice, once] = &page.rows[..] else {
        panic!("five rows");
    };
    assert_eq!(whole.failure_bytes, None);
    assert_eq!(whole.exception_type.as_deref(), Some("System.Exception"));
    // A value that compresses well is stored small, and may be read or not.
    if squeezed.failure_bytes.is_none() {
        assert_eq!(squeezed.exception_message, Some("é".repeat(300)));
    }
    assert_eq!(trace.exception_type, None);
    assert!(trace.failure_bytes.is_some_and(|bytes| bytes >= 1_000_000));
    assert_eq!(once.invocation.arguments, Arguments::TooLarge);
    assert!(
        once.arguments_bytes
            .is_some_and(|bytes| bytes >= 20_000_000)
    );
    for row in [once, twice] {
        assert_eq!(
            row.invocation.type_name.as_deref(),
            Some("Bookstore.Jobs.BigJob, Bookstore.Jobs"),
            "job {} keeps its name",
            row.id
        );
        assert_eq!(row.queue.as_deref(), Some("big"));
    }

    for id in [1, 2] {
        let record = store.job(id, 10).await.unwrap().unwrap();
        assert_eq!(record.invocation.arguments, Arguments::TooLarge);
        assert!(
            record
                .arguments_bytes
                .is_some_and(|bytes| bytes >= 20_000_000)
        );
        assert_eq!(record.invocation.method.as_deref(), Some("RunAsync"));
    }
    for (id, first) in [(3, noise(64_000)), (4, "é".repeat(64_000))] {
        let record = store.job(id, 10).await.unwrap().unwrap();
        let failure = &record.states[2];
        assert_eq!(failure.details_chars, Some(1_000_000), "job {id}");
        assert_eq!(failure.data.get("ExceptionDetails"), Some(first.as_str()));
        assert_eq!(failure.data.get("ExceptionType"), Some("System.Exception"));
    }
}

/// Rows of the job with the long history.
const LONG: i64 = 100_000;

/// A job with 100,000 state rows, as a semaphore that puts it back again and again leaves them:
/// the first is row 1, every second one from there on `Enqueued`, the others `Processing`.
pub fn long() -> Fixture {
    let mut made = Made::default();
    made.job(1, Some(("Processing", LONG)), invocation(), json!([]));
    for id in 1..=LONG {
        if id % 2 == 1 {
            made.state(id, 1, "Enqueued", None, json!({"Queue": "default"}));
        } else {
            made.state(id, 1, "Processing", None, json!({"ServerId": "app-1"}));
        }
    }
    made.fixture()
}

/// The page of it is as any other: newest rows, whole numbers.
pub async fn long_history_is_bounded(seeded: &Seeded) {
    let store = &*seeded.store;
    let record = store.job(1, 100).await.unwrap().unwrap();
    assert_eq!(record.states_total, LONG);
    let ids: Vec<i64> = record.states.iter().map(|state| state.id).collect();
    assert_eq!(ids, (LONG - 99..=LONG).collect::<Vec<_>>());
    assert_eq!(record.attempts_before, 49_950);
    let older = store.states_before(1, LONG - 99, 100).await.unwrap();
    assert_eq!(older.len(), 100);
    assert_eq!(older[99].id, LONG - 100);
    let page = store
        .list(&JobFilter::default(), Anchor::Start, 50)
        .await
        .unwrap();
    assert_eq!(page.rows[0].attempts, JobRow::ATTEMPTS_CAP);
    assert_eq!(page.rows[0].server.as_deref(), Some("app-1"));
}
