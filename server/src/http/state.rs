//! What every handler can reach.

use std::sync::Arc;

use app::actions::Actor;
use app::links::Links;
use app::pages::document::Assets;
use tokio_util::sync::CancellationToken;

use crate::clock::SharedClock;
use crate::source::SourceHandle;

/// Shared by all handlers; cheap to clone.
#[derive(Clone)]
pub struct AppState(Arc<Inner>);

struct Inner {
    links: Links,
    assets: Assets,
    clock: SharedClock,
    operator: String,
    sources: Vec<SourceHandle>,
    stop: CancellationToken,
}

impl AppState {
    /// `sources` in the order of the configuration; there is at least one.
    pub fn new(
        links: Links,
        clock: SharedClock,
        operator: String,
        sources: Vec<SourceHandle>,
        stop: CancellationToken,
    ) -> Self {
        let assets = super::assets::urls(&links);
        Self(Arc::new(Inner {
            links,
            assets,
            clock,
            operator,
            sources,
            stop,
        }))
    }

    /// Makes URLs.
    pub fn links(&self) -> &Links {
        &self.0.links
    }

    /// URLs of the embedded files.
    pub fn assets(&self) -> &Assets {
        &self.0.assets
    }

    /// Tells the time.
    pub fn clock(&self) -> &SharedClock {
        &self.0.clock
    }

    /// Every source, in the order of the configuration.
    pub fn sources(&self) -> &[SourceHandle] {
        &self.0.sources
    }

    /// The source of that name.
    pub fn source(&self, name: &str) -> Option<&SourceHandle> {
        self.0
            .sources
            .iter()
            .find(|source| source.config.name == name)
    }

    /// Cancelled when the program stops.
    pub fn stop(&self) -> &CancellationToken {
        &self.0.stop
    }

    /// Who acts. The one place that decides it: until access control exists, the configured
    /// operator, and no request can say otherwise.
    pub fn actor(&self) -> Actor {
        Actor {
            name: self.0.operator.clone(),
            authenticated: false,
        }
    }
}
