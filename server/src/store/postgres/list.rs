//! Lists of jobs: which ones a page holds, and their light rows.
//!
//! Hangfire has an index on the state's name and one on the job's id, but none on both. The ids of a
//! page are therefore looked for twice: *near* walks the next [`WALK`] jobs by id, which finds a page
//! of any state that is not rare there; where that does not fill the page, *far* takes all jobs of
//! the state from the index on its name and sorts their ids. Then the light rows of the found ids
//! are read. See `docs/query-plans.md`.

use std::sync::Arc;

use app::model::data::parse_date;
use app::model::invocation::Invocation;
use app::model::job::{CurrentState, JobRow};
use app::model::state::{Instant, StateName};
use app::ports::error::StoreError;
use app::ports::jobs::{Anchor, JobFilter, JobPage};
use sqlx::postgres::PgRow;
use sqlx::{Error, Row as _};

use super::conn::Conn;
use super::filter::{Conditions, Value, all};
use super::layout::Layout;
use super::session::{Session, plan_for_values};
use crate::store::decode;

/// Jobs that are walked by id before the state's index is asked.
const WALK: u32 = 5_000;

/// One page; see [`app::ports::jobs::JobStore::list`].
pub async fn list(
    session: &Session,
    filter: &JobFilter,
    anchor: Anchor,
    limit: u32,
) -> Result<JobPage, StoreError> {
    if holds_nul(filter) {
        return Ok(JobPage {
            rows: Vec::new(),
            has_newer: false,
            has_older: false,
        });
    }
    let filter = Arc::new(filter.clone());
    let limit = limit.clamp(1, 200);
    session
        .read(move |conn, layout| {
            let filter = filter.clone();
            Box::pin(async move { page(conn, &layout, &filter, anchor, limit).await })
        })
        .await
}

/// `PostgreSQL` has no such text, so nothing can be equal to it.
pub(super) fn holds_nul(filter: &JobFilter) -> bool {
    [
        &filter.queue,
        &filter.job_type,
        &filter.method,
        &filter.server,
        &filter.exception,
    ]
    .into_iter()
    .flatten()
    .any(|text| text.contains('\0'))
}

async fn page(
    conn: &mut Conn,
    layout: &Layout,
    filter: &JobFilter,
    anchor: Anchor,
    limit: u32,
) -> Result<JobPage, Error> {
    let (from, older) = match anchor {
        Anchor::Start => (i64::MAX, true),
        Anchor::OlderThan(id) => (id, true),
        Anchor::NewerThan(id) => (id, false),
    };
    // The anchor itself is looked for too: where it still fits, it tells without another query that
    // the list goes on beyond it. One row more than asked for tells the same at the other end.
    let mut found = ids(conn, layout, filter, from, older, limit + 2).await?;
    let anchored = anchor != Anchor::Start;
    let fits = anchored && found.first() == Some(&from);
    if fits {
        found.remove(0);
    }
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let beyond = found.len() > wanted;
    found.truncate(wanted);
    let behind =
        fits || (anchored && !ids(conn, layout, filter, from, !older, 1).await?.is_empty());
    Ok(JobPage {
        rows: light_rows(conn, layout, found).await?,
        has_newer: if older { behind } else { beyond },
        has_older: if older { beyond } else { behind },
    })
}

/// Ids of at most `limit` jobs that fit, from `from` on, `from` too, in the direction of the walk.
async fn ids(
    conn: &mut Conn,
    layout: &Layout,
    filter: &JobFilter,
    from: i64,
    older: bool,
    limit: u32,
) -> Result<Vec<i64>, Error> {
    let mut conditions = Conditions::of(filter, layout);
    let range = Range {
        first: conditions.bind(Value::Int(from)),
        limit: conditions.bind(Value::Int(limit.into())),
        older,
    };
    if filter.state.is_none() {
        if conditions.are_any() {
            plan_for_values(conn, layout).await?;
        }
        return fetch_ids(conn, layout, every_state(&conditions, &range), conditions).await;
    }
    let found = fetch_ids(conn, layout, near(&conditions, &range), conditions.clone()).await?;
    if found.len() >= usize::try_from(limit).unwrap_or(usize::MAX) {
        return Ok(found);
    }
    // How far to go for them depends on which state and which values.
    plan_for_values(conn, layout).await?;
    fetch_ids(conn, layout, far(&conditions, &range), conditions).await
}

async fn fetch_ids(
    conn: &mut Conn,
    layout: &Layout,
    template: String,
    conditions: Conditions,
) -> Result<Vec<i64>, Error> {
    conditions
        .bound(sqlx::query(layout.sql(&template)))
        .fetch_all(conn)
        .await?
        .iter()
        .map(|row| row.try_get(0))
        .collect()
}

/// Where a walk begins, in which direction it goes, and after how many rows it ends.
struct Range {
    first: String,
    limit: String,
    older: bool,
}

