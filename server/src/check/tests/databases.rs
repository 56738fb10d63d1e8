//! The checks on recorded and made-up databases, in both dialects.

use std::collections::BTreeMap;

use app::model::health::{Check, Sighting};
use app::model::state::Instant;
use app::ports::health::HealthStore;
use chrono::{DateTime, TimeDelta};
use serde_json::{Value, json};

use crate::testing::fixture::Fixture;
use crate::testing::postgres::TestDatabase;
use crate::testing::sqlite::TestFile;

fn at(rfc3339: &str) -> Instant {
    DateTime::parse_from_rfc3339(rfc3339).unwrap().to_utc()
}

type Seen = BTreeMap<Check, Sighting>;

async fn look(store: &dyn HealthStore, now: Instant) -> Seen {
    let mut seen = Seen::new();
    for check in Check::ALL {
        if store.applies(check) {
            let sighting = store.look(check, now).await.unwrap();
            if sighting.count > 0 {
                seen.insert(check, sighting);
            }
        }
    }
    seen
}

/// What both dialects see in a fixture at several moments. Lock rows have another shape on
/// `SQLite`: `locks` are given as resource and time of expiry.
async fn seen_on_both(
    fixture: &Fixture,
    locks: &[(&str, Instant)],
    moments: &[Instant],
) -> Vec<Seen> {
    let file = TestFile::with(fixture).await;
    for (resource, expire_at) in locks {
        let ticks = (expire_at.timestamp_micros() + 62_135_596_800_000_000) * 10;
        file.run(&format!(
            "INSERT INTO DistributedLock (Id, Resource, ResourceKey, ExpireAt) \
             VALUES ('{resource}', '{resource}', 'k', {ticks})"
        ))
        .await;
    }
    let mut all = Vec::new();
    for now in moments {
        all.push(look(&file.store, *now).await);
    }
    if let Some(database) = TestDatabase::with(fixture).await {
        let store = database.store();
        for (now, on_sqlite) in moments.iter().zip(&all) {
            let mut on_postgres = look(&store, *now).await;
            // Only one of them knows since when the scheduler's lock is there.
            if let (Some(here), Some(there)) = (
                on_postgres.get_mut(&Check::OverdueSchedule),
                on_sqlite.get(&Check::OverdueSchedule),
            ) {
                if let Some(detail) = &here.detail {
                    assert!(detail.contains("has been there since"), "{detail}");
                }
                assert_eq!(here.detail.is_some(), there.detail.is_some());
                here.detail.clone_from(&there.detail);
            }
            assert_eq!(&on_postgres, on_sqlite, "at {now}");
        }
        store.close().await;
    }
    all
}

fn expected(found: &[(Check, i64, &[&str])]) -> BTreeMap<Check, (i64, Vec<String>)> {
    found
        .iter()
        .map(|(check, count, examples)| {
            let examples = examples.iter().map(|text| (*text).to_owned()).collect();
            (*check, (*count, examples))
        })
        .collect()
}

fn short(seen: &Seen) -> BTreeMap<Check, (i64, Vec<String>)> {
    seen.iter()
        .map(|(check, sighting)| (*check, (sighting.count, sighting.examples.clone())))
        .collect()
}

#[tokio::test]
async fn the_stuck_scheduler_is_seen_with_what_it_holds_up() {
    let fixture = Fixture::named("mixed");
    // The recording ended at 19:14:16.757; 94 members were due by then.
    let end = at("2026-11-29T19:14:16.757765Z");
    let mut due: Vec<(i64, String)> = fixture.tables["set"]
        .iter()
        .filter(|member| member["key"] == "schedule")
        .map(|member| {
            let value = member["value"].as_str().unwrap().to_owned();
            (member["score"].as_i64().unwrap(), value)
        })
        .filter(|(score, _)| *score <= end.timestamp())
        .collect();
    due.sort();
    assert_eq!(due.len(), 94);
    let oldest: Vec<&str> = due
        .iter()
        .take(5)
        .map(|(_, value)| value.as_str())
        .collect();
    let lock = "hangfire:locks:schedulepoller";
    let locks = [(lock, at("2026-11-29T19:14:00Z"))];
    let moments = [end, end + TimeDelta::minutes(1)];
    let seen = seen_on_both(&fixture, &locks, &moments).await;
    assert_eq!(
        short(&seen[0]),
        expected(&[]),
        "nothing is a minute late yet"
    );
    assert_eq!(
        short(&seen[1]),
        expected(&[
            (Check::OverdueSchedule, 94, &oldest),
            (Check::OldLock, 1, &[lock]),
        ])
    );
    let detail = seen[1][&Check::OverdueSchedule].detail.as_deref().unwrap();
    assert!(detail.contains(lock), "{detail}");
}

