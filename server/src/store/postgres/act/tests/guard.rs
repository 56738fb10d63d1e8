//! Never double: the guard, Hangfire's lock, and what happens without them.

use std::sync::Arc;

use app::ports::audit::AuditStore as _;
use sqlx::Connection as _;
use tokio::sync::Barrier;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn of_200_clicks_one_is_done() {
    let Some(database) = base(23).await else {
        return;
    };
    let store = Arc::new(store(&database));
    let request = Arc::new(seen(&database, 1, requeue()).await);
    let clicks: Vec<_> = (0..200)
        .map(|_| {
            let (store, request) = (store.clone(), request.clone());
            tokio::spawn(async move { store.act(SystemClock.new_id(), &request).await.unwrap() })
        })
        .collect();
    let mut done = 0;
    for click in clicks {
        match click.await.unwrap() {
            Outcome::Done { .. } => done += 1,
            Outcome::Moved { .. } | Outcome::Busy { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(done, 1);
    assert_eq!(queue_rows(&database, 1).await.len(), 1);
    for (sql, expected) in [
        (
            "SELECT count(*) FROM hangfire.state WHERE jobid = 1 AND name = 'Enqueued'",
            2,
        ),
        (
            "SELECT count(*) FROM redrive.audit WHERE outcome = 'done'",
            1,
        ),
        ("SELECT count(*) FROM redrive.source", 1),
        ("SELECT count(*) FROM hangfire.lock", 0),
    ] {
        assert_eq!(count(&database, sql).await, expected, "{sql}");
    }
}

/// The same writes without lock and comparison: two clicks that both saw Failed both write.
#[tokio::test(flavor = "multi_thread")]
async fn without_the_guard_two_clicks_double() {
    let Some(database) = base(23).await else {
        return;
    };
    let both_have_looked = Arc::new(Barrier::new(2));
    let clicks: Vec<_> = (0..2)
        .map(|_| {
            let url = database.url.clone();
            let both_have_looked = both_have_looked.clone();
            tokio::spawn(async move {
                let conn = PgConnection::connect(&url).await.unwrap();
                unguarded(conn, &both_have_looked).await;
            })
        })
        .collect();
    for click in clicks {
        click.await.unwrap();
    }
    assert_eq!(queue_rows(&database, 1).await.len(), 2);
}

async fn unguarded(mut conn: PgConnection, both_have_looked: &Barrier) {
    let mut transaction = conn.begin().await.unwrap();
    let state: String = sqlx::query_scalar("SELECT statename FROM hangfire.job WHERE id = 1")
        .fetch_one(&mut *transaction)
        .await
        .unwrap();
    both_have_looked.wait().await;
    if state == "Failed" {
        for sql in [
            "WITH s AS (INSERT INTO hangfire.state (jobid, name, createdat, data) \
               VALUES (1, 'Enqueued', now(), '{}') RETURNING id) \
             UPDATE hangfire.job SET stateid = s.id, statename = 'Enqueued' FROM s WHERE job.id = 1",
            "INSERT INTO hangfire.jobqueue (jobid, queue) VALUES (1, 'default')",
        ] {
            sqlx::query(sql).execute(&mut *transaction).await.unwrap();
        }
    }
    transaction.commit().await.unwrap();
}

#[tokio::test]
async fn enqueue_delete_requeue_leaves_one_queue_row() {
    let Some(database) = base(23).await else {
        return;
    };
    done(&act(&database, 1, requeue()).await);
    done(&act(&database, 1, Action::Delete).await);
    done(&act(&database, 1, requeue()).await);
    let rows = queue_rows(&database, 1).await;
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].1.as_str(), rows[0].2), ("default", false));
}

#[tokio::test]
async fn a_worker_that_has_just_taken_the_row_makes_it_busy() {
    let Some(database) = base(23).await else {
        return;
    };
    done(&act(&database, 1, requeue()).await);
    done(&act(&database, 1, Action::Delete).await);
    database
        .execute("UPDATE hangfire.jobqueue SET fetchedat = now() WHERE jobid = 1")
        .await;
    let before = snapshot(&database).await;
    let outcome = act(&database, 1, requeue()).await;
    assert!(
        matches!(outcome, Outcome::Busy { since: Some(_), .. }),
        "{outcome:?}"
    );
    assert_eq!(snapshot(&database).await, before);
    // Half an hour later Hangfire itself would hand it out again.
    database
        .execute(
            "UPDATE hangfire.jobqueue SET fetchedat = now() - interval '31 min' WHERE jobid = 1",
        )
        .await;
    let old = queue_rows(&database, 1).await;
    done(&act(&database, 1, requeue()).await);
    let new = queue_rows(&database, 1).await;
    assert_eq!(new.len(), 1);
    assert!(new[0].0 > old[0].0 && !new[0].2);
}

