//! Actions on claims: the claim, its job and the audit row change in one transaction.
//!
//! The claim's row is locked before its job is looked at, by everybody in this order.

use app::actions::claim::decide::{ClaimPlan, ClaimWrite, FoundClaim, decide};
use app::actions::claim::{ClaimOutcome, ClaimRequest, Requeued};
use app::actions::{Action, Outcome, Request, Seen};
use app::model::claim::Claim;
use app::model::claim::table::Shape;
use app::model::job::JobHistory;
use app::ports::error::StoreError;
use sqlx::Error;

use super::{audit, db, rows_of, write};
use crate::store::claim_facts;
use crate::store::claim_note::{self, ClaimNote};
use crate::store::postgres::act::Change;
use crate::store::postgres::act::audit::{ClaimLine, Line};
use crate::store::postgres::act::change::{Changed, change};
use crate::store::postgres::act::find;
use crate::store::postgres::act::run::{BEGIN, Deed, Halt, Inside, is_certain_no};
use crate::store::postgres::conn::Conn;
use crate::store::postgres::pool::{Pool, Purpose, Transaction};
use crate::store::postgres::{errors, histories, servers};

/// An action on a claim.
#[derive(Clone)]
pub(super) struct ClaimDeed {
    pub(super) shape: Shape,
    pub(super) request: ClaimRequest,
    /// Connections to the claims, where they live in another database than the jobs.
    pub(super) elsewhere: Option<Pool>,
}

/// What was found and done, for the audit.
#[derive(Clone, Default)]
pub(super) struct Known {
    /// The claim before, in words.
    pub(super) claim_before: Option<String>,
    /// The claim afterwards, in words.
    pub(super) claim_after: Option<String>,
    /// The provider's message id that was written.
    pub(super) provider_id: Option<String>,
    /// The job that was to run again.
    pub(super) job: Option<i64>,
    /// Its state.
    pub(super) change: Change,
    /// Whether the claim's change, in another database, is committed.
    pub(super) is_claim_changed: bool,
}

type Stop = Halt<ClaimOutcome>;

impl Deed for ClaimDeed {
    type Outcome = ClaimOutcome;
    type Found = Known;

    const WHAT: &'static str = "the claim or its job";

    fn of(outcome: Outcome) -> ClaimOutcome {
        match outcome {
            Outcome::Busy { why, .. } => ClaimOutcome::Busy { why },
            Outcome::Unknown { why } => ClaimOutcome::Unknown { why },
            other => ClaimOutcome::Refused {
                why: other.sentence(),
            },
        }
    }

    async fn inside(
        &self,
        inside: &mut Inside<'_>,
        known: &mut Known,
    ) -> Result<ClaimOutcome, Stop> {
        if super::holds_nul(&self.request.seen.key) {
            return Err(Halt::Outcome(ClaimOutcome::Gone));
        }
        if let Some(pool) = &self.elsewhere {
            let other = pool.begin(Purpose::Rare, BEGIN).await;
            inside.other = Some(other.map_err(|error| apart(&error))?);
        }
        let rows = self.rows(inside).await.map_err(|error| self.apart(error))?;
        if let [claim] = rows.as_slice() {
            known.claim_before = Some(claim_note::words_of(claim));
        }
        let (histories, found) = self.find(inside, rows).await?;
        let plan = decide(&self.request, &found).map_err(Halt::Outcome)?;
        let claim = self.write(inside, &plan, &found).await?;
        let changed = match &plan.requeue {
            Some((job, action)) => {
                known.job = Some(*job);
                let before = &mut known.change.before;
                let request = as_found(&self.request, *job, action, &histories);
                Some(requeue(inside, &request, before).await?)
            }
            None => None,
        };
        if let (true, Some(job), Some(claim)) = (plan.hand_over, known.job, &claim) {
            write::hand_over(inside.conn, inside.layout, job, &self.shape, claim).await?;
        }
        Ok(done(plan, claim, changed, known))
    }

    async fn commit_other(known: &mut Known, other: Transaction) -> Result<(), Stop> {
        match other.commit().await {
            Ok(()) => {
                known.is_claim_changed = true;
                Ok(())
            }
            Err(error) if is_certain_no(&error) => Err(apart(&error)),
            Err(error) => {
                tracing::warn!(%error, "the connection was lost during COMMIT");
                Err(Halt::Outcome(ClaimOutcome::Unknown {
                    why:
                        "The connection to the database of the claims was lost during COMMIT: the \
                          claim was changed, or it was not. Its job was not. Look at both before \
                          you act again."
                            .to_owned(),
                }))
            }
        }
    }

