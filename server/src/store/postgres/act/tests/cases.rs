//! Faults that people met with other dashboards.

use std::sync::Arc;

use app::model::state::Instant;

use super::*;
use crate::clock::Clock;

/// A host whose clock is seven minutes ahead.
struct Ahead;

impl Clock for Ahead {
    fn now(&self) -> Instant {
        SystemClock.now() + chrono::Duration::minutes(7)
    }
}

async fn case(sql: &str) -> Option<TestDatabase> {
    let database = TestDatabase::with_layout(23).await?;
    own_tables(&database).await;
    database.execute(include_str!("casekit.sql")).await;
    database.execute(sql).await;
    for table in [
        "job",
        "state",
        "jobqueue",
        "jobparameter",
        "\"set\"",
        "counter",
    ] {
        let name = table.trim_matches('"');
        database
            .execute(&format!(
                "SELECT setval('hangfire.{name}_id_seq', (SELECT greatest(max(id), 1) FROM hangfire.{table}))"
            ))
            .await;
    }
    Some(database)
}

const DEAD_AND_LIVING: &str = r#"
SELECT casekit.job(1600001,'Processing',16000012,now()-interval '12 min','MailJob'), casekit.job(1600002,'Processing',16000022,now()-interval '12 min','MailJob');
SELECT casekit.s(16000011,1600001,'Enqueued',now()-interval '11 min',NULL,'{"Queue":"mail"}'), casekit.s(16000012,1600001,'Processing',now()-interval '10 min',NULL,'{"ServerId":"web-1:400:aaaa"}'),
 casekit.s(16000021,1600002,'Enqueued',now()-interval '11 min',NULL,'{"Queue":"mail"}'), casekit.s(16000022,1600002,'Processing',now()-interval '10 min',NULL,'{"ServerId":"web-2:401:bbbb"}');
INSERT INTO hangfire.jobqueue(id,jobid,queue,fetchedat) VALUES (16001,1600001,'mail',now()-interval '10 min'),(16002,1600002,'mail',now()-interval '10 min');
INSERT INTO hangfire.server(id,data,lastheartbeat) VALUES ('web-2:401:bbbb','{"WorkerCount":5,"Queues":["mail"],"StartedAt":"2026-11-01T00:00:00.0000000Z"}',now()-interval '5 s');
"#;

/// A dead server's job is requeued without its old queue row; a living server's is not, and which
/// is which is judged by the database's clock.
#[tokio::test]
async fn a_dead_servers_job_runs_once_and_a_living_servers_is_left_alone() {
    let clocks: [Arc<dyn Clock>; 2] = [Arc::new(SystemClock), Arc::new(Ahead)];
    for clock in clocks {
        let Some(database) = case(DEAD_AND_LIVING).await else {
            return;
        };
        let store = PostgresStore::connect(&database.url, "hangfire", clock).unwrap();
        let outcome = store
            .act(
                SystemClock.new_id(),
                &request(1_600_001, "Processing", 16_000_012, requeue()),
            )
            .await
            .unwrap();
        let state_id = done(&outcome);
        let rows = queue_rows(&database, 1_600_001).await;
        assert_eq!(rows.len(), 1);
        assert_ne!(rows[0].0, 16_001);
        assert_eq!((rows[0].1.as_str(), rows[0].2), ("mail", false));
        assert_eq!(
            count(
                &database,
                "SELECT stateid FROM hangfire.job WHERE id = 1600001 AND statename = 'Enqueued' \
                 AND expireat IS NULL",
            )
            .await,
            state_id
        );

        let before = snapshot(&database).await;
        let outcome = store
            .act(
                SystemClock.new_id(),
                &request(1_600_002, "Processing", 16_000_022, requeue()),
            )
            .await
            .unwrap();
        let why = refused(&outcome);
        assert!(why.contains("server web-2:401:bbbb reported"), "{why}");
        assert_eq!(snapshot(&database).await, before);
    }
}

