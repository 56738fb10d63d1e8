mod simulations;

use super::*;

fn bounds(numerator: u64, denominator: u64) -> (String, String) {
    Rate::new(numerator, denominator)
        .interval(Rate::Z_95)
        .unwrap()
        .percents()
}

fn texts(low: &str, high: &str) -> (String, String) {
    (low.to_owned(), high.to_owned())
}

/// Bounds by hand, from the formula.
#[test]
fn intervals_are_wilsons() {
    assert_eq!(bounds(80, 100), texts("71.1", "86.7"));
    assert_eq!(bounds(9_999, 10_000), texts("99.94", "99.998"));
    assert_eq!(bounds(20, 21), texts("77.3", "99.2"));
    assert_eq!(bounds(0, 12), texts("0", "24.2"));
    assert_eq!(bounds(0, 1), texts("0", "79.3"));
    assert_eq!(bounds(1, 1), texts("20.7", "100"));
    assert_eq!(Rate::new(0, 0).interval(Rate::Z_95), None);
}

/// z = 3.9 of 40 in 50, by hand: middle 0.8 + 15.21/100 = 0.9521; reach 3.9 √(0.0032 +
/// 15.21/10000) = 0.267967; scale 1.3042.
#[test]
fn an_interval_may_be_as_sure_as_one_likes() {
    let Interval { low, high } = Rate::new(40, 50).interval(3.9).unwrap();
    assert!((low - (0.9521 - 0.267_967) / 1.3042).abs() < 1e-6, "{low}");
    assert!(
        (high - (0.9521 + 0.267_967) / 1.3042).abs() < 1e-6,
        "{high}"
    );
}

#[test]
fn no_rate_is_rounded_to_all_or_nothing() {
    for (numerator, denominator, text) in [
        (80, 100, "80.0 %"),
        (100, 180, "55.6 %"),
        (20, 21, "95.2 %"),
        (9_999, 10_000, "99.99 %"),
        (1, 10_000, "0.01 %"),
        (999, 1_000, "99.9 %"),
        (99_995, 100_000, "99.995 %"),
        (1, 3_000_000, "0.00003 %"),
        (2_999_999, 3_000_000, "99.99997 %"),
        (999_999_999_999, 1_000_000_000_000, "99.9999999999 %"),
        (1, 1, "100 %"),
        (0, 7, "0 %"),
    ] {
        let percent = Rate::new(numerator, denominator).percent();
        assert_eq!(percent.as_deref(), Some(text), "{numerator}/{denominator}");
    }
    assert_eq!(Rate::new(0, 0).percent(), None);
    assert_eq!(Rate::new(0, 0).share(), None);
}

#[test]
fn stop_retrying_is_said_only_where_the_numbers_carry_it() {
    let verdict = |recovered, gave_up| Recovery { recovered, gave_up }.verdict();
    assert_eq!(verdict(0, 12), Some(Verdict::Permanent));
    assert_eq!(verdict(0, 11), Some(Verdict::TooFew));
    assert_eq!(verdict(0, 1), Some(Verdict::TooFew));
    assert_eq!(verdict(20, 1), Some(Verdict::Recovers));
    assert_eq!(verdict(1, 0), Some(Verdict::Recovers));
    assert_eq!(verdict(1, 100_000), Some(Verdict::Recovers));
    assert_eq!(verdict(0, 0), None);
    assert_eq!(
        Recovery {
            recovered: 20,
            gave_up: 1
        }
        .rate(),
        Rate::new(20, 21)
    );
}

#[test]
fn slots_are_ten_minutes_also_before_1970() {
    let at = |seconds| chrono::DateTime::from_timestamp(seconds, 0).unwrap();
    assert_eq!(slot(at(0)), 0);
    assert_eq!(slot(at(599)), 0);
    assert_eq!(slot(at(600)), 1);
    assert_eq!(slot(at(-1)), -1);
}

fn steady(from: i64, to: i64, succeeded: u64, ended: u64) -> Vec<(i64, Rate)> {
    (from..to)
        .map(|slot| (slot, Rate::new(succeeded, ended)))
        .collect()
}

#[test]
fn the_window_is_two_hours_where_they_hold_enough() {
    let mut slots = steady(0, 2_000, 10, 10);
    slots.extend(steady(2_000, 2_012, 5, 10));
    let fall = FirstAttempts::new(slots).fall(2_011).unwrap();
    assert_eq!(fall.from, 2_000);
    assert_eq!(fall.window, Rate::new(60, 120));
    assert_eq!(fall.baseline, Rate::new(10_080, 10_080));
}

#[test]
fn the_window_is_stretched_until_it_holds_enough() {
    let mut slots = steady(0, 2_000, 2, 2);
    slots.extend(steady(2_000, 2_060, 1, 2));
    let history = FirstAttempts::new(slots);
    let fall = history.fall(2_059).unwrap();
    // Fifty slots of two jobs.
    assert_eq!((fall.from, fall.window), (2_010, Rate::new(50, 100)));
    assert_eq!(fall.baseline, Rate::new(1_008 * 2 - 10, 1_008 * 2));
    // The same a while later, when nothing has run: the window ends with now.
    let later = history.fall(2_089).unwrap();
    assert_eq!((later.from, later.window), (2_010, Rate::new(50, 100)));
    assert_eq!(history.fall(2_059 + 144), None);
}

#[test]
fn the_window_is_at_most_a_day() {
    let slots: Vec<_> = (0..400).map(|n| (n * 6, Rate::new(1, 1))).collect();
    let history = FirstAttempts::new(slots);
    assert_eq!(history.fall(2_394), None);
    // One an hour, 24 of them in a day; before that all went well, and then none.
    let slots: Vec<_> = (0..400)
        .map(|n| (n * 6, Rate::new(u64::from(n < 376), 1)))
        .collect();
    let fall = FirstAttempts::new(slots).fall(2_399).unwrap();
    assert_eq!((fall.from, fall.window), (2_256, Rate::new(0, 24)));
    assert_eq!(fall.baseline, Rate::new(168, 168));
}

#[test]
fn without_a_past_or_a_present_nothing_has_fallen() {
    assert_eq!(FirstAttempts::default().fall(0), None);
    assert_eq!(FirstAttempts::new(steady(100, 112, 0, 50)).fall(111), None);
    let past = FirstAttempts::new(steady(0, 100, 50, 50));
    assert_eq!(past.fall(400), None);
    assert_eq!(past.fall(i64::MAX), None);
    assert_eq!(past.fall(i64::MIN), None);
}

#[test]
fn slots_come_in_any_order_and_several_times() {
    let history = FirstAttempts::new([
        (5, Rate::new(1, 2)),
        (3, Rate::new(1, 1)),
        (5, Rate::new(2, 2)),
    ]);
    assert_eq!(history.between(3, 5), Rate::new(1, 1));
    assert_eq!(history.between(4, 6), Rate::new(3, 4));
    assert_eq!(history.between(0, 100), Rate::new(4, 5));
    assert_eq!(history.between(6, 100), Rate::default());
}
