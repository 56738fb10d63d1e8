//! What the audit keeps of claims.

use crate::store::postgres::conn::Conn;
use crate::store::postgres::migrate;
use app::actions::Actor;
use app::actions::claim::SeenClaim;
use app::model::claim::ClaimTime;
use app::model::claim::evidence::{Answer, Asked};
use app::ports::claims::{ClaimPast, Purge};
use app::ports::error::StoreError;
use sqlx::{Error, Row as _};

use crate::store::claim_note::{ClaimNote, Said};
use crate::store::postgres::act::Change;
use crate::store::postgres::act::audit::{ClaimLine, Line};

/// The row of what the provider answered.
pub(super) fn answer(table: &str, seen: &SeenClaim, asked: &Asked, actor: &Actor) -> Line {
    let note = match &asked.answer {
        Answer::Known(Some(id)) => format!("The provider knows the key: it was sent as {id}."),
        Answer::Known(None) => "The provider knows the key: it was sent.".to_owned(),
        Answer::Denied => "The provider does not know the key.".to_owned(),
        Answer::NotKnown(why) => format!("The provider did not tell: {why}"),
    };
    Line {
        action: "ask-provider",
        note,
        claim: Some(ClaimLine {
            table: table.to_owned(),
            key: Some(seen.key.clone()),
            seen: seen.claimed_at.clone(),
            note: ClaimNote {
                answer: Some(Said::from(&asked.answer)),
                ..ClaimNote::default()
            },
        }),
        ..plain(actor, None)
    }
}

/// The row of a purge.
pub(super) fn purged(table: &str, purge: &Purge, rows: u64, error: Option<&StoreError>) -> Line {
    let until = purge.before.format("%Y-%m-%d %H:%M:%S");
    let stopped = error.map_or_else(String::new, |error| format!(" Then it stopped: {error}."));
    Line {
        action: "purge",
        note: format!(
            "Purged {rows} Sent claims of {table} that were claimed before {until} UTC.{stopped}"
        ),
        claim: Some(ClaimLine {
            table: table.to_owned(),
            key: None,
            seen: None,
            note: ClaimNote::default(),
        }),
        ..plain(&purge.actor, purge.reason.clone())
    }
}

fn plain(actor: &Actor, reason: Option<String>) -> Line {
    Line {
        actor: actor.clone(),
        action: "",
        job: None,
        seen: None,
        change: Change::default(),
        reason,
        outcome: "done",
        note: String::new(),
        claim: None,
    }
}

/// Keys are found by their hash, since they may be longer than an index entry can be.
const PAST: &str = "
SELECT a.at, a.claim_key, a.action, a.outcome, a.claim_seen, a.claim
FROM redrive.audit a JOIN redrive.source s ON s.id = a.source
WHERE s.hangfire_schema = $1 AND a.claims = $2 AND a.claim_key = ANY($3)
  AND md5(a.claim_key) = ANY(ARRAY(SELECT md5(k) FROM unnest($3) AS u(k)))
ORDER BY a.id DESC LIMIT 1000";

/// See [`app::ports::claims::ClaimStore::claim_past`].
pub(super) async fn past(
    conn: &mut Conn,
    hangfire_schema: &str,
    table: &str,
    keys: &[String],
) -> Result<Vec<ClaimPast>, Error> {
    // Tables of an older Redrive, or none.
    let is_known: bool = migrate::are_readable(conn, &["audit", "source"]).await?
        && sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_attribute a \
             WHERE a.attrelid = 'redrive.audit'::regclass AND a.attname = 'claims')",
        )
        .fetch_one(&mut *conn)
        .await?;
    if !is_known {
        return Ok(Vec::new());
    }
    known_past(conn, hangfire_schema, table, keys).await
}

/// [`past`] as the last statement of a read, which a table that is not there may break.
pub(super) async fn past_at_last(
    conn: &mut Conn,
    hangfire_schema: &str,
    table: &str,
    keys: &[String],
) -> Result<Vec<ClaimPast>, Error> {
    match known_past(conn, hangfire_schema, table, keys).await {
        Err(error) if is_missing(&error) => Ok(Vec::new()),
        other => other,
    }
}

/// Whether there is no such schema, table or column.
/// Whether tables are not there, are older ones, or may not be read.
fn is_missing(error: &Error) -> bool {
    matches!(error, Error::Database(database) if database
        .code()
        .is_some_and(|code| ["3F000", "42501", "42P01", "42703"].contains(&code.as_ref())))
}

async fn known_past(
    conn: &mut Conn,
    hangfire_schema: &str,
    table: &str,
    keys: &[String],
) -> Result<Vec<ClaimPast>, Error> {
    let keys: Vec<&str> = keys
        .iter()
        .map(String::as_str)
        .filter(|key| !super::holds_nul(key))
        .collect();
    sqlx::query(PAST)
        .bind(hangfire_schema)
        .bind(table)
        .bind(keys)
        .fetch_all(conn)
        .await?
        .iter()
        .rev()
        .map(|row| {
            let note: Option<String> = row.try_get("claim")?;
            let seen: Option<String> = row.try_get("claim_seen")?;
            Ok(ClaimPast {
                at: row.try_get("at")?,
                key: row.try_get("claim_key")?,
                action: row.try_get("action")?,
                outcome: row.try_get("outcome")?,
                seen: seen.map(ClaimTime::read),
                answer: ClaimNote::read(note.as_deref()).answer.map(Answer::from),
            })
        })
        .collect()
}
