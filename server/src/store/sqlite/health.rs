//! Health checks.

use app::model::health::{Check, Sighting};
use app::model::state::Instant;
use app::ports::error::StoreError;
use app::ports::health::HealthStore;
use app::ports::jobs::JobStore as _;
use async_trait::async_trait;
use sqlx::SqliteConnection;

use super::sql::member;
use super::{SqliteStore, rows, ticks};
use crate::check::servers;

/// A query that names what it found as `example`, in the order of `ord`. `now` is a table of one
/// row: now in ticks, a minute and five minutes before it, and unix seconds.
macro_rules! found {
    ($($body:expr),+ $(,)?) => {
        concat!(
            "WITH now(at, minute, five, unix) AS \
             (SELECT ?1, ?1 - 600000000, ?1 - 3000000000, ?1 / 10000000 - 62135596800), \
             found AS (", $($body),+,
            ") SELECT (SELECT count(*) FROM found) AS n, CAST(example AS TEXT) AS example \
             FROM found ORDER BY ord, 2 LIMIT 5"
        )
    };
}

/// The newest row of job `j` is older than a minute.
macro_rules! settled {
    () => {
        "coalesce((SELECT max(CreatedAt) FROM State WHERE JobId = j.Id), j.CreatedAt) < minute"
    };
}

/// The parent that job `j` awaits.
macro_rules! parent {
    () => {
        concat!(
            "(SELECT CAST(",
            member!("Data", "ParentId"),
            " AS INTEGER) FROM State WHERE JobId = j.Id AND Name = 'Awaiting' \
             ORDER BY Id DESC LIMIT 1)"
        )
    };
}

const OVERDUE: &str = found!(
    "SELECT Value AS example, Score AS ord FROM \"Set\", now \
     WHERE \"Key\" = 'schedule' AND Score <= unix - 60"
);
const SCHEDULER_LOCK: &str = "SELECT Resource AS resource FROM DistributedLock \
     WHERE Resource LIKE '%locks:schedulepoller' LIMIT 1";
const ENQUEUED: &str = found!(
    "SELECT j.Id AS example, j.Id AS ord FROM Job j, now WHERE StateName = 'Enqueued' \
     AND j.Id NOT IN (SELECT JobId FROM JobQueue WHERE JobId IS NOT NULL) AND ",
    settled!()
);
const SCHEDULED: &str = found!(
    "SELECT j.Id AS example, j.Id AS ord FROM Job j, now WHERE StateName = 'Scheduled' \
     AND j.Id NOT IN (SELECT JobId FROM JobQueue WHERE JobId IS NOT NULL) \
     AND j.Id NOT IN (SELECT CAST(substr(Value, instr(Value, ':') + 1) AS INTEGER) FROM \"Set\" \
       WHERE \"Key\" = 'schedule') AND ",
    settled!()
);
const PROCESSING: &str = found!(
    "SELECT j.Id AS example, j.Id AS ord FROM Job j, now WHERE StateName = 'Processing' \
     AND coalesce((SELECT coalesce(",
    member!("Data", "ServerId"),
    ", ",
    member!("Data", "ServerName"),
    ") FROM State WHERE JobId = j.Id AND Name = 'Processing' ORDER BY Id DESC LIMIT 1), '') \
     NOT IN (SELECT Id FROM Server WHERE LastHeartbeat >= five) AND ",
    settled!()
);
const SEVERAL: &str = found!(
    "SELECT JobId AS example, JobId AS ord FROM JobQueue, now GROUP BY JobId HAVING count(*) > 1"
);
const PARENT_FINISHED: &str = found!(
    "SELECT j.Id AS example, j.Id AS ord FROM now, Job j LEFT JOIN Job parent ON parent.Id = ",
    parent!(),
    " WHERE j.StateName = 'Awaiting' \
     AND (parent.Id IS NULL OR parent.StateName IN ('Succeeded', 'Deleted')) AND ",
    settled!()
);
const PARENT_FAILED: &str = found!(
    "SELECT j.Id AS example, j.Id AS ord FROM now, Job j JOIN Job parent ON parent.Id = ",
    parent!(),
    " WHERE j.StateName = 'Awaiting' AND parent.StateName = 'Failed'"
);
const RECURRING: &str = found!(
    "SELECT r.Value AS example, 0 AS ord FROM \"Set\" r, now WHERE r.\"Key\" = 'recurring-jobs' \
     AND (r.Score < 0 OR EXISTS (SELECT 1 FROM Hash h WHERE h.\"Key\" = 'recurring-job:' || r.Value \
       AND h.Field = 'Error' AND h.Value <> ''))"
);
const UNSETTLED: &str = found!(
    "SELECT j.Id AS example, j.Id AS ord FROM now, Job j \
     JOIN State s ON s.Id = (SELECT max(Id) FROM State WHERE JobId = j.Id) \
     WHERE s.Name <> j.StateName COLLATE NOCASE AND s.CreatedAt < minute"
);
const OLD_LOCK: &str = found!(
    "SELECT Resource AS example, ExpireAt AS ord FROM DistributedLock, now WHERE ExpireAt < minute"
);
const WITHOUT_STATE: &str = found!(
    "SELECT j.Id AS example, j.Id AS ord FROM Job j, now \
     WHERE coalesce(StateName, '') = '' AND CreatedAt < five"
);
const WITHOUT_JOB: &str = found!(
    "SELECT JobId || ' in ' || Queue AS example, Id AS ord FROM JobQueue, now \
     WHERE JobId NOT IN (SELECT Id FROM Job)"
);
const FINISHED: &str = found!(
    "SELECT q.JobId || ' in ' || q.Queue AS example, q.Id AS ord FROM now, JobQueue q \
     JOIN Job j ON j.Id = q.JobId WHERE j.StateName IN ('Succeeded', 'Deleted') AND ",
    settled!()
);
const MEMBERS: &str = found!(
    "SELECT m.\"Key\" || ': ' || m.Value AS example, m.Id AS ord FROM now, \"Set\" m \
     LEFT JOIN Job j ON j.Id = CAST(substr(m.Value, instr(m.Value, ':') + 1) AS INTEGER) \
     WHERE m.\"Key\" IN ('schedule', 'retries', 'awaiting') AND (j.Id IS NULL \
       OR j.StateName IS NOT CASE m.\"Key\" WHEN 'awaiting' THEN 'Awaiting' ELSE 'Scheduled' END AND ",
    settled!(),
    ")"
);
const WAITING: &str = "SELECT Queue AS queue, count(*) AS jobs FROM JobQueue \
     WHERE coalesce(FetchedAt, 0) = 0 GROUP BY Queue ORDER BY Queue";

