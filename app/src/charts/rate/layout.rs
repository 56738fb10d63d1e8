//! Where everything lies.

use chrono::TimeDelta;

use super::{RateLine, RatePoint};
use crate::model::rates::Rate;
use crate::model::state::Instant;

/// Where the scale may begin.
const FLOORS: [f64; 8] = [0.99, 0.98, 0.95, 0.9, 0.8, 0.6, 0.4, 0.0];

/// Where the scale begins: as high as everything that is drawn allows.
pub fn floor(given: &RateLine<'_>) -> f64 {
    let least = given
        .points
        .iter()
        .filter_map(|point| point.rate.share())
        .chain(given.usual.share())
        .fold(1.0, f64::min);
    FLOORS
        .into_iter()
        .find(|floor| *floor <= least - (1.0 - least) * 0.1)
        .unwrap_or(0.0)
}

/// The lines of the scale: the floor, the whole, and what divides them evenly.
pub fn grid(floor: f64) -> Vec<f64> {
    let parts: u32 = if floor > 0.95 { 2 } else { 4 };
    let step = (1.0 - floor) / f64::from(parts);
    (0..=parts).map(|i| floor + step * f64::from(i)).collect()
}

/// How far to the right an instant lies, from 0 to 1.
pub fn across(given: &RateLine<'_>, at: Instant) -> f64 {
    let Some(first) = given.points.first() else {
        return 0.0;
    };
    let whole = (given.end - first.at).num_milliseconds();
    crate::charts::svg::part((at - first.at).num_milliseconds(), whole)
}

/// The middle of a step.
pub fn middle(given: &RateLine<'_>, index: usize) -> f64 {
    let Some(point) = given.points.get(index) else {
        return 0.0;
    };
    let end = given
        .points
        .get(index + 1)
        .map_or(given.end, |next| next.at);
    across(given, point.at + (end - point.at) / 2)
}

/// Runs of steps with something in them: first and last index of each.
pub fn runs(points: &[RatePoint]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        if point.rate.denominator == 0 {
            continue;
        }
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == index => *last = index,
            _ => runs.push((index, index)),
        }
    }
    runs
}

/// The bounds of a rate, where it has any.
pub fn bounds(rate: Rate) -> Option<(f64, f64)> {
    let interval = rate.interval(Rate::Z_95)?;
    Some((interval.low, interval.high))
}

/// So many words fit below the axis.
const TICKS: i64 = 8;

/// Instants below the axis with their words: round times, at most so many.
pub fn ticks(given: &RateLine<'_>, most: i64) -> Vec<(Instant, String)> {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const STEPS: [i64; 13] = [
        10 * MINUTE,
        30 * MINUTE,
        HOUR,
        2 * HOUR,
        3 * HOUR,
        6 * HOUR,
        12 * HOUR,
        DAY,
        2 * DAY,
        7 * DAY,
        28 * DAY,
        91 * DAY,
        364 * DAY,
    ];
    let Some(first) = given.points.first() else {
        return Vec::new();
    };
    let (from, to) = (first.at.timestamp(), given.end.timestamp());
    let most = most.clamp(1, TICKS);
    let whole = to.saturating_sub(from);
    let step = STEPS
        .into_iter()
        .find(|step| whole / step <= most)
        .unwrap_or_else(|| (whole / most).max(1));
    let begin = from.div_euclid(step) * step;
    (0..)
        .map(|index| begin.saturating_add(step.saturating_mul(index)))
        .skip_while(|at| *at < from)
        .take_while(|at| *at < to)
        .filter_map(|at| {
            let at = Instant::from_timestamp(at, 0)?;
            let words = if step < DAY && at.timestamp().rem_euclid(DAY) != 0 {
                at.format("%H:%M").to_string()
            } else if whole > 400 * DAY {
                at.format("%b %Y").to_string()
            } else {
                at.format("%-d %b").to_string()
            };
            Some((at, words))
        })
        .collect()
}

