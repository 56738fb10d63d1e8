//! Times as Hangfire keeps them on `SQLite`: .NET ticks, 100 ns since the year 1, UTC; 0 for none.

use app::model::state::Instant;
use chrono::DateTime;

/// Microseconds from the year 1 to 1970.
const EPOCH_MICROS: i64 = 62_135_596_800_000_000;

/// Ticks of one day.
#[cfg(test)]
pub(super) const DAY: i64 = 864_000_000_000;

/// The instant that a column holds, cut to the microsecond. NULL, 0 and what lies outside the
/// years that can be shown are none.
pub(crate) fn instant(ticks: Option<i64>) -> Option<Instant> {
    let ticks = ticks.filter(|ticks| *ticks > 0)?;
    DateTime::from_timestamp_micros((ticks / 10).checked_sub(EPOCH_MICROS)?)
}

/// The ticks of an instant, whole microseconds.
pub(crate) fn ticks(at: Instant) -> i64 {
    at.timestamp_micros()
        .saturating_add(EPOCH_MICROS)
        .saturating_mul(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_a_recorded_row_are_its_time() {
        // hangfire.db, state 1: 639315783194587619 is 2026-11-29 19:45:19.4587619.
        let at = instant(Some(639_315_783_194_587_619)).unwrap();
        assert_eq!(at.to_rfc3339(), "2026-11-29T19:45:19.458761+00:00");
        assert_eq!(ticks(at), 639_315_783_194_587_610);
    }

    #[test]
    fn an_instant_is_its_recorded_ticks() {
        let at = chrono::DateTime::parse_from_rfc3339("2026-11-29T19:45:04.287579Z").unwrap();
        assert_eq!(ticks(at.to_utc()), 639_315_783_042_875_790);
    }

    #[test]
    fn a_day_of_ticks_is_a_day() {
        let noon = instant(Some(639_315_783_194_587_610)).unwrap();
        assert_eq!(ticks(noon + chrono::TimeDelta::days(1)), ticks(noon) + DAY);
    }

    #[test]
    fn none_is_null_zero_or_nonsense() {
        assert_eq!(instant(None), None);
        assert_eq!(instant(Some(0)), None);
        assert_eq!(instant(Some(-5)), None);
        // The last tick that fits the column lies in a year that chrono still knows.
        let last = instant(Some(i64::MAX)).map(|at| at.timestamp_micros());
        assert_eq!(last, Some(i64::MAX / 10 - EPOCH_MICROS));
    }
}
