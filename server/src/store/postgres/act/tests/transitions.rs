//! The rows that the official dashboard's own actions wrote, reproduced: ids, clocks and reasons
//! aside. Where we differ on purpose, the test says why.

use serde_json::json;

use super::*;

/// Rows taken away and rows added, made comparable and sorted.
type Difference = (Vec<String>, Vec<String>);

/// What the dashboard's action changed.
fn recorded(name: &str) -> Difference {
    let text = std::fs::read_to_string(fixtures().join(format!("transitions/{name}.json")));
    let recorded: Value = serde_json::from_str(&text.unwrap()).unwrap();
    let side = |key: &str| -> BTreeMap<String, Vec<Value>> {
        serde_json::from_value(recorded[key].clone()).unwrap()
    };
    comparable(side("removed"), side("added"))
}

/// What changed between two looks.
fn difference(
    before: &BTreeMap<String, Vec<Value>>,
    after: &BTreeMap<String, Vec<Value>>,
) -> Difference {
    let less = |all: &BTreeMap<String, Vec<Value>>, other: &BTreeMap<String, Vec<Value>>| {
        all.iter()
            .map(|(table, rows)| {
                let gone = rows.iter().filter(|row| !other[table].contains(row));
                (table.clone(), gone.cloned().collect())
            })
            .collect()
    };
    comparable(less(before, after), less(after, before))
}

fn comparable(
    removed: BTreeMap<String, Vec<Value>>,
    added: BTreeMap<String, Vec<Value>>,
) -> Difference {
    let acted_at = added
        .get("state")
        .and_then(|rows| rows.first())
        .map(|row| time(&row["createdat"]));
    let side = |tables: BTreeMap<String, Vec<Value>>, new: bool| {
        let mut lines: Vec<String> = tables
            .into_iter()
            .flat_map(|(table, rows)| {
                rows.into_iter()
                    .map(move |row| line(&table, row, new.then_some(acted_at).flatten()))
            })
            .collect();
        lines.sort();
        lines
    };
    (side(removed, false), side(added, true))
}

fn time(value: &Value) -> chrono::DateTime<chrono::Utc> {
    chrono::DateTime::parse_from_rfc3339(value.as_str().unwrap())
        .unwrap()
        .to_utc()
}

/// One row; of rows that an action wrote, without ids, clocks and reasons.
fn line(table: &str, mut row: Value, acted_at: Option<chrono::DateTime<chrono::Utc>>) -> String {
    // Layouts before version 20 keep JSON as text.
    for column in ["data", "arguments", "invocationdata"] {
        if let Some(text) = row[column].as_str() {
            row[column] = serde_json::from_str(text).unwrap();
        }
    }
    let Some(acted_at) = acted_at else {
        if table == "job" {
            row["expireat"] = json!(!row["expireat"].is_null());
        }
        row["createdat"] = Value::Null;
        return format!("{table} {row}");
    };
    if table == "job" {
        row["stateid"] = json!("new");
    } else {
        row["id"] = json!("new");
    }
    row["createdat"] = Value::Null;
    if !row["expireat"].is_null() {
        let hours = (time(&row["expireat"]) - acted_at).num_minutes() + 1;
        row["expireat"] = match hours / (24 * 60) {
            1 => json!("a day"),
            28..=31 => json!("a month"),
            days => json!(days),
        };
    }
    match table {
        "state" => {
            row["reason"] = Value::Null;
            for key in ["EnqueuedAt", "DeletedAt"] {
                if row["data"].get(key).is_some() {
                    row["data"][key] = json!("now");
                }
            }
        }
        "counter" => {
            let key = row["key"].as_str().unwrap();
            let parts = key.split(':').collect::<Vec<_>>();
            if let [stats, name, time] = parts[..] {
                let unit = if time.len() == 10 { "day" } else { "hour" };
                row["key"] = json!(format!("{stats}:{name}:{unit}"));
            }
        }
        _ => {}
    }
    format!("{table} {row}")
}

/// Does an action on a fresh copy of the recorded database: its outcome, and what it changed.
async fn on_base(version: u32, job: i64, action: Action) -> Option<(Outcome, Difference)> {
    let database = base(version).await?;
    let before = snapshot(&database).await;
    let outcome = act(&database, job, action).await;
    let after = snapshot(&database).await;
    Some((outcome, difference(&before, &after)))
}

async fn reproduces(version: u32, cases: &[(&str, i64, Action)]) {
    for (name, job, action) in cases {
        let Some((outcome, changed)) = on_base(version, *job, action.clone()).await else {
            return;
        };
        done(&outcome);
        assert_eq!(
            changed,
            recorded(name),
            "{name} on schema version {version}"
        );
    }
}

fn same() -> Vec<(&'static str, i64, Action)> {
    vec![
        ("requeue-failed", 1, requeue()),
        ("requeue-failed-after-retries", 2, requeue()),
        ("requeue-failed-own-queue", 3, requeue()),
        ("requeue-succeeded", 9, requeue()),
        ("requeue-deleted", 10, requeue()),
        ("enqueue-now-scheduled", 11, enqueue_now()),
        ("enqueue-now-scheduled-own-queue", 12, enqueue_now()),
        ("enqueue-now-retrying", 15, enqueue_now()),
        ("enqueue-now-awaiting", 6, enqueue_now()),
        ("delete-failed", 1, Action::Delete),
        ("delete-failed-with-continuations", 5, Action::Delete),
        ("delete-scheduled", 11, Action::Delete),
        ("delete-scheduled-own-queue", 12, Action::Delete),
        ("delete-retrying", 15, Action::Delete),
        ("delete-enqueued", 13, Action::Delete),
        ("delete-processing", 14, Action::Delete),
        ("delete-awaiting", 6, Action::Delete),
        ("delete-succeeded", 9, Action::Delete),
    ]
}

