//! Where everything lies, and what the drawing finds.

use super::Ages;
use crate::components::number::thousands;
use crate::links::claims::cutoff_words;
use crate::ports::claims::AGE_BUCKETS;

/// Buckets: one more than bounds, because the last one has none.
pub const BUCKETS: usize = AGE_BUCKETS.len() + 1;

/// The last bucket is drawn as wide as the others: marks in it are placed as if it ended here, in
/// seconds.
const LAST_ENDS: i64 = 7 * 86_400;

/// What a bucket means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// Younger than the cut-off: a job is on it.
    Held,
    /// Stale, and the provider may still know the key.
    Stale,
    /// Older than the provider's window.
    Past,
}

/// The words under a bucket, for wide drawings.
pub fn label(bucket: usize) -> String {
    let name = |seconds: i64| match seconds {
        ..3_600 => (format!("{}", seconds / 60), "min"),
        _ => (format!("{}", seconds / 3_600), "h"),
    };
    let low = bucket.checked_sub(1).and_then(|i| AGE_BUCKETS.get(i));
    match (low, AGE_BUCKETS.get(bucket)) {
        (None, Some(&high)) => format!("<{}", name(high).0),
        (Some(&low), None) => {
            let (number, unit) = name(low);
            format!(">{number} {unit}")
        }
        (Some(&low), Some(&high)) => {
            let ((from, from_unit), (to, to_unit)) = (name(low), name(high));
            match (from_unit == to_unit, to_unit) {
                (true, "min") => format!("{from}\u{2013}{to}"),
                (true, unit) => format!("{from}\u{2013}{to} {unit}"),
                // 30 to 60 minutes reads better than half an hour to one.
                (false, _) => format!("{from}\u{2013}{}", high / 60),
            }
        }
        (None, None) => String::new(),
    }
}

/// The whole words of a bucket, for the table.
pub fn words(bucket: usize) -> String {
    let bound = |seconds: &i64| cutoff_words(seconds * 1_000);
    let low = bucket.checked_sub(1).and_then(|i| AGE_BUCKETS.get(i));
    match (low.map(bound), AGE_BUCKETS.get(bucket).map(bound)) {
        (None, Some(high)) => format!("less than {high}"),
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("{low} or more"),
        (None, None) => String::new(),
    }
}

/// What a bucket means; one that a mark cuts belongs to its younger part.
pub fn zone(ages: &Ages<'_>, bucket: usize) -> Zone {
    let low = bucket
        .checked_sub(1)
        .and_then(|i| AGE_BUCKETS.get(i))
        .map_or(0, |seconds| seconds * 1_000);
    if ages.window_ms.is_some_and(|window| low >= window) && low >= ages.cutoff_ms {
        Zone::Past
    } else if low >= ages.cutoff_ms {
        Zone::Stale
    } else {
        Zone::Held
    }
}

/// How far to the right an age lies, in buckets: 4.0 is where the fifth one begins.
pub fn position(ms: i64) -> f64 {
    let mut low = 0;
    for (index, seconds) in AGE_BUCKETS.iter().copied().chain([LAST_ENDS]).enumerate() {
        let (from, to) = (low * 1_000, seconds * 1_000);
        if ms < to {
            return units(index) + share(ms - from, to - from);
        }
        low = seconds;
    }
    units(BUCKETS)
}

fn units(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a drawing does not show the loss"
)]
fn share(part: i64, whole: i64) -> f64 {
    (part as f64 / whole as f64).clamp(0.0, 1.0)
}

/// The height of a bar, as a share of the axis.
pub fn height(count: i64, top: i64) -> f64 {
    share(count, top.max(1))
}

/// Where the axis ends and its step: at most four steps, in round numbers.
pub fn axis(most: i64) -> (i64, i64) {
    let mut step = 1;
    loop {
        for factor in [1, 2, 5] {
            let step = step * factor;
            if most <= step * 4 {
                let steps = (most + step - 1) / step;
                return (step * steps.max(1), step);
            }
        }
        step *= 10;
    }
}

/// Claims by zone; `None` where a mark cuts through a bucket that is not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sums {
    /// Younger than the cut-off.
    pub held: Option<i64>,
    /// Stale, the window not over.
    pub stale: Option<i64>,
    /// Past the window and stale.
    pub past: Option<i64>,
}

/// Claims by zone.
pub fn sums(ages: &Ages<'_>) -> Sums {
    let older = |ms: i64| {
        let at = position(ms);
        let whole = at.floor();
        let cut = (0..BUCKETS).find(|&bucket| {
            let left = units(bucket);
            left < at && at < left + 1.0
        });
        if cut.is_some_and(|bucket| ages.counts.get(bucket).is_some_and(|&n| n > 0)) {
            return None;
        }
        Some(
            (0..BUCKETS)
                .filter(|&bucket| units(bucket) >= whole)
                .filter_map(|bucket| ages.counts.get(bucket))
                .sum::<i64>(),
        )
    };
    let all: i64 = ages.counts.iter().sum();
    let stale = older(ages.cutoff_ms);
    let past = ages
        .window_ms
        .and_then(|window| older(window.max(ages.cutoff_ms)));
    Sums {
        held: stale.map(|stale| all - stale),
        stale: match ages.window_ms {
            None => stale,
            Some(_) => stale.zip(past).map(|(stale, past)| stale - past),
        },
        past,
    }
}

