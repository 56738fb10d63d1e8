//! Durations in words, one rule for every page; and rough ones, for sentences.

use super::state::Instant;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A duration in its two largest units, rounded half up in the smaller one:
///
/// | length | words |
/// |---|---|
/// | below 1 s | `171 ms` |
/// | below 1 min | `30.2 s`, `2 s` |
/// | below 1 h | `2 min 22 s`, `5 min` |
/// | below 2 d | `4 h 34 min`, `4 h` |
/// | else | `12 d 3 h`, `12 d` |
///
/// The sign is ignored: a duration is a length, and what is wrong with a negative one is said
/// beside it.
pub fn duration(ms: i64) -> String {
    let ms = ms.saturating_abs();
    if ms < SECOND {
        return format!("{ms} ms");
    }
    let tenths = rounded(ms, SECOND / 10);
    if tenths < 600 {
        return match tenths % 10 {
            0 => format!("{} s", tenths / 10),
            tenth => format!("{}.{tenth} s", tenths / 10),
        };
    }
    let seconds = rounded(ms, SECOND);
    if seconds < HOUR / SECOND {
        return pair(seconds, 60, "min", "s");
    }
    let minutes = rounded(ms, MINUTE);
    if minutes < 2 * DAY / MINUTE {
        return pair(minutes, 60, "h", "min");
    }
    pair(rounded(ms, HOUR), 24, "d", "h")
}

/// A span between two durations that may be the same: `15 s to 44 s`, `2 s`.
pub fn duration_range(min_ms: i64, max_ms: i64) -> String {
    let (from, to) = (duration(min_ms), duration(max_ms));
    if from == to {
        from
    } else {
        format!("{from} to {to}")
    }
}

fn rounded(ms: i64, unit: i64) -> i64 {
    ms.saturating_add(unit / 2) / unit
}

fn pair(count: i64, size: i64, large: &str, small: &str) -> String {
    match (count / size, count % size) {
        (whole, 0) => format!("{whole} {large}"),
        (whole, rest) => format!("{whole} {large} {rest} {small}"),
    }
}

/// `2026-11-29 19:37:36 UTC`.
pub(crate) fn clock(at: Instant) -> String {
    at.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// `5 s`, `3 min`, `2 h`, `4 d`; negative spans (clocks that disagree) count as none.
pub(crate) fn span(ms: i64) -> String {
    let s = ms.max(0) / 1000;
    match s {
        0..120 => format!("{s} s"),
        120..7200 => format!("{} min", s / 60),
        7200..172_800 => format!("{} h", s / 3600),
        _ => format!("{} d", s / 86_400),
    }
}

/// `3 min ago`.
pub(crate) fn ago(at: Instant, now: Instant) -> String {
    format!("{} ago", span((now - at).num_milliseconds()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_units_at_most() {
        for (ms, words) in [
            (0, "0 ms"),
            (171, "171 ms"),
            (999, "999 ms"),
            (1_000, "1 s"),
            (1_049, "1 s"),
            (1_050, "1.1 s"),
            (1_999, "2 s"),
            (30_200, "30.2 s"),
            (59_949, "59.9 s"),
            (59_950, "1 min"),
            (60_000, "1 min"),
            (60_500, "1 min 1 s"),
            (142_000, "2 min 22 s"),
            (3_599_499, "59 min 59 s"),
            (3_599_500, "1 h"),
            (16_440_000, "4 h 34 min"),
            (2 * DAY - 30_001, "47 h 59 min"),
            (2 * DAY - 30_000, "2 d"),
            (12 * DAY + 3 * HOUR, "12 d 3 h"),
            (-17, "17 ms"),
        ] {
            assert_eq!(duration(ms), words, "{ms}");
        }
        assert_eq!(duration(i64::MAX), "106751991167 d 7 h");
        assert_eq!(duration(i64::MIN), "106751991167 d 7 h");
    }

    #[test]
    fn a_range_of_one_length_is_that_length() {
        assert_eq!(duration_range(15_000, 44_000), "15 s to 44 s");
        assert_eq!(duration_range(2_000, 2_000), "2 s");
        assert_eq!(
            duration_range(6_576_000, 6_866_000),
            "1 h 50 min to 1 h 54 min"
        );
    }

    #[test]
    fn spans_are_short_and_never_negative() {
        assert_eq!(span(-7), "0 s");
        assert_eq!(span(5_999), "5 s");
        assert_eq!(span(180_000), "3 min");
        assert_eq!(span(7_200_000), "2 h");
        assert_eq!(span(172_800_000), "2 d");
    }
}
