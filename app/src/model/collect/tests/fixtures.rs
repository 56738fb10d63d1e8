//! Every recorded database, read in batches that end anywhere, gives the oracle's numbers.

use std::collections::BTreeMap;

use super::oracle::{self, Whole};
use super::{fold, fold_and_index, indexed, whole};
use crate::model::testing;

const FOLDERS: [&str; 16] = [
    "article/rows.json",
    "policies/rows.json",
    "workers/rows.json",
    "workers/stopped/rows.json",
    "shapes-110-full/rows.json",
    "shapes-170-full/rows.json",
    "shapes-180-simple/rows.json",
    "continuations/rows.json",
    "recurring/rows.json",
    "renamed/rows.json",
    "operators/rows.json",
    "stuck/rows.json",
    "claims/stale/rows.json",
    "claims/reclaimed/rows.json",
    "transitions/base.json",
    "mixed/rows.json",
];

fn jobs(path: &str) -> BTreeMap<i64, Whole> {
    testing::jobs(path)
        .iter()
        .map(|(id, job)| (*id, whole(job)))
        .collect()
}

#[test]
fn every_recorded_database_gives_the_same_numbers() {
    for path in FOLDERS {
        let jobs = jobs(path);
        let wanted = oracle::numbers(jobs.values());
        let rows: usize = jobs.values().map(|job| job.rows.len()).sum();
        // The large one has thousands of jobs: each cut reads all of them.
        let sizes: &[usize] = if rows > 2_000 {
            &[997, 5_000]
        } else {
            &[1, 2, 7, 50]
        };
        for size in sizes {
            let cuts: Vec<usize> = (1..=rows / size).map(|n| n * size).collect();
            let (sums, _, index) = fold_and_index(&jobs, &cuts);
            assert_eq!(sums, wanted, "{path} in batches of {size}");
            let failures = jobs
                .iter()
                .filter_map(|(job, whole)| Some((*job, indexed::failure(whole)?)));
            assert!(
                index.into_iter().eq(failures),
                "{path} in batches of {size}"
            );
        }
    }
}

/// The listing of the article: job 1 failed twice and then succeeded, job 2 failed for good.
#[test]
fn the_articles_listing_is_counted() {
    let mut jobs = jobs("article/rows.json");
    jobs.retain(|id, _| *id <= 2);
    let (sums, _) = fold(&jobs, &[]);
    let attempts: i64 = sums.attempts.values().map(|sums| sums.attempts).sum();
    assert_eq!(attempts, 4);
    let ended: i64 = sums.first_attempts.values().map(|sums| sums.ended).sum();
    let succeeded: i64 = sums.first_attempts.values().map(|s| s.succeeded).sum();
    assert_eq!((succeeded, ended), (0, 2));
    let delays: Vec<(u32, i64)> = sums
        .delays
        .iter()
        .map(|(key, sums)| (key.retry, sums.sum_ms))
        .collect();
    // Recorded is the chosen delay or 1 ms less.
    assert_eq!(delays, [(1, 1_999), (2, 5_000)]);
}
