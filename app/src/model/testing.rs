//! Recorded rows and hand-made ones for the model's tests.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;

use super::data::{StateData, parse_date};
use super::state::{Instant, StateName, StateRow};
use super::timeline::{Context, Timeline};

/// One job of a recorded database.
pub(crate) struct RecordedJob {
    pub created_at: Instant,
    pub state: Option<StateName>,
    pub invocation: String,
    pub arguments: String,
    pub parameters: Vec<(String, Option<String>)>,
    pub rows: Vec<StateRow>,
}

impl RecordedJob {
    pub(crate) fn timeline(&self) -> Timeline {
        Timeline::build(
            &self.rows,
            &Context::whole(self.created_at, self.state.clone()),
        )
    }
}

/// A JSON file of the fixtures; where it is stored packed, from there.
pub(crate) fn json(path: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(path);
    let mut text = String::new();
    if file.exists() {
        File::open(&file).unwrap().read_to_string(&mut text)
    } else {
        let packed = File::open(file.with_extension("json.gz")).unwrap();
        GzDecoder::new(packed).read_to_string(&mut text)
    }
    .unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The jobs of a recorded database, with their rows in the order of ids.
pub(crate) fn jobs(path: &str) -> BTreeMap<i64, RecordedJob> {
    let tables = json(path);
    let mut jobs: BTreeMap<i64, RecordedJob> = tables["job"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| {
            let id = job["id"].as_i64().unwrap();
            let job = RecordedJob {
                created_at: at(job["createdat"].as_str().unwrap()),
                state: job["statename"].as_str().map(StateName::parse),
                invocation: job["invocationdata"].to_string(),
                arguments: job["arguments"].to_string(),
                parameters: Vec::new(),
                rows: Vec::new(),
            };
            (id, job)
        })
        .collect();
    for row in tables["state"].as_array().unwrap() {
        let job = jobs.get_mut(&row["jobid"].as_i64().unwrap()).unwrap();
        job.rows.push(state_row(row));
    }
    for parameter in tables["jobparameter"].as_array().unwrap() {
        let job = jobs.get_mut(&parameter["jobid"].as_i64().unwrap()).unwrap();
        job.parameters.push((
            parameter["name"].as_str().unwrap().to_owned(),
            parameter["value"].as_str().map(str::to_owned),
        ));
    }
    for job in jobs.values_mut() {
        job.rows.sort_by_key(|row| row.id);
    }
    jobs
}

/// A row of the `state` table.
pub(super) fn state_row(row: &Value) -> StateRow {
    StateRow {
        id: row["id"].as_i64().unwrap(),
        name: StateName::parse(row["name"].as_str().unwrap()),
        reason: row["reason"].as_str().map(str::to_owned),
        created_at: at(row["createdat"].as_str().unwrap()),
        data: match &row["data"] {
            Value::Null => StateData::default(),
            data => StateData::parse(&data.to_string()),
        },
        details_chars: None,
    }
}

/// An instant, from ISO 8601 text (without a zone: UTC).
pub(crate) fn at(text: &str) -> Instant {
    parse_date(text).unwrap()
}

/// A hand-made row without a reason.
pub(crate) fn row(id: i64, name: &str, created_at: &str, data: &str) -> StateRow {
    StateRow {
        id,
        name: StateName::parse(name),
        reason: None,
        created_at: at(created_at),
        data: StateData::parse(data),
        details_chars: None,
    }
}

/// A hand-made row with a reason.
pub(crate) fn because(id: i64, name: &str, created_at: &str, reason: &str, data: &str) -> StateRow {
    StateRow {
        reason: Some(reason.to_owned()),
        ..row(id, name, created_at, data)
    }
}
