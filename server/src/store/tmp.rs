use app::actions::{Outcome, Request};
use app::ports::actions::ActionStore;
use app::ports::audit::*;
use app::ports::source::*;
use app::ports::error::StoreError;
use uuid::Uuid;
#[async_trait::async_trait]
impl ActionStore for super::postgres::PostgresStore { async fn act(&self, _: Uuid, _: &Request) -> Outcome { Outcome::Gone } }
#[async_trait::async_trait]
impl ActionStore for super::sqlite::SqliteStore { async fn act(&self, _: Uuid, _: &Request) -> Outcome { Outcome::Gone } }
#[async_trait::async_trait]
impl Source for super::postgres::PostgresStore { async fn info(&self) -> Result<SourceInfo, StoreError> { Ok(SourceInfo{dialect: Dialect::Postgres, server_version: "15".into(), schema_version: Some(23), access: Access::ReadWrite, clock_skew_ms:0}) } }
#[async_trait::async_trait]
impl AuditStore for super::postgres::PostgresStore { async fn audit(&self, _: Option<i64>, _: Option<Uuid>, _: u32) -> Result<Vec<AuditRow>, StoreError> { Ok(vec![]) }
 async fn audit_row(&self, _: Uuid) -> Result<Option<AuditRow>, StoreError> { Ok(None) } }
impl super::postgres::PostgresStore { pub async fn migrate(&self) -> Result<(), StoreError> { Ok(()) } pub async fn migrate_hangfire(&self) -> Result<(), StoreError> { Ok(()) } pub async fn pending_sql(&self) -> Result<Option<String>, StoreError> { Ok(None) } }
