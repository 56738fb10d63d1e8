//! Jobs by state.

use std::collections::BTreeMap;

use app::model::state::{Instant, ListState, StateName};
use app::ports::jobs::StateCounts;
use sqlx::SqliteConnection;

use super::rows;

/// How the planned retries among the Scheduled jobs were counted.
#[derive(Clone, Copy)]
pub(super) enum Retries {
    /// Job by job, by the reason of the current state.
    Exact,
    /// By Hangfire's own set, which can hold what is gone.
    Estimate,
}

const EXACT: &str = "SELECT count(*) AS n FROM Job j WHERE StateName = 'Scheduled' AND \
     (SELECT substr(Reason, 1, 14) FROM State WHERE JobId = j.Id AND Name = 'Scheduled' \
     ORDER BY Id DESC LIMIT 1) = 'Retry attempt '";
const ESTIMATE: &str = "SELECT count(*) AS n FROM \"Set\" WHERE \"Key\" = 'retries'";

/// Counts every job.
pub(super) async fn count(
    connection: &mut SqliteConnection,
    retries: Retries,
    as_of: Instant,
) -> Result<StateCounts, sqlx::Error> {
    let found = sqlx::query("SELECT StateName AS state, count(*) AS n FROM Job GROUP BY StateName")
        .fetch_all(&mut *connection)
        .await?;
    let mut by_state: BTreeMap<_, _> = ListState::ALL.into_iter().map(|state| (state, 0)).collect();
    let mut other = BTreeMap::new();
    let mut no_state = 0;
    for row in &found {
        let n = rows::int(row, "n")?.unwrap_or_default();
        match rows::text(row, "state")?.map(|name| StateName::parse(&name)) {
            None => no_state += n,
            Some(name) => match ListState::of(&name, None) {
                Some(state) => *by_state.entry(state).or_default() += n,
                None => *other.entry(name.as_str().to_owned()).or_default() += n,
            },
        }
    }
    let scheduled = by_state[&ListState::Scheduled];
    if scheduled > 0 {
        let statement = match retries {
            Retries::Exact => EXACT,
            Retries::Estimate => ESTIMATE,
        };
        let row = sqlx::query(statement).fetch_one(connection).await?;
        let retrying = rows::int(&row, "n")?.unwrap_or_default().min(scheduled);
        by_state.insert(ListState::Retrying, retrying);
        by_state.insert(ListState::Scheduled, scheduled - retrying);
    }
    Ok(StateCounts {
        by_state,
        other,
        no_state,
        as_of,
        exact: matches!(retries, Retries::Exact),
    })
}
