//! Where the index of failed jobs and the jobs themselves do not agree: the comparison of one window
//! of ids, the same wherever the two lie.

use std::collections::HashMap;

use app::model::collect::{Job, Memory, Stray};
use app::model::state::{Instant, StateRow};
use app::ports::collector::Astray;

use super::failures::micros;

/// A failed or scheduled job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) job: i64,
    /// Else it is scheduled.
    pub(crate) is_failed: bool,
    /// Whether the index should have it: it is failed, or waits for a retry.
    pub(crate) belongs: bool,
    /// The row of its current state, 0 for none; `None` while it is changing, when any row fits.
    pub(crate) row: Option<i64>,
}

/// A row of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) job: i64,
    /// Else it is among those that wait for a retry.
    pub(crate) is_failed: bool,
    pub(crate) state_id: i64,
    /// Microseconds since 1970.
    pub(crate) changed_at: i64,
}

impl Entry {
    fn fits(&self, job: &Candidate) -> bool {
        self.is_failed == job.is_failed && job.row.is_none_or(|row| row == self.state_id)
    }
}

/// The window of ids that is compared at once: it ends with the page of the jobs or with that of
/// the index, whichever ends first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// Without this one.
    pub(crate) after: i64,
    /// With this one; `None` where both come to their ends.
    pub(crate) last: Option<i64>,
}

impl Window {
    /// The highest id.
    pub(crate) fn end(&self) -> i64 {
        self.last.unwrap_or(i64::MAX)
    }

    /// Ends with a page of the index that holds as many entries as were asked for.
    pub(crate) fn cut(&mut self, entries: &[Entry], asked: i64) {
        if entries.len() >= usize::try_from(asked).unwrap_or(usize::MAX) {
            self.last = entries.last().map(|entry| entry.job);
        }
    }
}

/// What differs in a window.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Differing {
    /// Jobs that the index lacks, or has with another row; and whether they are failed.
    pub(crate) strays: Vec<(i64, bool)>,
    /// Jobs that the index has without reason; and since when it has them.
    pub(crate) stale: Vec<(i64, Instant)>,
    /// The last job that was compared; `None` at the end.
    pub(crate) last: Option<i64>,
}

impl Differing {
    /// The same with what is known of the strays. Jobs that went away meanwhile are none.
    pub(crate) fn told(
        self,
        mut jobs: HashMap<i64, Job>,
        mut memories: HashMap<i64, Memory>,
        mut rows: HashMap<i64, Vec<StateRow>>,
    ) -> Astray {
        let strays = self.strays.into_iter().filter_map(|(id, is_failed)| {
            let stray = Stray {
                job: jobs.remove(&id)?,
                is_failed,
                memory: memories.remove(&id),
                rows: rows.remove(&id).unwrap_or_default(),
            };
            Some((id, stray))
        });
        Astray {
            strays: strays.collect(),
            stale: self.stale,
            last: self.last,
        }
    }
}

