//! Rows that nobody should have written: each is taken as it is, and none stops the others.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use app::model::collect::hour;
use app::model::insights::Scope;
use app::model::state::Instant;

use super::database::{Database, lines};
use super::{Passed, collect, collected_is_right, collector, oracle, same, story};
use crate::store::sqlite::ticks;
use crate::testing::fixture::Fixture;

fn at(rfc3339: &str) -> Instant {
    chrono::DateTime::parse_from_rfc3339(rfc3339)
        .unwrap()
        .to_utc()
}

/// Statements in both dialects.
#[derive(Default)]
struct Both {
    postgres: String,
    sqlite: String,
}

impl Both {
    fn job(&mut self, id: i64, invocation: &str, created: Instant) {
        write!(
            self.postgres,
            "INSERT INTO hangfire.job (id, statename, invocationdata, arguments, createdat) \
             VALUES ({id}, 'Failed', '{}', '[]', '{}');",
            // A column of JSON holds what is JSON only.
            if invocation.starts_with('{') {
                invocation
            } else {
                "7"
            },
            created.to_rfc3339(),
        )
        .unwrap();
        write!(
            self.sqlite,
            "INSERT INTO Job (Id, StateName, InvocationData, Arguments, CreatedAt) \
             VALUES ({id}, 'Failed', '{invocation}', '[]', {});",
            ticks::ticks(created)
        )
        .unwrap();
    }

    fn row(&mut self, job: i64, name: &str, created: Instant, data: &str) {
        write!(
            self.postgres,
            "INSERT INTO hangfire.state (jobid, name, createdat, data) \
             VALUES ({job}, '{name}', '{}', '{}');",
            created.to_rfc3339(),
            if data.starts_with(['{', '[']) {
                data
            } else {
                "7"
            },
        )
        .unwrap();
        write!(
            self.sqlite,
            "INSERT INTO State (JobId, Name, CreatedAt, Data) \
             VALUES ({job}, '{name}', {}, '{data}');",
            ticks::ticks(created)
        )
        .unwrap();
    }

    async fn run(&self, database: &Database) {
        database.execute(&self.postgres, &self.sqlite).await;
    }
}

const CALL: &str = r#"{"Type":"A.B, C","Method":"Go"}"#;

/// Times of other centuries, data that are no JSON, jobs that are not there, states of other names.
#[tokio::test]
async fn odd_rows_are_taken_as_they_are() {
    let (past, future, now) = (
        at("1902-04-27T10:40:00Z"),
        at("9998-10-19T13:20:00Z"),
        at("2026-11-29T19:45:00Z"),
    );
    let mut rows = Both::default();
    rows.postgres += "ALTER TABLE hangfire.state DROP CONSTRAINT state_jobid_fkey;";
    rows.job(1, CALL, past);
    rows.job(2, CALL, future);
    rows.job(3, "no JSON", now);
    for (id, begin) in [(1, past), (2, future), (3, now), (4, now)] {
        let later = |ms| begin + chrono::TimeDelta::milliseconds(ms);
        rows.row(id, "Enqueued", later(0), "{}");
        rows.row(id, "Processing", later(1), "no JSON");
        rows.row(id, "Failed", later(2), "[1]");
    }
    rows.row(3, "Parked", now, "{}");
    rows.postgres += "INSERT INTO hangfire.state (jobid, name, createdat) \
         VALUES (3, '', 'infinity'), (3, 'Enqueued', '-infinity');";
    rows.sqlite +=
        "INSERT INTO State (JobId, Name, CreatedAt, Data) VALUES (NULL, NULL, NULL, NULL);";
    for database in Database::both(&Fixture::of(BTreeMap::new())).await {
        rows.run(&database).await;
        collect(&mut collector(&database.store, 4)).await.unwrap();
        // Jobs 1 to 4 each had an attempt. Job 3 does not say what it calls, and job 4 is not there.
        let numbers = database.numbers().await;
        let attempts: Vec<&String> = numbers
            .iter()
            .filter(|line| line.starts_with("attempts"))
            .collect();
        let name = database.name();
        assert_eq!(attempts.len(), 4, "{name}: {attempts:#?}");
        let unknown = attempts.iter().filter(|line| line.contains("unknown type"));
        assert_eq!(unknown.count(), 2, "{name}: {attempts:#?}");
        for when in [past, future, now] {
            let hour = format!("\"hour\":{},", hour(when));
            assert!(
                attempts.iter().any(|line| line.contains(&hour)),
                "{hour} on {name}: {attempts:#?}"
            );
        }
    }
}