    fn half_done(known: &Known, why: &str) -> Option<ClaimOutcome> {
        if !known.is_claim_changed || known.claim_after == known.claim_before {
            return None;
        }
        let claim = known.claim_after.as_deref().unwrap_or("changed");
        let job = known.job.map_or_else(String::new, |job| {
            format!(" Job #{job} does not run again: requeue it on its own page.")
        });
        Some(ClaimOutcome::Refused {
            why: format!(
                "The claim was changed (it is now: {claim}), but what belongs to it could not be \
                 written to the database of the jobs: {why}.{job}"
            ),
        })
    }

    fn without_effect(known: &Known, mut line: Line) -> Line {
        if !known.is_claim_changed {
            return line.without_effect();
        }
        line.change.after = None;
        line
    }

    fn line(&self, known: &Known, outcome: &ClaimOutcome) -> Line {
        line(&self.shape.table.name, &self.request, known, outcome)
    }
}

/// The connection to the claims.
fn claims<'c>(inside: &'c mut Inside<'_>) -> &'c mut Conn {
    match &mut inside.other {
        Some(other) => &mut other.conn,
        None => inside.conn,
    }
}

/// What an error of another database than the jobs' means. Nothing was changed.
fn apart(error: &Error) -> Stop {
    Halt::Outcome(if errors::is_busy(error) {
        ClaimOutcome::Busy {
            why: "Somebody else is changing the claim, and did not finish within two seconds. \
                  Nothing was changed; try again."
                .to_owned(),
        }
    } else {
        not_done(&db::map(error))
    })
}

impl ClaimDeed {
    /// The rows of the key, locked.
    async fn rows(&self, inside: &mut Inside<'_>) -> Result<Vec<Claim>, Error> {
        let conn = claims(inside);
        sqlx::raw_sql(db::AS_TEXT).execute(&mut *conn).await?;
        rows_of(conn, &self.shape, &self.request.seen.key, "FOR UPDATE").await
    }

    /// What an error means that came of reading the claim: where it lives in another database, that
    /// one is meant.
    fn apart(&self, error: Error) -> Stop {
        match self.elsewhere {
            Some(_) => apart(&error),
            None => Halt::Driver(error),
        }
    }

    /// What the decision is made from.
    async fn find(
        &self,
        inside: &mut Inside<'_>,
        rows: Vec<Claim>,
    ) -> Result<(Vec<JobHistory>, FoundClaim<'_>), Error> {
        let table = &self.shape.table;
        let key = &self.request.seen.key;
        let Inside { conn, layout, .. } = inside;
        let jobs = jobs(&self.request);
        let histories = histories::histories(conn, layout, jobs, claim_facts::STATES).await?;
        let keys = std::slice::from_ref(key);
        let past = audit::past(conn, layout.schema(), &table.name, keys).await?;
        let owner = |history| claim_facts::owner(table, key, history);
        let found = FoundClaim {
            shape: &self.shape,
            rows,
            owners: histories.iter().filter_map(owner).collect(),
            servers: servers::read_servers(conn, layout).await?,
            server_timeout_ms: inside.limits.server_timeout_ms,
            earlier: claim_facts::earlier(&past),
            asked: claim_facts::asked(&past),
            now: find::now(inside.conn).await?,
        };
        Ok((histories, found))
    }

    /// Changes the claim as decided; the row afterwards, where there is one.
    async fn write(
        &self,
        inside: &mut Inside<'_>,
        plan: &ClaimPlan,
        found: &FoundClaim<'_>,
    ) -> Result<Option<Claim>, Stop> {
        let seen = &self.request.seen;
        let row = found.rows.first().cloned();
        if plan.write == ClaimWrite::Keep {
            return Ok(row);
        }
        let written = write::claim(claims(inside), &self.shape, seen, &plan.write, found.now).await;
        one(written, row)
            .map_err(|halt| match halt {
                Halt::Driver(error) => self.apart(error),
                other => other,
            })
            .map(|claim| Some(claim).filter(|_| plan.write != ClaimWrite::Delete))
    }
}

/// The jobs that are looked at: those behind the claim, and the chosen one.
pub(super) fn jobs(request: &ClaimRequest) -> Vec<i64> {
    let mut jobs = request.owners.clone();
    jobs.extend(request.job);
    jobs.sort_unstable();
    jobs.dedup();
    jobs.truncate(histories::MOST as usize);
    jobs
}