const RACE: &str = "
SELECT casekit.job(1700001,'Failed',17000003,now()-interval '5 min','RaceJob');
SELECT casekit.s(17000001,1700001,'Enqueued',now()-interval '5 min'), casekit.s(17000002,1700001,'Processing',now()-interval '4 min'), casekit.s(17000003,1700001,'Failed',now()-interval '3 min');
";

const RETRIED_MEANWHILE: &str = "
SELECT casekit.s(17000004,1700001,'Enqueued',now(),'Triggered via Dashboard UI'), casekit.s(17000005,1700001,'Processing',now()), casekit.s(17000006,1700001,'Failed',now());
UPDATE hangfire.job SET stateid = 17000006 WHERE id = 1700001;
SELECT setval('hangfire.state_id_seq', 17000006);
";

/// The same state's name again is not the same state, and a form sent twice acts once.
#[tokio::test]
async fn an_old_form_moves_nothing() {
    let Some(database) = case(RACE).await else {
        return;
    };
    let kept = seen(&database, 1_700_001, requeue()).await;
    database.execute(RETRIED_MEANWHILE).await;

    let ids = [(); 3].map(|()| SystemClock.new_id());
    let store = store(&database);
    let outcome = store.act(ids[0], &kept).await.unwrap();
    let Outcome::Moved { from, to, at, why } = outcome else {
        panic!("not moved: {outcome:?}");
    };
    assert_eq!((from, to), (StateName::Failed, Some(StateName::Failed)));
    assert!(at.is_some());
    assert!(why.contains("(3 min ago); now it is Failed again"), "{why}");
    assert!(queue_rows(&database, 1_700_001).await.is_empty());

    let fresh = seen(&database, 1_700_001, requeue()).await;
    assert_eq!(fresh.seen.state_id, 17_000_006);
    done(&store.act(ids[1], &fresh).await.unwrap());
    assert_eq!(queue_rows(&database, 1_700_001).await.len(), 1);
    let resent = store.act(ids[2], &fresh).await.unwrap();
    assert!(matches!(resent, Outcome::Moved { .. }), "{resent:?}");
    assert_eq!(queue_rows(&database, 1_700_001).await.len(), 1);
    assert_eq!(
        count(
            &database,
            "SELECT count(*) FROM hangfire.state WHERE jobid = 1700001 AND name = 'Enqueued'"
        )
        .await,
        3
    );
    let mut outcomes = Vec::new();
    for id in ids {
        outcomes.push(audited(&database, id).await.unwrap().0);
    }
    assert_eq!(outcomes, ["moved", "done", "moved"]);
}

const PARENT: &str = r#"
SELECT casekit.job(2000001,'Failed',20000013,now(),'ParentJob'), casekit.job(2000005,'Succeeded',20000051,now(),'ChildJob');
SELECT casekit.job(2000000+g,'Awaiting',20000000+g*10+1,now(),'ChildJob') FROM generate_series(2,4) g;
SELECT casekit.s(20000011,2000001,'Enqueued',now()-interval '9 min'), casekit.s(20000012,2000001,'Processing',now()-interval '8 min'), casekit.s(20000013,2000001,'Failed',now()-interval '7 min'), casekit.s(20000051,2000005,'Succeeded',now()-interval '1 min');
SELECT casekit.s(20000000+g*10+1,2000000+g,'Awaiting',now()-interval '9 min',NULL,jsonb_build_object('ParentId','2000001','NextState','{"$type":"Hangfire.States.EnqueuedState, Hangfire.Core","Queue":"default"}','Options',(g-2)::text)) FROM generate_series(2,4) g;
INSERT INTO hangfire.jobparameter(jobid,name,value) VALUES (2000001,'Continuations','[{"JobId":"2000002"},{"JobId":"2000003","Options":1},{"JobId":"2000004","Options":2},{"JobId":"2000005"}]');
INSERT INTO hangfire."set"(key,score,value) SELECT 'awaiting',extract(epoch FROM now()),(2000000+g)::text FROM generate_series(2,4) g;
"#;

