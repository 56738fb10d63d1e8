//! Sums of the collector's numbers, read alike on both databases: one text for each statement, and
//! one way to make rows of what it gives.

mod rows;
mod statements;

use std::collections::BTreeMap;
use std::future::Future;

use app::model::collect::position::Position;
use app::model::collect::{AttemptSums, DelaySums, RecoverySums, counted_name};
use app::model::insights::{
    AttemptsRow, Coverage, DelaysRow, FirstAttemptsRow, JobKind, Pending, RecoveryRow, RoundsRow,
    Scope,
};
use app::model::invocation::Invocation;
use app::model::state::Instant;
use app::ports::error::StoreError;
use sqlx::Error;

use super::kept::hint;
use super::sqlite::SqliteStore;
pub(crate) use rows::Cells;
pub(crate) use statements::{Statements, statements};

/// Why nothing is read where the own tables are not there.
pub(crate) const MISSING: &str = concat!(
    "Redrive's own tables are missing, too old for its numbers, or not to be read; ",
    hint!()
);

/// Slots of an hour.
const SLOTS: i64 = 6;
/// No row lies further away than so many hours: more than a calendar can tell.
const FARTHEST: i64 = 1 << 33;

/// The values that each statement takes, in this order, after the schema's name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    /// From here on, in the table's unit of time.
    pub(crate) from: i64,
    /// Up to here, without it.
    pub(crate) to: i64,
    pub(crate) job_type: Option<String>,
    pub(crate) method: Option<String>,
    pub(crate) queue: Option<String>,
    pub(crate) step: i64,
}

impl Asked {
    /// In hours. A name is asked for as it is counted.
    fn hours(scope: &Scope, step: i64) -> Self {
        let name = |name: &Option<String>| name.as_deref().map(counted_name);
        Self {
            from: scope.from.clamp(-FARTHEST, FARTHEST),
            to: scope.to.clamp(-FARTHEST, FARTHEST),
            job_type: name(&scope.job_type),
            method: name(&scope.method),
            queue: name(&scope.queue),
            step: step.max(1),
        }
    }

    /// In slots of ten minutes.
    fn slots(scope: &Scope, step: i64) -> Self {
        let hours = Self::hours(scope, step);
        Self {
            from: hours.from * SLOTS,
            to: hours.to * SLOTS,
            ..hours
        }
    }

    /// In days: each of which an hour lies in the scope.
    fn days(scope: &Scope) -> Self {
        const HOURS: i64 = 24;
        let hours = Self::hours(scope, 1);
        let from = hours.from.div_euclid(HOURS);
        Self {
            from,
            to: if hours.from < hours.to {
                (hours.to - 1).div_euclid(HOURS) + 1
            } else {
                from
            },
            ..hours
        }
    }
}

/// Picks one of the statements.
pub(crate) type Which = fn(&Statements) -> &'static str;

/// Takes a row of what a statement gives.
pub(crate) type Take<A> = fn(&mut A, &dyn Cells) -> Result<(), Error>;

/// Reads the own tables of one source.
pub(crate) trait Reader: Sync {
    /// Runs a statement on the own tables in a read transaction, and takes each of its rows; `None`
    /// where the tables are missing.
    ///
    /// # Errors
    /// As the database's.
    fn read_own<A: Default + Send + 'static>(
        &self,
        which: Which,
        asked: Asked,
        take: Take<A>,
    ) -> impl Future<Output = Result<Option<A>, StoreError>> + Send;

    /// The file that stands in for the own tables, where one may.
    fn file(&self) -> Option<&SqliteStore>;

    /// The same, on the file where the own tables are missing. What is not there yet is empty.
    ///
    /// # Errors
    /// [`StoreError::Forbidden`] where the own tables are missing, and no file stands in for them;
    /// else as the database's.
    fn read<A: Default + Send + 'static>(
        &self,
        which: Which,
        asked: Asked,
        take: Take<A>,
    ) -> impl Future<Output = Result<A, StoreError>> + Send {
        async move {
            if let Some(all) = self.read_own(which, asked.clone(), take).await? {
                return Ok(all);
            }
            let Some(file) = self.file() else {
                return Err(StoreError::Forbidden(MISSING.to_owned()));
            };
            match file.read_own(which, asked, take).await {
                Ok(found) => Ok(found.unwrap_or_default()),
                Err(StoreError::Absent(_)) => Ok(A::default()),
                Err(error @ StoreError::TimedOut(_)) => Err(error),
                Err(error) => Err(StoreError::Unreadable(format!(
                    "the numbers cannot be read from {}: {error}",
                    file.path().display()
                ))),
            }
        }
    }
}

