//! What holds for any rows at all.

use chrono::TimeDelta;
use proptest::prelude::*;

use crate::model::attempt::{Attempt, Outcome};
use crate::model::data::StateData;
use crate::model::reason;
use crate::model::state::{StateName, StateRow};
use crate::model::testing::at;
use crate::model::timeline::{Context, Timeline};

const NAMES: [&str; 8] = [
    "Enqueued",
    "Scheduled",
    "Processing",
    "Processing",
    "Failed",
    "Succeeded",
    "Deleted",
    "Parked",
];

const REASONS: [Option<&str>; 7] = [
    None,
    Some("Triggered via Dashboard UI"),
    Some("Triggered by DelayedJobScheduler"),
    Some("Retry attempt 1 of 3: no"),
    Some("Retry attempt 2 of 3: no"),
    Some("Restored by ada via Redrive"),
    Some("Requeued by ada via Redrive: why not"),
];

const DATA: [&str; 5] = [
    "{}",
    r#"{"EnqueueAt":"2026-11-02T10:00:30Z","ScheduledAt":"2026-11-02T10:00:00Z"}"#,
    r#"{"FailedAt":"1","ExceptionType":"E","ExceptionMessage":"m"}"#,
    r#"{"ServerId":"a","PerformanceDuration":"500"}"#,
    "corrupt",
];

fn any_row() -> impl Strategy<Value = (usize, usize, usize, i64)> {
    (
        0..NAMES.len(),
        0..REASONS.len(),
        0..DATA.len(),
        -2_000..60_000_i64,
    )
}

fn any_rows() -> impl Strategy<Value = Vec<StateRow>> {
    prop::collection::vec(any_row(), 0..40).prop_map(|rows| {
        let mut now = at("2026-11-02T10:00:00");
        (0_i64..)
            .zip(rows)
            .map(|(index, (name, reason, data, later))| {
                now += TimeDelta::milliseconds(later);
                StateRow {
                    id: index * 3 + 5,
                    name: StateName::parse(NAMES[name]),
                    reason: REASONS[reason].map(str::to_owned),
                    created_at: now,
                    data: StateData::parse(DATA[data]),
                    details_chars: None,
                }
            })
            .collect()
    })
}

fn context(rows: &[StateRow]) -> Context {
    Context::whole(
        at("2026-11-02T10:00:00"),
        rows.last().map(|row| row.name.clone()),
    )
}

fn is_run(row: &StateRow) -> bool {
    row.name == StateName::Processing && !reason::is_restored(row.reason.as_deref())
}

proptest! {
    #[test]
    fn no_row_is_lost_and_none_is_told_twice(rows in any_rows()) {
        let timeline = Timeline::build(&rows, &context(&rows));
        let by_event = timeline.rows_by_event();
        prop_assert_eq!(by_event.len(), timeline.events.len());
        for (event, ids) in timeline.events.iter().zip(&by_event) {
            prop_assert!(ids.contains(&event.state_id()), "{:?} {:?}", event, ids);
        }
        let mut covered = by_event.concat();
        covered.sort_unstable();
        let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
        prop_assert_eq!(covered, ids);
        let runs = rows.iter().filter(|row| is_run(row)).count();
        prop_assert_eq!(timeline.attempts().count(), runs);
    }

    #[test]
    fn attempts_never_overlap(rows in any_rows()) {
        let timeline = Timeline::build(&rows, &context(&rows));
        let attempts: Vec<&Attempt> = timeline.attempts().collect();
        for (index, attempt) in attempts.iter().enumerate() {
            prop_assert_eq!(attempt.number as usize, index + 1);
            prop_assert!(attempt.round >= 1 && attempt.round <= timeline.rounds);
            prop_assert!(attempt.waited.ms.is_none_or(|ms| ms >= 0));
            prop_assert!(attempt.ran.ms.is_none_or(|ms| ms >= 0));
            let Some(next) = attempts.get(index + 1) else { continue };
            prop_assert!(next.round >= attempt.round);
            let ended = attempt.ended_by.unwrap();
            if attempt.outcome == Outcome::Lost {
                prop_assert_eq!(ended, next.processing_id);
                prop_assert_eq!(next.waited.ms, None);
            } else {
                prop_assert!(ended < next.processing_id);
            }
        }
    }

    /// Pages cut anywhere tell of the same attempts. What lies before a page is not known to it:
    /// rounds are counted from its first row, and the wait of its first attempt may have begun
    /// on the page before.
    #[test]
    fn pages_tell_of_the_same_attempts(rows in any_rows(), at in 0_usize..40) {
        let at = at.min(rows.len());
        let whole = Timeline::build(&rows, &context(&rows));
        let (older, newer) = rows.split_at(at);
        let first = Timeline::build(
            older,
            &Context { newer: newer.to_vec(), ..context(&rows) },
        );
        let before = u32::try_from(older.iter().filter(|row| is_run(row)).count()).unwrap();
        let second = Timeline::build(
            newer,
            &Context { older_rows: true, attempts_before: before, ..context(&rows) },
        );
        let mut paged: Vec<Attempt> = first.attempts().chain(second.attempts()).cloned().collect();
        let wanted: Vec<Attempt> = whole.attempts().cloned().collect();
        prop_assert_eq!(paged.len(), wanted.len());
        let shift = paged
            .get(before as usize)
            .zip(wanted.get(before as usize))
            .map_or(0, |(got, want)| i64::from(want.round) - i64::from(got.round));
        for (index, (got, want)) in paged.iter_mut().zip(&wanted).enumerate() {
            if index >= before as usize {
                prop_assert_eq!(i64::from(got.round) + shift, i64::from(want.round));
                got.round = want.round;
            }
            let restored_first = newer
                .first()
                .is_some_and(|row| reason::is_restored(row.reason.as_deref()));
            if index == before as usize && (got.waited.ms.is_none() || restored_first) {
                got.waited = want.waited;
                got.queued_at = want.queued_at;
            }
            prop_assert_eq!(&*got, want);
        }
        let mut covered = first.rows_by_event().concat();
        covered.extend(second.rows_by_event().concat());
        covered.sort_unstable();
        let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
        prop_assert_eq!(covered, ids);
    }
}

/// Work that grows with the square of the rows would take minutes here.
#[test]
fn a_history_of_two_hundred_thousand_rows_is_read() {
    const ROUNDS: i64 = 40_000;
    let data = StateData::parse(DATA[2]);
    let created_at = at("2026-11-02T10:00:00");
    let rows: Vec<StateRow> = (0..ROUNDS * 5)
        .map(|id| StateRow {
            id,
            name: StateName::parse(
                ["Enqueued", "Processing", "Failed", "Scheduled", "Deleted"]
                    [usize::try_from(id % 5).unwrap()],
            ),
            reason: (id % 5 == 3).then(|| "Retry attempt 1 of 3: no".to_owned()),
            created_at,
            data: data.clone(),
            details_chars: None,
        })
        .collect();
    let timeline = Timeline::build(&rows, &context(&rows));
    let rounds: Vec<u32> = timeline.attempts().map(|attempt| attempt.round).collect();
    assert_eq!(rounds, (1..=40_000).collect::<Vec<u32>>());
    assert_eq!(timeline.decisions().count(), 39_999);
    assert_eq!(timeline.rows_by_event().concat().len(), 200_000);
}
