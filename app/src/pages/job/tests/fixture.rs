//! Pages of recorded jobs.

use std::sync::Arc;

use leptos::prelude::*;
use scraper::{Html, Node, Selector};
use serde_json::Value;

use crate::actions::found::Limits;
use crate::components::shell::PageContext;
use crate::links::Links;
use crate::model::invocation::Invocation;
use crate::model::job::{Continuation, CurrentState, JobRecord, QueueRow, Server};
use crate::model::state::{Instant, StateName, StateRow};
use crate::model::testing::{at, jobs, json};
use crate::pages::job::{Given, JobPage, job_page};

/// The tables of one recorded database, read once.
pub(super) struct Recorded {
    tables: Value,
    path: &'static str,
}

impl Recorded {
    pub(super) fn open(path: &'static str) -> Self {
        Self {
            tables: json(path),
            path,
        }
    }

    fn rows(&self, table: &str, job: i64) -> impl Iterator<Item = &Value> {
        self.tables[table]
            .as_array()
            .unwrap()
            .iter()
            .filter(move |row| row["jobid"].as_i64() == Some(job))
    }

    /// What a handler would gather for a job at a moment.
    pub(super) fn given(&self, id: i64, now: &str) -> Given {
        let recorded = jobs(self.path);
        let job = &recorded[&id];
        let row = self.tables["job"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["id"].as_i64() == Some(id))
            .unwrap();
        let parameters: Vec<(String, Option<String>)> = job.parameters.clone();
        let continuations = parameters
            .iter()
            .find(|(name, _)| name == "Continuations")
            .and_then(|(_, value)| serde_json::from_str::<Value>(value.as_deref()?).ok())
            .map(|list| {
                let entries = list.as_array().unwrap().iter();
                entries
                    .map(|entry| {
                        let id = entry["JobId"].as_str().unwrap().parse().unwrap();
                        Continuation {
                            job: id,
                            options: i32::try_from(entry["Options"].as_i64().unwrap_or(0)).unwrap(),
                            state: recorded.get(&id).and_then(|job| job.state.clone()),
                        }
                    })
                    .collect()
            })
            .unwrap_or_default();
        let mut given = given(
            record(
                id,
                job.state.clone(),
                row["stateid"].as_i64(),
                job.created_at,
                job.rows.clone(),
            ),
            now,
        );
        given.record.invocation = Invocation::parse(&job.invocation, Some(&job.arguments));
        given.record.expire_at = row["expireat"].as_str().map(at);
        given.record.parameters = parameters;
        given.record.continuations = continuations;
        given.record.queue_rows = self
            .rows("jobqueue", id)
            .map(|row| QueueRow {
                id: row["id"].as_i64().unwrap(),
                queue: row["queue"].as_str().unwrap().to_owned(),
                fetched_at: row["fetchedat"].as_str().map(at),
            })
            .collect();
        given.servers = self.tables["server"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                let heartbeat = at(row["lastheartbeat"].as_str().unwrap());
                Server {
                    id: row["id"].as_str().unwrap().to_owned(),
                    workers: row["data"]["WorkerCount"].as_i64(),
                    queues: row["data"]["Queues"].as_array().map(|queues| {
                        let names = queues.iter().filter_map(Value::as_str);
                        names.map(str::to_owned).collect()
                    }),
                    started_at: None,
                    started_raw: None,
                    heartbeat_at: heartbeat,
                    heartbeat_age_ms: (at(now) - heartbeat).num_milliseconds(),
                    processing: 0,
                }
            })
            .collect();
        given
    }

    pub(super) fn page(&self, id: i64, now: &str) -> Page {
        Page::of(self.given(id, now))
    }
}

