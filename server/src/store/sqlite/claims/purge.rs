//! Purging Sent claims past their retention.
//!
//! What is to go is looked for outside the write transaction, and deleted inside it only while it
//! is still as it was found: twice or from two processes, each row goes once, and a row that is
//! Sending never.

use std::time::{Duration, Instant as Timer};

use app::model::claim::Claim;
use app::model::claim::table::{Lack, Shape};
use app::ports::claims::{ClaimPlace, Purge};
use app::ports::error::StoreError;
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection, SqlitePool};
use uuid::Uuid;

use super::audit::{self, Entry};
use super::list;
use super::names::Names;
use crate::store::claim_list;
use crate::store::claim_note::ClaimNote;
use crate::store::sqlite::{SqliteStore, errors};

/// A write transaction is committed after this time at the latest, so that the job servers' writes
/// wait no longer than a quarter of a second.
const TURN: Duration = Duration::from_millis(150);
/// Between two write transactions, for others.
const PAUSE: Duration = Duration::from_millis(50);
/// How often a turn to write is asked for again while others are writing.
const TRIES: u32 = 5;
/// The most rows of a batch.
const MOST: u32 = 10_000;

/// Purges until nothing is left to purge.
pub(super) async fn run(
    store: &SqliteStore,
    audit: Uuid,
    shape: &Shape,
    purge: &Purge,
) -> Result<u64, StoreError> {
    if let Some(why) = &shape.read_only {
        return Err(StoreError::Forbidden(why.clone()));
    }
    if shape.lacks(Lack::ClaimTime) {
        return Err(StoreError::Forbidden(
            "the table has no claim time, so nobody can say what is past its retention".to_owned(),
        ));
    }
    let work = Purging {
        store: store.clone(),
        writer: store.of_claims().writer().await?,
        audits: store.writer().await?,
        audit,
        shape: shape.clone(),
        purge: purge.clone(),
    };
    match tokio::spawn(work.run()).await {
        Ok(purged) => purged,
        Err(failure) => Err(StoreError::Internal(failure.to_string())),
    }
}

struct Purging {
    store: SqliteStore,
    /// Writes to the file that holds the claims.
    writer: SqlitePool,
    /// Writes to the one that holds the audit.
    audits: SqlitePool,
    audit: Uuid,
    shape: Shape,
    purge: Purge,
}

impl Purging {
    async fn run(self) -> Result<u64, StoreError> {
        let mut purged = 0;
        let over = self.batches(&mut purged).await;
        self.write_down(purged, over.as_ref().err()).await;
        over.map(|()| purged)
    }

    async fn batches(&self, purged: &mut u64) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let batch = self.next(after.take()).await?;
            let Some(last) = batch.last() else {
                return Ok(());
            };
            after = Some(claim_list::place(last));
            let mut left = batch.as_slice();
            while !left.is_empty() {
                let (done, gone) = self.turn(left).await?;
                *purged += gone;
                left = left.get(done..).unwrap_or_default();
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    async fn next(&self, after: Option<ClaimPlace>) -> Result<Vec<Claim>, StoreError> {
        let (shape, before) = (self.shape.clone(), self.purge.before);
        let limit = usize::try_from(self.purge.batch.clamp(1, MOST)).unwrap_or(1);
        self.store
            .of_claims()
            .read_for(super::FIGURES_LIMIT, move |c| {
                Box::pin(async move { list::sent_before(c, &shape, before, after, limit).await })
            })
            .await
    }

    /// One write transaction: how many claims were looked at, and how many were deleted.
    async fn turn(&self, claims: &[Claim]) -> Result<(usize, u64), StoreError> {
        let mut tries = 1;
        loop {
            match self.transaction(claims).await {
                Err(error) if errors::is_busy(&error) && tries < TRIES => tries += 1,
                result => return result.map_err(|error| errors::sort(&error)),
            }
        }
    }

    async fn transaction(&self, claims: &[Claim]) -> Result<(usize, u64), sqlx::Error> {
        let mut connection = self.writer.acquire().await?;
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let begun = Timer::now();
        let (mut done, mut gone) = (0, 0);
        for claim in claims {
            gone += delete(&mut transaction, &self.shape, claim).await?;
            done += 1;
            if begun.elapsed() > TURN {
                break;
            }
        }
        transaction.commit().await?;
        Ok((done, gone))
    }

    /// The purge stands whether or not it can be written down.
    async fn write_down(&self, purged: u64, error: Option<&StoreError>) {
        if purged == 0 && error.is_none() && self.purge.reason.is_none() {
            return;
        }
        let name = &self.shape.table.name;
        let until = self.purge.before.format("%Y-%m-%d %H:%M:%S");
        let stopped = error.map_or_else(String::new, |error| format!(" Then it stopped: {error}."));
        let note = format!(
            "Purged {purged} Sent claims of {name} that were claimed before {until} UTC.{stopped}"
        );
        let entry = Entry {
            id: self.audit,
            at: self.store.inner.clock.now(),
            actor: &self.purge.actor,
            action: "purge",
            job: None,
            before: None,
            after: None,
            reason: self.purge.reason.as_deref(),
            outcome: "done",
            note: &note,
            table: name,
            seen: None,
            claim: ClaimNote::default(),
        };
        if let Err(error) = audit::insert_alone(&self.audits, &entry).await {
            tracing::warn!(
                audit = %self.audit,
                purged,
                error = %errors::sort(&error),
                "a purge of claims could not be written to the audit"
            );
        }
    }
}

async fn delete(
    connection: &mut SqliteConnection,
    shape: &Shape,
    claim: &Claim,
) -> Result<u64, sqlx::Error> {
    let names = Names::of(shape);
    let deleted = sqlx::query(AssertSqlSafe(format!(
        "DELETE FROM {} WHERE {} = ?1 AND {} = ?2 AND {} = ?3",
        names.table,
        names.key,
        names.status,
        names.token()
    )))
    .bind(&claim.key)
    .bind(&shape.table.sent)
    .bind(claim.claimed_at.as_ref().map(|time| time.token.as_str()))
    .execute(connection)
    .await?;
    Ok(deleted.rows_affected())
}