/// When a step is in words: `27 Nov, 14:00`, with the year where the line is longer than one.
pub fn when(given: &RateLine<'_>, at: Instant) -> String {
    let long = given
        .points
        .first()
        .is_some_and(|first| given.end - first.at > TimeDelta::days(300));
    let form = if long {
        "%-d %b %Y, %H:%M"
    } else {
        "%-d %b, %H:%M"
    };
    at.format(form).to_string()
}

/// How high a share lies, from 0 to 1.
pub fn up(share: f64, floor: f64) -> f64 {
    ((share - floor) / (1.0 - floor)).clamp(0.0, 1.0)
}

/// The step with the lowest rate, for the label.
pub fn lowest(points: &[RatePoint]) -> Option<&RatePoint> {
    let share = |point: &RatePoint| point.rate.share().unwrap_or(1.0);
    points
        .iter()
        .filter(|point| point.rate.denominator > 0)
        .min_by(|a, b| share(a).total_cmp(&share(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::testing::at;

    fn point(when: &str, of: (u64, u64)) -> RatePoint {
        RatePoint {
            at: at(when),
            rate: Rate::new(of.0, of.1),
            href: None,
        }
    }

    fn given<'a>(points: &'a [RatePoint], end: &str, usual: (u64, u64)) -> RateLine<'a> {
        RateLine {
            points,
            end: at(end),
            usual: Rate::new(usual.0, usual.1),
            fallen_since: None,
            subject: "First-attempt success",
            finding: "",
            counted: "First attempts",
            leads_to: "jobs of that time",
        }
    }

    #[test]
    fn the_scale_begins_below_everything_that_is_drawn() {
        let points = [point("2026-11-27T10:00:00Z", (97, 100))];
        let floor_of = |usual: (u64, u64)| floor(&given(&points, "2026-11-27T11:00:00Z", usual));
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        close(floor_of((99, 100)), 0.95);
        close(floor_of((90, 100)), 0.8);
        close(floor_of((1, 100)), 0.0);
        close(floor_of((0, 0)), 0.95);
        assert_eq!(grid(0.8).len(), 5);
        assert_eq!(grid(0.98).len(), 3);
    }

    #[test]
    fn gaps_part_the_line() {
        let points = [
            point("2026-11-27T10:00:00Z", (0, 0)),
            point("2026-11-27T11:00:00Z", (1, 1)),
            point("2026-11-27T12:00:00Z", (1, 2)),
            point("2026-11-27T13:00:00Z", (0, 0)),
            point("2026-11-27T14:00:00Z", (0, 1)),
        ];
        assert_eq!(runs(&points), [(1, 2), (4, 4)]);
        assert_eq!(lowest(&points).unwrap().at, at("2026-11-27T14:00:00Z"));
        let line = given(&points, "2026-11-27T15:00:00Z", (1, 1));
        assert!((middle(&line, 0) - 0.1).abs() < 1e-9);
        assert!((middle(&line, 4) - 0.9).abs() < 1e-9);
        assert!((up(0.9, 0.8) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn ticks_are_round_times() {
        let words = |from: &str, to: &str| -> Vec<String> {
            let points = [point(from, (1, 1))];
            ticks(&given(&points, to, (0, 0)), 8)
                .into_iter()
                .map(|(_, words)| words)
                .collect()
        };
        assert_eq!(
            words("2026-11-26T15:00:00Z", "2026-11-27T15:00:00Z"),
            [
                "15:00", "18:00", "21:00", "27 Nov", "03:00", "06:00", "09:00", "12:00"
            ]
        );
        assert_eq!(
            words("2026-11-20T15:00:00Z", "2026-11-27T15:00:00Z"),
            [
                "21 Nov", "22 Nov", "23 Nov", "24 Nov", "25 Nov", "26 Nov", "27 Nov"
            ]
        );
        assert!(words("2016-11-20T15:00:00Z", "2026-11-27T15:00:00Z").len() <= 11);
    }
}