#[tokio::test]
async fn killed_servers_leave_jobs_queues_and_locks() {
    let fixture = Fixture::named("stuck");
    let lock = "hangfire:ReportJobs.ExclusiveAsync";
    let locks = [(lock, at("2026-11-29T18:56:39Z"))];
    let moments = [at("2026-11-29T18:57:40Z"), at("2026-11-29T19:10:00Z")];
    let seen = seen_on_both(&fixture, &locks, &moments).await;
    assert_eq!(
        short(&seen[0]),
        expected(&[
            (Check::UnservedQueue, 1, &["nobody (1)"]),
            (Check::OldLock, 1, &[lock]),
        ]),
        "the servers' heartbeats are only a minute old"
    );
    assert_eq!(
        short(&seen[1]),
        expected(&[
            (Check::ProcessingWithoutServer, 1, &["2"]),
            (Check::UnservedQueue, 1, &["nobody (1)"]),
            (Check::OldLock, 1, &[lock]),
            (
                Check::SilentServer,
                2,
                &[
                    "bookstore-1:18216:6a41255a-3d4a-49b1-a694-27595c55986d",
                    "bookstore-2:18289:41ad9a58-0afa-451c-9dd2-799a4e285843",
                ]
            ),
        ])
    );
    assert_eq!(
        seen[1][&Check::UnservedQueue].detail.as_deref(),
        Some("No server of this database is alive.")
    );

    let workers = seen_on_both(
        &Fixture::named("workers"),
        &[],
        &[at("2026-11-29T18:58:00Z")],
    )
    .await;
    let mut found = short(&workers[0]);
    assert_eq!(found.remove(&Check::SilentServer).unwrap().0, 2);
    assert_eq!(
        found,
        expected(&[
            (Check::ProcessingWithoutServer, 2, &["4", "5"]),
            (Check::UnservedQueue, 1, &["default (1)"]),
        ])
    );
}

#[tokio::test]
async fn continuations_and_recurring_jobs_that_stand_still_are_seen() {
    let seen = seen_on_both(
        &Fixture::named("continuations"),
        &[],
        &[at("2026-11-29T19:35:30Z")],
    )
    .await;
    assert_eq!(
        short(&seen[0]),
        expected(&[(Check::AwaitingFailedParent, 3, &["6", "7", "8"])])
    );
    let seen = seen_on_both(
        &Fixture::named("recurring"),
        &[],
        &[at("2026-11-29T19:36:30Z")],
    )
    .await;
    assert_eq!(
        short(&seen[0]),
        expected(&[(Check::RecurringStopped, 1, &["renamed"])])
    );
}

#[tokio::test]
async fn nothing_is_seen_where_nothing_is_wrong() {
    for (folder, now) in [
        ("article", "2026-11-29T18:46:31Z"),
        ("operators", "2026-11-29T19:34:30Z"),
        ("policies", "2026-11-29T18:45:10Z"),
    ] {
        let fixture = Fixture::named(folder);
        let last = fixture
            .servers
            .iter()
            .map(|server| server.lastheartbeat)
            .max();
        let now = last.map_or_else(|| at(now), |last| last + TimeDelta::seconds(10));
        let seen = seen_on_both(&fixture, &[], &[now]).await;
        assert_eq!(short(&seen[0]), expected(&[]), "{folder}");
    }
    let empty = Fixture::of(BTreeMap::new());
    assert_eq!(
        seen_on_both(&empty, &[], &[at("2026-11-29T12:00:00Z")]).await[0],
        Seen::new()
    );
}

/// One job per fault, all written so many seconds before noon.
fn faults(age: i64) -> Fixture {
    let then = (at("2026-11-29T12:00:00Z") - TimeDelta::seconds(age)).to_rfc3339();
    let mut tables: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut job = |id: i64, state: Option<&str>, data: Value| {
        tables.entry("job".into()).or_default().push(json!({
            "id": id, "stateid": state.map(|_| id), "statename": state, "updatecount": 0,
            "invocationdata": {"Type": "Bookstore.Jobs.X, Bookstore.Jobs", "Method": "RunAsync"},
            "arguments": [], "createdat": then, "expireat": null,
        }));
        if let Some(name) = state {
            tables.entry("state".into()).or_default().push(json!({
                "id": id, "jobid": id, "name": name, "reason": null, "createdat": then,
                "data": data, "updatecount": 0,
            }));
        }
    };
    job(1, Some("Enqueued"), json!({"Queue": "default"}));
    job(2, Some("Scheduled"), json!({}));
    job(3, Some("Enqueued"), json!({"Queue": "default"}));
    job(4, Some("Awaiting"), json!({"ParentId": "99"}));
    job(5, Some("Awaiting"), json!({"ParentId": "6"}));
    job(6, Some("Succeeded"), json!({}));
    job(7, None, json!({}));
    job(8, Some("Processing"), json!({"ServerId": "gone-1:1:a"}));
    // Due, in its own queue already: Scheduled without a member is right.
    job(9, Some("Scheduled"), json!({}));
    // Awaiting a parent that still runs is right.
    job(10, Some("Awaiting"), json!({"ParentId": "8"}));
    let queue = [
        (3, "default"),
        (3, "default"),
        (6, "default"),
        (9, "default"),
        (77, "default"),
    ];
    let queue = queue.iter().enumerate().map(|(index, (job, queue))| {
        json!({"id": index + 1, "jobid": job, "queue": queue, "fetchedat": null, "updatecount": 0})
    });
    tables.insert("jobqueue".into(), queue.collect());
    let members = [
        ("awaiting", "4"),
        ("awaiting", "5"),
        ("awaiting", "10"),
        ("retries", "6"),
        ("schedule", "critical:88"),
    ];
    let members = members.iter().enumerate().map(|(index, (key, value))| {
        json!({"id": index + 1, "key": key, "score": 4_000_000_000_i64, "value": value, "expireat": null, "updatecount": 0})
    });
    tables.insert("set".into(), members.collect());
    tables.insert(
        "server".into(),
        vec![json!({
            "id": "app-1:10:a", "lastheartbeat": "2026-11-29T11:59:50+00:00", "updatecount": 0,
            "data": {"WorkerCount": 2, "Queues": ["default"], "StartedAt": "27.03.2026 07:30:00"},
        })],
    );
    Fixture::of(tables)
}

