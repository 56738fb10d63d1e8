//! Jobs by state.

use std::collections::BTreeMap;

use app::model::state::{ListState, StateName};
use app::ports::error::StoreError;
use app::ports::jobs::StateCounts;
use sqlx::{Error, Row as _};

use super::conn::Conn;
use super::layout::Layout;
use super::session::Session;
use crate::clock::SharedClock;

/// Each job counted, from the index on the state's name. Which scheduled jobs retry only the rows
/// of their states tell; Hangfire's own set of retries keeps jobs that are long gone.
const EXACT: &str = "
SELECT j.statename::text AS state, count(*) AS jobs,
  CASE WHEN j.statename = 'Scheduled' THEN (
    SELECT count(*) FROM {s}.job s JOIN {s}.state c ON c.id = s.stateid AND c.jobid = s.id
    WHERE s.statename = 'Scheduled' AND c.reason LIKE 'Retry attempt %') END AS retrying
FROM {s}.job j GROUP BY j.statename";

/// The planner's statistics: rows of the table, shares of the most common states. Of retrying jobs
/// there are none; Hangfire's set of retries is an upper bound.
const ESTIMATE: &str = "
SELECT m.state, (m.share * c.reltuples)::bigint AS jobs,
  CASE WHEN m.state = 'Scheduled'
    THEN (SELECT count(*) FROM {s}.set r WHERE r.key = 'retries') END AS retrying
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_stats s
  ON s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = 'statename'
CROSS JOIN LATERAL (
  SELECT v.state, v.share
  FROM unnest(s.most_common_vals::text::text[], s.most_common_freqs) AS v(state, share)
  UNION ALL SELECT NULL, s.null_frac
) m
WHERE n.nspname = $1 AND c.relname = 'job' AND c.reltuples > 0";

/// See [`app::ports::jobs::JobStore::counts`].
pub async fn counts(session: &Session, clock: &SharedClock) -> Result<StateCounts, StoreError> {
    match counted(session, clock, true).await {
        Err(StoreError::TimedOut(_)) => counted(session, clock, false).await,
        other => other,
    }
}

pub(super) async fn counted(
    session: &Session,
    clock: &SharedClock,
    exact: bool,
) -> Result<StateCounts, StoreError> {
    let as_of = clock.now();
    let lines = session
        .read(move |conn, layout| Box::pin(async move { lines(conn, &layout, exact).await }))
        .await?;
    let mut counts = StateCounts {
        by_state: ListState::ALL.into_iter().map(|state| (state, 0)).collect(),
        other: BTreeMap::new(),
        no_state: 0,
        as_of,
        exact,
    };
    for (state, jobs, retrying) in lines {
        let Some(state) = state else {
            counts.no_state += jobs;
            continue;
        };
        let name = StateName::parse(&state);
        let Some(list) = ListState::of(&name, None) else {
            *counts.other.entry(state).or_default() += jobs;
            continue;
        };
        let retrying = retrying.unwrap_or(0).min(jobs);
        *counts.by_state.entry(list).or_default() += jobs - retrying;
        *counts.by_state.entry(ListState::Retrying).or_default() += retrying;
    }
    Ok(counts)
}

type Line = (Option<String>, i64, Option<i64>);

async fn lines(conn: &mut Conn, layout: &Layout, exact: bool) -> Result<Vec<Line>, Error> {
    let query = if exact {
        sqlx::query(layout.sql(EXACT))
    } else {
        sqlx::query(layout.sql(ESTIMATE)).bind(layout.schema().to_owned())
    };
    query
        .fetch_all(conn)
        .await?
        .iter()
        .map(|row| {
            Ok((
                row.try_get("state")?,
                row.try_get("jobs")?,
                row.try_get("retrying")?,
            ))
        })
        .collect()
}
