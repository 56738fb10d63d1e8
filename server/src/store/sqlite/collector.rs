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
use super::own::Own;
use crate::store::kept::Numbers;

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
        match self.choose().await? {
            Numbers::Own => write::lease(self, holder, lasts).await,
            Numbers::Kept(kept) => kept.lease(holder, lasts).await,
            Numbers::Elsewhere => Ok(None),
        }
    }

    async fn release(&self, holder: Uuid) -> Result<(), StoreError> {
        match self.numbers() {
            Numbers::Own => write::release(self, holder).await,
            Numbers::Kept(kept) => write::release(kept.file(), holder).await,
            Numbers::Elsewhere => Ok(()),
        }
    }

    async fn look(&self, position: &Position, limit: u32) -> Result<Look, StoreError> {
        let (kept, position) = (self.numbers().reader().await?, position.clone());
        self.read(move |c| {
            Box::pin(async move { look::look(c, Own::open(kept).await?, &position, limit).await })
        })
        .await
    }

    async fn write(
        &self,
        holder: Uuid,
        from: &Position,
        to: &Position,
        changes: &Changes,
    ) -> Result<bool, StoreError> {
        match self.numbers() {
            Numbers::Own => write::write(self, holder, from, to, changes).await,
            Numbers::Kept(kept) => write::write(kept.file(), holder, from, to, changes).await,
            Numbers::Elsewhere => Ok(false),
        }
    }

    async fn gone(
        &self,
        after: i64,
        limit: u32,
    ) -> Result<(Vec<(i64, Memory)>, Option<i64>), StoreError> {
        let kept = self.numbers().reader().await?;
        self.read(move |c| {
            Box::pin(async move { look::gone(c, Own::open(kept).await?, after, limit).await })
        })
        .await
    }

    async fn astray(&self, position: &Position, after: i64) -> Result<Astray, StoreError> {
        let (kept, position) = (self.numbers().reader().await?, position.clone());
        self.read(move |c| {
            Box::pin(
                async move { astray::astray(c, Own::open(kept).await?, &position, after).await },
            )
        })
        .await
    }
}
