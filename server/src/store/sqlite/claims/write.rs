//! The statements that change a claim. Each names key, status and claim time as they were seen.

use app::actions::claim::SeenClaim;
use app::actions::claim::decide::ClaimWrite;
use app::model::claim::Claim;
use app::model::claim::table::Shape;
use app::model::claim::time::Written;
use app::model::state::Instant;
use serde_json::json;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use super::names::{Names, quoted};

/// The parameter that hands a claim to its job.
const HAND_OVER: &str = "Redrive.Claim";

/// Changes a claim that is Sending with the claim time that was seen; how many rows that were.
///
/// # Errors
/// The database's; [`sqlx::Error::RowNotFound`] where the claim time that was seen says in no known
/// format how a new one is written.
pub(super) async fn claim(
    connection: &mut SqliteConnection,
    shape: &Shape,
    seen: &SeenClaim,
    write: &ClaimWrite,
    now: Instant,
) -> Result<u64, sqlx::Error> {
    let names = Names::of(shape);
    let columns = &shape.table.columns;
    let mut query = QueryBuilder::new("");
    match write {
        ClaimWrite::Keep => return Ok(1),
        ClaimWrite::Delete => {
            query.push("DELETE FROM ").push(&names.table);
        }
        ClaimWrite::Renew => {
            let written = seen
                .claimed_at
                .as_deref()
                .and_then(Written::of)
                .map(|(_, written)| written.write(now));
            let (Some(written), Some(column)) = (written, &columns.claimed_at) else {
                return Err(sqlx::Error::RowNotFound);
            };
            query.push("UPDATE ").push(&names.table).push(" SET ");
            push_set(&mut query, column, written);
        }
        ClaimWrite::MarkAsSent { provider_id } => {
            query.push("UPDATE ").push(&names.table).push(" SET ");
            push_set(&mut query, &columns.status, shape.table.sent.clone());
            if let (Some(id), Some(column)) = (provider_id, &columns.provider_id) {
                query
                    .push(", ")
                    .push(quoted(column))
                    .push(" = ")
                    .push_bind(id.clone());
            }
        }
    }
    query
        .push(" WHERE ")
        .push(&names.key)
        .push(" = ")
        .push_bind(seen.key.clone())
        .push(" AND ");
    names.push_status(&mut query, &shape.table.sending);
    query
        .push(" AND ")
        .push(names.token())
        .push(" IS ")
        .push_bind(seen.claimed_at.clone());
    Ok(query.build().execute(connection).await?.rows_affected())
}

/// Sets a column to a text or, where it holds a number, to the number that the text is. A column
/// with a declared type turns it into its own by itself; one without keeps what it is given.
fn push_set(query: &mut QueryBuilder<Sqlite>, column: &str, value: String) {
    let column = quoted(column);
    query
        .push(&column)
        .push(" = CASE typeof(c.")
        .push(&column)
        .push(") WHEN 'integer' THEN CAST(")
        .push_bind(value.clone())
        .push(" AS INTEGER) ELSE ")
        .push_bind(value)
        .push(" END");
}

/// Hands a claim to its job: the job goes on only while the claim still bears this claim time.
pub(super) async fn hand_over(
    connection: &mut SqliteConnection,
    job: i64,
    shape: &Shape,
    claim: &Claim,
) -> Result<(), sqlx::Error> {
    let value = json!({
        "table": shape.table.table,
        "key": claim.key,
        "claimed_at": claim.claimed_at.as_ref().map(|time| time.token.as_str()),
    })
    .to_string();
    let there = sqlx::query("UPDATE JobParameter SET Value = ? WHERE JobId = ? AND Name = ?")
        .bind(&value)
        .bind(job)
        .bind(HAND_OVER)
        .execute(&mut *connection)
        .await?;
    if there.rows_affected() == 0 {
        sqlx::query("INSERT INTO JobParameter (JobId, Name, Value, ExpireAt) VALUES (?, ?, ?, 0)")
            .bind(job)
            .bind(HAND_OVER)
            .bind(&value)
            .execute(connection)
            .await?;
    }
    Ok(())
}
