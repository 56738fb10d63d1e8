//! Killed with `kill -9` in the middle of many actions: what the audit says was done is done, whole,
//! and nothing else is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use futures::future::join_all;
use tokio::sync::Notify;

use crate::running::{Running, post};
use crate::scratch::Scratch;

/// Failed jobs, 1 to this; job n's state is row 10 n + 3.
const JOBS: i64 = 1_200;
/// Requests at once.
const CLIENTS: usize = 24;
/// Answers after which the program is killed.
const ANSWERS: u32 = 400;

const POSTGRES: &str = "
INSERT INTO hangfire.job (id, stateid, statename, invocationdata, arguments, createdat)
  SELECT g, g * 10 + 3, 'Failed',
    '{\"Type\": \"Bookstore.Jobs.MailJob, Bookstore.Jobs\", \"Method\": \"RunAsync\", \"ParameterTypes\": \"[]\", \"Arguments\": \"[]\"}',
    '[]', now() - interval '1 min'
  FROM generate_series(1, 1200) g;
INSERT INTO hangfire.state (id, jobid, name, createdat, data)
  SELECT g * 10 + nth, g, name, now() - interval '1 min', '{}' FROM generate_series(1, 1200) g,
    (VALUES (1, 'Enqueued'), (2, 'Processing'), (3, 'Failed')) AS r (nth, name);
SELECT setval('hangfire.state_id_seq', 100000), setval('hangfire.job_id_seq', 100000);";

const SQLITE: &str = "
WITH RECURSIVE n (g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM n WHERE g < 1200)
INSERT INTO Job (Id, StateId, StateName, InvocationData, Arguments, CreatedAt, ExpireAt)
  SELECT g, 0, 'Failed',
    '{\"Type\":\"Bookstore.Jobs.MailJob, Bookstore.Jobs\",\"Method\":\"RunAsync\",\"ParameterTypes\":\"[]\",\"Arguments\":\"[]\"}',
    '[]', 639292176000000000, 0
  FROM n;
WITH RECURSIVE n (g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM n WHERE g < 1200),
  r (nth, name) AS (VALUES (1, 'Enqueued'), (2, 'Processing'), (3, 'Failed'))
INSERT INTO State (Id, JobId, Name, CreatedAt, Data, ExpireAt)
  SELECT g * 10 + nth, g, name, 639292176000000000 + nth, '{}', 0 FROM n, r;";

/// What the audit says: job and new state row of every action that was done.
const DONE: [&str; 2] = [
    "SELECT job, after_state_id FROM redrive.audit WHERE outcome = 'done' ORDER BY job",
    "SELECT job, after_state_id FROM redrive_audit WHERE outcome = 'done' ORDER BY job",
];

/// The jobs that are Enqueued, and their newest state row.
const ENQUEUED: [&str; 2] = [
    "SELECT id, stateid FROM hangfire.job WHERE statename = 'Enqueued' ORDER BY id",
    "SELECT j.Id, (SELECT max(s.Id) FROM State s WHERE s.JobId = j.Id) FROM Job j \
     WHERE j.StateName = 'Enqueued' ORDER BY j.Id",
];

/// The state rows that came after the recorded ones, by job.
const NEW_STATES: [&str; 2] = [
    "SELECT jobid, id FROM hangfire.state WHERE id > jobid * 10 + 3 AND name = 'Enqueued' ORDER BY jobid",
    "SELECT JobId, Id FROM State WHERE Id > JobId * 10 + 3 AND Name = 'Enqueued' ORDER BY JobId",
];

/// Jobs and their queue rows, each of which is 1.
const QUEUED: [&str; 2] = [
    "SELECT jobid, count(*) FROM hangfire.jobqueue WHERE fetchedat IS NULL GROUP BY 1 ORDER BY 1",
    "SELECT JobId, count(*) FROM JobQueue WHERE FetchedAt = 0 GROUP BY 1 ORDER BY 1",
];

