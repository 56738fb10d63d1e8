//! A source as the program holds it: its stores, and the latest look at it.

use std::sync::Arc;

use app::model::job::{Server, TypedDelay};
use app::ports::actions::ActionStore;
use app::ports::audit::AuditStore;
use app::ports::jobs::{JobStore, StateCounts};
use app::ports::source::{Source, SourceInfo};
use tokio::sync::watch;

use crate::config::SourceConfig;

pub mod claims;
pub mod sampler;

/// A server whose heartbeat is older than this is gone: Hangfire's own default.
pub const SERVER_GONE_MS: i64 = 5 * 60_000;

/// Everything a store does, behind one pointer.
pub trait Store: Source + JobStore + AuditStore + ActionStore {}

impl<T: Source + JobStore + AuditStore + ActionStore> Store for T {}

/// One source under watch.
#[derive(Clone)]
pub struct SourceHandle {
    /// How it is configured.
    pub config: Arc<SourceConfig>,
    /// Its database.
    pub store: Arc<dyn Store>,
    /// What to say where its data is not real.
    pub demo: Option<String>,
    /// The latest background look at it.
    pub live: watch::Receiver<Snapshot>,
}

/// The latest background look at a source, shared by all viewers.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Jobs by state; `None` before the first count.
    pub counts: Option<Arc<StateCounts>>,
    /// What is known of the database; `None` before the first look, or while it is away.
    pub info: Option<Arc<SourceInfo>>,
    /// Its servers.
    pub servers: Arc<Vec<Server>>,
    /// Its queues, by name.
    pub queues: Arc<Vec<String>>,
    /// Delays that retry policies chose lately, oldest first.
    pub delays: Arc<Vec<TypedDelay>>,
    /// Why the last look failed, in words.
    pub trouble: Option<String>,
}

impl Snapshot {
    /// Whether the database answered at the last look.
    pub fn answers(&self) -> bool {
        self.info.is_some() && self.trouble.is_none()
    }
}
