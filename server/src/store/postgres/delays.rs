//! Delays that retry policies chose lately.

use app::model::data::StateData;
use app::model::job::TypedDelay;
use app::model::state::{StateName, StateRow};
use app::model::timeline::ObservedDelay;
use app::ports::error::StoreError;
use sqlx::postgres::PgRow;
use sqlx::{Error, Row as _};

use super::layout::Layout;
use super::list::created_at;
use super::session::Session;

const DELAYS: &str = "
SELECT c.id::bigint AS id, j.id::bigint AS job, c.name::text AS name, c.reason::text AS reason,
  {utc c.createdat} AS created_at, {raw c.data} AS data,
  {key j.invocationdata Type} AS type, {key j.invocationdata Method} AS method
FROM (SELECT * FROM {s}.state c ORDER BY c.id DESC LIMIT 5000) c
JOIN {s}.job j ON j.id = c.jobid
WHERE c.reason LIKE 'Retry attempt %' AND pg_column_size(c.data) <= 65536
  AND pg_column_size(j.invocationdata) <= 65536
ORDER BY c.id";

/// See [`app::ports::jobs::JobStore::recent_delays`].
pub async fn recent_delays(session: &Session) -> Result<Vec<TypedDelay>, StoreError> {
    session
        .read(|conn, layout| {
            Box::pin(async move {
                let rows = sqlx::query(layout.sql(DELAYS)).fetch_all(conn).await?;
                let delays: Result<Vec<_>, _> =
                    rows.iter().map(|row| typed_delay(row, &layout)).collect();
                Ok(delays?.into_iter().flatten().collect())
            })
        })
        .await
}

fn typed_delay(row: &PgRow, layout: &Layout) -> Result<Option<TypedDelay>, Error> {
    let plain = |column: &str| {
        let value = row.try_get::<Option<String>, _>(column)?;
        Ok::<_, Error>(value.map(|value| layout.plain("job", "invocationdata", value)))
    };
    let planned = StateRow {
        id: row.try_get("id")?,
        name: StateName::parse(row.try_get("name")?),
        reason: row.try_get("reason")?,
        created_at: created_at(row)?,
        data: StateData::parse_column(row.try_get::<Option<String>, _>("data")?.as_deref()),
        details_chars: None,
    };
    let job = row.try_get("job")?;
    Ok(plain("type")?
        .zip(plain("method")?)
        .zip(ObservedDelay::of_row(&planned))
        .map(|((type_name, method), delay)| TypedDelay {
            job,
            type_name,
            method,
            delay,
        }))
}