#[async_trait]
impl HealthStore for SqliteStore {
    fn applies(&self, _: Check) -> bool {
        true
    }

    async fn look(&self, check: Check, now: Instant) -> Result<Sighting, StoreError> {
        let query = match check {
            Check::OverdueSchedule => return self.overdue(now).await,
            Check::UnservedQueue => return self.unserved(now).await,
            Check::SilentServer => return Ok(servers::silent(&self.servers().await?, now)),
            Check::OddServerStart => return Ok(servers::odd_start(&self.servers().await?)),
            Check::Unsettled => UNSETTLED,
            Check::EnqueuedWithoutQueueRow => ENQUEUED,
            Check::ScheduledWithoutMember => SCHEDULED,
            Check::ProcessingWithoutServer => PROCESSING,
            Check::SeveralQueueRows => SEVERAL,
            Check::AwaitingFinishedParent => PARENT_FINISHED,
            Check::AwaitingFailedParent => PARENT_FAILED,
            Check::RecurringStopped => RECURRING,
            Check::OldLock => OLD_LOCK,
            Check::WithoutState => WITHOUT_STATE,
            Check::QueueRowWithoutJob => WITHOUT_JOB,
            Check::QueueRowOfFinishedJob => FINISHED,
            Check::MemberWithoutJob => MEMBERS,
        };
        self.read(move |c| Box::pin(sighting(c, query, now))).await
    }
}

impl SqliteStore {
    async fn overdue(&self, now: Instant) -> Result<Sighting, StoreError> {
        self.read(move |c| {
            Box::pin(async move {
                let mut seen = sighting(c, OVERDUE, now).await?;
                if seen.count > 0 {
                    let lock = sqlx::query(SCHEDULER_LOCK).fetch_optional(c).await?;
                    seen.detail = lock
                        .map(|row| rows::text(&row, "resource"))
                        .transpose()?
                        .flatten()
                        .map(|resource| servers::lock_sentence(&resource, None));
                }
                Ok(seen)
            })
        })
        .await
    }

    async fn unserved(&self, now: Instant) -> Result<Sighting, StoreError> {
        let waiting: Vec<(String, i64)> = self
            .read(|c| {
                Box::pin(async move {
                    sqlx::query(WAITING)
                        .fetch_all(c)
                        .await?
                        .iter()
                        .map(|row| {
                            Ok((
                                rows::text(row, "queue")?.unwrap_or_default(),
                                rows::int(row, "jobs")?.unwrap_or_default(),
                            ))
                        })
                        .collect()
                })
            })
            .await?;
        Ok(servers::unserved(&self.servers().await?, &waiting, now))
    }
}

async fn sighting(
    connection: &mut SqliteConnection,
    query: &'static str,
    now: Instant,
) -> Result<Sighting, sqlx::Error> {
    let found = sqlx::query(query)
        .bind(ticks::ticks(now))
        .fetch_all(connection)
        .await?;
    let mut seen = Sighting::default();
    for row in &found {
        seen.count = rows::int(row, "n")?.unwrap_or_default();
        seen.examples.extend(rows::text(row, "example")?);
    }
    Ok(seen)
}
