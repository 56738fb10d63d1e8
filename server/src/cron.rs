//! How often a cron expression runs, as Hangfire reads it: in the syntax of Cronos.

use app::model::state::Instant;
use chrono::TimeDelta;
use croner::parser::{CronParser, Seconds, Year};

/// The pauses between runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pauses {
    /// The shortest of them.
    pub shortest: TimeDelta,
    /// Whether all of them are as short.
    pub is_even: bool,
}

/// At most so many runs are looked at, and none that is further away.
const RUNS: usize = 200;
const AHEAD: TimeDelta = TimeDelta::days(400);
/// No expression that somebody means is longer.
const LONGEST: usize = 200;

/// The pauses between the coming runs of an expression; `None` where it cannot be understood, or
/// has no second run within a year. Taken in UTC: the hour that a time zone skips or repeats is left
/// out of account.
pub fn pauses(expression: &str, now: Instant) -> Option<Pauses> {
    let fields = expression.trim();
    if fields.len() > LONGEST {
        return None;
    }
    let fields = match fields.to_ascii_lowercase().as_str() {
        "@every_second" => "* * * * * *",
        "@every_minute" => "* * * * *",
        "@hourly" => "0 * * * *",
        "@daily" | "@midnight" => "0 0 * * *",
        "@weekly" => "0 0 * * 0",
        "@monthly" => "0 0 1 * *",
        "@yearly" | "@annually" => "0 0 1 1 *",
        _ => fields,
    };
    let cron = CronParser::builder()
        .seconds(Seconds::Optional)
        .year(Year::Disallowed)
        // Both days must fit, and `5/15` counts from 5 on.
        .dom_and_dow(true)
        .sloppy_ranges(true)
        .build()
        .parse(fields)
        .ok()?;
    let end = now.checked_add_signed(AHEAD)?;
    let runs: Vec<Instant> = cron
        .iter_after(now)
        .take(RUNS)
        .take_while(|run| *run <= end)
        .collect();
    let pauses = || {
        runs.windows(2).map(|pair| match pair {
            [one, next] => *next - *one,
            _ => TimeDelta::MAX,
        })
    };
    let shortest = pauses().min()?;
    Some(Pauses {
        shortest,
        is_even: pauses().all(|pause| pause == shortest),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(expression: &str) -> Option<(i64, bool)> {
        // A Friday.
        let now = "2026-11-27T14:05:48Z".parse().unwrap();
        let pauses = pauses(expression, now)?;
        Some((pauses.shortest.num_seconds(), pauses.is_even))
    }

    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;

    #[test]
    fn even_runs_have_one_pause() {
        for (expression, seconds) in [
            ("* * * * *", MINUTE),
            ("*/5 * * * *", 5 * MINUTE),
            ("5/15 * * * *", 15 * MINUTE),
            ("*/30 * * * * *", 30),
            ("0 * * * *", HOUR),
            ("@hourly", HOUR),
            ("@EVERY_MINUTE", MINUTE),
            ("@every_second", 1),
            ("0 3 * * *", DAY),
            ("@midnight", DAY),
            ("0 0 ? * *", DAY),
            ("0 0 * * 7", 7 * DAY),
            ("0 0 * * SUN", 7 * DAY),
            // 14 May 2027 stands for the 15th, a Saturday; 15 June is a Tuesday.
            ("0 0 15W 5,6 *", 32 * DAY),
        ] {
            assert_eq!(of(expression), Some((seconds, true)), "{expression}");
        }
    }

    #[test]
    fn uneven_runs_have_a_shortest_pause() {
        for (expression, seconds) in [
            ("0 3 * * 1-5", DAY),
            ("0,10 * * * *", 10 * MINUTE),
            ("0 0 1 * *", 28 * DAY),
            ("0 0 L * *", 28 * DAY),
            ("@monthly", 28 * DAY),
            // Fridays: the last ones of two months lie four or five weeks apart.
            ("0 0 * * 5L", 28 * DAY),
            ("0 0 * * MON#1", 28 * DAY),
        ] {
            assert_eq!(of(expression), Some((seconds, false)), "{expression}");
        }
    }

    #[test]
    fn both_days_must_fit() {
        // Mondays that are a 15th: 15 February and 15 March 2027, four weeks apart.
        assert_eq!(of("0 12 15 * MON"), Some((28 * DAY, false)));
    }

    #[test]
    fn what_is_no_cron_or_never_comes_twice_has_no_pause() {
        let long = "0,".repeat(200) + " * * * *";
        for expression in [
            "",
            "garbage",
            "* * * *",
            "* * * * * * *",
            "60 * * * *",
            "@nightly",
            "\u{e9} * * * *",
            "0 0 30 2 *",
            "0 0 29 2 *",
            &long,
        ] {
            assert_eq!(of(expression), None, "{expression}");
        }
    }
}
