//! The steps of a plan as statements.

use app::actions::plan::{Plan, StateValue, Write};
use app::model::state::StateName;
use serde_json::{Map, Value};
use sqlx::Error;

use super::Layout;
use crate::store::postgres::conn::Conn;

const REMOVE_FROM_SET: &str = r#"DELETE FROM {s}."set" WHERE key = $1 AND value = $2"#;

const ADD_TO_SET: &str = r#"
INSERT INTO {s}."set" (key, value, score) VALUES ($1, $2, $3::bigint)
ON CONFLICT (key, value) DO UPDATE SET score = EXCLUDED.score"#;

const COUNT: &str = "INSERT INTO {s}.counter (key, value, expireat) VALUES ($1, $2, $3)";

const STATE_OF_JSONB: &str = "
INSERT INTO {s}.state (jobid, name, reason, createdat, data)
VALUES ($1, $2, $3, $4, $5::text::jsonb) RETURNING id::bigint";

const STATE_OF_TEXT: &str = "
INSERT INTO {s}.state (jobid, name, reason, createdat, data)
VALUES ($1, $2, $3, $4, $5::text) RETURNING id::bigint";

const STATE_OF_ROW: &str = "
INSERT INTO {s}.state (jobid, name, reason, createdat, data)
SELECT $1, $2, $3, $4, c.data FROM {s}.state c WHERE c.id = $5 AND c.jobid = $1
RETURNING id::bigint";

const SET_STATE: &str = "UPDATE {s}.job SET stateid = $2, statename = $3 WHERE id = $1";

const EXPIRE: &str = "UPDATE {s}.job SET expireat = $2 WHERE id = $1";

const INSERT_QUEUE_ROW: &str = "INSERT INTO {s}.jobqueue (jobid, queue) VALUES ($1, $2)";

const DELETE_QUEUE_ROW: &str = "DELETE FROM {s}.jobqueue WHERE id = $1";

const MOVE_QUEUE_ROW: &str = "UPDATE {s}.jobqueue SET queue = $2 WHERE id = $1";

const SET_PARAMETER: &str = "UPDATE {s}.jobparameter SET value = $3 WHERE jobid = $1 AND name = $2";

/// Wakes workers that listen instead of polling, when the transaction commits.
const WAKE: &str = "NOTIFY new_job";

/// Does every step; the id of the acted job's new state row.
///
/// # Errors
/// The database's; [`Error::RowNotFound`] where a row that the plan relies on is not there.
pub(super) async fn all(conn: &mut Conn, layout: &Layout, plan: &Plan) -> Result<i64, Error> {
    let mut state_id = None;
    for step in &plan.writes {
        if let Write::State {
            job,
            name,
            reason,
            data,
        } = step
        {
            let id = state(conn, layout, plan, *job, name, reason.as_deref(), data).await?;
            if *job == plan.job {
                state_id = Some(id);
            }
        } else {
            one(conn, layout, step).await?;
        }
    }
    if plan.enqueues() {
        sqlx::query(WAKE).execute(conn).await?;
    }
    state_id.ok_or(Error::RowNotFound)
}

async fn state(
    conn: &mut Conn,
    layout: &Layout,
    plan: &Plan,
    job: i64,
    name: &StateName,
    reason: Option<&str>,
    data: &StateValue,
) -> Result<i64, Error> {
    let template = match data {
        StateValue::CopyOf(_) => STATE_OF_ROW,
        StateValue::Object(_) if layout.is_jsonb("state", "data") => STATE_OF_JSONB,
        StateValue::Object(_) => STATE_OF_TEXT,
    };
    let insert = sqlx::query_scalar(layout.sql(template))
        .bind(job)
        .bind(name.as_str())
        .bind(reason)
        .bind(plan.at);
    let insert = match data {
        StateValue::CopyOf(id) => insert.bind(*id),
        StateValue::Object(pairs) => insert.bind(object(pairs)),
    };
    let id: i64 = insert.fetch_one(&mut *conn).await?;
    sqlx::query(layout.sql(SET_STATE))
        .bind(job)
        .bind(id)
        .bind(name.as_str())
        .execute(conn)
        .await?;
    Ok(id)
}

fn object(pairs: &[(&'static str, String)]) -> String {
    let map: Map<String, Value> = pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), Value::from(value.as_str())))
        .collect();
    Value::Object(map).to_string()
}

async fn one(conn: &mut Conn, layout: &Layout, step: &Write) -> Result<(), Error> {
    let text = |template: &str| layout.sql(template);
    let query = match step {
        Write::RemoveFromSet { key, value } => {
            sqlx::query(text(REMOVE_FROM_SET)).bind(*key).bind(value)
        }
        Write::AddToSet { key, value, score } => sqlx::query(text(ADD_TO_SET))
            .bind(*key)
            .bind(value)
            .bind(*score),
        Write::Count {
            key,
            delta,
            expire_at,
        } => sqlx::query(text(COUNT))
            .bind(key)
            .bind(*delta)
            .bind(*expire_at),
        Write::Expire { job, at } => sqlx::query(text(EXPIRE)).bind(*job).bind(*at),
        Write::InsertQueueRow { job, queue } => {
            sqlx::query(text(INSERT_QUEUE_ROW)).bind(*job).bind(queue)
        }
        Write::DeleteQueueRow { id } => sqlx::query(text(DELETE_QUEUE_ROW)).bind(*id),
        Write::MoveQueueRow { id, queue } => {
            sqlx::query(text(MOVE_QUEUE_ROW)).bind(*id).bind(queue)
        }
        Write::SetParameter { job, name, value } => sqlx::query(text(SET_PARAMETER))
            .bind(*job)
            .bind(*name)
            .bind(value),
        // Done by `state`, whose id is needed.
        Write::State { .. } => return Ok(()),
    };
    query.execute(conn).await?;
    Ok(())
}
