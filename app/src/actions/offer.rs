//! What a job's page offers: each action or why not, and what to know before acting.

use super::decide::{
    Fate, Holder, continuation_ids, elected_queue, fate_on_delete, holder, may, unserved,
};
use super::found::Found;
use super::words::children;
use super::{Action, Enqueue, Outcome};
use crate::model::continuation::retry_count;
use crate::model::job::JobRecord;
use crate::model::reason::retry;
use crate::model::state::StateName;

/// One action, as a page offers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The action, with nothing chosen.
    pub action: Action,
    /// Why it cannot be done now, in the words that acting would answer; `None` where it can.
    pub why_not: Option<String>,
}

/// The four actions, each with why it cannot be done now, if so. `read_only` is why the whole
/// source takes no action, where it takes none.
pub fn available(found: &Found, read_only: Option<&str>) -> [Offer; 4] {
    [
        Action::Requeue(Enqueue::default()),
        Action::EnqueueNow(Enqueue::default()),
        Action::Delete,
        Action::UndoDelete,
    ]
    .map(|action| {
        let why_not = match read_only {
            Some(why) => Some(why.to_owned()),
            None => may(&action, found).err().as_ref().map(Outcome::sentence),
        };
        Offer { action, why_not }
    })
}

/// What an operator should know before an action, in sentences. `found` is what the page knows of
/// the job ([`Found::from_page`]), `record` the job itself.
pub fn warnings(action: &Action, found: &Found, record: &JobRecord) -> Vec<String> {
    match action {
        Action::Requeue(how) | Action::EnqueueNow(how) => {
            let mut warnings = before_a_run(found);
            let queue = how.queue.as_deref().unwrap_or(elected_queue(&found.job));
            warnings.extend(unserved(found, queue));
            if !how.reset_retries {
                warnings.extend(retries_used(found, record));
            }
            warnings
        }
        Action::Delete => before_a_delete(found, record),
        Action::UndoDelete => Vec::new(),
    }
}

fn before_a_run(found: &Found) -> Vec<String> {
    let job = &found.job;
    match &job.state {
        Some(StateName::Awaiting) => vec![match job.parent() {
            Some(parent) => format!("Job #{parent}, which it waits for, has not finished."),
            None => "The job that it waits for has not finished.".to_owned(),
        }],
        Some(StateName::Succeeded) => {
            vec!["It has succeeded: running it again does its work a second time.".to_owned()]
        }
        Some(StateName::Processing) => match holder(found, job) {
            Holder::Gone(server) => vec![format!(
                "Server {server}, which ran it, is gone; part of the work may have been done."
            )],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn before_a_delete(found: &Found, record: &JobRecord) -> Vec<String> {
    let mut warnings = Vec::new();
    match &found.job.state {
        Some(StateName::Processing) => warnings.push(
            "A worker may be running it: it may finish the work, and its result is then dropped."
                .to_owned(),
        ),
        Some(StateName::Awaiting) => warnings.push(match found.job.parent() {
            Some(parent) => format!("It waits for job #{parent} and will not run after it."),
            None => "It waits for another job and will not run after it.".to_owned(),
        }),
        _ => {}
    }
    let waiting = || {
        record
            .continuations
            .iter()
            .filter(|child| child.state == Some(StateName::Awaiting))
    };
    let run = waiting()
        .filter(|child| fate_on_delete(child.options.into()) == Fate::Runs)
        .count();
    let deleted = waiting().count() - run;
    warnings.extend(match (run, deleted) {
        (0, 0) => None,
        (run, 0) => Some(format!("{} will run.", children(run))),
        (0, deleted) => Some(format!("{} will be deleted.", children(deleted))),
        (run, deleted) => Some(format!(
            "{} will run and {deleted} will be deleted.",
            children(run)
        )),
    });
    if let Err(outcome) = continuation_ids(&found.job) {
        warnings.push(outcome.sentence());
    }
    warnings
}

/// The retry count outlives a requeue, so a job whose retries are used up gets exactly one run.
fn retries_used(found: &Found, record: &JobRecord) -> Option<String> {
    let used = retry_count(found.job.parameter("RetryCount")?)?;
    let of = record
        .states
        .iter()
        .rev()
        .find_map(|row| retry(row.reason.as_deref()))?
        .1;
    if used < of {
        return None;
    }
    let used = match of {
        1 => "Its one retry is used".to_owned(),
        2 => "Both retries are used".to_owned(),
        of => format!("All {of} retries are used"),
    };
    Some(format!(
        "{used}: it gets exactly one run, unless the retry count is started again."
    ))
}

#[cfg(test)]
mod tests;
