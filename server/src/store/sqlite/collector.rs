//! The collector's reading and writing.
//!
//! One writer at a time hands out rising ids, so no id ever appears below one that was seen.

mod astray;
mod look;
mod write;

use std::time::Duration;

use app::model::collect::Memory;
use app::model::collect::batch::Changes;
use app::model::collect::position::Position;
use app::ports::collector::{Astray, CollectorStore, Look, Pace};
use app::ports::error::StoreError;
use async_trait::async_trait;
use uuid::Uuid;

use super::SqliteStore;

/// Job servers wait while we write.
const PACE: Pace = Pace {
    rows: 4_000,
    longest_write: Some(Duration::from_millis(250)),
};

#[async_trait]
impl CollectorStore for SqliteStore {
    fn pace(&self) -> Pace {
        PACE
    }

    async fn lease(&self, holder: Uuid, lasts: Duration) -> Result<Option<Position>, StoreError> {
        write::lease(self, holder, lasts).await
    }

    async fn release(&self, holder: Uuid) -> Result<(), StoreError> {
        write::release(self, holder).await
    }

    async fn look(&self, position: &Position, limit: u32) -> Result<Look, StoreError> {
        let position = position.clone();
        self.read(move |c| Box::pin(async move { look::look(c, &position, limit).await }))
            .await
    }

    async fn write(
        &self,
        holder: Uuid,
        from: &Position,
        to: &Position,
        changes: &Changes,
    ) -> Result<bool, StoreError> {
        write::write(self, holder, from, to, changes).await
    }

    async fn gone(
        &self,
        after: i64,
        limit: u32,
    ) -> Result<(Vec<(i64, Memory)>, Option<i64>), StoreError> {
        self.read(move |c| Box::pin(look::gone(c, after, limit)))
            .await
    }

    async fn astray(&self, position: &Position, after: i64) -> Result<Astray, StoreError> {
        let position = position.clone();
        self.read(move |c| Box::pin(async move { astray::astray(c, &position, after).await }))
            .await
    }
}
