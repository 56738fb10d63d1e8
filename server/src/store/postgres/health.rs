//! Health checks.

use app::model::health::{Check, Sighting};
use app::model::state::Instant;
use app::ports::error::StoreError;
use app::ports::health::HealthStore;
use app::ports::jobs::JobStore as _;
use async_trait::async_trait;
use sqlx::Row as _;

use super::PostgresStore;
use super::conn::Conn;
use super::layout::Layout;
use crate::check::servers;

/// A query that names what it found as `example`, in the order of `ord`; `$1` is now.
macro_rules! found {
    ($($body:literal),+ $(,)?) => {
        concat!(
            "WITH found AS (", $($body),+,
            ") SELECT (SELECT count(*) FROM found) AS n, example::text AS example \
             FROM found ORDER BY ord, example LIMIT 5"
        )
    };
}

const OVERDUE: &str = found!(
    "SELECT r.value AS example, r.score AS ord FROM {s}.set r \
     WHERE r.key = 'schedule' AND r.score <= extract(epoch FROM $1) - 60"
);
const SCHEDULER_LOCK: &str = "SELECT l.resource::text AS resource, {at l.acquired} AS acquired \
     FROM {s}.lock l WHERE l.resource LIKE '%locks:schedulepoller' ORDER BY 2 LIMIT 1";
const ENQUEUED: &str = found!(
    "SELECT j.id AS example, j.id AS ord FROM {s}.job j LEFT JOIN {s}.state c ON c.id = j.stateid \
     WHERE j.statename = 'Enqueued' \
     AND NOT EXISTS (SELECT 1 FROM {s}.jobqueue q WHERE q.jobid = j.id) \
     AND coalesce({at c.createdat}, {at j.createdat}) < $1 - interval '1 minute'"
);
const SCHEDULED: &str = found!(
    "SELECT j.id AS example, j.id AS ord FROM {s}.job j LEFT JOIN {s}.state c ON c.id = j.stateid \
     WHERE j.statename = 'Scheduled' \
     AND coalesce({at c.createdat}, {at j.createdat}) < $1 - interval '1 minute' \
     AND NOT EXISTS (SELECT 1 FROM {s}.jobqueue q WHERE q.jobid = j.id) \
     AND NOT EXISTS (SELECT 1 FROM {s}.set r WHERE r.key = 'schedule' \
       AND r.value IN (j.id::text, {key j.invocationdata Queue} || ':' || j.id))"
);
const PROCESSING: &str = found!(
    "SELECT j.id AS example, j.id AS ord FROM {s}.job j \
     JOIN {s}.state c ON c.id = j.stateid AND c.jobid = j.id \
     LEFT JOIN {s}.server v \
       ON v.id = coalesce({key c.data ServerId}, {key c.data ServerName}) \
     WHERE j.statename = 'Processing' AND {at c.createdat} < $1 - interval '1 minute' \
     AND (v.id IS NULL OR {at v.lastheartbeat} < $1 - interval '5 minutes')"
);
const SEVERAL: &str = found!(
    "SELECT q.jobid AS example, q.jobid AS ord FROM {s}.jobqueue q \
     GROUP BY q.jobid HAVING count(*) > 1"
);
const PARENT_FINISHED: &str = found!(
    "SELECT j.id AS example, j.id AS ord FROM {s}.job j \
     JOIN {s}.state c ON c.id = j.stateid AND c.jobid = j.id \
     LEFT JOIN {s}.job parent ON parent.id::text = {key c.data ParentId} \
     WHERE j.statename = 'Awaiting' AND {at c.createdat} < $1 - interval '1 minute' \
     AND (parent.id IS NULL OR parent.statename IN ('Succeeded', 'Deleted'))"
);
const PARENT_FAILED: &str = found!(
    "SELECT j.id AS example, j.id AS ord FROM {s}.job j \
     JOIN {s}.state c ON c.id = j.stateid AND c.jobid = j.id \
     JOIN {s}.job parent ON parent.id::text = {key c.data ParentId} \
     WHERE j.statename = 'Awaiting' AND parent.statename = 'Failed'"
);
const RECURRING: &str = found!(
    "SELECT r.value AS example, 0 AS ord FROM {s}.set r WHERE r.key = 'recurring-jobs' \
     AND (r.score < 0 OR EXISTS (SELECT 1 FROM {s}.hash h \
       WHERE h.key = 'recurring-job:' || r.value AND h.field = 'Error' AND h.value <> ''))"
);
const OLD_LOCK: &str = found!(
    "SELECT l.resource AS example, {at l.acquired} AS ord FROM {s}.lock l \
     WHERE {at l.acquired} < $1 - interval '1 minute'"
);
const WITHOUT_STATE: &str = found!(
    "SELECT j.id AS example, j.id AS ord FROM {s}.job j \
     WHERE j.statename IS NULL AND {at j.createdat} < $1 - interval '5 minutes'"
);
const WITHOUT_JOB: &str = found!(
    "SELECT q.jobid || ' in ' || q.queue AS example, q.id AS ord FROM {s}.jobqueue q \
     WHERE NOT EXISTS (SELECT 1 FROM {s}.job j WHERE j.id = q.jobid)"
);
const FINISHED: &str = found!(
    "SELECT q.jobid || ' in ' || q.queue AS example, q.id AS ord FROM {s}.jobqueue q \
     JOIN {s}.job j ON j.id = q.jobid LEFT JOIN {s}.state c ON c.id = j.stateid \
     WHERE j.statename IN ('Succeeded', 'Deleted') \
     AND coalesce({at c.createdat}, {at j.createdat}) < $1 - interval '1 minute'"
);
const MEMBERS: &str = found!(
    "SELECT m.key || ': ' || m.value AS example, m.id AS ord FROM ( \
       SELECT r.id, r.key, r.value, substring(r.value from '[0-9]+$') AS job FROM {s}.set r \
       WHERE r.key IN ('schedule', 'retries', 'awaiting')) m \
     LEFT JOIN {s}.job j ON j.id = CASE WHEN length(m.job) < 19 THEN m.job::bigint END \
     LEFT JOIN {s}.state c ON c.id = j.stateid \
     WHERE j.id IS NULL OR (j.statename IS DISTINCT FROM \
       CASE m.key WHEN 'awaiting' THEN 'Awaiting' ELSE 'Scheduled' END \
       AND coalesce({at c.createdat}, {at j.createdat}) < $1 - interval '1 minute')"
);
const WAITING: &str = "SELECT q.queue::text AS queue, count(*) AS jobs FROM {s}.jobqueue q \
     WHERE q.fetchedat IS NULL GROUP BY 1 ORDER BY 1";