#[tokio::test]
async fn a_held_lock_is_busy_and_a_stale_one_is_cleared() {
    let Some(database) = base(23).await else {
        return;
    };
    database
        .execute(
            "INSERT INTO hangfire.lock (resource, updatecount, acquired) \
             VALUES ('hangfire:job:1:state-lock', 0, now() - interval '9 min'), \
                    ('hangfire:job:2:state-lock', 0, now() - interval '11 min'), \
                    ('hangfire:job:7:state-lock', 0, now())",
        )
        .await;
    let before = snapshot(&database).await;
    for job in [1, 5] {
        // Job 5 is the parent of job 7.
        let outcome = act(&database, job, Action::Delete).await;
        assert!(
            matches!(outcome, Outcome::Busy { since: Some(_), .. }),
            "{outcome:?}"
        );
    }
    assert_eq!(snapshot(&database).await, before);
    let Outcome::Done { notes, .. } = act(&database, 2, requeue()).await else {
        panic!("not done");
    };
    assert!(
        notes.iter().any(|note| note.contains("lock of job #2")),
        "{notes:?}"
    );
    assert_eq!(snapshot(&database).await["lock"].len(), 2);
}

#[tokio::test]
async fn a_lock_that_is_being_taken_is_waited_for_and_then_busy() {
    let Some(database) = base(23).await else {
        return;
    };
    let mut other = database.connection().await;
    let mut open = other.begin().await.unwrap();
    sqlx::query(
        "INSERT INTO hangfire.lock (resource, updatecount) VALUES ('hangfire:job:1:state-lock', 1)",
    )
    .execute(&mut *open)
    .await
    .unwrap();
    let outcome = act(&database, 1, requeue()).await;
    assert!(matches!(outcome, Outcome::Busy { .. }), "{outcome:?}");
    open.rollback().await.unwrap();
    done(&act(&database, 1, requeue()).await);
}

#[tokio::test]
async fn a_job_that_does_not_exist_is_gone() {
    let Some(database) = base(23).await else {
        return;
    };
    let id = SystemClock.new_id();
    let outcome = store(&database)
        .act(id, &request(404, "Failed", 1, requeue()))
        .await
        .unwrap();
    assert_eq!(outcome, Outcome::Gone);
    assert_eq!(
        audited(&database, id).await,
        Some(("gone".to_owned(), None, None))
    );
}

#[tokio::test]
async fn the_audit_says_who_what_why_and_what_became_of_it() {
    let Some(database) = base(23).await else {
        return;
    };
    let id = SystemClock.new_id();
    let mut asked = seen(&database, 1, requeue()).await;
    asked.reason = Some("x\0".repeat(200));
    let new = done(&store(&database).act(id, &asked).await.unwrap());
    let row: Value = sqlx::query_scalar(
        "SELECT to_jsonb(a) - 'at' - 'source' FROM redrive.audit a WHERE id = $1 \
         AND at BETWEEN now() - interval '1 min' AND now()",
    )
    .bind(id)
    .fetch_one(&mut database.connection().await)
    .await
    .unwrap();
    assert_eq!(
        row,
        serde_json::json!({
            "id": id.to_string(), "actor": "ada", "authenticated": false, "action": "requeue", "job": 1,
            "seen_state": "Failed", "seen_state_id": 8, "before_state": "Failed",
            "before_state_id": 8, "after_state": "Enqueued", "after_state_id": new,
            "reason": "x\u{fffd}".repeat(200), "outcome": "done",
            "note": "Queued on default. No server is alive: the job waits in the queue default \
                     until one starts.",
            "claims": null, "claim_key": null, "claim_seen": null, "claim": null,
        })
    );
    let reason: String = sqlx::query_scalar("SELECT reason FROM hangfire.state WHERE id = $1")
        .bind(new)
        .fetch_one(&mut database.connection().await)
        .await
        .unwrap();
    assert!(
        reason.starts_with("Requeued by ada via Redrive: x x"),
        "{reason}"
    );
    assert!(
        reason.ends_with('…') && reason.chars().count() <= 100,
        "{reason}"
    );

    // The same click again finds it moved, and that stands in the audit too.
    let again = SystemClock.new_id();
    let outcome = store(&database).act(again, &asked).await.unwrap();
    assert!(matches!(outcome, Outcome::Moved { .. }));
    assert_eq!(
        audited(&database, again).await,
        Some(("moved".to_owned(), Some(new), None))
    );
    let both = [again, Uuid::nil(), id];
    let found = store(&database).audit_rows(&both).await.unwrap();
    let ids: Vec<Uuid> = found.iter().map(|row| row.id).collect();
    assert_eq!(ids, [id, again]);
}

