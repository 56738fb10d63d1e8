//! Faults that people met elsewhere, and what a row must look like for Hangfire to read it.

use std::fmt::Write as _;

use super::*;

#[tokio::test]
async fn a_job_of_a_dead_server_gives_up_its_old_queue_row() {
    let file = TestFile::new().await;
    let mut sql = String::new();
    for (job, server) in [(1, "web-1:400:aaaa"), (2, "web-2:401:bbbb")] {
        sql += &job_row(job, "Processing", "MailJob", ago(720));
        sql += &state_row(
            job * 10 + 1,
            job,
            "Enqueued",
            ago(660),
            r#"{"Queue":"mail"}"#,
        );
        sql += &state_row(
            job * 10 + 2,
            job,
            "Processing",
            ago(600),
            &format!(r#"{{"ServerId":"{server}"}}"#),
        );
        write!(
            sql,
            "INSERT INTO JobQueue VALUES ({}, {job}, 'mail', {});",
            100 + job,
            ago(600)
        )
        .unwrap();
    }
    write!(sql,
        "INSERT INTO Server VALUES ('web-2:401:bbbb', '{{\"WorkerCount\":5,\"Queues\":[\"mail\"]}}', {});",
        ago(5)
    ).unwrap();
    file.run(&sql).await;

    let outcome = act(&file.store, 1, requeue()).await;
    assert!(
        matches!(outcome, Outcome::Done { state_id: 23, .. }),
        "{outcome:?}"
    );
    assert_eq!(
        rows(
            &file,
            "SELECT Id > 102, Queue, FetchedAt FROM JobQueue WHERE JobId = 1"
        )
        .await,
        ["1|mail|0"]
    );
    assert_eq!(
        rows(&file, "SELECT StateName, ExpireAt FROM Job WHERE Id = 1").await,
        ["Enqueued|0"]
    );

    let outcome = act(&file.store, 2, requeue()).await;
    assert!(
        matches!(&outcome, Outcome::Refused { why } if why.contains("web-2:401:bbbb")),
        "{outcome:?}"
    );
    assert_eq!(
        rows(
            &file,
            "SELECT Id, FetchedAt > 0 FROM JobQueue WHERE JobId = 2"
        )
        .await,
        ["102|1"]
    );
    assert_eq!(seen(&file.store, 2).await, (2, StateName::Processing, 22));
}

#[tokio::test]
async fn a_job_that_failed_again_has_moved() {
    let file = TestFile::new().await;
    let mut sql = job_row(1, "Failed", "RaceJob", ago(300));
    for (id, name, at) in [
        (1, "Enqueued", 300),
        (2, "Processing", 240),
        (3, "Failed", 180),
    ] {
        sql += &state_row(id, 1, name, ago(at), "{}");
    }
    file.run(&sql).await;
    let kept = on(seen(&file.store, 1).await, requeue());
    let mut sql = String::new();
    for (id, name) in [(4, "Enqueued"), (5, "Processing"), (6, "Failed")] {
        sql += &state_row(id, 1, name, ago(0), "{}");
    }
    file.run(&sql).await;

    let (first, second, third) = (
        SystemClock.new_id(),
        SystemClock.new_id(),
        SystemClock.new_id(),
    );
    let outcome = file.store.act(first, &kept).await.unwrap();
    let Outcome::Moved { from, to, why, .. } = &outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!((from, to), (&StateName::Failed, &Some(StateName::Failed)));
    assert!(why.contains("Failed again"), "{why}");
    assert!(rows(&file, "SELECT * FROM JobQueue").await.is_empty());
    assert_eq!(seen(&file.store, 1).await.2, 6);

    let fresh = on(seen(&file.store, 1).await, requeue());
    assert!(matches!(
        file.store.act(second, &fresh).await.unwrap(),
        Outcome::Done { state_id: 7, .. }
    ));
    assert!(matches!(
        file.store.act(third, &fresh).await.unwrap(),
        Outcome::Moved { .. }
    ));
    assert_eq!(
        rows(&file, "SELECT Queue FROM JobQueue WHERE JobId = 1").await,
        ["default"]
    );
    assert_eq!(
        rows(&file, "SELECT count(*) FROM State WHERE Name = 'Enqueued'").await,
        ["3"]
    );
    for (id, word) in [(first, "moved"), (second, "done"), (third, "moved")] {
        assert_eq!(audited(&file.store, id).await.0, word);
    }
}

#[tokio::test]
async fn deleting_a_parent_releases_the_jobs_that_wait_for_it() {
    let file = TestFile::new().await;
    let mut sql = job_row(1, "Failed", "ParentJob", ago(0));
    for (id, name, at) in [
        (11, "Enqueued", 540),
        (12, "Processing", 480),
        (13, "Failed", 420),
    ] {
        sql += &state_row(id, 1, name, ago(at), "{}");
    }
    for child in 2..=4 {
        sql += &job_row(child, "Awaiting", "ChildJob", ago(0));
        let data = serde_json::json!({
            "ParentId": "1",
            "NextState": r#"{"$type":"Hangfire.States.EnqueuedState, Hangfire.Core","Queue":"default"}"#,
            "Options": (child - 2).to_string(),
        });
        sql += &state_row(
            child * 10 + 1,
            child,
            "Awaiting",
            ago(540),
            &data.to_string(),
        );
        write!(sql,
            "INSERT INTO \"Set\" (\"Key\", Score, \"Value\", ExpireAt) VALUES ('awaiting', 1795979546.0, '{child}', 0);"
        ).unwrap();
    }
    sql += &job_row(5, "Succeeded", "ChildJob", ago(0));
    sql += &state_row(51, 5, "Succeeded", ago(60), "{}");
    sql += r#"INSERT INTO JobParameter VALUES (1, 1, 'Continuations', '[{"JobId":"2"},{"JobId":"3","Options":1},{"JobId":"4","Options":2},{"JobId":"5"}]', 0);"#;
    file.run(&sql).await;

    let outcome = act(&file.store, 1, Action::Delete).await;
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
    let states = "SELECT Id, StateName, ExpireAt > 0 FROM Job ORDER BY Id";
    assert_eq!(
        rows(&file, states).await,
        [
            "1|Deleted|1",
            "2|Enqueued|0",
            "3|Deleted|1",
            "4|Enqueued|0",
            "5|Succeeded|0"
        ]
    );
    assert_eq!(
        rows(&file, "SELECT JobId, Queue FROM JobQueue ORDER BY JobId").await,
        ["2|default", "4|default"]
    );
    let reason = "SELECT Reason FROM State WHERE JobId = 3 AND Name = 'Deleted'";
    assert_eq!(
        rows(&file, reason).await,
        ["Continuation condition was not met"]
    );
    assert!(
        rows(&file, "SELECT * FROM \"Set\" WHERE \"Key\" = 'awaiting'")
            .await
            .is_empty()
    );
    let sums = "SELECT length(\"Key\"), CAST(sum(\"Value\") AS INTEGER) FROM Counter GROUP BY 1 ORDER BY 1";
    // stats:deleted, the day's and the hour's.
    assert_eq!(rows(&file, sums).await, ["13|2", "24|2", "27|2"]);
    // The children first, then the parent, as Hangfire does.
    let order = "SELECT JobId FROM State WHERE Id > 51 ORDER BY Id";
    assert_eq!(rows(&file, order).await, ["2", "3", "4", "1"]);
}

#[tokio::test]
async fn our_row_is_the_newest_whatever_the_clocks_say() {
    let file = TestFile::recorded("transitions-sqlite/base.db").await;
    let ahead = ago(-3600);
    file.run(&format!(
        "UPDATE State SET CreatedAt = {ahead} WHERE Id = 10"
    ))
    .await;
    let (job, _, id) = seen(&file.store, 1).await;
    file.run(&format!(
        "UPDATE State SET CreatedAt = {ahead} WHERE Id = {id}"
    ))
    .await;
    assert!(matches!(
        act(&file.store, job, requeue()).await,
        Outcome::Done { .. }
    ));
    let newest =
        "SELECT CreatedAt, Name FROM State WHERE JobId = 1 ORDER BY CreatedAt DESC LIMIT 1";
    assert_eq!(
        rows(&file, newest).await,
        [format!("{}|Enqueued", ahead + 1)]
    );
}

#[tokio::test]
async fn an_undone_delete_brings_back_the_former_state() {
    let file = TestFile::recorded("transitions-sqlite/base.db").await;
    for job in [1, 4, 7, 9, 10, 11] {
        let before = "SELECT Name, Data FROM State WHERE JobId = ".to_owned() + &job.to_string();
        let former = rows(&file, &format!("{before} ORDER BY Id DESC LIMIT 1")).await;
        let sets = "SELECT \"Key\", \"Value\" FROM \"Set\" ORDER BY 1, 2";
        let members = rows(&file, sets).await;
        let queued = rows(
            &file,
            "SELECT JobId, Queue, FetchedAt FROM JobQueue ORDER BY Id",
        )
        .await;
        let outcome = act(&file.store, job, Action::Delete).await;
        assert!(
            matches!(outcome, Outcome::Done { .. }),
            "{job}: {outcome:?}"
        );
        let outcome = act(&file.store, job, Action::UndoDelete).await;
        assert!(
            matches!(outcome, Outcome::Done { .. }),
            "{job}: {outcome:?}"
        );
        assert_eq!(
            rows(&file, &format!("{before} ORDER BY Id DESC LIMIT 1")).await,
            former
        );
        assert_eq!(rows(&file, sets).await, members);
        assert_eq!(
            rows(
                &file,
                "SELECT JobId, Queue, FetchedAt FROM JobQueue ORDER BY Id"
            )
            .await,
            queued
        );
        let is_final = i32::from(job == 7);
        let expiring = format!(
            "SELECT DISTINCT ExpireAt > 0 FROM (SELECT ExpireAt FROM Job WHERE Id = {job} UNION ALL \
             SELECT ExpireAt FROM State WHERE JobId = {job} UNION ALL \
             SELECT ExpireAt FROM JobParameter WHERE JobId = {job})"
        );
        assert_eq!(
            rows(&file, &expiring).await,
            [is_final.to_string()],
            "{job}"
        );
    }
    // Deleted and undone, a succeeded job counts as it did.
    let sum = "SELECT CAST(sum(\"Value\") AS INTEGER) FROM Counter WHERE \"Key\" = 'stats:deleted'";
    let before = TestFile::recorded("transitions-sqlite/base.db").await;
    assert_eq!(rows(&file, sum).await, rows(&before, sum).await);
}

#[tokio::test]
async fn data_are_never_null() {
    let file = TestFile::recorded("transitions-sqlite/base.db").await;
    file.run("UPDATE State SET Data = NULL WHERE JobId = 1")
        .await;
    assert!(matches!(
        act(&file.store, 1, Action::Delete).await,
        Outcome::Done { .. }
    ));
    assert!(matches!(
        act(&file.store, 1, Action::UndoDelete).await,
        Outcome::Done { .. }
    ));
    let data = "SELECT Name, Data FROM State WHERE JobId = 1 ORDER BY Id DESC LIMIT 1";
    assert_eq!(rows(&file, data).await, ["Failed|{}"]);
}

#[tokio::test]
async fn a_job_that_is_gone_or_has_no_state_is_said() {
    let file = TestFile::recorded("transitions-sqlite/base.db").await;
    let gone = on((99, StateName::Failed, 1), requeue());
    let id = SystemClock.new_id();
    assert_eq!(file.store.act(id, &gone).await.unwrap(), Outcome::Gone);
    assert_eq!(audited(&file.store, id).await.0, "gone");
    file.run("UPDATE Job SET StateName = NULL WHERE Id = 1; DELETE FROM State WHERE JobId = 1")
        .await;
    let none = on((1, StateName::Failed, 3), requeue());
    let outcome = file.store.act(SystemClock.new_id(), &none).await.unwrap();
    assert!(
        matches!(&outcome, Outcome::Refused { why } if why.contains("no state")),
        "{outcome:?}"
    );
    assert!(
        rows(&file, "SELECT * FROM JobQueue WHERE JobId = 1")
            .await
            .is_empty()
    );
}