#[tokio::test]
async fn every_other_fault_is_seen_once_it_is_old_enough() {
    let noon = [at("2026-11-29T12:00:00Z")];
    // Seen at once: these are never right, however young.
    let at_once: [(Check, i64, &[&str]); 4] = [
        (Check::SeveralQueueRows, 1, &["3"]),
        (Check::QueueRowWithoutJob, 1, &["77 in default"]),
        (Check::MemberWithoutJob, 1, &["schedule: critical:88"]),
        (
            Check::OddServerStart,
            1,
            &["app-1:10:a: 27.03.2026 07:30:00"],
        ),
    ];
    let young = &seen_on_both(&faults(30), &[], &noon).await[0];
    assert_eq!(short(young), expected(&at_once));
    let old = &seen_on_both(&faults(400), &[], &noon).await[0];
    let mut all = expected(&at_once);
    all.extend(expected(&[
        (Check::EnqueuedWithoutQueueRow, 1, &["1"]),
        (Check::ScheduledWithoutMember, 1, &["2"]),
        (Check::ProcessingWithoutServer, 1, &["8"]),
        (Check::AwaitingFinishedParent, 2, &["4", "5"]),
        (Check::WithoutState, 1, &["7"]),
        (Check::QueueRowOfFinishedJob, 1, &["6 in default"]),
        (
            Check::MemberWithoutJob,
            2,
            &["retries: 6", "schedule: critical:88"],
        ),
    ]));
    assert_eq!(short(old), all);
    // Between a minute and five, a job may still be being created.
    let between = &seen_on_both(&faults(200), &[], &noon).await[0];
    all.remove(&Check::WithoutState);
    assert_eq!(short(between), all);
}

#[tokio::test]
async fn a_job_left_between_two_states_is_seen_on_sqlite() {
    let file = TestFile::with(&faults(30)).await;
    file.run("INSERT INTO State (JobId, Name, CreatedAt, Data) SELECT 8, 'Failed', CreatedAt, '{}' FROM State WHERE Id = 8")
        .await;
    let noon = at("2026-11-29T12:00:00Z");
    let young = file.store.look(Check::Unsettled, noon).await.unwrap();
    assert_eq!(young.count, 0);
    let later = file
        .store
        .look(Check::Unsettled, noon + TimeDelta::minutes(2))
        .await
        .unwrap();
    assert_eq!((later.count, later.examples), (1, vec!["8".to_owned()]));
}

#[tokio::test]
async fn the_demo_shows_the_faults_that_are_told_in_it_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("demo.db");
    let now = at("2026-11-27T14:05:48Z");
    let demo = crate::bookstore::scenario(1, 1_000, now);
    let clock: crate::clock::SharedClock = std::sync::Arc::new(crate::clock::SystemClock);
    crate::bookstore::write(&path, 1, &demo, std::sync::Arc::clone(&clock))
        .await
        .unwrap();
    let store = crate::store::sqlite::SqliteStore::open(&path, clock)
        .await
        .unwrap();
    let counts: BTreeMap<Check, i64> = look(&store, now)
        .await
        .into_iter()
        .map(|(check, sighting)| (check, sighting.count))
        .collect();
    assert_eq!(
        counts,
        BTreeMap::from([
            (Check::ProcessingWithoutServer, 3),
            (Check::UnservedQueue, 3),
            (Check::AwaitingFailedParent, 3),
            (Check::RecurringStopped, 1),
            (Check::SilentServer, 1),
        ])
    );
}
