//! A page of a list of jobs.

use app::model::data::parse_date;
use app::model::job::{CurrentState, JobRow};
use app::model::state::StateName;
use app::ports::jobs::{Anchor, JobFilter, JobPage};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use super::sql::{CALL, CURRENT, NEWEST, UNSETTLED, light_member};
use super::{filter, rows};
use crate::store::decode;

/// The light columns of the jobs in `page`. Rows of history are looked for among the newest
/// thousand of a job, so that one job with a million of them costs no more than others.
fn push_light_columns(query: &mut QueryBuilder<Sqlite>) {
    const LAST: [(&str, &str); 4] = [
        ("enqueued", "Name = 'Enqueued'"),
        ("processing", "Name = 'Processing'"),
        ("failed", "Name = 'Failed'"),
        ("retried", "substr(Reason, 1, 14) = 'Retry attempt '"),
    ];
    query.push(", marks AS MATERIALIZED (SELECT j.Id, ");
    query
        .push(NEWEST)
        .push(" AS newest, ")
        .push(CURRENT)
        .push(" AS current");
    for (name, condition) in LAST {
        query
            .push(", (SELECT Id FROM (SELECT Id, Name, Reason FROM State WHERE JobId = j.Id ORDER BY Id DESC LIMIT 1000) WHERE ")
            .push(condition)
            .push(" LIMIT 1) AS ")
            .push(name);
    }
    query
        .push(", (SELECT count(*) FROM (SELECT 1 FROM State WHERE JobId = j.Id AND Name = 'Processing' LIMIT ")
        .push_bind(i64::from(JobRow::ATTEMPTS_CAP))
        .push(")) AS attempts FROM page p CROSS JOIN Job j ON j.Id = p.Id) ");
    query
        .push("SELECT j.Id AS id, j.StateName AS state, m.current AS state_id, c.CreatedAt AS since, c.Reason AS reason, ")
        .push(UNSETTLED)
        .push(" AS unsettled, ")
        .push(CALL)
        .push(
            ", CASE WHEN octet_length(j.Arguments) <= 65536 THEN substr(j.Arguments, 1, 301) END AS arguments, \
             CASE WHEN octet_length(j.Arguments) > 65536 THEN octet_length(j.Arguments) END AS arguments_bytes, ",
        )
        .push(light_member!("e.Data", "Queue"))
        .push(" AS queue, coalesce(")
        .push(light_member!("p.Data", "ServerId"))
        .push(", ")
        .push(light_member!("p.Data", "ServerName"))
        .push(") AS server, m.attempts AS attempts, r.Reason AS retry, ")
        .push(light_member!("f.Data", "ExceptionType"))
        .push(" AS exception_type, substr(")
        .push(light_member!("f.Data", "ExceptionMessage"))
        .push(
            ", 1, 300) AS exception_message, \
             CASE WHEN octet_length(f.Data) > 65536 THEN octet_length(f.Data) END AS failure_bytes, \
             CASE WHEN c.Name = 'Scheduled' THEN ",
        )
        .push(light_member!("c.Data", "EnqueueAt"))
        .push(
            " END AS due, j.CreatedAt AS created_at, j.ExpireAt AS expire_at \
             FROM marks m CROSS JOIN Job j ON j.Id = m.Id \
             LEFT JOIN State c ON c.Id = m.current LEFT JOIN State e ON e.Id = m.enqueued \
             LEFT JOIN State p ON p.Id = m.processing LEFT JOIN State f ON f.Id = m.failed \
             LEFT JOIN State r ON r.Id = m.retried ORDER BY j.Id DESC",
        );
}

/// Which end of the list a page lies at.
#[derive(Clone, Copy)]
enum Side {
    Older(Option<i64>),
    Newer(i64),
}

fn push_page(query: &mut QueryBuilder<Sqlite>, filter: &JobFilter, side: Side, limit: u32) {
    query.push("SELECT j.Id FROM Job j WHERE ");
    filter::push(query, filter);
    let order = match side {
        Side::Older(None) => "DESC",
        Side::Older(Some(id)) => {
            query.push(" AND j.Id < ").push_bind(id);
            "DESC"
        }
        Side::Newer(id) => {
            query.push(" AND j.Id > ").push_bind(id);
            "ASC"
        }
    };
    query
        .push(" ORDER BY j.Id ")
        .push(order)
        .push(" LIMIT ")
        .push_bind(i64::from(limit));
}

