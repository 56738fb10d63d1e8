//! Actions on claims: one short `BEGIN IMMEDIATE` transaction each, which holds the claim, its job
//! and the audit row together.
//!
//! Where the claims lie in another file there are two. The job's is begun first and committed last:
//! whatever forbids the requeue is known before the claim changes, and a claim that was changed
//! first by somebody else takes the requeue back. Only a COMMIT that fails, or a death between the
//! two, leaves a claim that changed and a job that did not.

use std::sync::Arc;

use app::actions::claim::decide::{ClaimPlan, ClaimWrite, FoundClaim, decide};
use app::actions::claim::{ClaimOutcome, ClaimRequest, Requeued};
use app::actions::{Action, Outcome};
use app::model::claim::Claim;
use app::model::claim::table::Shape;
use app::model::state::{Instant, StateName};
use app::ports::audit::AuditStore as _;
use app::ports::error::StoreError;
use sqlx::{Connection as _, SqliteConnection, SqlitePool};
use uuid::Uuid;

use super::audit::{self, Entry};
use super::{rows_of, write};
use crate::store::claim_facts;
use crate::store::claim_note::{self, ClaimNote};
use crate::store::sqlite::act::{Changed, Halt, Progress, change_as_found};
use crate::store::sqlite::connect::Opened;
use crate::store::sqlite::{SqliteStore, errors, histories, migrate, servers, source};

/// The most jobs behind a claim that are looked at while others wait to write.
const MOST_OWNERS: usize = 50;

/// Runs an action to its end, whatever becomes of whoever waits for it.
pub(super) async fn run(
    store: &SqliteStore,
    audit: Uuid,
    shape: &Shape,
    request: &ClaimRequest,
) -> ClaimOutcome {
    let acting = Acting {
        store: store.clone(),
        audit,
        shape: shape.clone(),
        request: request.clone(),
    };
    tokio::spawn(acting.run()).await.unwrap_or_else(|error| {
        tracing::error!(%audit, %error, "an action on a claim broke off");
        ClaimOutcome::Unknown {
            why: format!(
                "The action broke off. Look whether the audit holds {audit}: it does if and only \
                 if the action happened."
            ),
        }
    })
}

/// One action, with all that it needs to come to its end alone.
struct Acting {
    store: SqliteStore,
    audit: Uuid,
    shape: Shape,
    request: ClaimRequest,
}

/// Why a transaction is not committed.
enum Stop {
    /// It was decided so.
    Outcome(ClaimOutcome),
    /// The database's.
    Driver(sqlx::Error),
}

impl From<ClaimOutcome> for Stop {
    fn from(outcome: ClaimOutcome) -> Self {
        Self::Outcome(outcome)
    }
}

impl From<sqlx::Error> for Stop {
    fn from(error: sqlx::Error) -> Self {
        Self::Driver(error)
    }
}

/// What was found and done, for the audit.
#[derive(Default)]
struct Seen {
    /// The claim before, in words.
    claim_before: Option<String>,
    /// The claim afterwards, in words.
    claim_after: Option<String>,
    /// The job that was to run again.
    job: Option<i64>,
    /// What became of it, as far as it came.
    progress: Progress,
    /// Its state afterwards.
    job_after: Option<(StateName, i64)>,
    /// Whether the claim's change, in another file, is committed.
    claim_is_changed: bool,
}

impl Acting {
    async fn run(self) -> ClaimOutcome {
        let opened = match self.store.opened().await {
            Ok(opened) => opened,
            Err(error) => return not_done(&error),
        };
        let Some(writer) = opened.writer.clone() else {
            let why = opened.cannot_write.clone();
            return ClaimOutcome::Refused {
                why: why.unwrap_or_else(|| "The file cannot be written.".to_owned()),
            };
        };
        let mut seen = Seen::default();
        let outcome = match self.transaction(&opened, &writer, &mut seen).await {
            Ok(done) => {
                seen.progress.finish(&writer).await;
                return done;
            }
            Err(Stop::Outcome(outcome)) => outcome,
            Err(Stop::Driver(error)) => halted(&error),
        };
        self.record(&writer, seen, outcome).await
    }

