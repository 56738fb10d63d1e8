//! The collector's reading and writing.

mod astray;
mod look;
mod own;
mod write;

use std::time::Duration;

use app::model::collect::Memory;
use app::model::collect::batch::Changes;
use app::model::collect::position::Position;
use app::ports::collector::{Astray, CollectorStore, Look, Pace};
use app::ports::error::StoreError;
use async_trait::async_trait;
use uuid::Uuid;

use super::PostgresStore;
use crate::store::kept::Numbers;

/// Rows of one batch: enough that what a transaction costs is small beside them, few enough that
/// they are little memory.
const PACE: Pace = Pace {
    rows: 10_000,
    longest_write: None,
};

#[async_trait]
impl CollectorStore for PostgresStore {
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
            Numbers::Kept(kept) => kept.file().release(holder).await,
            Numbers::Elsewhere => Ok(()),
        }
    }

    async fn look(&self, position: &Position, limit: u32) -> Result<Look, StoreError> {
        let kept = self.numbers().reader().await?;
        look::look(self.session(), kept, position, limit).await
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
            Numbers::Kept(kept) => kept.file().write(holder, from, to, changes).await,
            Numbers::Elsewhere => Ok(false),
        }
    }

    async fn gone(
        &self,
        after: i64,
        limit: u32,
    ) -> Result<(Vec<(i64, Memory)>, Option<i64>), StoreError> {
        let kept = self.numbers().reader().await?;
        look::gone(self.session(), kept, after, limit).await
    }

    async fn astray(&self, position: &Position, after: i64) -> Result<Astray, StoreError> {
        let kept = self.numbers().reader().await?;
        astray::astray(self.session(), kept, position, after).await
    }
}