/// The page's query.
pub(super) fn query(filter: &JobFilter, anchor: Anchor, limit: u32) -> QueryBuilder<Sqlite> {
    let side = match anchor {
        Anchor::Start => Side::Older(None),
        Anchor::OlderThan(id) => Side::Older(Some(id)),
        Anchor::NewerThan(id) => Side::Newer(id),
    };
    let mut query = QueryBuilder::new("WITH page AS MATERIALIZED (");
    push_page(&mut query, filter, side, limit.saturating_add(1));
    query.push(")");
    push_light_columns(&mut query);
    query
}

/// Light rows of jobs by id, newest job first.
pub(super) async fn light_rows(
    connection: &mut SqliteConnection,
    ids: &[i64],
) -> Result<Vec<JobRow>, sqlx::Error> {
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    let mut query =
        QueryBuilder::new("WITH page AS MATERIALIZED (SELECT value AS Id FROM json_each(");
    query.push_bind(format!("[{}]", ids.join(","))).push("))");
    push_light_columns(&mut query);
    let found = query.build().fetch_all(connection).await?;
    found.iter().map(row).collect()
}

/// Loads one page.
pub(super) async fn page(
    connection: &mut SqliteConnection,
    filter: &JobFilter,
    anchor: Anchor,
    limit: u32,
) -> Result<JobPage, sqlx::Error> {
    let found = query(filter, anchor, limit)
        .build()
        .fetch_all(&mut *connection)
        .await?;
    let mut rows = found.iter().map(row).collect::<Result<Vec<_>, _>>()?;
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > wanted;
    let (has_newer, has_older) = match anchor {
        Anchor::Start => {
            rows.truncate(wanted);
            (false, more)
        }
        Anchor::OlderThan(id) => {
            rows.truncate(wanted);
            let first = rows.first().map_or(id.saturating_sub(1), |row| row.id);
            (exists(connection, filter, Side::Newer(first)).await?, more)
        }
        Anchor::NewerThan(id) => {
            // Newest first, so the row that is too many comes first.
            rows.drain(..rows.len().saturating_sub(wanted));
            let last = rows.last().map_or(id.saturating_add(1), |row| row.id);
            (
                more,
                exists(connection, filter, Side::Older(Some(last))).await?,
            )
        }
    };
    Ok(JobPage {
        rows,
        has_newer,
        has_older,
    })
}

async fn exists(
    connection: &mut SqliteConnection,
    filter: &JobFilter,
    side: Side,
) -> Result<bool, sqlx::Error> {
    let mut query = QueryBuilder::new("");
    push_page(&mut query, filter, side, 1);
    Ok(query.build().fetch_optional(connection).await?.is_some())
}

/// The job's state, as both the list and the job's page find it.
pub(super) fn current(row: &SqliteRow) -> Result<CurrentState, sqlx::Error> {
    Ok(CurrentState {
        name: rows::text(row, "state")?.map(|name| StateName::parse(&name)),
        id: rows::int(row, "state_id")?,
        since: rows::instant(row, "since")?,
        reason: rows::text(row, "reason")?,
        unsettled: rows::int(row, "unsettled")? == Some(1),
    })
}

fn row(row: &SqliteRow) -> Result<JobRow, sqlx::Error> {
    let arguments = decode::list_arguments(rows::text(row, "arguments")?.as_deref());
    let invocation = rows::invocation(row, arguments)?;
    let queue = invocation.own_queue.clone();
    Ok(JobRow {
        id: rows::int(row, "id")?.unwrap_or_default(),
        state: current(row)?,
        invocation,
        arguments_bytes: rows::int(row, "arguments_bytes")?,
        queue: queue.map_or_else(|| rows::text(row, "queue"), |queue| Ok(Some(queue)))?,
        server: rows::text(row, "server")?,
        attempts: rows::count(row, "attempts")?,
        retry: rows::text(row, "retry")?
            .as_deref()
            .and_then(decode::retry_reason),
        exception_type: rows::text(row, "exception_type")?,
        exception_message: rows::text(row, "exception_message")?,
        failure_bytes: rows::int(row, "failure_bytes")?,
        due_at: rows::text(row, "due")?.as_deref().and_then(parse_date),
        created_at: rows::instant(row, "created_at")?.unwrap_or_default(),
        expire_at: rows::instant(row, "expire_at")?,
    })
}