/// Rows of all these tables, and jobs that are as recorded: numbers that tell of anything else.
const TOTALS: [&str; 2] = [
    "SELECT 0::bigint, count(*) FROM hangfire.state UNION ALL SELECT 1::bigint, count(*) FROM hangfire.jobqueue \
     UNION ALL SELECT 2, count(*) FROM hangfire.lock UNION ALL SELECT 3, count(*) FROM hangfire.job \
     WHERE statename = 'Failed' AND stateid = id * 10 + 3 AND expireat IS NULL ORDER BY 1",
    "SELECT 0, count(*) FROM State UNION ALL SELECT 1, count(*) FROM JobQueue \
     UNION ALL SELECT 2, count(*) FROM DistributedLock UNION ALL SELECT 3, count(*) FROM Job \
     WHERE StateName = 'Failed' AND ExpireAt = 0 ORDER BY 1",
];

/// The form that requeues a job as it was recorded.
fn form(job: i64) -> String {
    format!(
        "source=main&job={job}&state=Failed&state_id={}&reason=again",
        job * 10 + 3
    )
}

/// Requeues every job once, many at a time. Rings after so many answers; gives the new state rows
/// of the jobs that were said to be done.
async fn requeue_all(address: &str, answers: u32, bell: &Notify) -> BTreeMap<i64, i64> {
    let (next, answered) = (AtomicI64::new(1), AtomicU32::new(0));
    let clients = (0..CLIENTS).map(|_| async {
        let mut done = BTreeMap::new();
        loop {
            let job = next.fetch_add(1, Ordering::SeqCst);
            if job > JOBS {
                return done;
            }
            // An error is the program's end.
            let Ok(answer) = post(address, "/api/requeue", &form(job)).await else {
                return done;
            };
            let body: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
            match (answer.status, body["outcome"].as_str()) {
                (200, Some("done")) => {
                    done.insert(job, body["state_id"].as_i64().unwrap());
                }
                (409, Some("moved")) => {}
                _ => panic!("job {job}: {} {}", answer.status, answer.body),
            }
            if answered.fetch_add(1, Ordering::SeqCst) + 1 == answers {
                bell.notify_one();
            }
        }
    });
    join_all(clients).await.into_iter().flatten().collect()
}

/// The rows are those of whole actions, and the audit names each of them; how many there are.
async fn audit_equals_effect(scratch: &Scratch) -> Vec<(i64, i64)> {
    let at = usize::from(!scratch.is_postgres());
    let done = scratch.pairs(DONE[at]).await;
    assert_eq!(scratch.pairs(ENQUEUED[at]).await, done);
    assert_eq!(scratch.pairs(NEW_STATES[at]).await, done);
    let one_each: Vec<_> = done.iter().map(|(job, _)| (*job, 1)).collect();
    assert_eq!(scratch.pairs(QUEUED[at]).await, one_each);
    let acted = i64::try_from(done.len()).unwrap();
    let totals = [(0, 3 * JOBS + acted), (1, acted), (2, 0), (3, JOBS - acted)];
    assert_eq!(scratch.pairs(TOTALS[at]).await, totals);
    done
}

async fn killed_in_the_middle(scratch: Scratch) {
    scratch
        .run(if scratch.is_postgres() {
            POSTGRES
        } else {
            SQLITE
        })
        .await;
    let mut server = Running::start(&scratch.url());
    let bell = Arc::new(Notify::new());
    let (address, ringing) = (server.address().to_owned(), bell.clone());
    let clicks = tokio::spawn(async move { requeue_all(&address, ANSWERS, &ringing).await });
    bell.notified().await;
    server.kill();
    let told = clicks.await.unwrap();
    scratch.settled().await;

    let done = audit_equals_effect(&scratch).await;
    let acted = i64::try_from(done.len()).unwrap();
    assert!(
        (i64::from(ANSWERS)..JOBS).contains(&acted),
        "it was killed in the middle: {acted} were done"
    );
    // What was said to be done is done.
    let kept: BTreeMap<_, _> = done.iter().copied().collect();
    for (job, state_id) in &told {
        assert_eq!(kept.get(job), Some(state_id), "job {job}");
    }

    // Started again, the same requests finish the work, and do none of it twice.
    let server = Running::start(&scratch.url());
    requeue_all(server.address(), u32::MAX, &bell).await;
    let all = audit_equals_effect(&scratch).await;
    assert_eq!(i64::try_from(all.len()), Ok(JOBS));
    for (job, state_id) in done {
        assert!(all.contains(&(job, state_id)), "job {job} was done once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_the_middle_on_sqlite() {
    killed_in_the_middle(Scratch::sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_the_middle_on_postgres() {
    if let Some(scratch) = Scratch::postgres().await {
        killed_in_the_middle(scratch).await;
    }
}
