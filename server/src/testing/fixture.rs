//! Recorded rows of real job servers, and rows made up for a test, in one shape.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;

use app::model::state::Instant;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Rows of Hangfire's tables.
#[derive(Debug, Clone)]
pub struct Fixture {
    /// The rows as recorded, by table, for loading.
    pub tables: BTreeMap<String, Vec<Value>>,
    /// Table `job`, by id.
    pub jobs: Vec<Job>,
    /// Table `state`, by id.
    pub states: Vec<State>,
    /// Table `jobparameter`, by id.
    pub parameters: Vec<Parameter>,
    /// Table `jobqueue`, by id.
    pub queue: Vec<Queue>,
    /// Table `server`, by id.
    pub servers: Vec<Server>,
}

/// A row of `job`.
#[derive(Debug, Clone, Deserialize)]
pub struct Job {
    pub id: i64,
    pub stateid: Option<i64>,
    pub statename: Option<String>,
    pub invocationdata: Value,
    pub arguments: Value,
    pub createdat: Instant,
    pub expireat: Option<Instant>,
}

/// A row of `state`.
#[derive(Debug, Clone, Deserialize)]
pub struct State {
    pub id: i64,
    pub jobid: i64,
    pub name: String,
    pub reason: Option<String>,
    pub createdat: Instant,
    pub data: Option<Value>,
}

impl State {
    /// A text of the data.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.data.as_ref()?.get(key)?.as_str()
    }
}

/// A row of `jobparameter`.
#[derive(Debug, Clone, Deserialize)]
pub struct Parameter {
    pub id: i64,
    pub jobid: i64,
    pub name: String,
    pub value: Option<String>,
}

/// A row of `jobqueue`.
#[derive(Debug, Clone, Deserialize)]
pub struct Queue {
    pub id: i64,
    pub jobid: i64,
    #[serde(rename = "queue")]
    pub name: String,
    pub fetchedat: Option<Instant>,
}

/// A row of `server`.
#[derive(Debug, Clone, Deserialize)]
pub struct Server {
    pub id: String,
    pub data: Option<Value>,
    pub lastheartbeat: Instant,
}

impl Fixture {
    /// The recorded rows of a folder of the fixtures, for example `article` or `workers/stopped`.
    pub fn named(folder: &str) -> Self {
        let file = fixtures().join(folder).join("rows.json");
        let text = if file.exists() {
            std::fs::read_to_string(&file).unwrap()
        } else {
            let packed = std::fs::File::open(file.with_extension("json.gz")).unwrap();
            let mut text = String::new();
            flate2::read::GzDecoder::new(packed)
                .read_to_string(&mut text)
                .unwrap();
            text
        };
        Self::of(serde_json::from_str(&text).unwrap())
    }

    /// Rows by table, in the form of the recorded ones.
    pub fn of(tables: BTreeMap<String, Vec<Value>>) -> Self {
        Self {
            jobs: rows(&tables, "job", |row: &Job| row.id),
            states: rows(&tables, "state", |row: &State| row.id),
            parameters: rows(&tables, "jobparameter", |row: &Parameter| row.id),
            queue: rows(&tables, "jobqueue", |row: &Queue| row.id),
            servers: rows(&tables, "server", |row: &Server| row.id.clone()),
            tables,
        }
    }
}

fn rows<T: DeserializeOwned, K: Ord>(
    tables: &BTreeMap<String, Vec<Value>>,
    name: &str,
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let mut rows: Vec<T> = tables
        .get(name)
        .into_iter()
        .flatten()
        .map(|row| serde_json::from_value(row.clone()).unwrap())
        .collect();
    rows.sort_by_key(key);
    rows
}

/// The folder of the fixtures.
pub fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../app/tests/fixtures")
}
