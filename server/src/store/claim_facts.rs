//! What a claim is judged by, from what stores read.

use app::model::claim::evidence::{Asked, Owner};
use app::model::claim::table::ClaimsTable;
use app::model::claim::{Claim, ClaimTime};
use app::model::job::JobHistory;
use app::model::state::Instant;
use app::model::timeline::{Context, Timeline};
use app::ports::claims::{AGE_BUCKETS, ClaimFigures, ClaimPast};

/// State rows of each job behind a claim that are read.
pub const STATES: u32 = 60;

/// The job as an owner of the key, if it is one.
pub fn owner(table: &ClaimsTable, key: &str, history: &JobHistory) -> Option<Owner> {
    let by = table.owner(key, &history.invocation)?;
    let context = Context {
        older_rows: history.older_rows,
        attempts_before: history.attempts_before,
        ..Context::whole(history.created_at, history.state.name.clone())
    };
    Some(Owner {
        job: history.id,
        by,
        name: history.invocation.display_name(),
        state: history.state.name.clone(),
        created_at: history.created_at,
        timeline: Timeline::build(&history.states, &context),
    })
}

/// The newest answer of the provider.
pub fn asked(past: &[ClaimPast]) -> Option<Asked> {
    let answers = past.iter().filter_map(|past| {
        let answer = past.answer.clone()?;
        Some(Asked {
            at: past.at,
            answer,
        })
    });
    answers.max_by_key(|asked| asked.at)
}

/// Claim times that earlier actions took away.
pub fn earlier(past: &[ClaimPast]) -> Vec<ClaimTime> {
    past.iter()
        .filter(|past| past.outcome == "done" && past.action != "ask-provider")
        .filter_map(|past| past.seen.clone())
        .collect()
}

/// Counts a Sending claim by its age. One whose claim time is missing, unreadable or in the future has
/// none, and is never stale.
pub fn count_age(figures: &mut ClaimFigures, now: Instant, stale: Instant, claim: &Claim) {
    let Some(at) = claim.at().filter(|at| *at <= now) else {
        figures.ageless += 1;
        return;
    };
    if at < stale {
        figures.stale += 1;
    }
    let seconds = (now - at).num_seconds();
    let bucket = AGE_BUCKETS
        .iter()
        .position(|bound| seconds < *bound)
        .unwrap_or(AGE_BUCKETS.len());
    if let Some(count) = figures.ages.get_mut(bucket) {
        *count += 1;
    }
}
