//! Failed jobs by cause.

use app::model::insights::JobKind;
use app::ports::failures::{FailureCause, FailureCauses};
use sqlx::SqliteConnection;

use crate::store::failures::micros;
use crate::store::sqlite::rows;

/// From the groups, of which there are few, with two look-ups each in the index of their rows.
const CAUSES: &str = "SELECT c.*, count(*) OVER () AS causes, sum(c.jobs) OVER () AS total FROM \
     (SELECT g.job_type AS job_type, coalesce(g.method, '') AS method, \
       coalesce(g.exception, '') AS exception, sum(g.jobs) AS jobs, \
       max((SELECT max(f.changed_at) FROM redrive_failures f \
         WHERE f.source = ?1 AND f.group_id = g.id)) AS newest, \
       min((SELECT min(f.changed_at) FROM redrive_failures f \
         WHERE f.source = ?1 AND f.group_id = g.id)) AS oldest \
      FROM redrive_failure_groups g WHERE g.source = ?1 AND g.list = 'failed' AND g.jobs > 0 \
      GROUP BY 1, 2, 3) c \
     ORDER BY c.jobs DESC, c.newest DESC, c.job_type, c.method, c.exception LIMIT ?2";

pub(super) async fn causes(
    connection: &mut SqliteConnection,
    source: &str,
    limit: u32,
) -> Result<FailureCauses, sqlx::Error> {
    let found = sqlx::query(CAUSES)
        .bind(source.to_owned())
        .bind(i64::from(limit))
        .fetch_all(connection)
        .await?;
    let mut causes = FailureCauses::default();
    for row in &found {
        let int = |column| rows::int(row, column).map(Option::unwrap_or_default);
        let text = |column| rows::text(row, column).map(Option::unwrap_or_default);
        causes.causes = int("causes")?;
        causes.jobs = int("total")?;
        causes.top.push(FailureCause {
            kind: JobKind {
                job_type: text("job_type")?,
                method: text("method")?,
            },
            exception: text("exception")?,
            jobs: int("jobs")?,
            newest: micros(int("newest")?),
            oldest: micros(int("oldest")?),
        });
    }
    Ok(causes)
}