    async fn transaction(
        &self,
        opened: &Arc<Opened>,
        writer: &SqlitePool,
        seen: &mut Seen,
    ) -> Result<ClaimOutcome, Stop> {
        let mut connection = writer.acquire().await?;
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let done = match self.both(&mut transaction, opened, seen).await {
            Ok(done) => done,
            Err(stop) => {
                // What stopped it matters; a transaction that is over already cannot roll back.
                drop(transaction.rollback().await);
                return Err(stop);
            }
        };
        match transaction.commit().await {
            Ok(()) => Ok(done),
            Err(error) => self.after_failed_commit(error, done, seen).await,
        }
    }

    /// Everything up to COMMIT; the claim's own COMMIT where it lies in another file.
    async fn both(
        &self,
        connection: &mut SqliteConnection,
        opened: &Opened,
        seen: &mut Seen,
    ) -> Result<ClaimOutcome, Stop> {
        let Some(claims) = &self.store.claims else {
            return self.inside(connection, None, opened, seen).await;
        };
        let writer = claims.writer().await.map_err(|error| not_done(&error))?;
        let mut claims = writer.acquire().await?;
        let mut claims = claims.begin_with("BEGIN IMMEDIATE").await?;
        // Where it is halted, this transaction is rolled back when it is dropped.
        let done = self
            .inside(connection, Some(&mut claims), opened, seen)
            .await?;
        claims.commit().await?;
        seen.claim_is_changed = true;
        Ok(done)
    }

    /// What is done in the transactions; `claims` where the claims lie in another file.
    async fn inside(
        &self,
        connection: &mut SqliteConnection,
        mut claims: Option<&mut SqliteConnection>,
        opened: &Opened,
        seen: &mut Seen,
    ) -> Result<ClaimOutcome, Stop> {
        let own = migrate::state(connection).await?;
        if let Some(why) = source::why_not_acted(opened, own) {
            return Err(ClaimOutcome::Refused { why }.into());
        }
        let now = self.store.inner.clock.now();
        let key = &self.request.seen.key;
        let rows = match &mut claims {
            Some(claims) => rows_of(claims, &self.shape, key).await?,
            None => rows_of(connection, &self.shape, key).await?,
        };
        if let [claim] = rows.as_slice() {
            seen.claim_before = Some(claim_note::words_of(claim));
        }
        let found = self.find(connection, rows, now).await?;
        let plan = decide(&self.request, &found)?;
        let changed = match &plan.requeue {
            Some((job, action)) => {
                seen.job = Some(*job);
                Some(self.requeue(connection, *job, action, now, seen).await?)
            }
            None => None,
        };
        let after = match claims {
            Some(claims) => self.write(claims, &plan, &found, now).await?,
            None => self.write(connection, &plan, &found, now).await?,
        };
        if let (true, Some(job), Some(claim)) = (plan.hand_over, seen.job, &after) {
            write::hand_over(connection, job, &self.shape, claim).await?;
        }
        seen.claim_after = Some(after.as_ref().map_or_else(
            || "Released: its row was deleted".to_owned(),
            claim_note::words_of,
        ));
        let mut notes = plan.notes;
        let job = changed.map(|changed| {
            notes.extend(changed.notes);
            Requeued {
                job: seen.job.unwrap_or_default(),
                state: changed.state,
                state_id: changed.state_id,
            }
        });
        seen.job_after = job.as_ref().map(|job| (job.state.clone(), job.state_id));
        let outcome = ClaimOutcome::Done {
            claim: after.map(|claim| (claim.status, claim.claimed_at)),
            job: job.map(Box::new),
            notes,
        };
        let provider_id = match plan.write {
            ClaimWrite::MarkAsSent { provider_id } => provider_id,
            ClaimWrite::Keep | ClaimWrite::Delete | ClaimWrite::Renew => None,
        };
        self.audit(connection, now, seen, &outcome, provider_id)
            .await?;
        Ok(outcome)
    }

