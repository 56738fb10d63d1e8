//! Failures by cause, from an index that lies in a file apart from the jobs.

use app::model::collect::position::Position;
use app::ports::error::StoreError;
use app::ports::failures::{FailureCauses, Indexed};
use sqlx::Row as _;

use crate::store::failures::Reach;
use crate::store::postgres::PostgresStore;
use crate::store::sqlite::SqliteStore;

const WAITING: &str = "
SELECT clock_timestamp() AS now, (SELECT max(c.id)::bigint FROM {s}.state c) AS highest,
  (SELECT {utc c.createdat} FROM {s}.state c WHERE c.id > $1 ORDER BY c.id LIMIT 1)
    AS waiting_since";

impl PostgresStore {
    pub(super) async fn kept_causes(
        &self,
        file: &SqliteStore,
        limit: u32,
    ) -> Result<Indexed<FailureCauses>, StoreError> {
        let Position {
            watermark, indexed, ..
        } = file.position().await?;
        let (reach, now) = self
            .session()
            .read(move |conn, layout| {
                Box::pin(async move {
                    let row = sqlx::query(layout.sql(WAITING))
                        .bind(watermark)
                        .fetch_one(conn)
                        .await?;
                    let highest: Option<i64> = row.try_get("highest")?;
                    let reach = Reach {
                        watermark,
                        highest: highest.unwrap_or_default(),
                        indexed,
                        waiting_since: row.try_get("waiting_since")?,
                    };
                    Ok((reach, row.try_get("now")?))
                })
            })
            .await?;
        match reach.not_ready(now) {
            Some(why) => Ok(Indexed::NotReady(why)),
            None => file.causes_alone(limit).await.map(Indexed::Ready),
        }
    }
}
