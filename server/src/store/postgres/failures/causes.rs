//! Failed jobs by cause.

use app::model::insights::JobKind;
use app::ports::failures::{FailureCause, FailureCauses};
use sqlx::{Error, Row as _};
use uuid::Uuid;

use crate::store::failures::micros;
use crate::store::postgres::conn::Conn;
use crate::store::postgres::layout::Layout;
use crate::store::postgres::session::plan_for_values;

/// Counts by group first: there are few.
const CAUSES: &str = "
SELECT c.*, count(*) OVER ()::bigint AS causes, sum(c.jobs) OVER ()::bigint AS total FROM (
  SELECT g.job_type, COALESCE(g.method, '') AS method, COALESCE(g.exception, '') AS exception,
    sum(n.jobs)::bigint AS jobs, max(n.newest) AS newest, min(n.oldest) AS oldest
  FROM (
    SELECT f.group_id, count(*) AS jobs, max(f.changed_at) AS newest, min(f.changed_at) AS oldest
    FROM redrive.failures f WHERE f.source = $1 AND f.list = 'failed' GROUP BY f.group_id
  ) n
  JOIN redrive.failure_groups g ON g.source = $1 AND g.id = n.group_id
  GROUP BY g.job_type, g.method, g.exception
) c ORDER BY c.jobs DESC, c.newest DESC, c.job_type, c.method, c.exception LIMIT $2";

pub(super) async fn causes(
    conn: &mut Conn,
    layout: &Layout,
    source: Uuid,
    limit: u32,
) -> Result<FailureCauses, Error> {
    plan_for_values(conn, layout).await?;
    let rows = sqlx::query(CAUSES)
        .bind(source)
        .bind(i64::from(limit))
        .fetch_all(conn)
        .await?;
    let mut found = FailureCauses::default();
    for row in &rows {
        found.causes = row.try_get("causes")?;
        found.jobs = row.try_get("total")?;
        found.top.push(FailureCause {
            kind: JobKind {
                job_type: row.try_get("job_type")?,
                method: row.try_get("method")?,
            },
            exception: row.try_get("exception")?,
            jobs: row.try_get("jobs")?,
            newest: micros(row.try_get("newest")?),
            oldest: micros(row.try_get("oldest")?),
        });
    }
    Ok(found)
}