/// Somebody wrote a row with an id of his own choice, far above the others. Those that come after
/// it with lower ids are read all the same, and more of them than one batch holds; and when it goes
/// away, nobody takes the database for another one.
#[tokio::test]
async fn rows_below_an_id_far_out_are_counted() {
    for database in Database::both(&story::jobs(60, 20)).await {
        let name = database.name();
        let mut collector = collector(&database.store, 10);
        collect(&mut collector).await.unwrap();
        database
            .execute(
                "INSERT INTO hangfire.state (id, jobid, name, createdat, data) \
                   VALUES (9000000000000000000, 1, 'Enqueued', now(), '{}'); \
                 UPDATE hangfire.job SET statename = 'Enqueued', stateid = 9000000000000000000 \
                   WHERE id = 1",
                "INSERT INTO State (Id, JobId, Name, CreatedAt, Data) VALUES \
                   (9000000000000000000, 1, 'Enqueued', 639315783000000000, '{}'); \
                 UPDATE Job SET StateName = 'Enqueued' WHERE Id = 1",
            )
            .await;
        collect(&mut collector).await.unwrap();
        let position = collector.position.clone().unwrap();
        assert_eq!(position.watermark, 9_000_000_000_000_000_000, "{name}");
        // Sixty more rows, of ten new jobs and of job 1.
        let mut rows = Both::default();
        for job in 901..=910 {
            let now = at("2026-11-29T19:45:00Z");
            rows.job(job, CALL, now);
            for (state, data) in [
                ("Enqueued", r#"{"Queue":"q"}"#),
                ("Processing", "{}"),
                ("Failed", r#"{"ExceptionType":"E"}"#),
            ] {
                rows.row(job, state, now, data);
                rows.row(1, state, now, data);
            }
        }
        rows.postgres += "UPDATE hangfire.job SET stateid = (SELECT max(s.id) \
             FROM hangfire.state s WHERE s.jobid = job.id) WHERE id > 900";
        rows.sqlite += "UPDATE Job SET StateName = 'Failed' WHERE Id = 1";
        rows.run(&database).await;
        collector.rows = 10;
        assert_eq!(collector.pass().await.unwrap(), Passed::More, "{name}");
        collector.rows = 10;
        collect(&mut collector).await.unwrap();
        let wanted = lines(&oracle::numbers(&database.jobs().await));
        same(&database.numbers().await, &wanted, name);
        database
            .execute(
                "DELETE FROM hangfire.state WHERE id = 9000000000000000000",
                "DELETE FROM State WHERE Id = 9000000000000000000",
            )
            .await;
        collect(&mut collector).await.unwrap();
        assert_eq!(collector.position.as_ref().unwrap().epoch, 0, "{name}");
    }
}

/// Names longer than anybody reads are counted under their beginning, and found by the whole name.
#[tokio::test]
async fn names_of_four_kilobytes_are_counted() {
    let now = at("2026-11-29T19:45:00Z");
    // Letters of four bytes each, none of which comes twice in a row.
    let name = |first: u32| -> String {
        (0..1_000_u32)
            .filter_map(|n| char::from_u32(0x1_0000 + first + n * 7 % 1_000))
            .collect()
    };
    let (job_type, method, queue, exception) = (name(0), name(1_000), name(2_000), name(3_000));
    assert_eq!(job_type.len(), 4_000);
    let mut rows = Both::default();
    let call = format!(r#"{{"Type":"{job_type}, C","Method":"{method}"}}"#);
    rows.job(1, &call, now);
    rows.row(1, "Enqueued", now, &format!(r#"{{"Queue":"{queue}"}}"#));
    rows.row(1, "Processing", now, "{}");
    let failed = format!(r#"{{"ExceptionType":"{exception}"}}"#);
    rows.row(1, "Failed", now, &failed);
    rows.postgres += "UPDATE hangfire.job SET stateid = (SELECT max(id) FROM hangfire.state);";
    for database in Database::both(&Fixture::of(BTreeMap::new())).await {
        rows.run(&database).await;
        collected_is_right(&database, 10, database.name()).await;
        let scope = Scope {
            from: hour(now),
            to: hour(now) + 1,
            job_type: Some(job_type.clone()),
            method: Some(method.clone()),
            queue: Some(queue.clone()),
        };
        let store = database.insights();
        assert_eq!(store.attempts(&scope).await.unwrap().len(), 1);
        let recovery = store.recovery(&scope).await.unwrap();
        assert!(exception.starts_with(recovery[0].exception.trim_end_matches('\u{2026}')));
        assert_eq!(recovery[0].sums.gave_up, 1);
    }
}
