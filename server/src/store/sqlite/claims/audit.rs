//! What the audit keeps of claims.

use app::actions::Actor;
use app::actions::claim::SeenClaim;
use app::model::claim::ClaimTime;
use app::model::claim::evidence::{Answer, Asked};
use app::model::state::{Instant, StateName};
use app::ports::claims::ClaimPast;
use app::ports::error::StoreError;
use chrono::DateTime;
use sqlx::{Connection as _, SqliteConnection, SqlitePool};
use uuid::Uuid;

use crate::store::claim_note::{ClaimNote, Said};
use crate::store::sqlite::{SqliteStore, audit as own, errors, rows};

const INSERT: &str = "INSERT INTO redrive_audit (id, source, at, actor, authenticated, action, job, \
     before_state, before_state_id, after_state, after_state_id, reason, outcome, note, claims, \
     claim_key, claim_seen, claim) \
     SELECT ?, s.id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM redrive_source s \
     WHERE s.hangfire_schema = 'main' ON CONFLICT (id) DO NOTHING";

const PAST: &str = "SELECT a.at AS at, a.claim_key AS claim_key, a.action AS action, \
     a.outcome AS outcome, a.claim_seen AS claim_seen, a.claim AS claim \
     FROM redrive_audit a JOIN redrive_source s ON s.id = a.source AND s.hangfire_schema = 'main' \
     WHERE a.claims = ? AND a.claim_key IN (SELECT value FROM json_each(?)) \
     ORDER BY a.id DESC LIMIT 1000";

/// A row about claims.
pub(super) struct Entry<'a> {
    pub(super) id: Uuid,
    /// When, by the host's clock.
    pub(super) at: Instant,
    pub(super) actor: &'a Actor,
    pub(super) action: &'a str,
    /// The job that was acted on, with its state before and after.
    pub(super) job: Option<i64>,
    pub(super) before: Option<(StateName, i64)>,
    pub(super) after: Option<(StateName, i64)>,
    pub(super) reason: Option<&'a str>,
    /// The outcome's word.
    pub(super) outcome: &'a str,
    /// The outcome in words.
    pub(super) note: &'a str,
    /// The table's name in Redrive.
    pub(super) table: &'a str,
    /// What the operator saw; `None` for a purge.
    pub(super) seen: Option<&'a SeenClaim>,
    pub(super) claim: ClaimNote,
}

/// Writes a row.
///
/// # Errors
/// The database's; [`sqlx::Error::RowNotFound`] where a row of that id is there already.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    entry: &Entry<'_>,
) -> Result<(), sqlx::Error> {
    let (before, before_id) = entry.before.clone().unzip();
    let (after, after_id) = entry.after.clone().unzip();
    let written = sqlx::query(INSERT)
        .bind(entry.id.to_string())
        .bind(entry.at.timestamp_micros())
        .bind(&entry.actor.name)
        .bind(entry.actor.authenticated)
        .bind(entry.action)
        .bind(entry.job)
        .bind(before.as_ref().map(StateName::as_str))
        .bind(before_id)
        .bind(after.as_ref().map(StateName::as_str))
        .bind(after_id)
        .bind(entry.reason)
        .bind(entry.outcome)
        .bind(entry.note)
        .bind(entry.table)
        .bind(entry.seen.map(|seen| seen.key.as_str()))
        .bind(entry.seen.and_then(|seen| seen.claimed_at.as_deref()))
        .bind(entry.claim.written())
        .execute(connection)
        .await?;
    if written.rows_affected() == 1 {
        Ok(())
    } else {
        Err(sqlx::Error::RowNotFound)
    }
}

/// Writes a row in a transaction of its own.
///
/// # Errors
/// As [`insert`]'s.
pub(super) async fn insert_alone(
    writer: &SqlitePool,
    entry: &Entry<'_>,
) -> Result<(), sqlx::Error> {
    let mut connection = writer.acquire().await?;
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    insert(&mut transaction, entry).await?;
    transaction.commit().await
}

/// Writes down what the provider answered.
///
/// # Errors
/// The file's.
pub(super) async fn record_answer(
    store: &SqliteStore,
    id: Uuid,
    table: &str,
    seen: &SeenClaim,
    asked: &Asked,
    actor: &Actor,
) -> Result<(), StoreError> {
    let writer = store.writer().await?;
    let (table, seen, asked, actor) =
        (table.to_owned(), seen.clone(), asked.clone(), actor.clone());
    let task = tokio::spawn(async move {
        let note = match &asked.answer {
            Answer::Known(Some(id)) => format!("The provider knows the key: it was sent as {id}."),
            Answer::Known(None) => "The provider knows the key: it was sent.".to_owned(),
            Answer::Denied => "The provider does not know the key.".to_owned(),
            Answer::NotKnown(why) => format!("The provider did not tell: {why}"),
        };
        let entry = Entry {
            id,
            at: asked.at,
            actor: &actor,
            action: "ask-provider",
            job: None,
            before: None,
            after: None,
            reason: None,
            outcome: "done",
            note: &note,
            table: &table,
            seen: Some(&seen),
            claim: ClaimNote {
                answer: Some(Said::from(&asked.answer)),
                ..ClaimNote::default()
            },
        };
        insert_alone(&writer, &entry).await
    });
    match task.await {
        Ok(written) => written.map_err(|error| errors::sort(&error)),
        Err(failure) => Err(StoreError::Internal(failure.to_string())),
    }
}

/// What the audit knows of some keys, oldest first.
pub(super) async fn past(
    connection: &mut SqliteConnection,
    table: &str,
    keys: &[String],
) -> Result<Vec<ClaimPast>, sqlx::Error> {
    if own::knows_claims(connection).await? != Some(true) {
        return Ok(Vec::new());
    }
    let found = sqlx::query(PAST)
        .bind(table)
        .bind(serde_json::json!(keys).to_string())
        .fetch_all(connection)
        .await?;
    found
        .iter()
        .rev()
        .map(|row| {
            let note = ClaimNote::read(rows::text(row, "claim")?.as_deref());
            Ok(ClaimPast {
                at: DateTime::from_timestamp_micros(rows::int(row, "at")?.unwrap_or_default())
                    .unwrap_or_default(),
                key: rows::text(row, "claim_key")?.unwrap_or_default(),
                action: rows::text(row, "action")?.unwrap_or_default(),
                outcome: rows::text(row, "outcome")?.unwrap_or_default(),
                seen: rows::text(row, "claim_seen")?.map(ClaimTime::read),
                answer: note.answer.map(Answer::from),
            })
        })
        .collect()
}
