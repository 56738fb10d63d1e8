//! Hangfire's locks: rows of its table `lock`.

use app::actions::Outcome;
use app::actions::decide::{STALE_LOCK_MS, held, scheduler_at_work, stale_lock_note};
use app::model::state::Instant;
use sqlx::Row as _;

use super::Layout;
use super::run::Halt;
use crate::store::postgres::conn::Conn;

/// What crashed holders leave behind is cleared after as long as Hangfire itself waits.
const CLEAR: &str = "
DELETE FROM {s}.lock l
WHERE l.resource = $1 AND l.acquired < clock_timestamp() - $2 * interval '1 millisecond'
RETURNING {utc l.acquired} AS acquired";

/// With an `updatecount` of 0 a server in Hangfire's legacy mode would take the row over.
const TAKE: &str = "
INSERT INTO {s}.lock (resource, updatecount, acquired) VALUES ($1, 1, clock_timestamp())
ON CONFLICT DO NOTHING";

const HOLDER: &str = "
SELECT {utc l.acquired} AS acquired, clock_timestamp() AS now FROM {s}.lock l
WHERE l.resource = $1";

const RELEASE: &str = "DELETE FROM {s}.lock WHERE resource = ANY($1)";

/// The locks that a transaction holds.
#[derive(Default)]
pub(super) struct Locks {
    resources: Vec<String>,
}

impl Locks {
    /// Takes the lock of a job; a note where a stale one had to be cleared for it.
    ///
    /// # Errors
    /// [`app::actions::Outcome::Busy`] where somebody holds it.
    pub(super) async fn take(
        &mut self,
        conn: &mut Conn,
        layout: &Layout,
        job: i64,
    ) -> Result<Option<String>, Halt<Outcome>> {
        let resource = format!("{}:job:{job}:state-lock", layout.schema());
        let held = |since, now| held(job, since, now);
        let stale = self.take_resource(conn, layout, resource, held).await?;
        Ok(stale.map(|since| stale_lock_note(job, since)))
    }

    /// Takes the scheduler's lock, so that it releases no job meanwhile.
    ///
    /// # Errors
    /// [`app::actions::Outcome::Busy`] where the scheduler holds it.
    pub(super) async fn take_scheduler(
        &mut self,
        conn: &mut Conn,
        layout: &Layout,
    ) -> Result<(), Halt<Outcome>> {
        let resource = format!("{}:locks:schedulepoller", layout.schema());
        let held = |since, _| scheduler_at_work(since);
        self.take_resource(conn, layout, resource, held).await?;
        Ok(())
    }

    /// Takes a lock; since when a stale one stood that was cleared for it.
    async fn take_resource(
        &mut self,
        conn: &mut Conn,
        layout: &Layout,
        resource: String,
        held: impl FnOnce(Option<Instant>, Instant) -> Outcome,
    ) -> Result<Option<Instant>, Halt<Outcome>> {
        let stale = sqlx::query(layout.sql(CLEAR))
            .bind(&resource)
            .bind(STALE_LOCK_MS)
            .fetch_optional(&mut *conn)
            .await?;
        let stale = match stale {
            Some(row) => Some(super::at(row.try_get("acquired")?)),
            None => None,
        };
        let taken = sqlx::query(layout.sql(TAKE))
            .bind(&resource)
            .execute(&mut *conn)
            .await?;
        if taken.rows_affected() == 1 {
            self.resources.push(resource);
            return Ok(stale);
        }
        let holder = sqlx::query(layout.sql(HOLDER))
            .bind(&resource)
            .fetch_optional(&mut *conn)
            .await?;
        let (since, now) = match holder {
            Some(row) => (row.try_get("acquired")?, row.try_get("now")?),
            // Given back between the two statements.
            None => (None, super::find::now(conn).await?),
        };
        Err(held(since, now).into())
    }

    /// Gives every lock back.
    ///
    /// # Errors
    /// The database's.
    pub(super) async fn release(self, conn: &mut Conn, layout: &Layout) -> Result<(), sqlx::Error> {
        sqlx::query(layout.sql(RELEASE))
            .bind(self.resources)
            .execute(conn)
            .await?;
        Ok(())
    }
}
