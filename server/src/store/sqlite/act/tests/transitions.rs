//! The rows that the official dashboard's own actions write, reproduced.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use sqlx::Row as _;

use super::*;
use crate::testing::fixture::fixtures;

type Tables = BTreeMap<String, Vec<Map<String, Value>>>;

/// Every row of Hangfire's tables.
async fn snapshot(file: &TestFile) -> Tables {
    let mut connection = file.connect().await;
    let mut tables = Tables::new();
    for table in [
        "Job",
        "State",
        "JobParameter",
        "JobQueue",
        "Set",
        "Hash",
        "List",
        "Counter",
        "AggregatedCounter",
        "DistributedLock",
    ] {
        let columns: Vec<String> = sqlx::query("SELECT name FROM pragma_table_info(?)")
            .bind(table)
            .fetch_all(&mut connection)
            .await
            .unwrap()
            .iter()
            .map(|row| row.get(0))
            .collect();
        let pairs: Vec<String> = columns.iter().map(|c| format!("'{c}', \"{c}\"")).collect();
        let sql = format!("SELECT json_object({}) FROM \"{table}\"", pairs.join(", "));
        let found = sqlx::query(AssertSqlSafe(sql))
            .fetch_all(&mut connection)
            .await
            .unwrap();
        let rows = found
            .iter()
            .map(|row| serde_json::from_str(&row.get::<String, _>(0)).unwrap());
        tables.insert(table.to_owned(), rows.collect());
    }
    tables
}

/// The rows of one that are not in the other, without what is never the same twice: ids of new
/// rows, clocks, and the words of the reason.
fn only_in(one: &Tables, other: &Tables) -> Vec<String> {
    let mut lines: Vec<String> = one
        .iter()
        .flat_map(|(table, rows)| {
            rows.iter()
                .filter(|row| !other.get(table).is_some_and(|rows| rows.contains(row)))
                .map(move |row| line(table, row))
        })
        .collect();
    lines.sort();
    lines
}

fn line(table: &str, row: &Map<String, Value>) -> String {
    let mut row = row.clone();
    if table != "Job" {
        row.remove("Id");
    }
    for (column, value) in &mut row {
        match (column.as_str(), &*value) {
            ("ExpireAt", Value::Number(ticks)) => *value = Value::from(ticks.as_i64() != Some(0)),
            ("CreatedAt", _) if table == "State" => *value = Value::Null,
            ("Data", Value::String(data)) => {
                let mut data: Map<String, Value> = serde_json::from_str(data).unwrap();
                data.retain(|key, _| !key.ends_with("At"));
                *value = Value::from(data);
            }
            ("Reason", Value::String(reason))
                if reason == "Triggered via Dashboard UI" || reason.contains(" via Redrive") =>
            {
                *value = Value::from("an operator's");
            }
            ("Key", Value::String(key)) if key.starts_with("stats:") => {
                // The day and the hour are the clock's.
                let shape: String = key
                    .chars()
                    .map(|c| if c.is_ascii_digit() { '0' } else { c })
                    .collect();
                *value = Value::from(shape);
            }
            _ => {}
        }
    }
    format!("{table} {}", Value::from(row))
}

async fn is_reproduced(name: &str) {
    let text = std::fs::read_to_string(fixtures().join(format!("transitions-sqlite/{name}.json")));
    let recorded: Value = serde_json::from_str(&text.unwrap()).unwrap();
    let job: i64 = recorded["job"].as_str().unwrap().parse().unwrap();
    let tables = |key: &str| -> Tables { serde_json::from_value(recorded[key].clone()).unwrap() };
    let (mut removed, mut added) = (
        only_in(&tables("removed"), &Tables::new()),
        only_in(&tables("added"), &Tables::new()),
    );

    let file = TestFile::recorded("transitions-sqlite/base.db").await;
    let action = match name {
        name if name.starts_with("delete") => Action::Delete,
        name if name.starts_with("enqueue-now") => Action::EnqueueNow(Enqueue::default()),
        _ => requeue(),
    };
    let before = snapshot(&file).await;
    let outcome = act(&file.store, job, action).await;
    assert!(
        matches!(outcome, Outcome::Done { .. }),
        "{name}: {outcome:?}"
    );
    let after = snapshot(&file).await;
    let (mut lost, mut won) = (only_in(&before, &after), only_in(&after, &before));

    match name {
        // The official dashboard lets the old rows of a living job expire; Redrive does not.
        "requeue-succeeded" | "requeue-deleted" => {
            let kept = |line: &String| {
                line.starts_with("JobParameter")
                    || (line.starts_with("State") && !line.contains("an operator's"))
            };
            let is_new = |line: &String| !kept(line);
            let cleared: Vec<String> = lost
                .iter()
                .filter(|line| kept(line))
                .map(|line| {
                    assert!(line.contains("\"ExpireAt\":true"), "{line}");
                    line.replace("\"ExpireAt\":true", "\"ExpireAt\":false")
                })
                .collect();
            assert_eq!(
                cleared,
                won.iter()
                    .filter(|line| kept(line))
                    .cloned()
                    .collect::<Vec<_>>()
            );
            lost.retain(is_new);
            won.retain(is_new);
        }
        // The official dashboard leaves the row that the dead worker took, so the job may run twice.
        "requeue-processing" => {
            let taken = lost
                .iter()
                .position(|line| line.starts_with("JobQueue"))
                .unwrap();
            assert!(lost.remove(taken).contains("\"JobId\":12"));
        }
        _ => {}
    }
    removed.sort();
    added.sort();
    assert_eq!(lost, removed, "{name}: removed");
    assert_eq!(won, added, "{name}: added");

    let expiring = format!(
        "SELECT (SELECT ExpireAt > 0 FROM Job WHERE Id = {job}), \
         (SELECT count(*) FROM State WHERE JobId = {job} AND (ExpireAt > 0) <> (SELECT ExpireAt > 0 FROM Job WHERE Id = {job})), \
         (SELECT count(*) FROM JobParameter WHERE JobId = {job} AND (ExpireAt > 0) <> (SELECT ExpireAt > 0 FROM Job WHERE Id = {job}))"
    );
    let is_final = i32::from(name.starts_with("delete"));
    assert_eq!(
        rows(&file, &expiring).await,
        [format!("{is_final}|0|0")],
        "{name}"
    );
}

#[tokio::test]
async fn what_the_official_dashboard_writes_is_written() {
    let mut names: Vec<String> = std::fs::read_dir(fixtures().join("transitions-sqlite"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .filter(|name| name != "jobs")
        .collect();
    names.sort();
    assert_eq!(names.len(), 16);
    for name in names {
        is_reproduced(&name).await;
    }
}
