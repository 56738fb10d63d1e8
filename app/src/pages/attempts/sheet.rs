//! The tables of the page as rows of text, for files. Numbers are plain: no thousands, points for
//! decimals, milliseconds, RFC 3339.

use super::AttemptsPage;
use super::times::number;
use crate::components::time::machine;
use crate::links::attempts::Sheet;
use crate::model::insights::JobKind;
use crate::model::insights::endings::{Ending, Endings};
use crate::model::insights::fewer::{Fewer, Limit};
use crate::model::insights::fit::{PolicyFit, Shape};
use crate::model::insights::kinds::{KindNumbers, Kinds};
use crate::model::insights::recovery::ExceptionNumbers;
use crate::model::insights::span::slot_start;
use crate::model::insights::times::{Bound, Percentiles, Times};
use crate::model::rates::{Rate, Verdict};
use crate::ports::error::StoreError;

/// A table: its first row names the columns.
pub type Table = Vec<Vec<String>>;

impl AttemptsPage {
    /// A table, whole.
    ///
    /// # Errors
    /// Why its part could not be read.
    pub fn sheet(&self, sheet: Sheet) -> Result<Table, StoreError> {
        Ok(match sheet {
            Sheet::Kinds => kinds(self.kinds.as_ref().map_err(Clone::clone)?),
            Sheet::Rate => rate(self, self.kinds.as_ref().map_err(Clone::clone)?),
            Sheet::Times => times(self.times.as_ref().map_err(Clone::clone)?),
            Sheet::Exceptions => exceptions(self.exceptions.as_ref().map_err(Clone::clone)?),
            Sheet::Fewer => fewer(self.fewer.as_ref().map_err(Clone::clone)?.as_ref()),
            Sheet::Delays => delays(self.fits.as_ref().map_err(Clone::clone)?),
        })
    }
}

fn head(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|name| (*name).to_owned()).collect()
}