#[async_trait]
impl HealthStore for PostgresStore {
    fn applies(&self, check: Check) -> bool {
        check != Check::Unsettled
    }

    async fn look(&self, check: Check, now: Instant) -> Result<Sighting, StoreError> {
        let query = match check {
            Check::OverdueSchedule => return self.overdue(now).await,
            Check::UnservedQueue => return self.unserved(now).await,
            Check::SilentServer => return Ok(servers::silent(&self.servers().await?, now)),
            Check::OddServerStart => return Ok(servers::odd_start(&self.servers().await?)),
            Check::Unsettled => return Ok(Sighting::default()),
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
        self.session
            .read(move |conn, layout| {
                Box::pin(async move { sighting(conn, &layout, query, now).await })
            })
            .await
    }
}

impl PostgresStore {
    async fn overdue(&self, now: Instant) -> Result<Sighting, StoreError> {
        self.session
            .read(move |conn, layout| {
                Box::pin(async move {
                    let mut seen = sighting(conn, &layout, OVERDUE, now).await?;
                    if seen.count == 0 || !layout.has_table("lock") {
                        return Ok(seen);
                    }
                    let lock = sqlx::query(layout.sql(SCHEDULER_LOCK))
                        .fetch_optional(conn)
                        .await?;
                    if let Some(row) = lock {
                        let resource: String = row.try_get("resource")?;
                        let acquired: Option<Instant> = row.try_get("acquired")?;
                        seen.detail = Some(servers::lock_sentence(&resource, acquired));
                    }
                    Ok(seen)
                })
            })
            .await
    }

    async fn unserved(&self, now: Instant) -> Result<Sighting, StoreError> {
        let waiting: Vec<(String, i64)> = self
            .session
            .read(|conn, layout| {
                Box::pin(async move {
                    sqlx::query(layout.sql(WAITING))
                        .fetch_all(conn)
                        .await?
                        .iter()
                        .map(|row| Ok((row.try_get("queue")?, row.try_get("jobs")?)))
                        .collect()
                })
            })
            .await?;
        Ok(servers::unserved(&self.servers().await?, &waiting, now))
    }
}

async fn sighting(
    conn: &mut Conn,
    layout: &Layout,
    query: &'static str,
    now: Instant,
) -> Result<Sighting, sqlx::Error> {
    let rows = sqlx::query(layout.sql(query))
        .bind(now)
        .fetch_all(conn)
        .await?;
    let mut seen = Sighting::default();
    for row in rows {
        seen.count = row.try_get("n")?;
        seen.examples
            .extend(row.try_get::<Option<String>, _>("example")?);
    }
    Ok(seen)
}