/// A job with its rows and nothing else.
pub(super) fn record(
    id: i64,
    state: Option<StateName>,
    state_id: Option<i64>,
    created_at: Instant,
    states: Vec<StateRow>,
) -> JobRecord {
    let row = state_id.and_then(|id| states.iter().find(|row| row.id == id));
    JobRecord {
        id,
        state: CurrentState {
            name: state,
            id: state_id,
            since: row.map(|row| row.created_at),
            reason: row.and_then(|row| row.reason.clone()),
            unsettled: false,
        },
        invocation: Invocation::parse(
            r#"{"Type":"Bookstore.Jobs.ImportJob, Bookstore.Jobs","Method":"RunAsync"}"#,
            Some("[]"),
        ),
        arguments_bytes: None,
        created_at,
        expire_at: None,
        parameters: Vec::new(),
        duplicate_parameters: Vec::new(),
        queue_rows: Vec::new(),
        states_total: i64::try_from(states.len()).unwrap(),
        states,
        attempts_before: 0,
        continuations: Vec::new(),
    }
}

pub(super) fn given(record: JobRecord, now: &str) -> Given {
    Given {
        links: Links::new(""),
        source: "main".into(),
        record,
        recent_delays: std::sync::Arc::default(),
        servers: Vec::new(),
        queues: vec!["default".into(), "mail".into()],
        audit: Vec::new(),
        read_only: None,
        limits: Limits::default(),
        parent_state: None,
        neighbours: (None, None),
        older: None,
        claims: Ok(Vec::new()),
        now: at(now),
    }
}

/// Elements that do not break a line.
const INLINE: [&str; 10] = [
    "a", "b", "bdi", "code", "h1", "small", "span", "time", "wbr", "svg",
];

/// A rendered page.
pub(super) struct Page(Html);

impl Page {
    pub(super) fn of(given: Given) -> Self {
        let owner = Owner::new_root(None);
        let html = owner.with(|| {
            provide_context(PageContext {
                links: given.links.clone(),
                sprite: Arc::from("/assets/sprite.svg"),
                now: given.now,
            });
            job_page(JobPage::new(given)).to_html()
        });
        Self(Html::parse_fragment(&html))
    }

    fn select(&self, selector: &str) -> Vec<scraper::ElementRef<'_>> {
        self.0.select(&Selector::parse(selector).unwrap()).collect()
    }

    /// The text of each element that fits, blanks joined.
    pub(super) fn texts(&self, selector: &str) -> Vec<String> {
        let elements = self.select(selector);
        elements
            .iter()
            .map(|element| {
                let mut text = String::new();
                for node in element.descendants() {
                    match node.value() {
                        Node::Text(part) => text.push_str(part),
                        // Blocks stand apart on the page.
                        Node::Element(inner) if !INLINE.contains(&inner.name()) => text.push(' '),
                        _ => {}
                    }
                }
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            })
            .collect()
    }

    /// The text of the one element that fits.
    pub(super) fn text(&self, selector: &str) -> String {
        let mut texts = self.texts(selector);
        assert_eq!(texts.len(), 1, "{selector}: {texts:?}");
        texts.remove(0)
    }

    /// An attribute of each element that fits.
    pub(super) fn attributes(&self, selector: &str, name: &str) -> Vec<String> {
        self.select(selector)
            .iter()
            .map(|element| element.attr(name).unwrap_or("(none)").to_owned())
            .collect()
    }

    /// Number, outcome, waited, ran and backoff of each attempt, as the hooks say them.
    pub(super) fn attempts(&self) -> Vec<[String; 5]> {
        self.select("tr[data-attempt]")
            .iter()
            .map(|row| {
                [
                    "data-attempt",
                    "data-outcome",
                    "data-waited-ms",
                    "data-ran-ms",
                    "data-backoff-ms",
                ]
                .map(|name| row.attr(name).unwrap_or("(none)").to_owned())
            })
            .collect()
    }

    /// The words of the section with this heading's id.
    pub(super) fn section(&self, id: &str) -> String {
        self.text(&format!("section[aria-labelledby=\"{id}\"]"))
    }
}
