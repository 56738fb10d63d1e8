//! The collector's reading and writing.

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

use super::PostgresStore;

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
        write::lease(self, holder, lasts).await
    }

    async fn release(&self, holder: Uuid) -> Result<(), StoreError> {
        write::release(self, holder).await
    }

    async fn look(&self, position: &Position, limit: u32) -> Result<Look, StoreError> {
        look::look(self.session(), position, limit).await
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
        look::gone(self.session(), after, limit).await
    }

    async fn astray(&self, position: &Position, after: i64) -> Result<Astray, StoreError> {
        look::astray(self.session(), position, after).await
    }
}
