//! Whatever was found, a job that ends in Enqueued has one queue row, and it waits.

use proptest::prelude::*;

use super::*;

fn states() -> impl Strategy<Value = StateName> {
    prop::sample::select(vec![
        StateName::Enqueued,
        StateName::Scheduled,
        StateName::Processing,
        StateName::Awaiting,
        StateName::Succeeded,
        StateName::Failed,
        StateName::Deleted,
    ])
}

fn queue() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["default", "reports", "critical"]).prop_map(str::to_owned)
}

fn rows() -> impl Strategy<Value = Vec<QueueRow>> {
    let row = (queue(), prop::option::of(0_i64..4000));
    prop::collection::vec(row, 0..4).prop_map(|rows| {
        (1..)
            .zip(rows)
            .map(|(id, (queue, age))| QueueRow {
                id,
                queue,
                fetched_at: age.map(ago_s),
            })
            .collect()
    })
}

fn actions() -> impl Strategy<Value = Action> {
    (0..4, prop::option::of(queue()), any::<bool>()).prop_map(|(kind, queue, reset_retries)| {
        let how = Enqueue {
            queue,
            reset_retries,
        };
        match kind {
            0 => Action::Requeue(how),
            1 => Action::EnqueueNow(how),
            2 => Action::Delete,
            _ => Action::UndoDelete,
        }
    })
}

/// What the queue table holds of job 42 after the plan.
fn after(plan: &Plan, mut rows: Vec<QueueRow>) -> Vec<QueueRow> {
    for write in &plan.writes {
        match write {
            Write::InsertQueueRow { job: 42, queue } => rows.push(waiting(100, queue)),
            Write::DeleteQueueRow { id } => {
                let before = rows.len();
                rows.retain(|row| row.id != *id);
                assert_eq!(rows.len() + 1, before, "it was there");
            }
            Write::MoveQueueRow { id, queue } => {
                let row = rows
                    .iter_mut()
                    .find(|row| row.id == *id)
                    .expect("it is there");
                assert_eq!(row.fetched_at, None, "a taken row is not moved");
                row.queue.clone_from(queue);
            }
            _ => {}
        }
    }
    rows
}

proptest! {
    #[test]
    fn one_queue_row_one_run(
        action in actions(),
        state in states(),
        former in states(),
        rows in rows(),
        own in prop::option::of(queue()),
        last in prop::option::of(queue()),
        silent_s in 0_i64..900,
        state_age in 0_i64..120,
    ) {
        let mut found = found(job(state.clone(), r#"{"ServerId":"web-1:400:aaaa"}"#));
        found.job.before = Some(row(970, former, r#"{"Queue":"reports","EnqueueAt":"1795981000000"}"#));
        found.job.current.as_mut().unwrap().created_at = ago_s(state_age);
        found.job.queue_rows.clone_from(&rows);
        found.job.own_queue = own;
        found.job.last_queue = last;
        found.servers[0].heartbeat_age_ms = silent_s * 1000;
        let choice = match &action {
            Action::Requeue(how) | Action::EnqueueNow(how) => how.queue.clone(),
            _ => None,
        };
        let Ok(plan) = act(action, &found) else {
            return Ok(());
        };
        let after = after(&plan, rows.clone());
        let on_schedule = plan.writes.iter().filter(|w| matches!(w, Write::AddToSet { key: "schedule", .. })).count();
        match plan.state {
            StateName::Enqueued => {
                prop_assert_eq!(after.len(), 1);
                prop_assert_eq!(after[0].fetched_at, None);
                if let Some(choice) = choice {
                    prop_assert_eq!(&after[0].queue, &choice);
                }
            }
            StateName::Scheduled => prop_assert_eq!(after.len() + on_schedule, 1),
            _ => prop_assert_eq!(after, rows),
        }
    }
}
