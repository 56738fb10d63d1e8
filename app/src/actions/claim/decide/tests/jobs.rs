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

#[test]
fn the_holders_job_is_meant() {
    let other = owner(8, &[enqueued(900), runs(890, DEAD), failed(880, "App.X")]);
    assert_eq!(
        chosen(&behind(&[rests(7, "Failed"), other.clone()]), None),
        7
    );
    // Unless somebody deleted it: then the only one that was not.
    assert_eq!(
        chosen(&behind(&[rests(7, "Deleted"), other.clone()]), None),
        8
    );
    // Or it is a guess beside one that a rule names.
    let guess = guessed(rests(7, "Failed"));
    assert_eq!(chosen(&behind(&[guess, other.clone()]), None), 8);
    // Whatever is meant, the operator's choice counts.
    assert_eq!(chosen(&behind(&[rests(7, "Failed"), other]), Some(8)), 8);
}

#[test]
fn of_several_jobs_one_must_be_chosen() {
    let job = |id, name| owner(id, &[enqueued(900), runs(890, DEAD), state(name, 880)]);
    let case = behind(&[job(7, "Failed"), job(8, "Succeeded"), job(9, "Deleted")]);
    assert_eq!(
        refusal(reclaim(&case, None)),
        "Several jobs stand behind it: #7, #8 and #9. Choose the one that is to run again."
    );
    assert_eq!(chosen(&case, Some(9)), 9);
    let case = behind(&[job(8, "Succeeded"), job(9, "Deleted")]);
    assert_eq!(chosen(&case, None), 8);
    let case = behind(&[job(8, "Deleted"), job(9, "Deleted")]);
    assert_eq!(
        refusal(reclaim(&case, None)),
        "Every job behind it was deleted: #8 and #9. Choose the one that is to run again."
    );
}

#[test]
fn the_chosen_job_must_stand_behind_it() {
    let case = behind(&[rests(7, "Failed")]);
    assert_eq!(
        refusal(reclaim(&case, Some(9))),
        "Job #9 does not stand behind this claim. Choose another one: #7."
    );
    // It did when the request was made, and has expired since.
    let shape = shape(case.table.clone());
    let request = ClaimRequest {
        job: Some(9),
        owners: vec![7, 9],
        ..request(ClaimAction::Reclaim, &case)
    };
    assert_eq!(
        refusal(decide(&request, &found(&case, &shape))),
        "Job #9 does not exist any more. Choose another one: #7."
    );
}

#[test]
fn a_job_runs_again_from_where_it_is() {
    let scheduled = |reason: Option<&str>| {
        let mut rows = vec![enqueued(1_520), runs(1_500, DEAD), failed(1_440, "App.X")];
        rows.push(state("Scheduled", 1_440));
        match reason {
            Some(reason) => owner_because(7, &rows, reason),
            None => owner(7, &rows),
        }
    };
    let now = Some((7, Action::EnqueueNow(Enqueue::default())));
    for (owner, action, note) in [
        (rests(7, "Failed"), Some(requeue(7)), "Job #7 runs again."),
        (
            rests(7, "Succeeded"),
            Some(requeue(7)),
            "Job #7 runs again.",
        ),
        (
            scheduled(Some("Retry attempt 1 of 3: no")),
            now.clone(),
            "The planned retry of job #7 runs now.",
        ),
        (scheduled(None), now, "Job #7 was scheduled and runs now."),
        (
            owner(7, &[enqueued(1_520), runs(1_500, DEAD)]),
            Some(requeue(7)),
            "Job #7 runs again; server dead-1:1:bbbb, which ran it, is gone.",
        ),
        (
            rests(7, "Enqueued"),
            None,
            "Job #7 is queued already and will run.",
        ),
    ] {
        let plan = reclaim(&behind(&[owner]), None).unwrap();
        assert_eq!(plan.write, ClaimWrite::Delete);
        assert_eq!(plan.requeue, action);
        assert_eq!(plan.notes[1], note);
    }
    let deleted = behind(&[rests(7, "Deleted")]);
    assert_eq!(
        reclaim(&deleted, Some(7)).unwrap().requeue,
        Some(requeue(7))
    );
}

#[test]
fn a_job_that_cannot_run_again_is_named() {
    let stateless = Owner {
        state: None,
        ..owner(7, &[enqueued(1_520), runs(1_500, DEAD)])
    };
    let nowhere = owner(
        7,
        &[enqueued(1_520), ("Processing", 1_500, "{}".to_owned())],
    );
    for (owner, why) in [
        (
            rests(7, "Awaiting"),
            "Job #7 waits for another job that has not finished; running it before that is decided \
             on its own page.",
        ),
        (
            rests(7, "Parked"),
            "Job #7 is in the state Parked, which Hangfire itself does not define: only the \
             extension that put it there knows how to run it again.",
        ),
        (
            stateless,
            "Job #7 has no state: it is still being created, or its creation was broken off.",
        ),
        (
            nowhere,
            "Job #7 is Processing, and its history does not say on which server, so nobody can \
             tell whether it still runs.",
        ),
    ] {
        let mut case = behind(&[owner]);
        case.servers.clear();
        assert_eq!(refusal(reclaim(&case, None)), why);
        // Another one that can run is chosen instead.
        case.owners.push(rests(8, "Failed"));
        assert_eq!(chosen(&case, Some(8)), 8);
        assert_eq!(refusal(reclaim(&case, Some(7))), why);
    }
}

#[test]
fn a_queued_job_is_not_queued_twice() {
    let queued = behind(&[rests(7, "Enqueued")]);
    assert_eq!(
        refusal(reclaim(&queued.clone().way(ClaimWay::SelfReclaim), None)),
        "Job #7 is queued already: it takes the claim itself when it runs."
    );
    assert_eq!(
        refusal(reclaim(&queued.way(ClaimWay::HandOver), None)),
        "Job #7 is queued already and may begin at any moment without the claim. Come back when \
         it has run, or delete the job and reclaim then."
    );
}
