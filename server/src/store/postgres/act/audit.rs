//! Audit rows: written with the action, or afterwards where nothing was done.

use std::time::Duration;

use app::actions::{Actor, Outcome};
use app::model::state::StateName;
use sqlx::Error;
use sqlx::postgres::{PgArguments, Postgres};
use sqlx::query::Query;
use tokio::time::Instant;
use uuid::Uuid;

use super::Change;
use super::run::{BEGIN, Halt, own_tables};
use crate::clock::SharedClock;
use crate::store::claim_note::ClaimNote;
use crate::store::postgres::conn::Conn;
use crate::store::postgres::pool::Purpose;
use crate::store::postgres::session::Session;

const SOURCE: &str = "SELECT id FROM redrive.source WHERE hangfire_schema = $1";

const REGISTER: &str = "
INSERT INTO redrive.source (id, hangfire_schema) VALUES ($1, $2)
ON CONFLICT (hangfire_schema) DO NOTHING";

const INSERT: &str = "
INSERT INTO redrive.audit (id, source, at, actor, authenticated, action, job, seen_state,
  seen_state_id, before_state, before_state_id, after_state, after_state_id, reason, outcome, note,
  claims, claim_key, claim_seen, claim)
VALUES ($1, $2, clock_timestamp(), $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
  $17, $18, $19)
ON CONFLICT (id) DO NOTHING";

/// A row, but for its id and its time.
#[derive(Clone)]
pub struct Line {
    pub actor: Actor,
    /// The action's word.
    pub action: &'static str,
    pub job: Option<i64>,
    /// What the operator saw of the job.
    pub seen: Option<(StateName, i64)>,
    /// The job's state before and after.
    pub change: Change,
    pub reason: Option<String>,
    /// The outcome's word.
    pub outcome: &'static str,
    /// The outcome in words.
    pub note: String,
    pub claim: Option<ClaimLine>,
}

/// What a row says of a claim.
#[derive(Clone)]
pub struct ClaimLine {
    /// The table's name in Redrive.
    pub table: String,
    pub key: Option<String>,
    /// The claim time that the operator saw.
    pub seen: Option<String>,
    pub note: ClaimNote,
}

impl Line {
    /// The same for an action that changed nothing.
    pub fn without_effect(mut self) -> Self {
        self.change.after = None;
        if let Some(claim) = &mut self.claim {
            claim.note.after = None;
            claim.note.provider_id = None;
        }
        self
    }
}

/// After a lost connection the audit is asked for this long: longer than the lost transaction can
/// idle on a server that has not noticed.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(300);

/// The id under which this Hangfire schema is known, registered first where it is not yet.
///
/// # Errors
/// The database's.
pub(in crate::store::postgres) async fn source(
    conn: &mut Conn,
    schema: &str,
    new_id: Uuid,
) -> Result<Uuid, Error> {
    let known: Option<Uuid> = sqlx::query_scalar(SOURCE)
        .bind(schema)
        .fetch_optional(&mut *conn)
        .await?;
    if let Some(id) = known {
        return Ok(id);
    }
    sqlx::query(REGISTER)
        .bind(new_id)
        .bind(schema)
        .execute(&mut *conn)
        .await?;
    sqlx::query_scalar(SOURCE)
        .bind(schema)
        .fetch_one(conn)
        .await
}

/// Writes the row of an action inside its transaction.
///
/// # Errors
/// The database's; [`Error::RowNotFound`] where a row of that id is there already: the action has
/// been done.
pub(super) async fn insert(
    conn: &mut Conn,
    source: Uuid,
    id: Uuid,
    line: &Line,
) -> Result<(), Error> {
    let written = row(source, id, line).execute(conn).await?;
    if written.rows_affected() == 1 {
        Ok(())
    } else {
        Err(Error::RowNotFound)
    }
}