impl Range {
    fn reach(&self) -> String {
        let reach = if self.older { "<=" } else { ">=" };
        format!("j.id {reach} {}", self.first)
    }

    fn direction(&self) -> &'static str {
        if self.older { "DESC" } else { "ASC" }
    }
}

const CURRENT: &str = "LEFT JOIN {s}.state c ON c.id = j.stateid AND c.jobid = j.id";

/// The join with the current state's row, where a condition needs it.
fn joined(conditions: &[&[String]]) -> &'static str {
    if conditions.iter().all(|some| some.is_empty()) {
        ""
    } else {
        CURRENT
    }
}

fn every_state(conditions: &Conditions, range: &Range) -> String {
    let current = joined(&[&conditions.current, &conditions.history]);
    let every = all(&[&conditions.job, &conditions.current, &conditions.history]);
    let (reach, direction, limit) = (range.reach(), range.direction(), &range.limit);
    format!(
        "SELECT j.id::bigint FROM {{s}}.job j {current} WHERE {reach} AND {every} \
         ORDER BY j.id {direction} LIMIT {limit}"
    )
}

fn near(conditions: &Conditions, range: &Range) -> String {
    let current = joined(&[&conditions.current, &conditions.history]);
    let every = all(&[&conditions.job, &conditions.current, &conditions.history]);
    let (reach, direction, limit) = (range.reach(), range.direction(), &range.limit);
    format!(
        "SELECT j.id::bigint FROM (SELECT * FROM {{s}}.job j WHERE {reach} \
         ORDER BY j.id {direction} LIMIT {WALK}) j {current} WHERE {every} \
         ORDER BY j.id {direction} LIMIT {limit}"
    )
}

fn far(conditions: &Conditions, range: &Range) -> String {
    let current = joined(&[&conditions.current]);
    let cheap = all(&[&conditions.job, &conditions.current]);
    let (reach, direction, limit) = (range.reach(), range.direction(), &range.limit);
    if conditions.history.is_empty() {
        // Sorted by an expression, so that the planner does not walk the primary key in the hope
        // of meeting the state soon: that was tried.
        return format!(
            "SELECT j.id::bigint FROM {{s}}.job j {current} WHERE {reach} AND {cheap} \
             ORDER BY j.id + 0 {direction} LIMIT {limit}"
        );
    }
    // Sorted first, so that histories are only looked up until the page is filled.
    let history = all(&[&conditions.history]);
    format!(
        "SELECT x.id::bigint FROM (SELECT j.id FROM {{s}}.job j {current} \
         WHERE {reach} AND {cheap} ORDER BY j.id {direction} OFFSET 0) x \
         CROSS JOIN LATERAL (SELECT 1 FROM {{s}}.job j {CURRENT} \
         WHERE j.id = x.id AND {history} LIMIT 1) fits ORDER BY x.id {direction} LIMIT {limit}"
    )
}

/// Light rows of jobs, newest first.
pub(super) async fn light_rows(
    conn: &mut Conn,
    layout: &Layout,
    ids: Vec<i64>,
) -> Result<Vec<JobRow>, Error> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    sqlx::query(layout.sql(LIGHT))
        .bind(ids)
        .fetch_all(conn)
        .await?
        .iter()
        .map(|row| job_row(row, layout))
        .collect()
}

/// Light rows by id. A value of more than 64 kB is not read, so it is not
/// fetched from where the database keeps it apart from its row. Two bounds keep odd jobs from
/// costing the page:
///
/// - invocation data hold the arguments once more, so even the type's name of a job with huge
///   arguments costs them all: a page reads 64 MB of them at most, smallest first;
/// - of a history of more than 20,000 rows only the current row is known.
const LIGHT: &str = "
WITH sized AS (
  SELECT j.*, sum(pg_column_size(j.invocationdata))
    OVER (ORDER BY pg_column_size(j.invocationdata), j.id) <= 67108864 AS readable
  FROM {s}.job j WHERE j.id = ANY($1)
)
SELECT j.id::bigint AS id, j.stateid::bigint AS state_id, j.statename::text AS state,
  {utc j.createdat} AS created_at, {utc j.expireat} AS expire_at,
  CASE WHEN j.readable THEN {key j.invocationdata Type} END AS type,
  CASE WHEN j.readable THEN {key j.invocationdata Method} END AS method,
  CASE WHEN j.readable THEN {key j.invocationdata ParameterTypes} END AS parameter_types,
  CASE WHEN j.readable THEN {key j.invocationdata Queue} END AS own_queue,
  CASE WHEN pg_column_size(j.arguments) <= 65536 THEN left({raw j.arguments}, 301) END AS arguments,
  pg_column_size(j.arguments)::bigint AS arguments_bytes,
  {utc c.createdat} AS since, c.reason::text AS reason,
  CASE WHEN c.name = 'Scheduled' AND pg_column_size(c.data) <= 65536
    THEN {key c.data EnqueueAt} END AS due_at,
  CASE WHEN pg_column_size(e.data) <= 65536 THEN {key e.data Queue} END AS queue,
  CASE WHEN pg_column_size(p.data) <= 65536 THEN {key p.data ServerId} END AS server,
  CASE WHEN pg_column_size(f.data) <= 65536 THEN {key f.data ExceptionType} END AS exception_type,
  CASE WHEN pg_column_size(f.data) <= 65536
    THEN left({key f.data ExceptionMessage}, 1800) END AS exception_message,
  CASE WHEN pg_column_size(f.data) > 65536 THEN pg_column_size(f.data) END::bigint AS failure_bytes,
  CASE WHEN h.whole THEN h.attempts
    ELSE (SELECT count(*) FROM (SELECT 1 FROM {s}.state t
      WHERE t.jobid = j.id AND t.name = 'Processing' LIMIT 100) n) END AS attempts,
  r.reason::text AS retry_reason
