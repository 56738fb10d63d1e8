//! The background look at the claims of a source: its tables as the catalogue has them, their
//! numbers, the index from keys to jobs, and the periodic purge.

use std::sync::Arc;
use std::time::Duration;

use app::actions::Actor;
use app::model::claim::ClaimsTable;
use app::model::claim::table::Shape;
use app::model::state::Instant as Moment;
use app::pages::claims::LastPurge;
use app::ports::claims::{ClaimFigures, Purge};
use app::ports::error::StoreError;
use chrono::TimeDelta;
use tokio::sync::watch;
use tokio::time::Instant;

use super::SourceClaims;
use crate::clock::SharedClock;
use crate::source::{Snapshot, Store};

/// The pause between two looks at the tables.
const PAUSE: Duration = Duration::from_secs(5);
/// The pause is at least this many times what the last look took, so that a big table is not kept
/// busy with counting.
const REST: u32 = 20;
/// Where tables are detected, they are looked for again after this time.
const DETECT: Duration = Duration::from_mins(1);
/// The pause between two periodic purges.
const PURGE: Duration = Duration::from_hours(1);
/// Rows per transaction of a purge.
pub const PURGE_BATCH: u32 = 1_000;

/// A claims table as it was last seen.
#[derive(Debug, Clone)]
pub struct Watched {
    /// How it is described.
    pub table: ClaimsTable,
    /// As the catalogue has it; why it cannot be read, in words.
    pub shape: Result<Arc<Shape>, String>,
    /// Its numbers, or why they could not be counted; `None` before the first count.
    pub figures: Option<Result<Arc<ClaimFigures>, String>>,
}

/// Looks again and again, until dropped.
pub async fn run(
    claims: Arc<SourceClaims>,
    store: Arc<dyn Store>,
    clock: SharedClock,
    live: &watch::Sender<Snapshot>,
) {
    tokio::join!(
        look_on(&claims, store.as_ref(), live),
        index(&claims, store.as_ref()),
        purge_on(&claims, store.as_ref(), &clock),
    );
}