/// See [`app::ports::insights::InsightStore::coverage`].
pub(crate) async fn coverage<R: Reader>(reader: &R) -> Result<Option<Coverage>, StoreError> {
    let take = |found: &mut Option<Coverage>, row: &dyn Cells| {
        let position: Position = serde_json::from_str(&row.text("position")?)
            .map_err(|error| Error::Decode(error.into()))?;
        if position == Position::default() {
            return Ok(());
        }
        let since = [row.known("attempts_from")?, row.known("rounds_from")?];
        *found = Some(Coverage {
            since: since.into_iter().flatten().min(),
            watermark: position.watermark,
            epoch: position.epoch,
            as_of: Instant::from_timestamp_micros(row.int("as_of")?).unwrap_or_default(),
        });
        Ok(())
    };
    reader
        .read(|all| all.coverage, Asked::default(), take)
        .await
}

/// See [`app::ports::insights::InsightStore::first_attempts`].
pub(crate) async fn first_attempts<R: Reader>(
    reader: &R,
    scope: &Scope,
    step: i64,
) -> Result<Vec<FirstAttemptsRow>, StoreError> {
    let take = |rows: &mut Vec<_>, row: &dyn Cells| {
        rows.push(rows::first_attempts(row)?);
        Ok(())
    };
    let asked = Asked::slots(scope, step);
    let mut rows: Vec<FirstAttemptsRow> =
        reader.read(|all| all.first_attempts, asked, take).await?;
    // The databases do not agree on the order of texts.
    rows.sort_unstable_by(|a, b| (&a.kind, a.slot).cmp(&(&b.kind, b.slot)));
    Ok(rows)
}

/// See [`app::ports::insights::InsightStore::rounds`].
pub(crate) async fn rounds<R: Reader>(
    reader: &R,
    scope: &Scope,
    step: i64,
) -> Result<Vec<RoundsRow>, StoreError> {
    let take = |rows: &mut Vec<_>, row: &dyn Cells| {
        rows.extend(rows::rounds(row)?);
        Ok(())
    };
    let asked = Asked::hours(scope, step);
    let mut rows: Vec<RoundsRow> = reader.read(|all| all.rounds, asked, take).await?;
    rows.sort_unstable_by(|a, b| {
        let rest = |row: &RoundsRow| (row.later, row.end, row.number);
        (a.hour, &a.kind, rest(a)).cmp(&(b.hour, &b.kind, rest(b)))
    });
    Ok(rows)
}

/// Whose attempts are summed: kind, later, number, outcome.
type AttemptsOf = (JobKind, bool, u32, String);

/// See [`app::ports::insights::InsightStore::attempts`]. Histograms are added here, which costs
/// less than having the databases take them apart.
pub(crate) async fn attempts<R: Reader>(
    reader: &R,
    scope: &Scope,
) -> Result<Vec<AttemptsRow>, StoreError> {
    let take = |sums: &mut BTreeMap<AttemptsOf, AttemptSums>, row: &dyn Cells| {
        let (key, more) = rows::attempts(row)?;
        let sums = sums.entry(key).or_default();
        sums.attempts += more.attempts;
        sums.waited.add(&more.waited, 1);
        sums.ran.add(&more.ran, 1);
        Ok(())
    };
    let asked = Asked::hours(scope, 1);
    let sums = reader.read(|all| all.attempts, asked, take).await?;
    let rows = sums.into_iter().filter(|(_, sums)| sums.attempts != 0);
    Ok(rows
        .map(|((kind, later, number, outcome), sums)| AttemptsRow {
            kind,
            later,
            number,
            outcome,
            sums,
        })
        .collect())
}