/// The one row that a guarded statement changed. `row` is what was found before.
pub(super) fn one(written: Result<Vec<Claim>, Error>, row: Option<Claim>) -> Result<Claim, Stop> {
    match written {
        Ok(mut rows) if rows.len() == 1 => rows.pop().ok_or(Halt::Driver(Error::RowNotFound)),
        Ok(rows) if rows.is_empty() => Err(Halt::Outcome(ClaimOutcome::Moved {
            now: Box::new(row),
            why: "The claim is not as it was seen any more: somebody else was first. Nothing was \
                  changed."
                .to_owned(),
        })),
        Ok(rows) => Err(Halt::Outcome(ClaimOutcome::Refused {
            why: format!(
                "{} rows have this key, status and claim time: nobody can say which one is meant. \
                 Nothing was changed.",
                rows.len()
            ),
        })),
        Err(error) if db::is_odd_value(&error) || db::is_violation(&error) => {
            Err(Halt::Outcome(ClaimOutcome::Refused {
                why: format!("Nothing was changed: {}.", db::map(&error)),
            }))
        }
        Err(error) => Err(error.into()),
    }
}

/// The guarded action on the job, as it was found: what happened to it since makes it moved.
pub(super) fn as_found(
    request: &ClaimRequest,
    job: i64,
    action: &Action,
    histories: &[JobHistory],
) -> Request {
    let state = histories
        .iter()
        .find(|history| history.id == job)
        .and_then(|history| history.state.name.clone().zip(history.state.id));
    let (state, state_id) =
        state.unwrap_or((app::model::state::StateName::Other(String::new()), 0));
    Request {
        action: action.clone(),
        seen: Seen {
            job,
            state,
            state_id,
        },
        reason: request.reason.clone(),
        actor: request.actor.clone(),
    }
}

async fn requeue(
    inside: &mut Inside<'_>,
    request: &Request,
    before: &mut Option<(app::model::state::StateName, i64)>,
) -> Result<Changed, Stop> {
    let job = request.seen.job;
    change(inside, request, before)
        .await
        .map_err(|halt| halt.map(|outcome| job_did_not_change(job, outcome)))
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

/// What happened, and what the audit is to say of it.
fn done(
    plan: ClaimPlan,
    claim: Option<Claim>,
    changed: Option<Changed>,
    known: &mut Known,
) -> ClaimOutcome {
    known.claim_after = Some(claim.as_ref().map_or_else(
        || "Released: its row was deleted".to_owned(),
        claim_note::words_of,
    ));
    if let ClaimWrite::MarkAsSent { provider_id } = plan.write {
        known.provider_id = provider_id;
    }
    let mut notes = plan.notes;
    let job = changed.map(|changed| {
        notes.extend(changed.notes);
        known.change.after = Some((changed.state.clone(), changed.state_id));
        Requeued {
            job: known.job.unwrap_or_default(),
            state: changed.state,
            state_id: changed.state_id,
        }
    });
    ClaimOutcome::Done {
        claim: claim.map(|claim| (claim.status, claim.claimed_at)),
        job: job.map(Box::new),
        notes,
    }
}

/// The audit's row.
pub(super) fn line(
    table: &str,
    request: &ClaimRequest,
    known: &Known,
    outcome: &ClaimOutcome,
) -> Line {
    Line {
        actor: request.actor.clone(),
        action: request.action.slug(),
        job: known.job,
        seen: None,
        change: known.change.clone(),
        reason: request.reason.clone(),
        outcome: outcome.slug(),
        note: outcome.sentence(),
        claim: Some(ClaimLine {
            table: table.to_owned(),
            key: Some(request.seen.key.clone()),
            seen: request.seen.claimed_at.clone(),
            note: ClaimNote {
                before: known.claim_before.clone(),
                after: known.claim_after.clone(),
                provider_id: known.provider_id.clone(),
                answer: None,
            },
        }),
    }
}

/// What it means that the database could not be asked. Nothing was changed.
pub(super) fn not_done(error: &StoreError) -> ClaimOutcome {
    match error {
        StoreError::Unreadable(why) | StoreError::Forbidden(why) => ClaimOutcome::Refused {
            why: format!("Nothing was changed: {why}."),
        },
        other => ClaimOutcome::Busy {
            why: format!("Nothing was changed: {other}. Try again."),
        },
    }
}