    /// What the decision is made from. The write lock is held, so that it stays true.
    async fn find(
        &self,
        connection: &mut SqliteConnection,
        rows: Vec<Claim>,
        now: Instant,
    ) -> Result<FoundClaim<'_>, sqlx::Error> {
        let table = &self.shape.table;
        let key = &self.request.seen.key;
        let histories = histories::load(connection, &self.jobs(), claim_facts::STATES).await?;
        let past = audit::past(connection, &table.name, std::slice::from_ref(key)).await?;
        Ok(FoundClaim {
            shape: &self.shape,
            rows,
            owners: histories
                .iter()
                .filter_map(|history| claim_facts::owner(table, key, history))
                .collect(),
            servers: servers::servers(connection, now).await?,
            server_timeout_ms: self.store.limits.server_timeout_ms,
            earlier: claim_facts::earlier(&past),
            asked: claim_facts::asked(&past),
            now,
        })
    }

    /// The jobs that are looked at: the newest of those behind the claim, and the chosen one.
    fn jobs(&self) -> Vec<i64> {
        let mut jobs = self.request.owners.clone();
        jobs.sort_unstable();
        jobs.drain(..jobs.len().saturating_sub(MOST_OWNERS));
        jobs.extend(self.request.job);
        jobs
    }

    /// Changes the claim as decided, while it is still as it was seen; the row afterwards.
    async fn write(
        &self,
        connection: &mut SqliteConnection,
        plan: &ClaimPlan,
        found: &FoundClaim<'_>,
        now: Instant,
    ) -> Result<Option<Claim>, Stop> {
        if plan.write == ClaimWrite::Keep {
            return Ok(found.rows.first().cloned());
        }
        let seen = &self.request.seen;
        match write::claim(connection, &self.shape, seen, &plan.write, now).await? {
            1 => {}
            0 => {
                return Err(ClaimOutcome::Moved {
                    now: Box::new(found.rows.first().cloned()),
                    why: "The claim is not as it was seen any more: somebody else was first. \
                          Nothing was changed."
                        .to_owned(),
                }
                .into());
            }
            rows => {
                return Err(ClaimOutcome::Refused {
                    why: format!(
                        "{rows} rows have this key, status and claim time: nobody can say which \
                         one is meant. Nothing was changed."
                    ),
                }
                .into());
            }
        }
        if plan.write == ClaimWrite::Delete {
            return Ok(None);
        }
        let rows = rows_of(connection, &self.shape, &seen.key).await?;
        Ok(rows.into_iter().next())
    }

    /// Runs the job again, by the guarded action that its own page has.
    async fn requeue(
        &self,
        connection: &mut SqliteConnection,
        job: i64,
        action: &Action,
        now: Instant,
        seen: &mut Seen,
    ) -> Result<Changed, Stop> {
        let by = (&self.request.actor, self.request.reason.as_deref());
        let action = (job, action.clone());
        change_as_found(connection, &self.store, action, by, now, &mut seen.progress)
            .await
            .map_err(|halt| match halt {
                Halt::Driver(error) => Stop::Driver(error),
                Halt::Outcome(outcome) => Stop::Outcome(job_did_not_change(job, outcome)),
            })
    }

    /// A COMMIT that failed is rolled back, or has happened although its answer was an error: the
    /// audit row tells.
    async fn after_failed_commit(
        &self,
        error: sqlx::Error,
        done: ClaimOutcome,
        seen: &Seen,
    ) -> Result<ClaimOutcome, Stop> {
        tracing::warn!(audit = %self.audit, %error, "a COMMIT failed");
        match self.store.audit_row(self.audit).await {
            Ok(Some(row)) if row.outcome == "done" => Ok(done),
            Ok(_) if seen.claim_is_changed => Err(half_done(seen, &error).into()),
            Ok(_) => Err(error.into()),
            Err(unread) => {
                tracing::warn!(audit = %self.audit, error = %unread, "the audit cannot be read");
                Ok(ClaimOutcome::Unknown {
                    why: format!(
                        "COMMIT answered with an error ({error}), and the audit cannot be read. \
                         Look there for {}: it says whether the action happened. Do not act again \
                         before.",
                        self.audit
                    ),
                })
            }
        }
    }

    /// Writes down an outcome other than done. It stands whether or not that succeeds.
    async fn record(&self, writer: &SqlitePool, seen: Seen, outcome: ClaimOutcome) -> ClaimOutcome {
        let claim_after = seen.claim_after.filter(|_| seen.claim_is_changed);
        let seen = Seen {
            claim_after,
            job_after: None,
            ..seen
        };
        let now = self.store.inner.clock.now();
        let written = async {
            let mut connection = writer.acquire().await?;
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            self.audit(&mut transaction, now, &seen, &outcome, None)
                .await?;
            transaction.commit().await
        };
        if let Err(error) = written.await {
            tracing::warn!(
                audit = %self.audit,
                outcome = outcome.slug(),
                error = %errors::sort(&error),
                "an action on a claim without effect could not be written to the audit"
            );
        }
        outcome
    }

    async fn audit(
        &self,
        connection: &mut SqliteConnection,
        at: Instant,
        seen: &Seen,
        outcome: &ClaimOutcome,
        provider_id: Option<String>,
    ) -> Result<(), sqlx::Error> {
        let entry = Entry {
            id: self.audit,
            at,
            actor: &self.request.actor,
            action: self.request.action.slug(),
            job: seen.job,
            before: seen.progress.before.clone(),
            after: seen.job_after.clone(),
            reason: self.request.reason.as_deref(),
            outcome: outcome.slug(),
            note: &outcome.sentence(),
            table: &self.shape.table.name,
            seen: Some(&self.request.seen),
            claim: ClaimNote {
                before: seen.claim_before.clone(),
                after: seen.claim_after.clone(),
                provider_id,
                answer: None,
            },
        };
        audit::insert(connection, &entry).await
    }
}