async fn look_on(claims: &SourceClaims, store: &dyn Store, live: &watch::Sender<Snapshot>) {
    let mut detected: Option<(Instant, Vec<ClaimsTable>)> = None;
    loop {
        let began = Instant::now();
        if claims.detects()
            && detected
                .as_ref()
                .is_none_or(|(at, _)| at.elapsed() > DETECT)
        {
            match store.detect().await {
                Ok(tables) => detected = Some((began, tables)),
                // The look at the jobs says why, once.
                Err(error) => tracing::debug!(%error, "claims tables could not be looked for"),
            }
        }
        let tables = match &detected {
            _ if !claims.configured.is_empty() => claims.configured.as_slice(),
            Some((_, tables)) => tables.as_slice(),
            // Not looked for yet, or not to be looked for: then there are none.
            None if claims.detects() => {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            None => &[],
        };
        look(claims, store, tables, live).await;
        tokio::time::sleep(PAUSE.max(began.elapsed() * REST)).await;
    }
}

/// A look at what the tables are, without their numbers.
///
/// # Errors
/// As the database's.
pub async fn once(
    claims: &SourceClaims,
    store: &dyn Store,
) -> Result<Arc<Vec<Watched>>, StoreError> {
    let tables = if claims.detects() {
        store.detect().await?
    } else {
        claims.configured.clone()
    };
    claims.index_for(&tables);
    let mut seen = Vec::with_capacity(tables.len());
    for table in tables {
        let shape = match claims.shape(store, &table).await {
            Ok(shape) => Ok(Arc::new(shape)),
            Err(error @ (StoreError::Away(_) | StoreError::Absent(_))) => return Err(error),
            Err(error) => Err(error.to_string()),
        };
        seen.push(Watched {
            table,
            shape,
            figures: None,
        });
    }
    Ok(Arc::new(seen))
}

/// One look at every table: first what they are, then their numbers, which may take longer.
pub(super) async fn look(
    claims: &SourceClaims,
    store: &dyn Store,
    tables: &[ClaimsTable],
    live: &watch::Sender<Snapshot>,
) {
    claims.index_for(tables);
    let former = live.borrow().claims.clone().unwrap_or_default();
    let former = |table: &ClaimsTable| former.iter().find(|seen| seen.table == *table);
    let mut seen = Vec::with_capacity(tables.len());
    for table in tables {
        let shape = match claims.shape(store, table).await {
            Ok(shape) => Ok(Arc::new(shape)),
            // Away is said of the whole source, and what was seen before is better than nothing.
            Err(StoreError::Away(why)) => {
                let known = former(table).map(|seen| seen.shape.clone());
                known.unwrap_or(Err(format!("the database does not answer: {why}")))
            }
            Err(error) => Err(error.to_string()),
        };
        let figures = former(table).and_then(|seen| seen.figures.clone());
        seen.push(Watched {
            table: table.clone(),
            figures: figures.filter(|_| shape.is_ok()),
            shape,
        });
    }
    publish(live, &seen);
    for index in 0..seen.len() {
        let Ok(shape) = seen[index].shape.clone() else {
            continue;
        };
        match store.claim_figures(&shape).await {
            Ok(figures) => seen[index].figures = Some(Ok(Arc::new(figures))),
            Err(StoreError::Away(_)) => {}
            Err(error) => seen[index].figures = Some(Err(error.to_string())),
        }
        publish(live, &seen);
    }
}

fn publish(live: &watch::Sender<Snapshot>, seen: &[Watched]) {
    let seen = Arc::new(seen.to_vec());
    live.send_modify(|snapshot| snapshot.claims = Some(seen));
}

/// Keeps the index; begins anew when the tables are others.
async fn index(claims: &SourceClaims, store: &dyn Store) {
    let mut wanted = claims.lookups.subscribe();
    loop {
        let lookups = wanted.borrow_and_update().clone();
        let kept = async {
            if lookups.is_empty() {
                std::future::pending::<()>().await;
            } else {
                claims.index.follow(store, &lookups).await;
            }
        };
        tokio::select! {
            () = kept => {}
            changed = wanted.changed() => if changed.is_err() {
                return;
            }
        }
    }
}

/// Purges what the configuration says shall purge itself: at once, and then every hour. Two
/// programs that do it at the same time purge each row once.
async fn purge_on(claims: &SourceClaims, store: &dyn Store, clock: &SharedClock) {
    if claims.read_only || !claims.configured.iter().any(|table| table.purge) {
        return;
    }
    loop {
        for table in claims.configured.iter().filter(|table| table.purge) {
            let rows = purge(claims, store, table, clock).await;
            match &rows {
                Ok(0) => {}
                Ok(rows) => tracing::info!(table = table.name, rows, "old Sent claims are purged"),
                Err(error) => tracing::warn!(table = table.name, %error, "nothing was purged"),
            }
            let at = clock.now();
            let last = LastPurge {
                at,
                next: TimeDelta::from_std(PURGE).map_or(at, |pause| at + pause),
                rows: rows.map_err(|error| error.to_string()),
            };
            claims.purged(&table.name, last);
        }
        tokio::time::sleep(PURGE).await;
    }
}

/// One periodic purge of a table; how many rows went.
pub(super) async fn purge(
    claims: &SourceClaims,
    store: &dyn Store,
    table: &ClaimsTable,
    clock: &SharedClock,
) -> Result<u64, StoreError> {
    let shape = claims.shape(store, table).await?;
    let skew = TimeDelta::milliseconds(store.info().await?.clock_skew_ms);
    let purge = Purge {
        before: oldest_kept(table, clock.now() + skew),
        batch: PURGE_BATCH,
        actor: Actor {
            name: "Redrive, periodic purge".to_owned(),
            authenticated: false,
        },
        // Without a reason nothing is written down where nothing was purged.
        reason: None,
    };
    store.purge_claims(clock.new_id(), &shape, &purge).await
}

/// Sent claims from before this instant are past the table's retention.
pub fn oldest_kept(table: &ClaimsTable, now: Moment) -> Moment {
    TimeDelta::try_milliseconds(table.retention_ms)
        .and_then(|retention| now.checked_sub_signed(retention))
        .unwrap_or(Moment::MIN_UTC)
}
