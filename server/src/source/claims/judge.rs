//! Judging claims: the jobs behind them, what is known, and what may be concluded.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use app::actions::claim::requeue_warning;
use app::model::claim::evidence::{Asked, Evidence, Facts, Owner};
use app::model::claim::table::{ClaimsTable, Shape};
use app::model::claim::verdict::Verdict;
use app::model::claim::{Claim, ClaimStatus, ClaimTime};
use app::model::job::{JobHistory, Server};
use app::model::state::Instant;
use app::ports::claims::{ClaimPage, ClaimPast, ClaimsWithPast, Wanted};
use app::ports::error::StoreError;

use super::super::{SERVER_GONE_MS, SourceHandle};
use super::index::KeyIndex;
use crate::store::claim_facts::{STATES, asked, earlier, owner};

/// Jobs read at once, at most: as many as a store gives.
const MOST_JOBS: usize = 200;

/// A claim with what is known of it.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The claim.
    pub claim: Claim,
    /// The jobs behind it, oldest first.
    pub owners: Vec<Owner>,
    /// What is known; `None` where it is not Sending.
    pub evidence: Option<Evidence>,
    /// What may be concluded; `None` where it is not Sending.
    pub verdict: Option<Verdict>,
    /// The newest answer of the provider.
    pub asked: Option<Asked>,
    /// Earlier claim times of its key.
    pub earlier: Vec<ClaimTime>,
}

/// What claims are judged by, beside their own rows: read once for all of them.
pub struct Judge {
    table: ClaimsTable,
    owners: HashMap<String, Vec<Owner>>,
    past: HashMap<String, Vec<ClaimPast>>,
    servers: Vec<Server>,
    now: Instant,
}

impl Judge {
    /// Reads what there is to know of these keys: the histories of their jobs, and the audit. Two
    /// reads, however many keys; a third for the servers where the source was not looked at yet.
    ///
    /// # Errors
    /// As the database's.
    pub async fn of(
        source: &SourceHandle,
        table: &ClaimsTable,
        keys: &[String],
        now: Instant,
    ) -> Result<Self, StoreError> {
        let (owners, past, servers) = tokio::join!(
            owners(source, table, keys),
            source.store.claim_past(&table.name, keys),
            servers(source),
        );
        Ok(Self {
            table: table.clone(),
            owners: owners?,
            past: by_key(past?),
            servers: servers?,
            now,
        })
    }

    /// Reads claims, and what there is to know of them, at once.
    ///
    /// # Errors
    /// As the database's.
    pub async fn with_claims(
        source: &SourceHandle,
        shape: &Shape,
        wanted: &Wanted,
        now: Instant,
    ) -> Result<(ClaimPage, Self), StoreError> {
        let table = &shape.table;
        let jobs = {
            let (claims, table) = (source.claims.clone(), table.clone());
            Arc::new(move |rows: &[Claim]| {
                let keys = rows.iter().map(|claim| claim.key.as_str());
                ids(&candidates(&claims.index, &table, keys))
            })
        };
        let (read, servers) = tokio::join!(
            source.store.claims_with_past(shape, wanted, jobs, STATES),
            servers(source),
        );
        let ClaimsWithPast {
            page,
            past,
            histories,
        } = read?;
        let keys = page.rows.iter().map(|claim| claim.key.as_str());
        let candidates = candidates(&source.claims.index, table, keys);
        let judge = Self {
            table: table.clone(),
            owners: owners_of(table, candidates, histories),
            past: by_key(past),
            servers: servers?,
            now,
        };
        Ok((page, judge))
    }

    /// Judges one claim by this cut-off, in milliseconds.
    pub fn judge(&self, claim: Claim, cutoff_ms: i64) -> Judged {
        let past = self.past.get(&claim.key).map_or(&[][..], Vec::as_slice);
        let (asked, earlier) = (asked(past), earlier(past));
        let owners = self.owners.get(&claim.key).cloned().unwrap_or_default();
        let facts = self.facts(&claim, &owners, asked.as_ref(), &earlier, cutoff_ms);
        let known = (claim.status == ClaimStatus::Sending).then(|| {
            let evidence = Evidence::of(&facts);
            let verdict = Verdict::of(&facts, &evidence);
            (evidence, verdict)
        });
        let (evidence, verdict) = known.unzip();
        Judged {
            claim,
            owners,
            evidence,
            verdict,
            asked,
            earlier,
        }
    }

