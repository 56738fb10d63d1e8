//! Claim times: the stored value as an opaque token, and the instant that it means.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};

use crate::model::state::Instant;

/// A stored claim time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClaimTime {
    /// The stored value as text: the guard of every action, never computed with. On `PostgreSQL`
    /// the column's text in the time zone UTC, on `SQLite` `CAST(… AS TEXT)`.
    pub token: String,
    /// The instant, for display and age; `None` where the value is not a time we can read. Values
    /// without a zone are taken for UTC. Cut to microseconds.
    pub at: Option<Instant>,
}

impl ClaimTime {
    /// Reads a stored value.
    pub fn read(token: impl Into<String>) -> Self {
        let token = token.into();
        let at = Written::of(&token).map(|(at, _)| at);
        Self { token, at }
    }
}

/// How a column writes its times, told from a stored value, so that a reclaim writes the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// `2026-11-29 19:45:04.6335314`: a date, `separator`, a time with up to seven decimals whose
    /// trailing zeros are left out, and `zone`.
    Text {
        /// `' '` or `'T'`.
        separator: char,
        /// What follows: nothing, `Z`, `+00`, or an offset such as `+00:00`.
        zone: Zone,
    },
    /// Whole seconds since 1970.
    Seconds,
    /// Milliseconds since 1970.
    Millis,
    /// Microseconds since 1970.
    Micros,
    /// .NET ticks (100 ns since the year 1).
    Ticks,
}

/// How a text says its zone. We write UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// Not at all.
    None,
    /// `Z`.
    Z,
    /// `+00`.
    Hours,
    /// `+00:00`.
    Minutes,
}

/// .NET ticks of the year 1970.
const UNIX_EPOCH_TICKS: i64 = 621_355_968_000_000_000;

/// .NET ticks of the last second that the other units reach. Beyond it lie nanoseconds since 1970,
/// which no column type of .NET's holds: they are not read rather than taken for the year 3722.
const LAST_TICKS: i64 = UNIX_EPOCH_TICKS + 99_999_999_999_999_999;

impl Written {
    /// Reads a stored value: the instant, cut to microseconds, and how it is written. Whole numbers
    /// are told apart by their size: each unit's range covers the years 1973 to 2286 and meets no
    /// other. Without a zone the value is taken for UTC.
    pub fn of(token: &str) -> Option<(Instant, Self)> {
        let token = token.trim();
        match token.parse::<i64>() {
            Ok(number) => Self::of_number(number),
            Err(_) => Self::of_text(token),
        }
    }

    fn of_number(number: i64) -> Option<(Instant, Self)> {
        let micros = |micros| DateTime::<Utc>::from_timestamp_micros(micros);
        match number {
            100_000_000..=9_999_999_999 => Some((micros(number * 1_000_000)?, Self::Seconds)),
            100_000_000_000..=9_999_999_999_999 => Some((micros(number * 1_000)?, Self::Millis)),
            100_000_000_000_000..=9_999_999_999_999_999 => Some((micros(number)?, Self::Micros)),
            UNIX_EPOCH_TICKS..=LAST_TICKS => {
                Some((micros((number - UNIX_EPOCH_TICKS) / 10)?, Self::Ticks))
            }
            _ => None,
        }
    }

    fn of_text(token: &str) -> Option<(Instant, Self)> {
        let separator = match token.as_bytes().get(10)? {
            b' ' => ' ',
            b'T' => 'T',
            _ => return None,
        };
        let (date, rest) = (token.get(..10)?, token.get(11..)?);
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.')
            .unwrap_or(rest.len());
        let (time, zone) = rest.split_at(end);
        let naive =
            NaiveDateTime::parse_from_str(&format!("{date} {time}"), "%Y-%m-%d %H:%M:%S%.f")
                .ok()?;
        let (zone, offset) = match zone {
            "" => (Zone::None, TimeDelta::zero()),
            "Z" | "z" => (Zone::Z, TimeDelta::zero()),
            _ => offset(zone)?,
        };
        let at = naive.and_utc().checked_sub_signed(offset)?;
        let at = DateTime::from_timestamp_micros(at.timestamp_micros())?;
        Some((at, Self::Text { separator, zone }))
    }

    /// Writes an instant this way.
    pub fn write(self, at: Instant) -> String {
        match self {
            Self::Text { separator, zone } => {
                let date = at.format("%Y-%m-%d");
                let time = at.format("%H:%M:%S%.6f").to_string();
                let time = time.trim_end_matches('0').trim_end_matches('.');
                let zone = match zone {
                    Zone::None => "",
                    Zone::Z => "Z",
                    Zone::Hours => "+00",
                    Zone::Minutes => "+00:00",
                };
                format!("{date}{separator}{time}{zone}")
            }
            Self::Seconds => at.timestamp().to_string(),
            Self::Millis => at.timestamp_millis().to_string(),
            Self::Micros => at.timestamp_micros().to_string(),
            Self::Ticks => (at.timestamp_micros() * 10 + UNIX_EPOCH_TICKS).to_string(),
        }
    }
}

/// `+01`, `-0530` or `+05:30`.
fn offset(text: &str) -> Option<(Zone, TimeDelta)> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = (text.get(1..3)?, text.get(3..)?);
    let minutes = minutes.strip_prefix(':').unwrap_or(minutes);
    let zone = match (text.len(), minutes.len()) {
        (3, 0) => Zone::Hours,
        (5 | 6, 2) => Zone::Minutes,
        _ => return None,
    };
    let number = |digits: &str, below: i64| -> Option<i64> {
        let only_digits = digits.bytes().all(|b| b.is_ascii_digit());
        let number = format!("0{digits}").parse().ok()?;
        (only_digits && number < below).then_some(number)
    };
    let minutes = number(hours, 24)? * 60 + number(minutes, 60)?;
    Some((zone, TimeDelta::minutes(sign * minutes)))
}

#[cfg(test)]
mod tests;
