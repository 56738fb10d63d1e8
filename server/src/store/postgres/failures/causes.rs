//! Failed jobs by cause.

use app::model::insights::JobKind;
use app::ports::failures::{FailureCause, FailureCauses};
use sqlx::{Error, Row as _};
use uuid::Uuid;

use crate::store::failures::micros;
use crate::store::postgres::conn::Conn;
use crate::store::postgres::layout::Layout;
use crate::store::postgres::session::plan_for_values;

/// From the groups, of which there are few, with two look-ups each in the index of their rows.
const CAUSES: &str = "
SELECT c.*, count(*) OVER ()::bigint AS causes, sum(c.jobs) OVER ()::bigint AS total FROM (
  SELECT g.job_type, COALESCE(g.method, '') AS method, COALESCE(g.exception, '') AS exception,
    sum(g.jobs)::bigint AS jobs,
    max((SELECT f.changed_at FROM redrive.failures f WHERE f.source = $1 AND f.group_id = g.id
      ORDER BY f.changed_at DESC LIMIT 1)) AS newest,
    min((SELECT f.changed_at FROM redrive.failures f WHERE f.source = $1 AND f.group_id = g.id
      ORDER BY f.changed_at LIMIT 1)) AS oldest
  FROM redrive.failure_groups g WHERE g.source = $1 AND g.list = 'failed' AND g.jobs > 0
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