#[tokio::test]
async fn the_retry_count_starts_again_when_asked() {
    let Some(database) = base(23).await else {
        return;
    };
    database
        .execute(
            "INSERT INTO hangfire.jobparameter (jobid, name, value) VALUES (2, 'RetryCount', '2')",
        )
        .await;
    let again = Action::Requeue(Enqueue {
        queue: Some("reports".to_owned()),
        reset_retries: true,
    });
    done(&act(&database, 2, again).await);
    let counts: Vec<String> = sqlx::query_scalar(
        "SELECT value FROM hangfire.jobparameter WHERE jobid = 2 AND name = 'RetryCount'",
    )
    .fetch_all(&mut database.connection().await)
    .await
    .unwrap();
    assert_eq!(counts, ["0", "0"]);
    assert_eq!(queue_rows(&database, 2).await[0].1, "reports");
}

#[tokio::test]
async fn any_schema_name_and_a_role_that_may_not_write() {
    let Some(database) = base(23).await else {
        return;
    };
    database
        .execute(r#"ALTER SCHEMA hangfire RENAME TO "Job's ""x""""#)
        .await;
    let clock = Arc::new(SystemClock);
    let store = PostgresStore::connect(&database.url, r#"Job's "x""#, clock.clone()).unwrap();
    database
        .execute(
            r#"INSERT INTO "Job's ""x""".lock (resource, updatecount, acquired)
               VALUES ('Job''s "x":job:2:state-lock', 0, now())"#,
        )
        .await;
    let act = async |job, state_id| {
        store
            .act(
                SystemClock.new_id(),
                &request(job, "Failed", state_id, requeue()),
            )
            .await
            .unwrap()
    };
    assert!(matches!(
        act(2, 45).await,
        Outcome::Busy { since: Some(_), .. }
    ));
    done(&act(1, 8).await);

    let role = database.role("reader");
    database
        .execute(&format!(
            r#"CREATE ROLE "{role}" LOGIN PASSWORD '{role}';
               GRANT USAGE ON SCHEMA "Job's ""x""", redrive TO "{role}";
               GRANT SELECT ON ALL TABLES IN SCHEMA "Job's ""x""", redrive TO "{role}""#
        ))
        .await;
    let reader = PostgresStore::connect(&database.url_as(&role), r#"Job's "x""#, clock).unwrap();
    let outcome = reader
        .act(SystemClock.new_id(), &request(3, "Failed", 7, requeue()))
        .await
        .unwrap();
    assert!(
        refused(&outcome).contains("permission denied"),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn without_our_own_tables_nothing_is_done() {
    let Some(database) = base(23).await else {
        return;
    };
    database.execute("DROP SCHEMA redrive CASCADE").await;
    let before = snapshot(&database).await;
    let outcome = act(&database, 1, requeue()).await;
    assert!(refused(&outcome).contains("redrive migrate"), "{outcome:?}");
    assert_eq!(snapshot(&database).await, before);
}

#[tokio::test]
async fn own_tables_of_a_newer_program_are_not_written() {
    let Some(database) = base(23).await else {
        return;
    };
    database
        .execute(
            "INSERT INTO redrive.migrations (scope, version, name) VALUES ('redrive', 99, 'x')",
        )
        .await;
    let before = snapshot(&database).await;
    assert!(refused(&act(&database, 1, requeue()).await).contains("newer Redrive"));
    assert_eq!(snapshot(&database).await, before);
    assert_eq!(
        count(&database, "SELECT count(*) FROM redrive.audit").await,
        0
    );
}

/// A newer Hangfire started after we had looked at the tables.
#[tokio::test]
async fn tables_that_were_upgraded_meanwhile_are_written_as_they_are_now() {
    let Some(database) = base(19).await else {
        return;
    };
    let store = store(&database);
    assert_eq!(store.session().layout().await.unwrap().version, 19);
    database
        .execute(
            "ALTER TABLE hangfire.state ALTER data TYPE jsonb USING data::jsonb;
             ALTER TABLE hangfire.job ALTER invocationdata TYPE jsonb USING invocationdata::jsonb,
               ALTER arguments TYPE jsonb USING arguments::jsonb;
             ALTER TABLE hangfire.server ALTER data TYPE jsonb USING data::jsonb;
             UPDATE hangfire.schema SET version = 20",
        )
        .await;
    let request = seen(&database, 1, requeue()).await;
    done(&store.act(SystemClock.new_id(), &request).await.unwrap());
    assert_eq!(queue_rows(&database, 1).await.len(), 1);
}
