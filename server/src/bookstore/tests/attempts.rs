//! The reader of rows against the intention that stands beside them: neither knows the other.

use app::model::attempt::Release;
use app::model::data::StateData;
use app::model::state::StateRow;
use app::model::timeline::{Context, Event, History, Timeline};

use super::super::format::object;
use super::super::*;
use super::now;

fn timeline(job: &DemoJob) -> Timeline {
    let rows: Vec<StateRow> = job
        .states
        .iter()
        .map(|state| StateRow {
            id: state.id,
            name: state.name.clone(),
            reason: state.reason.clone(),
            created_at: state.at,
            data: StateData::parse(&object(&state.data)),
            details_chars: None,
        })
        .collect();
    Timeline::build(
        &rows,
        &Context::whole(job.created_at, Some(job.state.clone())),
    )
}

#[test]
fn every_job_has_the_attempts_that_were_meant() {
    let mut seen = 0;
    for seed in 1..=3 {
        for job in &scenario(seed, 1_500, now()).jobs {
            let timeline = timeline(job);
            assert_eq!(timeline.history, History::Whole);
            let made: Vec<IntendedAttempt> = timeline
                .attempts()
                .map(|attempt| {
                    assert_eq!(attempt.reported_ms, None, "job {}", job.id);
                    assert_eq!(attempt.waited.clocks_disagree_ms, 0, "job {}", job.id);
                    IntendedAttempt {
                        round: attempt.round,
                        outcome: attempt.outcome.clone(),
                        waited_ms: attempt.waited.ms,
                        ran_ms: attempt.ran.ms,
                        retry: attempt
                            .retry()
                            .map(|retry| (retry.number, retry.of, retry.backoff_ms.unwrap())),
                        by_hand: attempt
                            .retry()
                            .is_some_and(|retry| matches!(retry.release, Release::ByHand(_))),
                    }
                })
                .collect();
            assert_eq!(
                made, job.intention.attempts,
                "seed {seed}, job {} ({})",
                job.id, job.story
            );
            let outside = timeline
                .events
                .iter()
                .filter(|event| matches!(event, Event::FailureOutsideAttempt(_)));
            assert_eq!(outside.count(), job.intention.failures_outside);
            seen += made.len();
        }
    }
    assert!(seen > 4_500, "{seen}");
}
