//! Where the numbers of the source are kept.

use app::ports::error::StoreError;
use sqlx::Error;

use super::PostgresStore;
use super::conn::Conn;
use super::migrate;
use crate::store::kept::{Home, Numbers};

/// What reading numbers takes.
pub(super) const TABLES: [&str; 2] = ["source", "gauges"];

/// Whether the role may make them.
const MAY_BE_MADE: &str = "SELECT NOT pg_is_in_recovery()
  AND current_setting('default_transaction_read_only') = 'off'
  AND has_database_privilege(current_database(), 'CREATE')
  AND COALESCE(has_schema_privilege(to_regnamespace('redrive'), 'CREATE'), true)";

impl PostgresStore {
    /// Where they were kept when that was chosen last.
    pub(super) fn numbers(&self) -> Numbers<'_> {
        self.kept
            .as_ref()
            .map_or(Numbers::Own, |kept| kept.chosen())
    }

    /// Chooses where they are kept.
    pub(super) async fn choose(&self) -> Result<Numbers<'_>, StoreError> {
        let Some(kept) = &self.kept else {
            return Ok(Numbers::Own);
        };
        let home = self
            .session()
            .read(|conn, _| Box::pin(async move { home(conn).await }))
            .await?;
        Ok(kept.choose(home))
    }
}

/// What the database says of the own tables of numbers.
pub(super) async fn home(conn: &mut Conn) -> Result<Home, Error> {
    Ok(if migrate::are_readable(conn, &TABLES).await? {
        Home::There
    } else if sqlx::query_scalar(MAY_BE_MADE).fetch_one(conn).await? {
        Home::ToBeMade
    } else {
        Home::Never
    })
}
