//! Claims on `SQLite`: what is special to it. What every store must do is in the contract.

mod acts;
mod contract;
mod elsewhere;
mod guard;
mod odd;
mod purges;
mod reads;

use app::model::claim::table::{ClaimWay, ClaimsTable, Columns, Shape};
use app::model::state::Instant;
use app::ports::claims::{ClaimAnchor, ClaimFilter, ClaimStore as _};
use chrono::{DateTime, TimeDelta};

use crate::clock::{Clock as _, SystemClock};
use crate::store::sqlite::SqliteStore;
use crate::testing::sqlite::TestFile;

const RECORDED: &str = "claims/sqlite/claims.db";

/// The recorded table as a configuration would describe it.
fn outgoing() -> ClaimsTable {
    ClaimsTable {
        name: "emails".to_owned(),
        schema: String::new(),
        table: "OutgoingEmails".to_owned(),
        columns: Columns {
            key: "IdempotencyKey".to_owned(),
            status: "Status".to_owned(),
            claimed_at: Some("ClaimedAtUtc".to_owned()),
            provider_id: Some("ProviderMessageId".to_owned()),
        },
        sending: "0".to_owned(),
        sent: "1".to_owned(),
        cutoff_ms: ClaimsTable::CUTOFF_MS,
        retention_ms: ClaimsTable::RETENTION_MS,
        purge: false,
        window_ms: None,
        way: ClaimWay::default(),
        keys: Vec::new(),
        nothing_sent_on: Vec::new(),
        provider: None,
        detected: false,
    }
}

async fn shape(file: &TestFile) -> Shape {
    file.store.shape(&outgoing()).await.unwrap()
}

fn at(rfc3339: &str) -> Instant {
    DateTime::parse_from_rfc3339(rfc3339).unwrap().to_utc()
}

/// The keys of a list's first page.
async fn keys(store: &SqliteStore, shape: &Shape, filter: ClaimFilter) -> Vec<String> {
    let page = store
        .claims(shape, &filter, &ClaimAnchor::Start, 200)
        .await
        .unwrap();
    page.rows.into_iter().map(|claim| claim.key).collect()
}

/// Claims that are older than ten minutes now.
fn stale_now() -> ClaimFilter {
    ClaimFilter::Stale {
        before: SystemClock.now() - TimeDelta::minutes(10),
    }
}
