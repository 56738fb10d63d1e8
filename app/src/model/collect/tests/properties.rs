//! What holds for any rows at all.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use proptest::prelude::*;

use super::oracle::{self, Whole};
use super::{fold_and_index, indexed, made};
use crate::model::data::StateData;
use crate::model::reason;
use crate::model::state::{StateName, StateRow};
use crate::model::testing::at;

const NAMES: [&str; 9] = [
    "Enqueued",
    "Scheduled",
    "Processing",
    "Processing",
    "Failed",
    "Succeeded",
    "Deleted",
    "Awaiting",
    "Parked",
];

const REASONS: [Option<&str>; 7] = [
    None,
    Some("Triggered via Dashboard UI"),
    Some("Triggered by DelayedJobScheduler"),
    Some("Retry attempt 1 of 3: no"),
    Some("Retry attempt 2 of 3: no"),
    Some("Restored by ada via Redrive"),
    Some("Can not change the state to 'Processing': target method was not found."),
];

const DATA: [&str; 8] = [
    "{}",
    r#"{"EnqueueAt":"2026-11-02T10:00:30Z","ScheduledAt":"2026-11-02T10:00:00Z"}"#,
    r#"{"FailedAt":"1","ExceptionType":"E","ExceptionMessage":"m"}"#,
    r#"{"FailedAt":"2","ExceptionType":"F","ExceptionMessage":"m"}"#,
    r#"{"ServerId":"a","PerformanceDuration":"500"}"#,
    r#"{"ServerName":"b"}"#,
    r#"{"Queue":"mail"}"#,
    "corrupt",
];

/// Half of the rows follow each other as they do in life, so that rounds come to their end.
const NEXT: [(&str, Option<&str>, usize); 6] = [
    ("Enqueued", None, 5),
    ("Processing", None, 0),
    ("Failed", None, 2),
    ("Scheduled", Some("Retry attempt 1 of 3: no"), 1),
    ("Succeeded", None, 4),
    ("Failed", None, 3),
];

type Draw = (bool, usize, usize, usize, i64);

fn draws() -> impl Strategy<Value = Vec<Draw>> {
    prop::collection::vec(
        (
            any::<bool>(),
            0..NAMES.len(),
            0..REASONS.len(),
            0..DATA.len(),
            -2_000..600_000_i64,
        ),
        1..40,
    )
}

fn rows(draws: &[Draw], first_id: i64, step: i64) -> Vec<StateRow> {
    let mut now = at("2026-11-02T10:00:00");
    (0_i64..)
        .zip(draws)
        .map(|(index, (alike, name, reason, data, later))| {
            now += TimeDelta::milliseconds(*later);
            let (name, reason, data) = if *alike {
                NEXT[name % NEXT.len()]
            } else {
                (NAMES[*name], REASONS[*reason], *data)
            };
            StateRow {
                id: first_id + index * step,
                name: StateName::parse(name),
                reason: reason.map(str::to_owned),
                created_at: now,
                data: StateData::parse(DATA[data]),
                details_chars: None,
            }
        })
        .collect()
}

fn job(draws: &[Draw], first_id: i64, created_before_s: i64, settled: bool) -> Whole {
    let mut whole = made(rows(draws, first_id, 3), "A.B");
    let first = whole.rows[0].created_at;
    whole.job.created_at = Some(first - TimeDelta::seconds(created_before_s));
    if !settled {
        whole.job.current_row = None;
        whole.state = Some(StateName::Processing);
    }
    whole
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn batches_give_the_oracles_numbers(
        one in draws(),
        two in draws(),
        three in draws(),
        created in 0_i64..120,
        settled in any::<bool>(),
        mut cuts in prop::collection::vec(0_usize..120, 0..12),
    ) {
        let jobs = BTreeMap::from([
            (1, job(&one, 10, 0, true)),
            (2, job(&two, 11, created, settled)),
            (3, job(&three, 12, 0, settled)),
        ]);
        cuts.sort_unstable();
        let (sums, memories, index) = fold_and_index(&jobs, &cuts);
        prop_assert_eq!(sums, oracle::numbers(jobs.values()));
        let wanted = jobs
            .iter()
            .filter_map(|(job, whole)| Some((*job, indexed::failure(whole)?)))
            .collect::<BTreeMap<_, _>>();
        prop_assert_eq!(index, wanted);
        for (job, memory) in &memories {
            let rows = &jobs[job].rows;
            let is_run = |row: &&StateRow| {
                row.name == StateName::Processing && !reason::is_restored(row.reason.as_deref())
            };
            let runs = rows.iter().filter(is_run).count();
            prop_assert_eq!(memory.attempts() as usize, runs);
            prop_assert_eq!(Some(memory.last_row()), rows.last().map(|row| row.id));
        }
    }
}
