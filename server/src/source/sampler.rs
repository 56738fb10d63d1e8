//! The background look at a source: one for all viewers, however many there are.

use std::sync::Arc;
use std::time::Duration;

use app::ports::error::StoreError;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::claims::{SourceClaims, look};
use super::{Snapshot, Store, insights, totals};
use crate::clock::SharedClock;

/// The pause between two looks.
const PAUSE: Duration = Duration::from_secs(5);
/// The pause between two counts is at least this many times what the last one took, so that a big
/// table is not kept busy with counting.
const REST: u32 = 20;

/// Looks again and again, and publishes what it sees, until told to stop.
pub async fn run(
    store: Arc<dyn Store>,
    claims: Arc<SourceClaims>,
    clock: SharedClock,
    live: watch::Sender<Snapshot>,
    stop: CancellationToken,
) {
    let look = every(|| async {
        let seen = look_at(store.as_ref()).await;
        live.send_modify(|snapshot| merge(snapshot, seen));
        PAUSE
    });
    let count = every(|| async {
        let began = Instant::now();
        match store.counts().await {
            Ok(counts) => live.send_modify(|snapshot| snapshot.counts = Some(Arc::new(counts))),
            // The look beside it says why, once.
            Err(error) => tracing::debug!(%error, "jobs could not be counted"),
        }
        PAUSE.max(began.elapsed() * REST)
    });
    tokio::select! {
        () = look => {}
        () = count => {}
        () = insights::run(store.as_ref(), &clock, &live) => {}
        () = look::run(claims, store.clone(), clock.clone(), &live) => {}
        () = totals::run(store.as_ref(), &clock, &live) => {}
        () = stop.cancelled() => {}
    }
}

/// Does the work, pauses as long as it says, and begins again, for ever.
async fn every<F: Future<Output = Duration>>(work: impl Fn() -> F) {
    loop {
        let pause = work().await;
        tokio::time::sleep(pause).await;
    }
}

async fn look_at(store: &dyn Store) -> Result<Snapshot, StoreError> {
    Ok(Snapshot {
        info: Some(Arc::new(store.info().await?)),
        servers: Arc::new(store.servers().await?),
        queues: Arc::new(store.queues().await?),
        delays: Arc::new(store.recent_delays().await?),
        ..Snapshot::default()
    })
}

/// A failed look keeps what was seen before: old numbers carry their age, and are better than none.
fn merge(snapshot: &mut Snapshot, seen: Result<Snapshot, StoreError>) {
    match seen {
        Ok(seen) => {
            if let Some(trouble) = snapshot.trouble.take() {
                tracing::info!(trouble, "the source answers again");
            }
            *snapshot = Snapshot {
                counts: snapshot.counts.take(),
                claims: snapshot.claims.take(),
                collecting: std::mem::take(&mut snapshot.collecting),
                insights: std::mem::take(&mut snapshot.insights),
                totals: snapshot.totals.take(),
                ..seen
            };
        }
        Err(error) => {
            let trouble = error.to_string();
            if snapshot.trouble.as_ref() != Some(&trouble) {
                tracing::warn!(%error, "the source could not be looked at");
            }
            snapshot.trouble = Some(trouble);
        }
    }
}