FROM sized j
LEFT JOIN {s}.state c ON c.id = j.stateid AND c.jobid = j.id
LEFT JOIN LATERAL (
  SELECT count(*) <= 20000 AS whole,
    count(*) FILTER (WHERE t.name = 'Processing') AS attempts,
    max(t.id) FILTER (WHERE t.name = 'Enqueued') AS enqueued,
    max(t.id) FILTER (WHERE t.name = 'Processing') AS processing,
    max(t.id) FILTER (WHERE t.name = 'Failed') AS failed,
    max(t.id) FILTER (WHERE t.reason LIKE 'Retry attempt %') AS retry
  FROM (SELECT t.id, t.name, t.reason FROM {s}.state t WHERE t.jobid = j.id LIMIT 20001) t
) h ON true
LEFT JOIN {s}.state e
  ON e.id = CASE WHEN h.whole THEN h.enqueued WHEN c.name = 'Enqueued' THEN c.id END
LEFT JOIN {s}.state p
  ON p.id = CASE WHEN h.whole THEN h.processing WHEN c.name = 'Processing' THEN c.id END
LEFT JOIN {s}.state f
  ON f.id = CASE WHEN h.whole THEN h.failed WHEN c.name = 'Failed' THEN c.id END
LEFT JOIN {s}.state r
  ON r.id = CASE WHEN h.whole THEN h.retry WHEN c.reason LIKE 'Retry attempt %' THEN c.id END
ORDER BY j.id DESC";

fn job_row(row: &PgRow, layout: &Layout) -> Result<JobRow, Error> {
    let text = |column: &str| row.try_get::<Option<String>, _>(column);
    let plain = |table: &str, from: &str, column: &str| {
        text(column).map(|value| value.map(|value| layout.plain(table, from, value)))
    };
    let invocation = |column: &str| plain("job", "invocationdata", column);
    let data = |column: &str| plain("state", "data", column);
    let arguments = text("arguments")?;
    let arguments_bytes: Option<i64> = row.try_get("arguments_bytes")?;
    let own_queue = invocation("own_queue")?.filter(|queue| !queue.is_empty());
    let attempts: i64 = row.try_get("attempts")?;
    Ok(JobRow {
        id: row.try_get("id")?,
        state: current(row)?,
        arguments_bytes: arguments_bytes.filter(|_| arguments.is_none()),
        queue: own_queue.clone().or(data("queue")?),
        invocation: Invocation {
            type_name: invocation("type")?,
            method: invocation("method")?,
            parameter_types: invocation("parameter_types")?
                .map(|json| decode::parameter_types(&json))
                .unwrap_or_default(),
            arguments: decode::list_arguments(arguments.as_deref()),
            own_queue,
        },
        server: data("server")?,
        attempts: u32::try_from(attempts)
            .unwrap_or_default()
            .min(JobRow::ATTEMPTS_CAP),
        retry: text("retry_reason")?.and_then(|reason| decode::retry_reason(&reason)),
        exception_type: data("exception_type")?,
        exception_message: data("exception_message")?
            .map(|message| decode::head(&message, decode::LIST_CHARS)),
        failure_bytes: row.try_get("failure_bytes")?,
        due_at: data("due_at")?.and_then(|text| parse_date(&text)),
        created_at: created_at(row)?,
        expire_at: row.try_get("expire_at")?,
    })
}

/// The current state, from the columns that lists and a job's page share.
pub(super) fn current(row: &PgRow) -> Result<CurrentState, Error> {
    let name: Option<String> = row.try_get("state")?;
    Ok(CurrentState {
        name: name.as_deref().map(StateName::parse),
        id: row.try_get("state_id")?,
        since: row.try_get("since")?,
        reason: row.try_get("reason")?,
        unsettled: false,
    })
}

/// When the job was created; an instant that no calendar holds (`infinity`) becomes 1970.
pub(super) fn created_at(row: &PgRow) -> Result<Instant, Error> {
    Ok(row
        .try_get::<Option<Instant>, _>("created_at")?
        .unwrap_or(Instant::UNIX_EPOCH))
}