/// Writes the row of an action that did nothing, in a transaction of its own; whether there was
/// none of that id yet.
///
/// # Errors
/// The database's; or that the own tables are not ours to write.
pub async fn write_down(
    session: &Session,
    clock: &SharedClock,
    id: Uuid,
    line: &Line,
) -> Result<bool, Halt<Outcome>> {
    let pool = session.pool();
    let mut transaction = pool.begin(Purpose::Rare, BEGIN).await?;
    let conn = &mut transaction.conn;
    own_tables(conn).await?;
    let source = source(conn, session.schema(), clock.new_id()).await?;
    let written = row(source, id, line).execute(conn).await?;
    transaction.commit().await?;
    Ok(written.rows_affected() == 1)
}

/// What the audit says of an action whose COMMIT was not answered.
pub(super) enum Settled {
    /// Its row is there: it happened.
    Happened,
    /// Its row was not there, and now the one that says so is: it did not happen, and never will.
    DidNot,
}

/// Asks the audit whether an action happened, over new connections and a bounded time. `None` where
/// it cannot be had.
///
/// Reading alone would not do: the COMMIT may still be on its way. Writing the row of the same id
/// waits for the lost transaction to end, whichever way; and once ours is there, it cannot commit.
pub(super) async fn settle(
    session: Session,
    clock: SharedClock,
    id: Uuid,
    line: Line,
) -> Option<Settled> {
    // In a task of its own, because a try that is given up must not be dropped half-way either.
    let asking = tokio::spawn(async move {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            match write_down(&session, &clock, id, &line).await {
                Ok(true) => return Some(Settled::DidNot),
                Ok(false) => return happened(&session, id).await,
                Err(Halt::Driver(error)) => {
                    tracing::warn!(audit = %id, %error, "the audit could not be asked yet");
                }
                Err(_) => return None,
            }
            tokio::time::sleep(PAUSE).await;
        }
        None
    });
    tokio::time::timeout(PATIENCE, asking).await.ok()?.ok()?
}

/// What the row that is there says: it may be our own of an earlier try, whose answer was lost.
async fn happened(session: &Session, id: Uuid) -> Option<Settled> {
    let mut transaction = session.pool().begin(Purpose::Rare, BEGIN).await.ok()?;
    let outcome: Result<String, Error> =
        sqlx::query_scalar("SELECT outcome FROM redrive.audit WHERE id = $1")
            .bind(id)
            .fetch_one(&mut transaction.conn)
            .await;
    transaction.leave();
    match outcome {
        Ok(outcome) if outcome == "done" => Some(Settled::Happened),
        Ok(_) => Some(Settled::DidNot),
        Err(_) => None,
    }
}

fn row(source: Uuid, id: Uuid, line: &Line) -> Query<'static, Postgres, PgArguments> {
    let state =
        |state: &Option<(StateName, i64)>| state.as_ref().map(|(name, _)| storable(name.as_str()));
    let state_id = |state: &Option<(StateName, i64)>| state.as_ref().map(|(_, id)| *id);
    let text = |text: &Option<String>| text.as_deref().map(storable);
    let claim = line.claim.as_ref();
    sqlx::query(INSERT)
        .bind(id)
        .bind(source)
        .bind(storable(&line.actor.name))
        .bind(line.actor.authenticated)
        .bind(line.action)
        .bind(line.job)
        .bind(state(&line.seen))
        .bind(state_id(&line.seen))
        .bind(state(&line.change.before))
        .bind(state_id(&line.change.before))
        .bind(state(&line.change.after))
        .bind(state_id(&line.change.after))
        .bind(text(&line.reason))
        .bind(line.outcome)
        .bind(storable(&line.note))
        .bind(claim.map(|claim| storable(&claim.table)))
        .bind(claim.and_then(|claim| text(&claim.key)))
        .bind(claim.and_then(|claim| text(&claim.seen)))
        .bind(claim.map(|claim| claim.note.written()))
}

/// `PostgreSQL` stores no NUL characters.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
