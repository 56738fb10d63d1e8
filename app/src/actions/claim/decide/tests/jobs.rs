//! Which job runs again, and how.

use super::*;

/// As [`stale`], with the jobs given behind it.
fn behind(owners: &[Owner]) -> Case {
    Case {
        owners: owners.to_vec(),
        ..stale()
    }
}

fn rests(job: i64, name: &'static str) -> Owner {
    owner(
        job,
        &[enqueued(1_520), runs(1_500, DEAD), state(name, 1_440)],
    )
}

fn reclaim(case: &Case, job: Option<i64>) -> Result<ClaimPlan, ClaimOutcome> {
    let shape = shape(case.table.clone());
    let request = ClaimRequest {
        job,
        ..request(ClaimAction::Reclaim, case)
    };
    decide(&request, &found(case, &shape))
}

fn chosen(case: &Case, job: Option<i64>) -> i64 {
    reclaim(case, job).unwrap().requeue.unwrap().0
}

#[test]
fn a_guess_must_be_chosen() {
    let case = behind(&[guessed(rests(7, "Failed"))]);
    assert_eq!(
        refusal(reclaim(&case, None)),
        "Only a guess by its first argument says which job stands behind it: #7. Choose the job \
         that is to run again."
    );
    assert_eq!(chosen(&case, Some(7)), 7);
}

#[test]
fn without_a_job_nothing_would_be_sent() {
    let why = "No job behind it is known, so nothing would send it afterwards. Enqueue one from \
               the application, then come back; or mark it as sent.";
    assert_eq!(refusal(reclaim(&behind(&[]), None)), why);
    assert_eq!(refusal(act(ClaimAction::Release, &behind(&[]))), why);
    assert!(act(mark(None), &behind(&[])).is_ok());
}
