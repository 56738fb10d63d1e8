//! Failures by cause, from an index that lies in a file apart from the jobs.

use app::model::collect::position::Position;
use app::ports::error::StoreError;
use app::ports::failures::{FailureCauses, Indexed};
use sqlx::{Error, SqliteConnection};

use super::causes;
use crate::store::failures::Reach;
use crate::store::sqlite::{SqliteStore, rows};

const POSITION: &str = "SELECT source, position FROM redrive_collector \
     WHERE source = (SELECT id FROM redrive_source WHERE hangfire_schema = 'main')";

const WAITING: &str = "SELECT (SELECT max(Id) FROM State) AS highest, \
     (SELECT CreatedAt FROM State WHERE Id > ? ORDER BY Id LIMIT 1) AS waiting_since";

/// The source's id and position, once there are any.
async fn position(connection: &mut SqliteConnection) -> Result<Option<(String, Position)>, Error> {
    let Some(row) = sqlx::query(POSITION).fetch_optional(connection).await? else {
        return Ok(None);
    };
    let position = rows::text(&row, "position")?.unwrap_or_default();
    let position = serde_json::from_str(&position).map_err(|error| Error::Decode(error.into()))?;
    Ok(Some((
        rows::text(&row, "source")?.unwrap_or_default(),
        position,
    )))
}

impl SqliteStore {
    /// How far rows were read by what this file keeps.
    pub(in crate::store) async fn position(&self) -> Result<Position, StoreError> {
        let read = self.read(|c| Box::pin(position(c))).await?;
        Ok(read.map(|(_, position)| position).unwrap_or_default())
    }

    /// The causes in this file's index, whatever became of the jobs.
    pub(in crate::store) async fn causes_alone(
        &self,
        limit: u32,
    ) -> Result<FailureCauses, StoreError> {
        self.read(move |c| {
            Box::pin(async move {
                match position(c).await? {
                    Some((source, _)) => causes::causes(c, &source, limit).await,
                    None => Ok(FailureCauses::default()),
                }
            })
        })
        .await
    }

    pub(super) async fn kept_causes(
        &self,
        file: &SqliteStore,
        limit: u32,
    ) -> Result<Indexed<FailureCauses>, StoreError> {
        let Position {
            watermark, indexed, ..
        } = file.position().await?;
        let reach = self
            .read(move |c| {
                Box::pin(async move {
                    let row = sqlx::query(WAITING).bind(watermark).fetch_one(c).await?;
                    Ok(Reach {
                        watermark,
                        highest: rows::int(&row, "highest")?.unwrap_or_default(),
                        indexed,
                        waiting_since: rows::instant(&row, "waiting_since")?,
                    })
                })
            })
            .await?;
        match reach.not_ready(self.inner.clock.now()) {
            Some(why) => Ok(Indexed::NotReady(why)),
            None => file.causes_alone(limit).await.map(Indexed::Ready),
        }
    }
}