fn named(kind: &JobKind) -> [String; 2] {
    [kind.job_type.clone(), kind.method.clone()]
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Numerator, denominator, share, and its 95 % bounds.
fn rate_cells(rate: Rate) -> [String; 5] {
    let interval = rate.interval(Rate::Z_95);
    [
        rate.numerator.to_string(),
        rate.denominator.to_string(),
        text(rate.share()),
        text(interval.map(|interval| interval.low)),
        text(interval.map(|interval| interval.high)),
    ]
}

fn ending_cells(endings: &Endings) -> [String; 5] {
    Ending::ALL.map(|ending| endings.of(ending).to_string())
}

fn kinds(kinds: &Kinds) -> Table {
    let columns = head(&[
        "type",
        "method",
        "first_attempts_succeeded",
        "first_attempts_ended",
        "first_attempt_rate",
        "first_attempt_low",
        "first_attempt_high",
        "usual_succeeded",
        "usual_ended",
        "usual_rate",
        "usual_low",
        "usual_high",
        "fallen_since",
        "succeeded_1st",
        "succeeded_2nd",
        "succeeded_3rd",
        "succeeded_4th_or_later",
        "gave_up",
        "pending",
        "requeued_succeeded_1st",
        "requeued_succeeded_2nd",
        "requeued_succeeded_3rd",
        "requeued_succeeded_4th_or_later",
        "requeued_gave_up",
        "requeued_pending",
        "wasted_attempts",
        "backoff_ms",
        "backoff_for_nothing_ms",
    ]);
    let row = |(kind, numbers): &(JobKind, KindNumbers)| {
        let since = numbers.fall.and_then(|fall| slot_start(fall.from));
        named(kind)
            .into_iter()
            .chain(rate_cells(numbers.first))
            .chain(rate_cells(numbers.usual))
            .chain([since.map(machine).unwrap_or_default()])
            .chain(ending_cells(&numbers.endings))
            .chain([numbers.pending.to_string()])
            .chain(ending_cells(&numbers.again))
            .chain([
                numbers.pending_again.to_string(),
                numbers.wasted.to_string(),
                numbers.backoff_ms.to_string(),
                numbers.backoff_lost_ms.to_string(),
            ])
            .collect()
    };
    std::iter::once(columns)
        .chain(kinds.rows.iter().map(row))
        .collect()
}

fn rate(page: &AttemptsPage, kinds: &Kinds) -> Table {
    let columns = head(&["from", "to", "succeeded", "ended", "rate", "low", "high"]);
    let steps = page.plan.steps;
    let rows = kinds
        .all
        .trend
        .iter()
        .enumerate()
        .filter_map(|(index, rate)| {
            let from = steps.start(index)?;
            let to = from.checked_add_signed(steps.lasts())?;
            Some(
                [machine(from), machine(to)]
                    .into_iter()
                    .chain(rate_cells(*rate))
                    .collect(),
            )
        });
    std::iter::once(columns).chain(rows).collect()
}

fn times(all: &[Times]) -> Table {
    let columns = head(&[
        "type",
        "method",
        "attempt",
        "ended",
        "waited_recorded",
        "waited_p50_at_most_ms",
        "waited_p95_at_most_ms",
        "waited_p99_at_most_ms",
        "ran_recorded",
        "ran_p50_at_most_ms",
        "ran_p95_at_most_ms",
        "ran_p99_at_most_ms",
    ]);
    let bound = |bound: Bound| match bound {
        Bound::AtMost(ms) => ms.to_string(),
        Bound::MoreThan(ms) => format!("more than {ms}"),
    };
    let cells = |percentiles: Option<Percentiles>| match percentiles {
        Some(p) => [
            p.count.to_string(),
            bound(p.p50),
            bound(p.p95),
            bound(p.p99),
        ],
        None => ["0".to_owned(), String::new(), String::new(), String::new()],
    };
    let row = |row: &Times| {
        named(&row.kind)
            .into_iter()
            .chain([number(row.number), row.attempts.to_string()])
            .chain(cells(row.waited))
            .chain(cells(row.ran))
            .collect()
    };
    std::iter::once(columns)
        .chain(all.iter().map(row))
        .collect()
}

fn exceptions(all: &[(String, ExceptionNumbers)]) -> Table {
    let columns = head(&[
        "exception",
        "recovered",
        "finished",
        "recovery_rate",
        "recovery_low",
        "recovery_high",
        "gave_up",
        "pending",
        "retries_recovered",
        "retries_for_nothing",
        "backoff_for_nothing_about_ms",
        "verdict",
    ]);
    let row = |(name, numbers): &(String, ExceptionNumbers)| {
        let verdict = match numbers.verdict() {
            Some(Verdict::Permanent) => "stop retrying",
            Some(Verdict::Recovers) => "recovers",
            Some(Verdict::TooFew) => "too few to say",
            None => "none finished",
        };
        let sums = &numbers.sums;
        std::iter::once(name.clone())
            .chain(rate_cells(numbers.recovery().rate()))
            .chain([
                sums.gave_up.to_string(),
                numbers.pending.to_string(),
                sums.retries_recovered.to_string(),
                sums.retries_gave_up.to_string(),
                text(numbers.backoff_lost_ms),
                verdict.to_owned(),
            ])
            .collect()
    };
    std::iter::once(columns)
        .chain(all.iter().map(row))
        .collect()
}

fn fewer(fewer: Option<&(JobKind, Fewer)>) -> Table {
    let columns = head(&[
        "type",
        "method",
        "attempts",
        "recoveries_lost",
        "recoveries",
        "attempts_saved",
        "backoff_saved_about_ms",
        "known_as_failed_after_about_ms",
    ]);
    let rows = fewer.into_iter().flat_map(|(kind, fewer)| {
        let limits = std::iter::once(&fewer.now)
            .chain(&fewer.free)
            .chain(&fewer.dearer);
        limits.map(move |limit: &Limit| {
            named(kind)
                .into_iter()
                .chain([
                    limit.attempts.to_string(),
                    limit.lost.to_string(),
                    fewer.recovered.to_string(),
                    limit.saved.to_string(),
                    text(limit.backoff_saved_ms),
                    text(limit.known_after_ms),
                ])
                .collect()
        })
    });
    std::iter::once(columns).chain(rows).collect()
}

fn delays(all: &[PolicyFit]) -> Table {
    let columns = head(&[
        "type",
        "method",
        "retries",
        "inferred",
        "retry",
        "delays",
        "shortest_ms",
        "longest_ms",
        "mean_ms",
        "expected_least_ms",
        "expected_most_ms",
        "fits",
    ]);
    let rows = all.iter().flat_map(|fit| {
        let shape = match fit.shape {
            Shape::Default => "default formula",
            Shape::List => "list",
            Shape::Varied => "varied",
        };
        fit.retries.iter().map(move |retry| {
            named(&fit.kind)
                .into_iter()
                .chain([
                    fit.policy.retries.to_string(),
                    shape.to_owned(),
                    retry.retry.to_string(),
                    retry.delays.to_string(),
                    retry.seen.min_ms.to_string(),
                    retry.seen.max_ms.to_string(),
                    retry.mean_ms.to_string(),
                    text(retry.band.map(|band| band.min_ms)),
                    text(retry.band.map(|band| band.max_ms)),
                    text(retry.fits()),
                ])
                .collect()
        })
    });
    std::iter::once(columns).chain(rows).collect()
}