    /// What a judged claim was judged by, by the table's own cut-off: for asking what may be done.
    pub fn facts_of<'a>(&'a self, judged: &'a Judged) -> Facts<'a> {
        self.facts(
            &judged.claim,
            &judged.owners,
            judged.asked.as_ref(),
            &judged.earlier,
            self.table.cutoff_ms,
        )
    }

    /// What another run of a job behind the claim would meet, where that is to be feared.
    pub fn warning(&self, judged: &Judged) -> Option<String> {
        let facts = self.facts_of(judged);
        let evidence = Evidence::of(&facts);
        let verdict = Verdict::of(&facts, &evidence);
        requeue_warning(&self.table, &judged.claim, &evidence, &verdict)
    }

    fn facts<'a>(
        &'a self,
        claim: &'a Claim,
        owners: &'a [Owner],
        asked: Option<&'a Asked>,
        earlier: &'a [ClaimTime],
        cutoff_ms: i64,
    ) -> Facts<'a> {
        Facts {
            claim,
            table: &self.table,
            cutoff_ms,
            owners,
            servers: &self.servers,
            server_timeout_ms: SERVER_GONE_MS,
            earlier,
            asked,
            now: self.now,
        }
    }
}

/// The jobs behind each key, oldest first: candidates of the index, each read and checked.
///
/// # Errors
/// As the database's.
pub async fn owners(
    source: &SourceHandle,
    table: &ClaimsTable,
    keys: &[String],
) -> Result<HashMap<String, Vec<Owner>>, StoreError> {
    let keys = keys.iter().map(String::as_str);
    let candidates = candidates(&source.claims.index, table, keys);
    let ids = ids(&candidates);
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let histories = source.store.histories(&ids, STATES).await?;
    Ok(owners_of(table, candidates, histories))
}

/// What the index knows of each key. Every key gets its share of what one read can give.
fn candidates<'a>(
    index: &KeyIndex,
    table: &ClaimsTable,
    keys: impl ExactSizeIterator<Item = &'a str>,
) -> HashMap<&'a str, Vec<i64>> {
    let share = (MOST_JOBS / keys.len().max(1)).max(1);
    index.candidates(table, keys, share)
}

fn ids(candidates: &HashMap<&str, Vec<i64>>) -> Vec<i64> {
    let ids: BTreeSet<i64> = candidates.values().flatten().copied().collect();
    ids.into_iter().take(MOST_JOBS).collect()
}

/// The candidates that stand behind their keys.
fn owners_of(
    table: &ClaimsTable,
    candidates: HashMap<&str, Vec<i64>>,
    histories: Vec<JobHistory>,
) -> HashMap<String, Vec<Owner>> {
    let histories: HashMap<i64, JobHistory> = histories
        .into_iter()
        .map(|history| (history.id, history))
        .collect();
    let owners = candidates.into_iter().map(|(key, jobs)| {
        let mut owners: Vec<Owner> = jobs
            .iter()
            .filter_map(|job| owner(table, key, histories.get(job)?))
            .collect();
        owners.sort_by_key(|owner| owner.job);
        (key.to_owned(), owners)
    });
    owners.collect()
}

fn by_key(all: Vec<ClaimPast>) -> HashMap<String, Vec<ClaimPast>> {
    let mut by_key: HashMap<String, Vec<ClaimPast>> = HashMap::new();
    for past in all {
        by_key.entry(past.key.clone()).or_default().push(past);
    }
    by_key
}

/// The servers as the last look saw them; a few seconds are nothing to a time-out of minutes.
/// Before the first look nothing is known of them, and nothing must be concluded from that.
async fn servers(source: &SourceHandle) -> Result<Vec<Server>, StoreError> {
    let seen = {
        let live = source.live.borrow();
        live.answers().then(|| live.servers.as_ref().clone())
    };
    match seen {
        Some(servers) => Ok(servers),
        None => source.store.servers().await,
    }
}
