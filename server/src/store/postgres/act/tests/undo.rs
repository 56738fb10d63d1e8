//! Undo of a delete: everything is as it was, but for the history.

use super::*;

/// Sums of the totals, the set's members, the queue rows, and the job: what an undo must restore.
async fn restorable(database: &TestDatabase, job: i64) -> Value {
    sqlx::query_scalar(
        r#"SELECT jsonb_build_object(
          'totals', (SELECT jsonb_object_agg(key, value) FROM (SELECT key, sum(value) AS value
             FROM hangfire.counter WHERE key IN ('stats:deleted', 'stats:succeeded') GROUP BY key) c),
          'set', (SELECT jsonb_agg(jsonb_build_array(key, value,
             CASE WHEN key <> 'awaiting' THEN score END) ORDER BY key, value) FROM hangfire."set"),
          'queue', (SELECT jsonb_agg(to_jsonb(q) ORDER BY id) FROM hangfire.jobqueue q),
          'job', (SELECT jsonb_build_array(j.statename, j.expireat IS NULL, c.data)
             FROM hangfire.job j JOIN hangfire.state c ON c.id = j.stateid WHERE j.id = $1),
          'lock', (SELECT count(*) FROM hangfire.lock))"#,
    )
    .bind(job)
    .fetch_one(&mut database.connection().await)
    .await
    .unwrap()
}

#[tokio::test]
async fn what_was_deleted_is_as_before() {
    for (version, jobs) in [(23, vec![1, 6, 9, 11, 12, 13, 15]), (19, vec![1, 15])] {
        for job in jobs {
            let Some(database) = base(version).await else {
                return;
            };
            // Its retry was put off by hand when the rows were recorded.
            database
                .execute(
                    r#"UPDATE hangfire."set" SET score = 1795981075
                       WHERE key = 'schedule' AND value = '15'"#,
                )
                .await;
            let before = restorable(&database, job).await;
            done(&act(&database, job, Action::Delete).await);
            assert_ne!(restorable(&database, job).await, before, "job {job}");
            let id = done(&act(&database, job, Action::UndoDelete).await);
            assert_eq!(restorable(&database, job).await, before, "job {job}");
            let reason: String =
                sqlx::query_scalar("SELECT reason FROM hangfire.state WHERE id = $1")
                    .bind(id)
                    .fetch_one(&mut database.connection().await)
                    .await
                    .unwrap();
            assert_eq!(reason, "Restored by ada via Redrive: supplier is back");
        }
    }
}

#[tokio::test]
async fn a_restored_success_expires_in_a_day() {
    let Some(database) = base(23).await else {
        return;
    };
    done(&act(&database, 9, Action::Delete).await);
    done(&act(&database, 9, Action::UndoDelete).await);
    let expires: bool = sqlx::query_scalar(
        "SELECT expireat BETWEEN now() + interval '23:59' AND now() + interval '24:01' \
         FROM hangfire.job WHERE id = 9",
    )
    .fetch_one(&mut database.connection().await)
    .await
    .unwrap();
    assert!(expires);
}

#[tokio::test]
async fn a_dropped_queue_row_is_put_back() {
    let Some(database) = base(23).await else {
        return;
    };
    done(&act(&database, 13, Action::Delete).await);
    database
        .execute("DELETE FROM hangfire.jobqueue WHERE jobid = 13")
        .await;
    done(&act(&database, 13, Action::UndoDelete).await);
    let rows = queue_rows(&database, 13).await;
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].1.as_str(), rows[0].2), ("nobody", false));
}

#[tokio::test]
async fn what_cannot_be_taken_back_is_refused() {
    let Some(database) = base(23).await else {
        return;
    };
    // It ran.
    done(&act(&database, 14, Action::Delete).await);
    assert!(refused(&act(&database, 14, Action::UndoDelete).await).contains("running"));
    // Its children were released.
    done(&act(&database, 5, Action::Delete).await);
    let outcome = act(&database, 5, Action::UndoDelete).await;
    assert!(refused(&outcome).contains("#6, #7 and #8"), "{outcome:?}");
    // Its parent is final, as the delete above left it.
    assert!(refused(&act(&database, 6, Action::UndoDelete).await).contains("#5, which is Deleted"));
    // It is about to expire.
    done(&act(&database, 1, Action::Delete).await);
    database
        .execute("UPDATE hangfire.job SET expireat = now() + interval '50 s' WHERE id = 1")
        .await;
    assert!(refused(&act(&database, 1, Action::UndoDelete).await).contains("expires"));
    assert_eq!(snapshot(&database).await["lock"], Vec::<Value>::new());
}
