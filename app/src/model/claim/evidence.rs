//! What is known of a claim: the jobs behind it and what their attempts did while it stood.

mod first_send;
mod runs;
#[cfg(test)]
mod tests;

use super::ClaimStatus;
use super::keys::Match;
use super::table::ClaimsTable;
use super::{Claim, ClaimTime};
use crate::model::job::Server;
use crate::model::state::{Instant, StateName};
use crate::model::timeline::Timeline;

pub(crate) use runs::{May, Run, holder};

/// A job behind a claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Owner {
    /// Its id.
    pub job: i64,
    /// How it was found.
    pub by: Match,
    /// Its name for people: `InvoiceEmailJob.SendAsync`.
    pub name: String,
    /// Its state; `None` while it is being created.
    pub state: Option<StateName>,
    /// When it was created.
    pub created_at: Instant,
    /// What happened to it.
    pub timeline: Timeline,
}

/// What the provider said when it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It knows the key: the effect happened, with this message id where it told one.
    Known(Option<String>),
    /// It does not know the key.
    Denied,
    /// Nothing that tells: it is down, slow, or answered something else; in words.
    NotKnown(String),
}

/// An answer of the provider, with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// When it answered.
    pub at: Instant,
    /// The answer.
    pub answer: Answer,
}

/// Everything that a claim is judged by.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// Its table.
    pub table: &'a ClaimsTable,
    /// The cut-off in force, in milliseconds: the table's, or a longer or shorter one that the
    /// reader of a page chose. Actions always use the table's.
    pub cutoff_ms: i64,
    /// The jobs behind it, oldest first. Empty where none was found.
    pub owners: &'a [Owner],
    /// Every server, with the age of its heartbeat.
    pub servers: &'a [Server],
    /// A server whose heartbeat is older than this is gone, in milliseconds.
    pub server_timeout_ms: i64,
    /// Earlier claim times of this key that the audit knows: each reclaim and release left one.
    pub earlier: &'a [ClaimTime],
    /// The newest answer of the provider.
    pub asked: Option<&'a Asked>,
    /// The time, by the database's clock.
    pub now: Instant,
}

/// The attempt that held the claim when it was made: the one that ran at the claim time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The job.
    pub job: i64,
    /// The attempt's number.
    pub attempt: u32,
    /// Its server, as the row names it.
    pub server: Option<String>,
    /// Age of that server's heartbeat in milliseconds; `None` where the server is not there.
    pub heartbeat_age_ms: Option<i64>,
    /// Whether that server beats.
    pub alive: bool,
    /// How the attempt ended.
    pub outcome: crate::model::attempt::Outcome,
    /// Exception type and message, where it failed.
    pub failure: Option<(Option<String>, Option<String>)>,
}

/// A later run that ended well within the claim's life without sending: it found the claim and
/// skipped, and its job says Succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The job.
    pub job: i64,
    /// The attempt's number.
    pub attempt: u32,
    /// When it ended.
    pub at: Instant,
}

/// The first time that the effect may have been sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstSend {
    /// When, at the earliest.
    pub at: Instant,
    /// How that is known, in words.
    pub from: String,
}

/// What is known of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Age at `now` in milliseconds, negative where the claim time lies in the future; `None` where
    /// it has none that can be read.
    pub age_ms: Option<i64>,
    /// Whether it is stale: Sending, and older than the cut-off.
    pub stale: bool,
    /// Who held it.
    pub holder: Option<Holder>,
    /// The run of a job behind it that goes on at this moment, on a server that beats: the holder's
    /// or a later one.
    pub running: Option<Holder>,
    /// Runs that skipped, oldest first.
    pub skipped: Vec<Skipped>,
    /// When it may first have been sent; `None` where nobody can say, because no job behind it is
    /// known.
    pub first_send: Option<FirstSend>,
    /// When the provider forgets the key: first send plus window; `None` where either is not
    /// known.
    pub window_closes: Option<Instant>,
}

/// Clocks of several hosts may differ by this much, in milliseconds.
pub(crate) const CLOCKS_MS: i64 = 1_000;

impl Evidence {
    /// Gathers what is known. Never fails: what cannot be told is left out.
    pub fn of(facts: &Facts<'_>) -> Self {
        let first_send = first_send::of(facts);
        let window_closes = first_send
            .as_ref()
            .zip(facts.table.window_ms)
            .map(|(first, window)| later(first.at, window));
        Self {
            age_ms: facts.claim.at().map(|at| age_ms(at, facts.now)),
            stale: is_stale(facts.claim, facts.cutoff_ms, facts.now),
            holder: runs::holder(facts).map(|run| run.described(facts)),
            running: runs::running(facts).map(|run| run.described(facts)),
            skipped: runs::skipped(facts),
            first_send,
            window_closes,
        }
    }
}

/// Whether a claim is stale: Sending, and claimed before now minus the cut-off. Never where its
/// claim time is missing, cannot be read, or lies in the future.
pub fn is_stale(claim: &super::Claim, cutoff_ms: i64, now: Instant) -> bool {
    claim.status == ClaimStatus::Sending
        && claim.at().is_some_and(|at| {
            let age = micros(at, now);
            age > 0 && age > cutoff_ms.saturating_mul(1_000)
        })
}

/// Age of an instant in whole milliseconds, never rounded up; negative where it lies in the future.
fn age_ms(at: Instant, now: Instant) -> i64 {
    micros(at, now).div_euclid(1_000)
}

fn micros(from: Instant, to: Instant) -> i64 {
    to.timestamp_micros()
        .saturating_sub(from.timestamp_micros())
}

/// An instant plus milliseconds; the last instant that there is where the sum lies beyond it.
fn later(at: Instant, ms: i64) -> Instant {
    chrono::TimeDelta::try_milliseconds(ms)
        .and_then(|span| at.checked_add_signed(span))
        .unwrap_or(Instant::MAX_UTC)
}
