//! Ids that commit out of order, on `PostgreSQL`.

use std::collections::BTreeMap;

use rand::Rng as _;
use rand::rngs::StdRng;
use sqlx::PgConnection;

use super::database::{Database, Kind, lines};
use super::story::{Step, invocation, random, story};
use super::{Passed, collect, collected_is_right, collector, indexed_is_right, oracle, same};
use crate::testing::fixture::Fixture;
use crate::testing::postgres::TestDatabase;

async fn run(conn: &mut PgConnection, sql: &str) {
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()))
        .execute(conn)
        .await
        .unwrap();
}

async fn add(conn: &mut PgConnection, job: i64, step: &Step, at: i64) {
    sqlx::query(
        "WITH s AS (INSERT INTO hangfire.state (jobid, name, reason, createdat, data) \
           VALUES ($1, $2, $3, to_timestamp($4::float8 / 1000), $5) RETURNING id) \
         UPDATE hangfire.job SET stateid = s.id, statename = $2 FROM s WHERE job.id = $1",
    )
    .bind(job)
    .bind(step.name)
    .bind(&step.reason)
    .bind(at)
    .bind(&step.data)
    .execute(conn)
    .await
    .unwrap();
}

async fn create(conn: &mut PgConnection, random: &mut StdRng, at: i64) -> i64 {
    sqlx::query_scalar(
        "INSERT INTO hangfire.job (invocationdata, arguments, createdat) \
         VALUES ($1, '[]', to_timestamp($2::float8 / 1000)) RETURNING id",
    )
    .bind(invocation(random))
    .bind(at)
    .fetch_one(conn)
    .await
    .unwrap()
}

async fn empty() -> Option<Database> {
    Database::postgres(&Fixture::of(BTreeMap::new())).await
}

fn server(database: &Database) -> &TestDatabase {
    match &database.kind {
        Kind::Postgres(server) => server,
        Kind::Sqlite(_) => unreachable!("made on PostgreSQL"),
    }
}

/// A transaction holds a lower id open while higher ones commit, for as long as it likes.
#[tokio::test]
async fn a_lower_id_that_commits_after_higher_ones_is_counted() {
    let Some(database) = empty().await else {
        return;
    };
    let mut random = random(20);
    let (mut slow, mut fast) = (
        server(&database).connection().await,
        server(&database).connection().await,
    );
    let row = |name| Step {
        name,
        reason: None,
        later: 0,
        data: serde_json::json!({}),
        same: false,
    };
    let begin = 1_793_600_000_000;
    let late = create(&mut fast, &mut random, begin).await;
    let soon = create(&mut fast, &mut random, begin).await;
    run(&mut slow, "BEGIN").await;
    add(&mut slow, late, &row("Enqueued"), begin).await;
    for name in ["Enqueued", "Processing", "Succeeded"] {
        add(&mut fast, soon, &row(name), begin).await;
    }
    // A rolled back one leaves a gap that nobody fills.
    run(&mut fast, "BEGIN").await;
    add(&mut fast, soon, &row("Enqueued"), begin).await;
    run(&mut fast, "ROLLBACK").await;
    let mut collector = collector(&database.store, 100);
    for _ in 0..5 {
        collector.pass().await.unwrap();
    }
    let position = collector.position.clone().unwrap();
    assert_eq!(position.gaps().len(), 1, "{position:?}");
    assert_eq!(position.rows, 3);
    run(&mut slow, "COMMIT").await;
    collect(&mut collector).await.unwrap();
    let position = collector.position.clone().unwrap();
    assert_eq!((position.gaps(), position.rows), (&[][..], 4));
    let wanted = lines(&oracle::numbers(&database.jobs().await));
    same(&database.numbers().await, &wanted, "a late row");
    indexed_is_right(&database, "a late row").await;
}

/// Two transactions that change the same job: the row with the lower id comes second.
#[tokio::test]
async fn a_late_row_of_a_job_that_went_on_is_counted_in_its_place() {
    let Some(database) = empty().await else {
        return;
    };
    let mut random = random(21);
    let (mut slow, mut fast) = (
        server(&database).connection().await,
        server(&database).connection().await,
    );
    let begin = 1_793_600_000_000;
    let job = create(&mut fast, &mut random, begin).await;
    let insert = |name: &str| {
        format!(
            "INSERT INTO hangfire.state (jobid, name, createdat, data) \
             VALUES ({job}, '{name}', to_timestamp({}), '{{}}')",
            begin / 1_000
        )
    };
    run(&mut fast, &insert("Enqueued")).await;
    run(&mut slow, "BEGIN").await;
    run(&mut slow, &insert("Processing")).await;
    run(&mut fast, &insert("Succeeded")).await;
    run(
        &mut fast,
        "UPDATE hangfire.job SET statename = 'Succeeded', stateid = 3",
    )
    .await;
    let mut collector = collector(&database.store, 100);
    for _ in 0..3 {
        collector.pass().await.unwrap();
    }
    run(&mut slow, "COMMIT").await;
    collect(&mut collector).await.unwrap();
    let wanted = lines(&oracle::numbers(&database.jobs().await));
    assert!(
        wanted.iter().any(|line| line.starts_with("rounds")),
        "{wanted:?}"
    );
    same(&database.numbers().await, &wanted, "a late row");
    indexed_is_right(&database, "a late row").await;
}

/// A job on its way.
struct Running {
    job: i64,
    steps: Vec<Step>,
    next: usize,
    at: i64,
}

/// Writers whose transactions overlap and commit or roll back in any order, while rows are
/// collected in between.
#[tokio::test]
async fn overlapping_writers_are_counted() {
    let Some(database) = empty().await else {
        return;
    };
    let mut random = random(22);
    let mut collector = collector(&database.store, 40);
    let mut running: Vec<Running> = Vec::new();
    let mut free = server(&database).connection().await;
    let mut writers = Vec::new();
    for _ in 0..5 {
        writers.push((
            server(&database).connection().await,
            None::<(Running, usize)>,
        ));
    }
    for turn in 0..4_000_i64 {
        let at = 1_793_600_000_000 + turn * 2_000;
        if turn % 5 == 0 {
            let job = create(&mut free, &mut random, at).await;
            let steps = story(&mut random);
            running.push(Running {
                job,
                steps,
                next: 0,
                at,
            });
        }
        if random.random_range(0..6) == 0 {
            collector.pass().await.unwrap();
        }
        let which = random.random_range(0..writers.len());
        let (conn, open) = &mut writers[which];
        if let Some((mut job, wrote)) = open.take() {
            if random.random_range(0..8) == 0 {
                run(conn, "ROLLBACK").await;
            } else {
                run(conn, "COMMIT").await;
                job.next += wrote;
            }
            if job.next < job.steps.len() {
                running.push(job);
            }
        } else if !running.is_empty() {
            let mut job = running.swap_remove(random.random_range(0..running.len()));
            run(conn, "BEGIN").await;
            let mut wrote = 0;
            for step in &job.steps[job.next..] {
                if wrote > 0 && !step.same {
                    break;
                }
                job.at += step.later;
                add(conn, job.job, step, job.at).await;
                wrote += 1;
            }
            *open = Some((job, wrote));
        }
    }
    for (conn, open) in &mut writers {
        if open.is_some() {
            run(conn, "COMMIT").await;
        }
    }
    assert_ne!(collector.pass().await.unwrap(), Passed::Elsewhere);
    collect(&mut collector).await.unwrap();
    assert_eq!(collector.position.as_ref().unwrap().gaps(), []);
    collector.leave().await;
    collected_is_right(&database, 40, "overlapping writers").await;
}
