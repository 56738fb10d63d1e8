//! How often a fall is announced where there is none, and how soon where there is one.

use crate::model::rates::{FirstAttempts, Rate};

const WEEK: i64 = 7 * 24 * 6;
/// 200 jobs an hour.
const JOBS_PER_SLOT: [u64; 3] = [33, 33, 34];

/// `SplitMix64` (Steele, Lea, Flood 2014): small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// How many of `n` jobs succeed, each with a chance of `permille` in a thousand.
    fn succeeded(&mut self, n: u64, permille: u64) -> u64 {
        let succeeded = (0..n).filter(|_| self.next() % 1_000 < permille).count();
        u64::try_from(succeeded).unwrap()
    }

    fn slots(&mut self, from: i64, to: i64, permille: u64) -> Vec<(i64, Rate)> {
        (from..to)
            .zip(JOBS_PER_SLOT.into_iter().cycle())
            .map(|(slot, jobs)| (slot, Rate::new(self.succeeded(jobs, permille), jobs)))
            .collect()
    }
}

#[test]
fn weeks_without_change_have_hardly_a_false_alarm() {
    const WEEKS: i64 = 1_000;
    let mut random = Random(5);
    let history = FirstAttempts::new(random.slots(0, (WEEKS + 1) * WEEK, 980));
    let alarmed = (1..=WEEKS)
        .filter(|week| (0..WEEK).any(|slot| history.fall(week * WEEK + slot).is_some()))
        .count();
    assert!(alarmed <= 15, "{alarmed} of {WEEKS} weeks");
}

#[test]
fn a_drop_is_announced_within_two_hours() {
    const RUNS: u64 = 200;
    let mut random = Random(7);
    let mut announced = 0;
    for _ in 0..RUNS {
        let mut slots = random.slots(0, WEEK, 980);
        slots.extend(random.slots(WEEK, WEEK + 12, 900));
        let history = FirstAttempts::new(slots);
        if (WEEK..WEEK + 12).any(|slot| history.fall(slot).is_some()) {
            announced += 1;
        }
    }
    assert!(announced * 100 >= RUNS * 95, "{announced} of {RUNS}");
}
