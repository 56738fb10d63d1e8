//! Claims as pages show them: judged, and with what can be done about them.

use app::actions::claim::ClaimAction;
use app::actions::claim::decide::may;
use app::model::claim::table::Shape;
use app::model::claim::{Claim, ClaimStatus};
use app::model::invocation::Invocation;
use app::model::state::Instant;
use app::pages::claims::{ClaimOffer, Deed, JudgedClaim};
use app::pages::job::JobClaim;
use app::ports::claims::{ClaimPage, Wanted};
use app::ports::error::StoreError;

use super::super::frame::Visit;
use crate::source::SourceHandle;
use crate::source::claims::judge::{Judge, Judged};

/// Judges the claims of a page.
pub(super) struct Judging<'a> {
    judge: Judge,
    shape: &'a Shape,
    /// Why nothing at all can be done, in words.
    nothing: Option<String>,
    /// Why nothing that needs the jobs can be done yet.
    not_yet: Option<String>,
}

impl<'a> Judging<'a> {
    /// Reads what there is to know of these keys.
    ///
    /// # Errors
    /// As the database's.
    pub(super) async fn of(
        visit: &Visit,
        source: &SourceHandle,
        shape: &'a Shape,
        keys: Vec<String>,
        now: Instant,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            judge: Judge::of(source, &shape.table, &keys, now).await?,
            shape,
            nothing: visit.read_only(),
            not_yet: source.claims.why_not_yet(),
        })
    }

    /// Reads claims, and what there is to know of them.
    ///
    /// # Errors
    /// As the database's.
    pub(super) async fn with_claims(
        visit: &Visit,
        source: &SourceHandle,
        shape: &'a Shape,
        wanted: &Wanted,
        now: Instant,
    ) -> Result<(ClaimPage, Self), StoreError> {
        let (page, judge) = Judge::with_claims(source, shape, wanted, now).await?;
        let judging = Self {
            judge,
            shape,
            nothing: visit.read_only(),
            not_yet: source.claims.why_not_yet(),
        };
        Ok((page, judging))
    }

    /// Judges one of them, by this cut-off in milliseconds.
    pub(super) fn claim(&self, claim: Claim, cutoff_ms: i64) -> JudgedClaim {
        self.offered(self.judge.judge(claim, cutoff_ms))
    }

    fn offered(&self, judged: Judged) -> JudgedClaim {
        let offers = if judged.claim.status == ClaimStatus::Sending {
            let offer = |deed| ClaimOffer {
                deed,
                why_not: self.why_not(deed, &judged),
            };
            Deed::ALL.into_iter().map(offer).collect()
        } else {
            Vec::new()
        };
        JudgedClaim {
            claim: judged.claim,
            owners: judged.owners,
            evidence: judged.evidence,
            verdict: judged.verdict,
            asked: judged.asked,
            offers,
        }
    }

    fn why_not(&self, deed: Deed, judged: &Judged) -> Option<String> {
        if self.nothing.is_some() {
            return self.nothing.clone();
        }
        let action = match deed {
            Deed::AskProvider if self.shape.table.provider.is_none() => {
                return Some("No look-up is configured for this table.".to_owned());
            }
            Deed::AskProvider => return None,
            Deed::Reclaim => ClaimAction::Reclaim,
            Deed::Release => ClaimAction::Release,
            Deed::MarkAsSent => ClaimAction::MarkAsSent { provider_id: None },
        };
        if self.not_yet.is_some() {
            return self.not_yet.clone();
        }
        let (evidence, verdict) = judged.evidence.as_ref().zip(judged.verdict.as_ref())?;
        let facts = self.judge.facts_of(judged);
        may(&action, self.shape, evidence, verdict, &facts).err()
    }
}

/// The claims of a job, judged by their tables' own cut-offs; why they cannot be told, in words.
/// Jobs that no rule maps to a key cost no read.
pub(super) async fn of_job(
    visit: &Visit,
    source: &SourceHandle,
    call: &Invocation,
) -> Result<Vec<JobClaim>, String> {
    let words = |error: StoreError| error.to_string();
    let watched = source.claims_tables().await.map_err(words)?;
    let mut claims = Vec::new();
    for seen in watched.iter() {
        let keys = seen.table.lookup_values(call);
        let Ok(shape) = &seen.shape else {
            continue;
        };
        for key in keys {
            let rows = source.store.claim(shape, &key).await.map_err(words)?;
            if rows.is_empty() {
                continue;
            }
            let now = source.now(visit.now());
            let judging = Judging::of(visit, source, shape, vec![key], now)
                .await
                .map_err(words)?;
            claims.extend(rows.into_iter().map(|claim| {
                let judged = judging.judge.judge(claim, seen.table.cutoff_ms);
                JobClaim {
                    table: seen.table.clone(),
                    warning: judging.judge.warning(&judged),
                    judged: judging.offered(judged),
                }
            }));
        }
    }
    Ok(claims)
}
