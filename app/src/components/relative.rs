//! Relative times in words. The server writes them and the browser keeps them ticking, so both
//! sides use this.

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const TWO_DAYS: i64 = 2 * DAY;

/// A span in one unit, cut down: `17 s`, `2 min`, `5 h`, `12 d`. The sign is ignored.
pub fn span(ms: i64) -> String {
    let ms = ms.saturating_abs();
    let (number, unit) = match ms {
        ..MINUTE => (ms / SECOND, "s"),
        MINUTE..HOUR => (ms / MINUTE, "min"),
        HOUR..TWO_DAYS => (ms / HOUR, "h"),
        _ => (ms / DAY, "d"),
    };
    format!("{number} {unit}")
}

/// How long ago something was, `ms` milliseconds before now: `17 s ago`; negative: `in 4 min`.
/// Less than a second either way is `now`.
pub fn ago(ms: i64) -> String {
    match ms {
        SECOND.. => format!("{} ago", span(ms)),
        ..=-1_000 => format!("in {}", span(ms)),
        _ => "now".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_cut_down_to_one_unit() {
        assert_eq!(span(17_999), "17 s");
        assert_eq!(span(60_000), "1 min");
        assert_eq!(span(59 * MINUTE + 59_999), "59 min");
        assert_eq!(span(47 * HOUR), "47 h");
        assert_eq!(span(48 * HOUR), "2 d");
        assert_eq!(span(i64::MIN), "106751991167 d");
    }

    #[test]
    fn the_past_the_future_and_now_differ() {
        assert_eq!(ago(1_000), "1 s ago");
        assert_eq!(ago(999), "now");
        assert_eq!(ago(-999), "now");
        assert_eq!(ago(-240_000), "in 4 min");
    }
}
