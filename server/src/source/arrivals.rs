//! Which jobs came into which list lately, as the collector saw them: what pages call new.

use std::collections::HashMap;

use app::links::{Shown, Watched};
use app::model::collect::batch::JobRow;
use app::model::state::ListState;

/// Jobs that are remembered at least; at twice as many the oldest half is dropped.
const KEPT: usize = 5_000;

/// The lists that jobs came into, with the state rows that brought them there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrivals {
    jobs: HashMap<i64, (Option<ListState>, i64)>,
    /// Rows up to this one are not remembered.
    forgotten_to: i64,
}

/// How many came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct New {
    /// Jobs that came into the list, and have not left it since.
    pub jobs: i64,
    /// Whether it may be more: what came first is not remembered.
    pub at_least: bool,
}

impl Arrivals {
    /// Remembers nothing up to this state row.
    pub fn after(row: i64) -> Self {
        Self {
            jobs: HashMap::new(),
            forgotten_to: row,
        }
    }

    /// Takes in rows in the order of their ids.
    pub fn take(&mut self, rows: &[JobRow]) {
        for JobRow { job, row } in rows {
            let list = ListState::of(&row.name, row.reason.as_deref());
            let known = self.jobs.entry(*job).or_insert((list, row.id));
            // A row that came late says nothing of where the job is now.
            if row.id >= known.1 {
                *known = (list, row.id);
            }
        }
        if self.jobs.len() > 2 * KEPT {
            let mut ids: Vec<i64> = self.jobs.values().map(|(_, row)| *row).collect();
            let middle = ids.len() - KEPT;
            let (_, first_kept, _) = ids.select_nth_unstable(middle);
            let forgotten = *first_kept - 1;
            self.jobs.retain(|_, (_, row)| *row > forgotten);
            self.forgotten_to = self.forgotten_to.max(forgotten);
        }
    }

    /// The highest id of a job of which a row was seen; 0 before any was.
    pub fn newest_job(&self) -> i64 {
        self.jobs.keys().copied().max().unwrap_or(0)
    }

    /// How many jobs came into a list since a page was made.
    pub fn since(&self, Shown { list, row }: Shown) -> New {
        let came = |(job, (into, by)): &(&i64, &(Option<ListState>, i64))| match list {
            Watched::Of(list) => *into == Some(list) && *by > row,
            Watched::All { job: known } => **job > known && *by > row,
        };
        let jobs = self.jobs.iter().filter(came).count();
        New {
            jobs: i64::try_from(jobs).unwrap_or(i64::MAX),
            at_least: row < self.forgotten_to,
        }
    }
}

#[cfg(test)]
mod tests {
    use app::model::state::{StateName, StateRow};

    use super::*;

    fn row(id: i64, job: i64, name: StateName, reason: Option<&str>) -> JobRow {
        JobRow {
            job,
            row: StateRow {
                id,
                name,
                reason: reason.map(str::to_owned),
                created_at: app::model::state::Instant::default(),
                data: app::model::data::StateData::default(),
                details_chars: None,
            },
        }
    }

    fn of(list: ListState, row: i64) -> Shown {
        let list = Watched::Of(list);
        Shown { list, row }
    }

    fn exact(jobs: i64) -> New {
        New {
            jobs,
            at_least: false,
        }
    }

    #[test]
    fn a_job_is_new_where_its_newest_row_brought_it() {
        let mut arrivals = Arrivals::after(10);
        arrivals.take(&[
            row(11, 1, StateName::Failed, None),
            row(12, 2, StateName::Failed, None),
            row(
                13,
                2,
                StateName::Scheduled,
                Some("Retry attempt 1 of 3: no"),
            ),
            row(14, 3, StateName::Failed, None),
        ]);
        assert_eq!(arrivals.since(of(ListState::Failed, 10)), exact(2));
        assert_eq!(arrivals.since(of(ListState::Failed, 11)), exact(1));
        assert_eq!(arrivals.since(of(ListState::Retrying, 10)), exact(1));
        assert_eq!(arrivals.since(of(ListState::Scheduled, 10)), exact(0));
        // One leaves again; a row that comes late moves nothing.
        arrivals.take(&[
            row(15, 3, StateName::Enqueued, None),
            row(9, 1, StateName::Processing, None),
        ]);
        assert_eq!(arrivals.since(of(ListState::Failed, 10)), exact(1));
        assert_eq!(arrivals.since(of(ListState::Processing, 0)).jobs, 0);
        assert!(arrivals.since(of(ListState::Failed, 9)).at_least);
    }

    #[test]
    fn of_all_jobs_those_are_new_that_were_created_since() {
        let all = |job, row| Shown {
            list: Watched::All { job },
            row,
        };
        let mut arrivals = Arrivals::after(10);
        assert_eq!(arrivals.newest_job(), 0);
        arrivals.take(&[
            row(11, 5, StateName::Enqueued, None),
            row(12, 4, StateName::Succeeded, None),
            row(13, 6, StateName::Other("Throttled".into()), None),
        ]);
        assert_eq!(arrivals.newest_job(), 6);
        // Job 4 was there before, whatever became of it since.
        assert_eq!(arrivals.since(all(4, 10)), exact(2));
        assert_eq!(arrivals.since(all(5, 11)), exact(1));
        assert_eq!(arrivals.since(all(6, 13)), exact(0));
        // Before the first row that is remembered jobs may have come too.
        assert!(arrivals.since(all(4, 9)).at_least);
        // A job that goes on is counted once.
        arrivals.take(&[row(14, 6, StateName::Enqueued, None)]);
        assert_eq!(arrivals.since(all(4, 10)), exact(2));
    }

    #[test]
    fn it_forgets_the_oldest_and_says_so() {
        let mut arrivals = Arrivals::after(0);
        let jobs = 2 * i64::try_from(KEPT).unwrap() + 1;
        let rows: Vec<_> = (1..=jobs)
            .map(|id| row(id, id, StateName::Failed, None))
            .collect();
        arrivals.take(&rows);
        let kept = i64::try_from(KEPT).unwrap();
        let all = New {
            jobs: kept,
            at_least: true,
        };
        assert_eq!(arrivals.since(of(ListState::Failed, 0)), all);
        assert_eq!(
            arrivals.since(of(ListState::Failed, jobs - kept)),
            exact(kept)
        );
        assert_eq!(arrivals.since(of(ListState::Failed, jobs - 5)), exact(5));
    }
}
