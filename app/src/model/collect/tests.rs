mod cases;
mod failures;
mod fixtures;
mod indexed;
mod oracle;
mod positions;
mod properties;

use std::collections::{BTreeMap, HashMap, HashSet};

use super::batch::{Batch, JobRow};
use super::position::Position;
use super::{Failure, Increments, Job, Memory, counted_name};
use crate::model::invocation::Invocation;
use crate::model::state::StateRow;
use crate::model::testing::RecordedJob;
use oracle::Whole;

/// A job and its rows, for the fold and for the oracle.
fn whole(recorded: &RecordedJob) -> Whole {
    let newest = recorded.rows.last();
    let invocation = Invocation::parse(&recorded.invocation, Some("[]"));
    Whole {
        job: Job::of(
            &invocation,
            Some(recorded.created_at),
            newest
                .filter(|row| Some(&row.name) == recorded.state.as_ref())
                .map(|row| row.id),
        ),
        state: recorded.state.clone(),
        rows: recorded.rows.clone(),
    }
}

/// Folds jobs whose rows are read in batches that end after the given places, in the order of
/// ids, as the collector would: of each job only its memory survives a batch, and not even that
/// where the job is final.
fn fold(jobs: &BTreeMap<i64, Whole>, cuts: &[usize]) -> (Increments, HashMap<i64, Memory>) {
    let (sums, memories, _) = fold_and_index(jobs, cuts);
    (sums, memories)
}

/// The same, with the index of jobs that are failed or wait for a retry.
fn fold_and_index(
    jobs: &BTreeMap<i64, Whole>,
    cuts: &[usize],
) -> (Increments, HashMap<i64, Memory>, BTreeMap<i64, Failure>) {
    let mut index = BTreeMap::new();
    let mut rows: Vec<JobRow> = jobs
        .iter()
        .flat_map(|(job, whole)| {
            let job = *job;
            whole.rows.iter().map(move |row| JobRow {
                job,
                row: row.clone(),
            })
        })
        .collect();
    rows.sort_by_key(|row| row.row.id);
    let mut sums = Increments::default();
    let mut memories: HashMap<i64, Memory> = HashMap::new();
    let mut begin = 0;
    for end in cuts.iter().copied().chain([rows.len()]) {
        let end = end.clamp(begin, rows.len());
        let batch = batch(jobs, &rows, begin..end, &memories);
        let changes = batch.fold(&Position::default());
        sums.add(&changes.increments, 1);
        for (job, memory) in changes.remembered {
            // As it is stored.
            let stored = serde_json::to_string(&memory).unwrap();
            memories.insert(job, serde_json::from_str(&stored).unwrap());
        }
        index.extend(changes.failures);
        for job in changes.left {
            index.remove(&job);
        }
        for job in changes.forgotten {
            memories.remove(&job);
            index.remove(&job);
        }
        begin = end;
    }
    (sums, memories, index)
}

fn batch(
    jobs: &BTreeMap<i64, Whole>,
    rows: &[JobRow],
    now: std::ops::Range<usize>,
    memories: &HashMap<i64, Memory>,
) -> Batch {
    let read = &rows[now.clone()];
    let jobs_read: HashSet<i64> = read.iter().map(|row| row.job).collect();
    let is_read = |job: &i64| jobs_read.contains(job);
    let known = |job: &i64, memory: &Memory| is_read(job) || memory.is_undecided();
    let mut older: HashMap<i64, Vec<StateRow>> = HashMap::new();
    for row in &rows[..now.start] {
        if is_read(&row.job) && !memories.contains_key(&row.job) {
            older.entry(row.job).or_default().push(row.row.clone());
        }
    }
    Batch {
        rows: read.to_vec(),
        jobs: jobs
            .iter()
            .map(|(id, whole)| (*id, whole.job.clone()))
            .collect(),
        memories: memories
            .iter()
            .filter(|(job, memory)| known(job, memory))
            .map(|(job, memory)| (*job, memory.clone()))
            .collect(),
        older,
    }
}

fn one(job: Whole) -> BTreeMap<i64, Whole> {
    BTreeMap::from([(1, job)])
}

fn made(rows: Vec<StateRow>, job_type: &str) -> Whole {
    let newest = rows.last().unwrap();
    let state = newest.name.clone();
    Whole {
        job: Job {
            job_type: job_type.to_owned(),
            method: "RunAsync".to_owned(),
            queue: None,
            created_at: Some(rows[0].created_at),
            current_row: Some(newest.id),
        },
        state: Some(state),
        rows,
    }
}

#[test]
fn long_names_are_counted_under_their_beginning() {
    assert_eq!(counted_name("A.B\0"), "A.B\u{fffd}");
    let short = "x".repeat(300);
    assert_eq!(counted_name(&short), short);
    assert_eq!(counted_name(&"x".repeat(301)), format!("{short}\u{2026}"));
    // Letters of two, three and four bytes: at most 600 bytes of them.
    for (letter, kept) in [('\u{e9}', 300), ('\u{4e2d}', 200), ('\u{1f600}', 150)] {
        let long: String = std::iter::repeat_n(letter, 1_000).collect();
        let counted = counted_name(&long);
        assert_eq!(counted.chars().count(), kept + 1);
        assert_eq!(counted_name(&counted), counted);
    }
    // Names that were cut stay as they are, wherever the cut fell.
    for lead in 0..8 {
        let odd = "x".repeat(lead) + &"\u{e9}".repeat(290) + &"\u{1f600}".repeat(40);
        let counted = counted_name(&odd);
        assert!((597..=603).contains(&counted.len()), "{lead}");
        assert_eq!(counted_name(&counted), counted, "{lead}");
    }
}