#[tokio::test]
async fn eighteen_actions_leave_the_same_rows() {
    assert_eq!(same().len(), 18);
    reproduces(23, &same()).await;
}

#[tokio::test]
async fn older_layouts_get_the_same_rows() {
    for version in [19, 20, 22] {
        let cases: Vec<_> = same()
            .into_iter()
            .filter(|(name, ..)| {
                [
                    "requeue-failed-own-queue",
                    "delete-failed-with-continuations",
                ]
                .contains(name)
            })
            .collect();
        reproduces(version, &cases).await;
    }
}

#[tokio::test]
async fn layouts_that_are_not_known_are_refused() {
    let Some((outcome, changed)) = on_base(18, 1, requeue()).await else {
        return;
    };
    assert!(refused(&outcome).contains("version 18"));
    assert_eq!(changed, Difference::default());

    let database = base(23).await.unwrap();
    database
        .execute("UPDATE hangfire.schema SET version = 24")
        .await;
    let outcome = act(&database, 1, requeue()).await;
    assert!(refused(&outcome).contains("version 24"));
}

/// The official dashboard puts a job that came from `reports` on `default`; we keep its queue.
#[tokio::test]
async fn a_requeued_job_goes_back_to_its_queue() {
    let Some((outcome, changed)) = on_base(23, 4, requeue()).await else {
        return;
    };
    done(&outcome);
    let (removed, added) = recorded("requeue-failed-other-queue");
    let kept: Vec<String> = added
        .iter()
        .map(|line| line.replace(r#"ueue":"default""#, r#"ueue":"reports""#))
        .collect();
    assert_ne!(kept, added);
    assert_eq!(changed, (removed, kept));
}

/// The official dashboard gives an enqueued job a second queue row, so that it runs twice.
#[tokio::test]
async fn an_enqueued_job_is_not_queued_twice() {
    let Some((outcome, changed)) = on_base(23, 13, requeue()).await else {
        return;
    };
    assert!(refused(&outcome).contains("queued already, on nobody"));
    assert_eq!(changed, Difference::default());
}

/// The official dashboard leaves the queue row that the dead server took: the job runs again when
/// it is handed out after half an hour. We take it away (routes `processing/requeue` and
/// `actions/requeue` write the same rows).
#[tokio::test]
async fn a_job_of_a_dead_server_is_requeued_with_one_queue_row() {
    let Some((outcome, changed)) = on_base(23, 14, requeue()).await else {
        return;
    };
    done(&outcome);
    assert_eq!(
        recorded("requeue-processing"),
        recorded("requeue-processing-from-details")
    );
    let (mut removed, added) = recorded("requeue-processing");
    let (gone, new) = changed;
    assert_eq!(new, added);
    let old_row: Vec<&String> = gone.iter().filter(|line| !removed.contains(line)).collect();
    assert_eq!(old_row.len(), 1);
    assert!(old_row[0].starts_with("jobqueue ") && old_row[0].contains(r#""id":13"#));
    removed.push(old_row[0].clone());
    removed.sort();
    assert_eq!(gone, removed);
}

/// The official dashboard requeues a job that runs, and it runs twice; we refuse.
#[tokio::test]
async fn a_job_that_runs_is_not_requeued() {
    let Some(database) = base(23).await else {
        return;
    };
    database
        .execute("UPDATE hangfire.server SET lastheartbeat = now()")
        .await;
    let before = snapshot(&database).await;
    let outcome = act(&database, 14, requeue()).await;
    assert!(refused(&outcome).contains("server bookstore-1:14688"));
    assert_eq!(snapshot(&database).await, before);
}

/// The official dashboard deletes a deleted job again and counts it twice.
#[tokio::test]
async fn a_deleted_job_is_not_deleted_again() {
    let Some((outcome, changed)) = on_base(23, 10, Action::Delete).await else {
        return;
    };
    assert_eq!(refused(&outcome), "It is deleted already.");
    assert_eq!(changed, Difference::default());
}

/// The official dashboard answers 204 though nothing was done; we say what is there.
#[tokio::test]
async fn a_failed_job_seen_as_succeeded_has_moved() {
    let Some(database) = base(23).await else {
        return;
    };
    let before = snapshot(&database).await;
    let outcome = store(&database)
        .act(SystemClock.new_id(), &request(1, "Succeeded", 8, requeue()))
        .await
        .unwrap();
    let Outcome::Moved { from, to, at, .. } = outcome else {
        panic!("not moved: {outcome:?}");
    };
    assert_eq!((from, to), (StateName::Succeeded, Some(StateName::Failed)));
    assert_eq!(at.unwrap().to_rfc3339(), "2026-11-29T19:37:30.309350+00:00");
    assert_eq!(snapshot(&database).await, before);
    assert_eq!(
        recorded("refused-requeue-failed-job-as-succeeded"),
        Difference::default()
    );
}