/// What it means for the claim that its job did not change: neither did the claim.
fn job_did_not_change(job: i64, outcome: Outcome) -> ClaimOutcome {
    match outcome {
        Outcome::Busy { why, .. } => ClaimOutcome::Busy { why },
        Outcome::Unknown { why } => ClaimOutcome::Unknown { why },
        other => ClaimOutcome::Refused {
            why: format!(
                "Job #{job} cannot run again: {} Nothing was changed.",
                other.sentence()
            ),
        },
    }
}

/// The claim changed in its file, and the rest did not in the other one.
fn half_done(seen: &Seen, error: &sqlx::Error) -> ClaimOutcome {
    let claim = seen.claim_after.as_deref().unwrap_or("changed");
    let job = seen.job.map_or_else(String::new, |job| {
        format!(" Job #{job} does not run again: requeue it on its own page.")
    });
    ClaimOutcome::Refused {
        why: format!(
            "The claim was changed (it is now: {claim}), but what belongs to it could not be \
             written to the job database: {}.{job}",
            errors::sort(error)
        ),
    }
}

/// What it means that the file cannot be used. Nothing was changed.
fn not_done(error: &StoreError) -> ClaimOutcome {
    match error {
        StoreError::Unreadable(why) | StoreError::Forbidden(why) => ClaimOutcome::Refused {
            why: format!("Nothing was changed: {why}."),
        },
        other => ClaimOutcome::Busy {
            why: format!("Nothing was changed: {other}. Try again."),
        },
    }
}

/// What an error of the database before COMMIT means. Nothing was changed.
fn halted(error: &sqlx::Error) -> ClaimOutcome {
    if errors::is_busy(error) {
        return ClaimOutcome::Busy {
            why: "Another process is writing to the file, and did not finish within two seconds. \
                  Nothing was changed; try again."
                .to_owned(),
        };
    }
    not_done(&errors::sort(error))
}
