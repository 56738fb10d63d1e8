//! From a row of a statement to what it says.

use app::model::collect::{AttemptSums, Histogram, RoundEnd, RoundSums};
use app::model::insights::{FirstAttemptsRow, JobKind, RoundsRow};
use app::model::rates::Rate;
use sqlx::Error;

/// The columns of a row, whatever the driver.
pub(crate) trait Cells {
    /// A text; empty for none.
    fn text(&self, column: &str) -> Result<String, Error>;
    /// A whole number, where there is one.
    fn known(&self, column: &str) -> Result<Option<i64>, Error>;
    /// Yes or no.
    fn flag(&self, column: &str) -> Result<bool, Error>;
    /// The counts of a histogram.
    fn counts(&self, column: &str) -> Result<Vec<i64>, Error>;

    /// A whole number; 0 for none.
    fn int(&self, column: &str) -> Result<i64, Error> {
        Ok(self.known(column)?.unwrap_or_default())
    }
}

pub(super) fn kind(row: &dyn Cells) -> Result<JobKind, Error> {
    Ok(JobKind {
        job_type: row.text("job_type")?,
        method: row.text("method")?,
    })
}

pub(super) fn count(row: &dyn Cells, column: &str) -> Result<u32, Error> {
    Ok(u32::try_from(row.int(column)?.max(0)).unwrap_or(u32::MAX))
}

pub(super) fn first_attempts(row: &dyn Cells) -> Result<FirstAttemptsRow, Error> {
    let count = |column| Ok::<_, Error>(u64::try_from(row.int(column)?).unwrap_or_default());
    Ok(FirstAttemptsRow {
        kind: kind(row)?,
        slot: row.int("step")?,
        rate: Rate::new(count("succeeded")?, count("ended")?),
    })
}

/// None of an ending that is not known.
pub(super) fn rounds(row: &dyn Cells) -> Result<Option<RoundsRow>, Error> {
    let end = match row.text("ending")?.as_str() {
        "succeeded" => RoundEnd::Succeeded,
        "gave-up" => RoundEnd::GaveUp,
        _ => return Ok(None),
    };
    Ok(Some(RoundsRow {
        hour: row.int("step")?,
        kind: kind(row)?,
        later: row.flag("later")?,
        end,
        number: count(row, "number")?,
        sums: RoundSums {
            rounds: row.int("rounds")?,
            backoff_ms: row.int("backoff_ms")?,
        },
    }))
}

pub(super) fn attempts(row: &dyn Cells) -> Result<(super::AttemptsOf, AttemptSums), Error> {
    let histogram = |counts, sum| {
        Ok::<_, Error>(Histogram {
            counts: row.counts(counts)?,
            sum_ms: row.int(sum)?,
        })
    };
    let key = (
        kind(row)?,
        row.flag("later")?,
        count(row, "number")?,
        row.text("outcome")?,
    );
    let sums = AttemptSums {
        attempts: row.int("attempts")?,
        waited: histogram("waited", "waited_ms")?,
        ran: histogram("ran", "ran_ms")?,
    };
    Ok((key, sums))
}
