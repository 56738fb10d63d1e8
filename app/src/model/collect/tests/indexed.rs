//! What the index should have of a job, once more: from its whole history, by looking for rows from
//! the end. Also part of the server's tests, hence the names from outside.

use app::model::collect::{Failure, FailureGroup, counted_name};
use app::model::state::{ListState, StateName, StateRow};

use super::oracle::Whole;

/// The job as the index should have it, by its last row; `None` where it is in another state.
pub fn failure(whole: &Whole) -> Option<Failure> {
    let newest = whole.rows.last()?;
    let list = match (&newest.name, newest.reason.as_deref()) {
        (StateName::Failed, _) => ListState::Failed,
        (StateName::Scheduled, Some(reason)) if reason.starts_with("Retry attempt ") => {
            ListState::Retrying
        }
        _ => return None,
    };
    let newest_first = || whole.rows.iter().rev();
    let of = |name: StateName| newest_first().filter(move |row: &&StateRow| row.name == name);
    let attempts = of(StateName::Processing)
        .filter(|row| {
            let reason = row.reason.as_deref().unwrap_or_default();
            !reason.starts_with("Restored by ")
        })
        .count();
    let some = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(counted_name);
    let enqueued = of(StateName::Enqueued).find_map(|row| row.data.get("Queue"));
    let attempts = u32::try_from(attempts).unwrap();
    Some(Failure {
        group: FailureGroup {
            list,
            job_type: counted_name(&whole.job.job_type),
            method: some(Some(&whole.job.method)),
            queue: some(whole.job.queue.as_deref().or(enqueued)),
            exception: of(StateName::Failed)
                .next()
                .and_then(|row| some(row.data.get("ExceptionType"))),
            attempts: attempts.min(100),
        },
        changed_at: newest.created_at,
        state_id: newest.id,
        attempts,
        server: of(StateName::Processing)
            .next()
            .and_then(|row| some(row.data.get("ServerId").or(row.data.get("ServerName")))),
    })
}