/// The finding in a sentence.
pub fn finding(ages: &Ages<'_>) -> String {
    let cutoff = cutoff_words(ages.cutoff_ms);
    let sums = sums(ages);
    let number = |n: Option<i64>, words: &str| n.map(|n| format!("{} {words}", thousands(n)));
    let mut parts: Vec<String> = Vec::new();
    parts.extend(number(
        sums.held,
        &format!("younger than the cut-off of {cutoff}"),
    ));
    match ages.window_ms {
        None => parts.extend(number(sums.stale, "older")),
        Some(window) => {
            let window = cutoff_words(window);
            if window_matters(ages) {
                parts.extend(number(
                    sums.stale,
                    &format!("older, but within the key window of {window}"),
                ));
            }
            parts.extend(number(
                sums.past,
                &format!("older than the key window of {window}"),
            ));
        }
    }
    if ages.ageless > 0 {
        parts.push(format!(
            "{} whose age is not known",
            thousands(ages.ageless)
        ));
    }
    match parts.split_last() {
        None => format!("The cut-off of {cutoff} lies within a bar."),
        Some((last, [])) => format!("{last}."),
        Some((last, rest)) => format!("{} and {last}.", rest.join(", ")),
    }
}

/// Whether the window ends later than the cut-off, so that there is something between them.
pub fn window_matters(ages: &Ages<'_>) -> bool {
    ages.window_ms.is_some_and(|window| window > ages.cutoff_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: [i64; 11] = [31, 8, 5, 2, 4, 5, 3, 2, 1, 1, 1];

    fn mock(cutoff_ms: i64, window_ms: Option<i64>) -> Ages<'static> {
        Ages {
            counts: &COUNTS,
            ageless: 0,
            cutoff_ms,
            window_ms,
            column: Some("ClaimedAtUtc"),
        }
    }

    #[test]
    fn buckets_are_named() {
        let labels: Vec<String> = (0..BUCKETS).map(label).collect();
        assert_eq!(
            labels,
            [
                "<1", "1–2", "2–5", "5–10", "10–15", "15–30", "30–60", "1–2 h", "2–6 h", "6–24 h",
                ">24 h"
            ]
        );
        assert_eq!(words(0), "less than 1 min");
        assert_eq!(words(6), "30 min to 1 h");
        assert_eq!(words(10), "1 d or more");
    }

    #[test]
    fn the_finding_counts_by_cut_off_and_window() {
        let ages = mock(600_000, Some(1_800_000));
        let sums = sums(&ages);
        assert_eq!(
            (sums.held, sums.stale, sums.past),
            (Some(46), Some(9), Some(8))
        );
        assert_eq!(
            finding(&ages),
            "46 younger than the cut-off of 10 min, 9 older, but within the key window of 30 min \
             and 8 older than the key window of 30 min."
        );
        assert_eq!(
            finding(&mock(600_000, None)),
            "46 younger than the cut-off of 10 min and 17 older."
        );
    }

    #[test]
    fn a_mark_within_a_bar_gives_no_number() {
        let ages = mock(720_000, None);
        assert_eq!(sums(&ages).held, None);
        assert_eq!(finding(&ages), "The cut-off of 12 min lies within a bar.");
        let empty = Ages {
            counts: &[3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            ..ages
        };
        assert_eq!(sums(&empty).held, Some(3));
        assert_eq!(sums(&empty).stale, Some(0));
    }

    #[test]
    fn a_window_shorter_than_the_cut_off_leaves_nothing_between() {
        let ages = mock(600_000, Some(300_000));
        let sums = sums(&ages);
        assert_eq!((sums.stale, sums.past), (Some(0), Some(17)));
        assert_eq!(
            finding(&ages),
            "46 younger than the cut-off of 10 min and 17 older than the key window of 5 min."
        );
    }

    #[test]
    fn marks_lie_where_their_age_is() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        close(position(0), 0.0);
        close(position(600_000), 4.0);
        close(position(750_000), 4.5);
        close(position(86_400_000), 10.0);
        close(position(i64::MAX), 11.0);
    }

    #[test]
    fn the_axis_ends_at_a_round_number() {
        assert_eq!(axis(0), (1, 1));
        assert_eq!(axis(3), (3, 1));
        assert_eq!(axis(31), (40, 10));
        assert_eq!(axis(10_000), (10_000, 5_000));
        assert_eq!(axis(7_300), (8_000, 2_000));
    }
}
