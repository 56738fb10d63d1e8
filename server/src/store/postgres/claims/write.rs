//! The statements that change a claim. Each names key, status and claim time as they were seen.

use app::actions::claim::SeenClaim;
use app::actions::claim::decide::ClaimWrite;
use app::model::claim::Claim;
use app::model::claim::table::Shape;
use app::model::claim::time::Written;
use app::model::state::Instant;
use serde_json::json;
use sqlx::Error;

use super::text::{self, Kind, Statement};
use crate::store::postgres::conn::Conn;
use crate::store::postgres::layout::Layout;

/// The parameter that hands a claim to its job.
const HAND_OVER: &str = "Redrive.Claim";

const SET_PARAMETER: &str = "UPDATE {s}.jobparameter SET value = $3 WHERE jobid = $1 AND name = $2";

const ADD_PARAMETER: &str = "INSERT INTO {s}.jobparameter (jobid, name, value) VALUES ($1, $2, $3)";

/// Changes a claim that is Sending with the claim time that was seen: every row that was, as it is
/// afterwards (as it was, where it is deleted).
///
/// # Errors
/// The database's; [`Error::RowNotFound`] where the claim time that was seen says in no known format
/// how a new one is written.
pub(super) async fn claim(
    conn: &mut Conn,
    shape: &Shape,
    seen: &SeenClaim,
    write: &ClaimWrite,
    now: Instant,
) -> Result<Vec<Claim>, Error> {
    let mut statement = match write {
        ClaimWrite::Keep => return Ok(Vec::new()),
        ClaimWrite::Delete => Statement::new(shape, "DELETE FROM {t} AS x"),
        ClaimWrite::Renew => {
            let written = renewed(shape, seen, now).ok_or(Error::RowNotFound)?;
            let mut statement = Statement::new(shape, "UPDATE {t} AS x SET ");
            let written = statement.text(&written);
            statement.push(&format!("{{set at}} = {{as at {written}}}"));
            statement
        }
        ClaimWrite::MarkAsSent { provider_id } => {
            let mut statement = Statement::new(shape, "UPDATE {t} AS x SET ");
            let sent = statement.text(&shape.table.sent);
            statement.push(&format!("{{set status}} = {{as status {sent}}}"));
            if let (Some(id), true) = (provider_id, shape.table.columns.provider_id.is_some()) {
                let id = statement.text(id);
                statement.push(&format!(", {{set provider}} = {id}"));
            }
            statement
        }
    };
    statement.push(" WHERE ");
    guard(&mut statement, shape, seen);
    statement.push(" RETURNING {claim}");
    let rows = statement.query().fetch_all(conn).await?;
    rows.iter().map(|row| text::claim(shape, row)).collect()
}

/// The guard: key, status and claim time as they were seen.
fn guard(statement: &mut Statement<'_>, shape: &Shape, seen: &SeenClaim) {
    let key = statement.text(&seen.key);
    statement.push(&format!("{{key}} = {{as key {key}}} AND "));
    statement.push_status(&shape.table.sending);
    statement.push(" AND ");
    statement.push_claimed_at(seen.claimed_at.as_deref());
}

/// Now, as the column writes it.
fn renewed(shape: &Shape, seen: &SeenClaim, now: Instant) -> Option<String> {
    let kind = Kind::of(shape.types.claimed_at.as_deref()?);
    Some(match kind {
        Kind::Zoned | Kind::Plain => now.format("%Y-%m-%d %H:%M:%S%.6f").to_string(),
        Kind::Number | Kind::Text => {
            let (_, written) = Written::of(seen.claimed_at.as_deref()?)?;
            written.write(now)
        }
    })
}

/// Hands a claim to its job: the job goes on only while the claim still bears this claim time.
pub(super) async fn hand_over(
    conn: &mut Conn,
    layout: &Layout,
    job: i64,
    shape: &Shape,
    claim: &Claim,
) -> Result<(), Error> {
    let value = json!({
        "table": shape.table.table,
        "key": claim.key,
        "claimed_at": claim.claimed_at.as_ref().map(|time| time.token.as_str()),
    })
    .to_string();
    let there = sqlx::query(layout.sql(SET_PARAMETER))
        .bind(job)
        .bind(HAND_OVER)
        .bind(&value)
        .execute(&mut *conn)
        .await?;
    if there.rows_affected() == 0 {
        sqlx::query(layout.sql(ADD_PARAMETER))
            .bind(job)
            .bind(HAND_OVER)
            .bind(&value)
            .execute(conn)
            .await?;
    }
    Ok(())
}
