//! The collector against the oracle, on both databases.

mod database;
mod expiry;
mod faults;
mod histories;
mod index;
#[path = "../../../app/src/model/collect/tests/indexed.rs"]
mod indexed;
mod insights;
mod kept;
mod odd;
#[path = "../../../app/src/model/collect/tests/oracle.rs"]
mod oracle;
mod order;
mod parallel;
mod processes;
mod running;
mod story;

use std::collections::HashSet;
use std::sync::Arc;

use app::ports::collector::CollectorStore;
use app::ports::error::StoreError;
use serde_json::Value;
use tokio::sync::watch;

use super::{Collector, Passed};
use crate::clock::SystemClock;
use crate::source::Snapshot;
use database::Database;

/// A collector that reads so many rows at once.
fn collector(store: &Arc<dyn CollectorStore>, rows: u32) -> Collector {
    let live = watch::channel(Snapshot::default()).0;
    let mut collector = Collector::new(Arc::clone(store), Arc::new(SystemClock), live);
    collector.rows = rows;
    collector
}

/// Collects until there is nothing new and nothing is waited for.
async fn collect(collector: &mut Collector) -> Result<(), StoreError> {
    let mut idle = 0;
    while idle < 3 {
        match collector.pass().await? {
            Passed::More => idle = 0,
            Passed::Idle => idle += 1,
            Passed::Elsewhere => panic!("another process collects"),
        }
    }
    Ok(())
}

/// Everything is collected, in batches of so many rows, and is what the oracle makes of the tables.
async fn collected_is_right(database: &Database, rows: u32, what: &str) {
    collect(&mut collector(&database.store, rows))
        .await
        .unwrap();
    let wanted = database::lines(&oracle::numbers(&database.jobs().await));
    same(&database.numbers().await, &wanted, what);
    indexed_is_right(database, what).await;
}

/// The index has every job that is failed or waits for a retry, as whole histories say. Jobs that are
/// changing, or were changed by hand, are another matter.
async fn indexed_is_right(database: &Database, what: &str) {
    let jobs = database.jobs_by_id().await;
    let is_settled = |whole: &oracle::Whole| {
        let last = whole.rows.last();
        whole.job.current_row == last.map(|row| row.id)
            && whole.state.as_ref() == last.map(|row| &row.name)
    };
    let settled = jobs.iter().filter(|(_, whole)| is_settled(whole));
    let wanted = settled.filter_map(|(job, whole)| Some((*job, indexed::failure(whole)?)));
    let wanted = database::index_lines(wanted);
    let job_of = |line: &String| -> i64 {
        serde_json::from_str::<Vec<Value>>(line).unwrap()[0]
            .as_i64()
            .unwrap()
    };
    let stored = database.index().await;
    let stored: Vec<String> = stored
        .into_iter()
        .filter(|line| jobs.get(&job_of(line)).is_none_or(is_settled))
        .collect();
    same(&stored, &wanted, &format!("the index of {what}"));
}

/// Tells only what differs: there are thousands of lines.
fn same(counted: &[String], wanted: &[String], what: &str) {
    let beyond = |these: &[String], those: &[String]| -> Vec<String> {
        let those: HashSet<&String> = those.iter().collect();
        let odd = these.iter().filter(|line| !those.contains(line));
        odd.take(10).cloned().collect()
    };
    let found = [beyond(counted, wanted), beyond(wanted, counted)];
    assert_eq!(
        found,
        [Vec::<String>::new(), Vec::new()],
        "{what}: counted, and not counted"
    );
    assert_eq!(counted.len(), wanted.len(), "{what}");
}