/// Compares jobs and entries of a window, both by rising id. With `most` strays it ends early. Jobs
/// whose row lies after the watermark are left out: the collector comes to them.
pub(crate) fn compare(
    window: Window,
    jobs: &[Candidate],
    entries: &[Entry],
    watermark: i64,
    most: usize,
) -> Differing {
    let by_job: HashMap<i64, &Entry> = entries.iter().map(|entry| (entry.job, entry)).collect();
    let is_stray = |job: &&Candidate| {
        job.belongs
            && job.row.unwrap_or(0) <= watermark
            && !by_job.get(&job.job).is_some_and(|entry| entry.fits(job))
    };
    let strays: Vec<(i64, bool)> = jobs
        .iter()
        .filter(is_stray)
        .take(most)
        .map(|job| (job.job, job.is_failed))
        .collect();
    let last = match strays.last() {
        Some((job, _)) if strays.len() >= most => Some(*job),
        _ => window.last,
    };
    let by_id: HashMap<i64, &Candidate> = jobs.iter().map(|job| (job.job, job)).collect();
    let stale = entries
        .iter()
        .filter(|entry| last.is_none_or(|last| entry.job <= last))
        .filter(|entry| !by_id.get(&entry.job).is_some_and(|job| entry.fits(job)))
        .map(|entry| (entry.job, micros(entry.changed_at)))
        .collect();
    Differing {
        strays,
        stale,
        last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Window = Window {
        after: 0,
        last: None,
    };

    fn failed(job: i64, row: i64) -> Candidate {
        Candidate {
            job,
            is_failed: true,
            belongs: true,
            row: Some(row),
        }
    }

    fn scheduled(job: i64, row: i64, belongs: bool) -> Candidate {
        Candidate {
            is_failed: false,
            belongs,
            ..failed(job, row)
        }
    }

    fn entry(job: i64, is_failed: bool, state_id: i64) -> Entry {
        Entry {
            job,
            is_failed,
            state_id,
            changed_at: job * 1_000_000,
        }
    }

    fn stale(jobs: &[i64]) -> Vec<(i64, Instant)> {
        let since = |job: &i64| (*job, Instant::from_timestamp(*job, 0).unwrap());
        jobs.iter().map(since).collect()
    }

    #[test]
    fn what_agrees_is_not_told() {
        let jobs = [
            failed(1, 10),
            scheduled(2, 20, true),
            scheduled(3, 30, false),
        ];
        let entries = [entry(1, true, 10), entry(2, false, 20)];
        let found = compare(WHOLE, &jobs, &entries, 100, 9);
        assert_eq!(
            (found.strays, found.stale, found.last),
            (vec![], vec![], None)
        );
    }

    #[test]
    fn a_job_that_is_missing_or_has_another_row_or_list_is_a_stray() {
        let jobs = [
            failed(1, 10),
            failed(2, 21),
            failed(3, 30),
            scheduled(4, 40, true),
        ];
        let entries = [entry(2, true, 20), entry(3, false, 30)];
        let found = compare(WHOLE, &jobs, &entries, 100, 9);
        assert_eq!(found.strays, [(1, true), (2, true), (3, true), (4, false)]);
        assert_eq!(found.stale, stale(&[2, 3]));
    }

    #[test]
    fn rows_after_the_watermark_are_left_to_the_collector() {
        let found = compare(WHOLE, &[failed(1, 10), failed(2, 11)], &[], 10, 9);
        assert_eq!(found.strays, [(1, true)]);
    }

    #[test]
    fn entries_without_their_job_are_stale() {
        // Gone, requeued meanwhile, and on its way from the one list to the other.
        let jobs = [scheduled(3, 31, false)];
        let entries = [entry(1, true, 10), entry(3, true, 30)];
        let found = compare(WHOLE, &jobs, &entries, 100, 9);
        assert_eq!(found.strays, []);
        assert_eq!(found.stale, stale(&[1, 3]));
    }

    #[test]
    fn a_job_that_is_scheduled_by_its_entrys_row_stays_although_its_reason_is_gone() {
        let found = compare(
            WHOLE,
            &[scheduled(1, 10, false)],
            &[entry(1, false, 10)],
            100,
            9,
        );
        assert_eq!((found.strays, found.stale), (vec![], vec![]));
    }

    #[test]
    fn a_changing_job_fits_any_row_of_its_list() {
        let changing = |job| Candidate {
            row: None,
            ..failed(job, 0)
        };
        let found = compare(
            WHOLE,
            &[changing(1), changing(2)],
            &[entry(1, true, 10)],
            5,
            9,
        );
        assert_eq!(found.strays, [(2, true)]);
        assert_eq!(found.stale, []);
    }

    #[test]
    fn many_strays_end_the_window_early() {
        let jobs = [failed(1, 1), failed(4, 4), failed(6, 6)];
        let entries = [entry(2, true, 2), entry(5, true, 5)];
        let window = Window {
            after: 0,
            last: Some(9),
        };
        let found = compare(window, &jobs, &entries, 100, 2);
        assert_eq!(found.strays, [(1, true), (4, true)]);
        assert_eq!(found.stale, stale(&[2]));
        assert_eq!(found.last, Some(4));
        assert_eq!(compare(window, &jobs, &entries, 100, 4).last, Some(9));
    }

    #[test]
    fn a_window_ends_with_a_full_page_of_the_index() {
        let entries = [entry(2, true, 2), entry(5, true, 5)];
        let mut window = WHOLE;
        window.cut(&entries, 3);
        assert_eq!(window.end(), i64::MAX);
        window.cut(&entries, 2);
        assert_eq!(window.last, Some(5));
    }
}