/// A deleted parent leaves no child waiting for ever.
#[tokio::test]
async fn children_follow_their_deleted_parent() {
    let Some(database) = case(PARENT).await else {
        return;
    };
    done(&act(&database, 2_000_001, Action::Delete).await);
    let states: Vec<(i64, String, bool)> = sqlx::query_as(
        "SELECT id, statename, coalesce(expireat BETWEEN now() + interval '23:59' \
         AND now() + interval '24:01', false) FROM hangfire.job ORDER BY id",
    )
    .fetch_all(&mut database.connection().await)
    .await
    .unwrap();
    let expected = [
        (2_000_001, "Deleted", true),
        (2_000_002, "Enqueued", false),
        (2_000_003, "Deleted", true),
        (2_000_004, "Enqueued", false),
        (2_000_005, "Succeeded", false),
    ]
    .map(|(id, state, expires)| (id, state.to_owned(), expires));
    assert_eq!(states, expected);
    for (job, waiting) in [
        (2_000_002, 1),
        (2_000_003, 0),
        (2_000_004, 1),
        (2_000_005, 0),
    ] {
        let rows = queue_rows(&database, job).await;
        assert_eq!(rows.len(), waiting, "job {job}");
        assert!(
            rows.iter()
                .all(|(_, queue, taken)| queue == "default" && !taken)
        );
    }
    for (sql, expected) in [
        (
            "SELECT count(*) FROM hangfire.state WHERE jobid = 2000003 \
             AND reason = 'Continuation condition was not met'",
            1,
        ),
        (r#"SELECT count(*) FROM hangfire."set""#, 0),
        (
            "SELECT sum(value)::bigint FROM hangfire.counter WHERE key = 'stats:deleted'",
            2,
        ),
        (
            "SELECT sum(value)::bigint FROM hangfire.counter WHERE key LIKE 'stats:deleted:__________'",
            2,
        ),
        (
            "SELECT sum(value)::bigint FROM hangfire.counter WHERE key LIKE 'stats:deleted:_____________'",
            2,
        ),
        ("SELECT count(*) FROM hangfire.lock", 0),
    ] {
        assert_eq!(count(&database, sql).await, expected, "{sql}");
    }
}

/// A job without a state is refused; one whose state row is missing is guarded by its id all the
/// same.
#[tokio::test]
async fn odd_rows_are_refused_or_guarded_never_an_error() {
    let Some(database) = case(
        r#"INSERT INTO hangfire.job(id,invocationdata,arguments,createdat) VALUES (1400001,'{}','[]',now());
           SELECT casekit.job(1400002,'Failed',14999999,now(),'TrimmedJob'), casekit.job(1400003,'Throttled',14000031,now(),'CustomJob'), casekit.job(1400004,'Failed',14000041,now(),'BatchJob');
           SELECT casekit.s(14000031,1400003,'Throttled',now()), casekit.s(14000041,1400004,'Failed',now());
           UPDATE hangfire.state SET data = NULL WHERE id = 14000041;
           INSERT INTO hangfire.jobparameter(jobid,name,value) VALUES (1400004,'BatchId','"b1"')"#,
    )
    .await
    else {
        return;
    };
    let before = snapshot(&database).await;
    for action in [requeue(), Action::Delete] {
        assert!(refused(&act(&database, 1_400_001, action.clone()).await).contains("no state"));
        assert!(refused(&act(&database, 1_400_003, action.clone()).await).contains("Throttled"));
        assert!(refused(&act(&database, 1_400_004, action).await).contains("batch"));
    }
    assert_eq!(snapshot(&database).await, before);
    done(&act(&database, 1_400_002, requeue()).await);
    assert_eq!(queue_rows(&database, 1_400_002).await.len(), 1);
}