/// See [`app::ports::insights::InsightStore::recovery`].
pub(crate) async fn recovery<R: Reader>(
    reader: &R,
    scope: &Scope,
) -> Result<Vec<RecoveryRow>, StoreError> {
    let take = |rows: &mut Vec<_>, row: &dyn Cells| {
        rows.push(RecoveryRow {
            kind: rows::kind(row)?,
            exception: row.text("exception")?,
            sums: RecoverySums {
                recovered: row.int("recovered")?,
                gave_up: row.int("gave_up")?,
                retries_recovered: row.int("retries_recovered")?,
                retries_gave_up: row.int("retries_gave_up")?,
            },
        });
        Ok(())
    };
    let asked = Asked::hours(scope, 1);
    let mut rows: Vec<RecoveryRow> = reader.read(|all| all.recovery, asked, take).await?;
    rows.sort_unstable_by(|a, b| (&a.kind, &a.exception).cmp(&(&b.kind, &b.exception)));
    Ok(rows)
}

/// See [`app::ports::insights::InsightStore::delays`].
pub(crate) async fn delays<R: Reader>(
    reader: &R,
    scope: &Scope,
) -> Result<Vec<DelaysRow>, StoreError> {
    let take = |rows: &mut Vec<_>, row: &dyn Cells| {
        rows.push(DelaysRow {
            kind: rows::kind(row)?,
            of: rows::count(row, "retries")?,
            retry: rows::count(row, "retry")?,
            sums: DelaySums {
                delays: row.int("delays")?,
                sum_ms: row.int("sum_ms")?,
                min_ms: row.known("min_ms")?,
                max_ms: row.known("max_ms")?,
            },
        });
        Ok(())
    };
    let asked = Asked::days(scope);
    let mut rows: Vec<DelaysRow> = reader.read(|all| all.delays, asked, take).await?;
    rows.sort_unstable_by(|a, b| (&a.kind, a.of, a.retry).cmp(&(&b.kind, b.of, b.retry)));
    Ok(rows)
}

/// See [`app::ports::insights::InsightStore::pending`].
pub(crate) async fn pending<R: Reader>(reader: &R) -> Result<Pending, StoreError> {
    let take = |pending: &mut Pending, row: &dyn Cells| {
        let (kind, label, value) = (rows::kind(row)?, row.text("label")?, row.int("value")?);
        if row.text("gauge")? == "pending-rounds" {
            pending.rounds.push((kind, label == "later", value));
        } else {
            pending.recovery.push((kind, label, value));
        }
        Ok(())
    };
    let mut pending: Pending = reader
        .read(|all| all.pending, Asked::default(), take)
        .await?;
    pending.rounds.sort_unstable();
    pending.recovery.sort_unstable();
    Ok(pending)
}

/// See [`app::ports::insights::InsightStore::counted_queues`].
pub(crate) async fn counted_queues<R: Reader>(reader: &R) -> Result<Vec<String>, StoreError> {
    let take = |queues: &mut Vec<String>, row: &dyn Cells| {
        queues.push(row.text("queue")?);
        Ok(())
    };
    let mut queues: Vec<String> = reader
        .read(|all| all.counted_queues, Asked::default(), take)
        .await?;
    queues.sort_unstable();
    Ok(queues)
}

/// What a call is counted as.
pub(crate) fn kind_of(invocation: &Invocation) -> JobKind {
    JobKind {
        job_type: counted_name(&invocation.full_type()),
        method: counted_name(invocation.method.as_deref().unwrap_or_default()),
    }
}
